/* cli/debug/quantization/search.h: the second half of `debug quantization`: the search for the quantizers to leave out,
 * when the options say what a failure is.
 */
#ifndef CLI_DEBUG_QUANTIZATION_SEARCH_H
#define CLI_DEBUG_QUANTIZATION_SEARCH_H

#include "cli/debug/own_check.h"
#include "cli/debug/quantization/lists.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/quantization/search.h"
#include "debug/quantization/table.h"
#include "report/result.h"

/* In the order of --emit's choices. */
enum quantization_emit { EMIT_ONNX, EMIT_LEFT_OUT, EMIT_LISTS };

struct debug_quantization_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct comparison_values comparison;

    /* its own */
    const char *float_model;
    const char *folder;          /* of the search, -o */
    enum quantization_emit emit; /* what its answer is written as */
};

extern const struct option_group quantization_search_options; /* fills all of it */

/* Whether there is a check, or a tolerance: else there is nothing to search for. */
bool quantization_search_is_wanted(const struct command_context *context,
                                   const struct debug_quantization_settings *settings);

struct quantization_session {
    const struct command_context *context;
    const struct debug_quantization_settings *settings;
    const struct quantization_subject *subject;
    const char *model_path, *float_path;      /* the latter may be NULL */
    struct session_settings session_settings; /* as debug_session_settings() gives them */

    struct debug_session *session;  /* NULL before the search */
    struct own_check check;         /* of this tool, unless the user has one */
    struct quantizer_range *ranges; /* of each quantizer, what the table has seen of its values */
    struct quantization_answer answer;
    struct quantizer_lists lists;
    const char *repaired, *lists_path; /* files; NULL: there are none */
};

/* Runs the search in the order of the table, and leaves the repaired model and the lists in the folder. To be
 * released, also after an error. */
int quantization_session_run(struct quantization_session *command, const struct quantization_table *table,
                             struct error *err);
void quantization_session_release(struct quantization_session *command);

/* True when the check was seen to fail with all quantizers in place, and to pass without some. */
bool quantization_session_has_found(const struct quantization_session *command);

/* The answer. */
void quantization_session_fill(const struct quantization_session *command, struct result *ret);

#endif
