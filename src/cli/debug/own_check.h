/* cli/debug/own_check.h: the default check of commands without --check: `polygraphy run` of a candidate, compared with
 * a reference that another `polygraphy run` saves in the command's folder.
 *
 * The command provides the words that run a candidate, makes the reference if one is needed, and finishes the check.
 */
#ifndef CLI_DEBUG_OWN_CHECK_H
#define CLI_DEBUG_OWN_CHECK_H

#include "base/text/text.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/check/check.h"
#include "debug/record/session_lock.h"
#include "report/result.h"

/* Files in the folder with other data (other_data.h). */
#define OTHER_DATA_INPUTS "inputs_other.json"
#define OTHER_DATA_REFERENCE "golden_other.json"

struct own_check {
    const struct command_context *context;
    const char *folder;     /* existing folder for the data and the reference */
    struct word_list words; /* "polygraphy", "run", the candidate and the options of its runner; later the whole check
                             * */
    const char *inputs;     /* its input data, in the folder; NULL: the user's */
    double timeout;         /* of each run of the check, in seconds; 0: none */
    struct session_lock lock;
    bool has_begun;
};

/* Sets the command and its folder. If a reference is needed, the folder is locked until the release: ERR_EXISTS if
 * another session holds it. Release in any case. */
int own_check_begin(const struct command_context *context, const char *folder, struct own_check *ret,
                    struct error *err);

/* Whether the command line has a tolerance, or another option of comparisons. */
bool own_check_is_asked_for(const struct parse *parse);

/* Appends the names of the files that it writes to the folder of the command. False, without files, if no reference is
 * needed. Does not need typed values. */
bool own_check_list_results(const struct parse *parse, struct word_list *ret);

/* The path of such a file; valid as long as the command. */
const char *own_check_path(const struct own_check *check, const char *name);

/* ERR_INVALID if the command line has such an option together with --check. */
int own_check_refuse(const struct command_context *context, struct error *err);

/* ERR_INVALID if an option of comparisons has a value for an output that the model at `path` does not have, which the
 * check would ignore. No error if the model cannot be read, or with --check. */
int own_check_refuse_unknown_outputs(const struct command_context *context, const struct comparison_values *comparison,
                                     const char *path, struct error *err);

/* False if --load-outputs provides the reference. */
bool own_check_needs_reference(const struct own_check *check);

/* Runs `words`, which begin with "polygraphy run MODEL", with the options of the data loader appended and with
 * `environment` (NULL-terminated), and saves inputs and outputs. ERR_BACKEND if that run fails; `model` is its name in
 * the error. */
int own_check_make_reference(struct own_check *check, struct word_list *words, const char *const *environment,
                             const char *model, struct error *err);

/* Appends the options that the user has not given and that are defaults of checks that debug tools write: infinities of
 * the same sign, and NaN in both outputs, count as equal. */
void own_check_add_equalities(const struct parse *parse, struct word_list *words);

/* Appends data and comparison to the words, which become the command of `settings` (borrowed). */
void own_check_finish(struct own_check *check, struct check_settings *settings);

/* Adds outputs that are not compared, and NaN in the reference, which equal NaN in a candidate, as not tested. */
void own_check_add_not_tested(const struct own_check *check, const struct comparison_values *comparison,
                              struct result *ret);

void own_check_release(struct own_check *check); /* accepts a zeroed struct */

#endif
