/* cli/debug/passes_result.h: what `debug passes` has found, for the log, for other programs and for the page. */
#ifndef CLI_DEBUG_PASSES_RESULT_H
#define CLI_DEBUG_PASSES_RESULT_H

#include "debug/passes/passes.h"
#include "debug/passes/rewritten.h"
#include "format/json/writer.h"
#include "report/report.h"

/* Everything is borrowed. */
struct passes_report {
    struct words decisions;
    const struct passes_result *result;
    bool knows_nodes; /* what follows is known */
    struct rewritten_nodes nodes;
    const char *with_path, *without_path; /* the model as it is rewritten with nothing, and with the cause, off */
};

/* The cause, what it rests on, which nodes it replaces by which, and how it is switched off for good. */
void passes_result_log(const struct passes_report *report, struct log *log);

/* The same for the page; NULL: there is none. */
void passes_result_tell(const struct passes_report *report, struct report *page);

/* For debug_report_save(): members of an object. `data` is a struct passes_report. */
void passes_result_write(const void *data, struct json_writer *writer);

#endif
