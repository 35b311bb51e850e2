/* cli/debug/own_check.h: the check of a command that compares by itself unless it is given --check: `polygraphy run` of
 * a candidate, compared with a reference that another `polygraphy run` has left in the folder of the command.
 *
 * The command gives the words that run a candidate, makes the reference where one is needed, and finishes the check.
 */
#ifndef CLI_DEBUG_OWN_CHECK_H
#define CLI_DEBUG_OWN_CHECK_H

#include "base/text/text.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/check/check.h"
#include "debug/record/session_lock.h"

struct own_check {
    const struct command_context *context;
    const char *folder;     /* has to be there: for the data and the reference */
    struct word_list words; /* "polygraphy", "run", the candidate and what chooses its runner; then all of the check */
    const char *inputs;     /* that it reads, in the folder; NULL: the user names all that is read */
    struct session_lock lock;
    bool has_begun;
};

/* Begins with the command and its folder. Where a reference is needed the folder is this session's until the release:
 * ERR_EXISTS where another session has it. Release in any case. */
int own_check_begin(const struct command_context *context, const char *folder, struct own_check *ret,
                    struct error *err);

/* True where the command line has a tolerance, or another option of comparisons. */
bool own_check_is_asked_for(const struct parse *parse);

/* Appends the names of the files that it writes to the folder of the command. False where it makes no reference, and so
 * writes none. Needs no typed values. */
bool own_check_list_results(const struct parse *parse, struct word_list *ret);

/* An error where it has, since --check was given too. */
int own_check_refuse(const struct command_context *context, struct error *err);

/* An error where an option of comparisons has a value for an output that the model at `path` does not have: the check
 * would pass over it, with a warning that nobody sees. No error for a model that cannot be read, nor with --check. */
int own_check_refuse_unknown_outputs(const struct command_context *context, const struct comparison_values *comparison,
                                     const char *path, struct error *err);

/* False where --load-outputs gives the reference. */
bool own_check_needs_reference(const struct own_check *check);

/* Runs `words`, which begin with "polygraphy run MODEL", with the options of the data loader after them and with
 * `environment` (NULL-terminated), and keeps what comes in and out. ERR_BACKEND when that run fails; `model` is what
 * the words run, for the error. */
int own_check_make_reference(struct own_check *check, struct word_list *words, const char *const *environment,
                             const char *model, struct error *err);

/* Adds the data and the comparison to the words, and makes them the command of `settings`, which borrows them. */
void own_check_finish(struct own_check *check, struct check_settings *settings);

void own_check_release(struct own_check *check); /* harmless on a zeroed struct */

#endif
