/* debug/check/report.h: log lines about a finished check, and its output. */
#ifndef DEBUG_CHECK_REPORT_H
#define DEBUG_CHECK_REPORT_H

#include "base/log.h"
#include "base/text/string_builder.h"
#include "debug/check/rules.h"

/* A hint is logged if a check without a time limit took longer than this many seconds. */
#define CHECK_LONG_SECONDS 60.0

/* Bytes of the head and of the tail of a long output that are shown. */
#define CHECK_OUTPUT_SHOWN ((size_t)64 << 10)

struct check_display {
    bool show_output; /* also of passing iterations, and never shortened */
    bool hide_fail_output;
};

/* Logs the captured output if requested (the end of a long one, unless `display` or the log level asks for all), and
 * unusual ends of the check: a timeout, a crash that counts as a pass, a very long run. `first_of_shell`: this is the
 * first check of the session, and a shell line. */
void check_report(const struct check_rules *rules, const struct check_display *display,
                  const struct process_result *result, enum verdict verdict, bool first_of_shell, struct log *log);

/* Whether check_report() shows all output of a run with this verdict. */
bool check_report_shows_all(const struct check_display *display, const struct process_result *result,
                            enum verdict verdict, const struct log *log);

/* Appends `output` to `ret`, with bytes that are not text as in string_add_visible(). Of an output longer than twice
 * CHECK_OUTPUT_SHOWN only head and tail are appended, with a line between them that gives the number of missing bytes,
 * including those that were not captured. */
void check_output_render(const struct process_output *output, struct string_builder *ret);

/* Replaces the path `actual` with `usual` in `output`, also where the same folder is spelt in another way. */
void check_output_rename(struct process_output *output, const char *actual, const char *usual);

#endif
