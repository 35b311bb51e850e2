/* cli/debug/quantization/search.h: the search of `debug quantization` for the quantizers to disable, if the options
 * define a failure. */
#ifndef CLI_DEBUG_QUANTIZATION_SEARCH_H
#define CLI_DEBUG_QUANTIZATION_SEARCH_H

#include "cli/debug/other_data.h"
#include "cli/debug/quantization/lists.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/quantization/repair.h"
#include "debug/quantization/search.h"
#include "debug/quantization/table.h"
#include "report/result.h"

/* In the order of --emit's choices. */
enum quantization_emit { EMIT_ONNX, EMIT_LEFT_OUT, EMIT_LISTS };

struct debug_quantization_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct comparison_values comparison;

    /* own options */
    const char *float_model;
    const char *folder;          /* of the search: -o */
    enum quantization_emit emit; /* form of its answer */
};

extern const struct option_group quantization_search_options; /* fills the whole struct */

/* Whether there is a check or a tolerance: without one there is no search. */
bool quantization_search_is_wanted(const struct command_context *context,
                                   const struct debug_quantization_settings *settings);

struct quantization_session {
    const struct command_context *context;
    const struct debug_quantization_settings *settings;
    const struct quantization_subject *subject;
    const struct quantization_study *study;   /* its loader has data */
    const char *model_path, *float_path;      /* the latter may be NULL */
    struct session_settings session_settings; /* from debug_session_settings() */

    struct debug_session *session;  /* NULL before the search */
    struct own_check check;         /* the default check, unless --check is given */
    struct quantizer_range *ranges; /* of each quantizer, from the table */
    struct quantization_answer answer;
    struct quantizer_lists lists;
    struct repair_measures repair;
    struct other_data other;           /* the answer with other data */
    const char *repaired, *lists_path; /* files; NULL: none */
};

/* Runs the search in the order of the table, and writes the repaired model and the lists to the folder. Release also
 * after an error. */
int quantization_session_run(struct quantization_session *command, struct quantization_table *table, struct error *err);
void quantization_session_release(struct quantization_session *command);

/* Whether the check fails with all quantizers enabled, and passes with some disabled. */
bool quantization_session_has_found(const struct quantization_session *command);

/* Whether the answer is in doubt: the repaired model fails with other data, or may be no improvement: it is not nearer
 * to the reference that the check compares with, or that reference may have a wrong scale. */
bool quantization_session_is_in_doubt(const struct quantization_session *command);

/* The answer. */
void quantization_session_fill(const struct quantization_session *command, struct result *ret);

#endif
