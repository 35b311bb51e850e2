/* cli/debug/passes/result.h: what `debug passes` has found, for the log, for other programs and for the page. */
#ifndef CLI_DEBUG_PASSES_RESULT_H
#define CLI_DEBUG_PASSES_RESULT_H

#include "cli/debug/passes/reduction.h"
#include "cli/debug/passes/runner.h"
#include "debug/passes/passes.h"
#include "format/json/writer.h"
#include "report/report.h"

/* Everything is borrowed. */
struct passes_report {
    struct words decisions;
    struct words not_tried; /* that stay on, as nothing can be run without them and these */
    const struct passes_result *result;
    bool is_own_reference; /* what is compared with is the model itself, with all of them off */
    bool saturates;        /* of the subject */
    int64_t checks;        /* that were run */
    bool checked_twice;    /* among them a second one of all that shows the cause */
    struct rewriting rewriting;
    struct remedies remedies;
    const struct passes_reduction *reductions; /* one for each set of culprits; NULL: none was asked for */
};

/* The cause, what it rests on, which nodes it replaces by which, and how it is switched off for good. */
void passes_result_log(const struct passes_report *report, struct log *log);

/* The same for the page; NULL: there is none. `model` is the one without what was found, and is drawn with what it
 * becomes around the nodes; NULL: none is. */
void passes_result_tell(const struct passes_report *report, struct model *model, struct report *page);

/* For debug_report_save(): members of an object. `data` is a struct passes_report. */
void passes_result_write(const void *data, struct json_writer *writer);

#endif
