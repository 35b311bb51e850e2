/* debug/check/report.h: what the log says about a check that has ended, and shows of what it wrote. */
#ifndef DEBUG_CHECK_REPORT_H
#define DEBUG_CHECK_REPORT_H

#include "base/log.h"
#include "base/text/string_builder.h"
#include "debug/check/rules.h"

/* A check without a time limit that took longer than this many seconds is worth a hint. */
#define CHECK_LONG_SECONDS 60.0

/* How much of either end of a long output is shown, in bytes. */
#define CHECK_OUTPUT_SHOWN ((size_t)64 << 10)

struct check_display {
    bool show_output; /* also of passing iterations, and all of it, however long it is */
    bool hide_fail_output;
};

/* Shows the captured output if it is wanted (of a long one the end, unless `display` or the log's level asks for all),
 * and what is odd about the end of the check: that it ran out of time, that its crash counts as a pass, that it took
 * very long. `first_of_shell`: it is the first check of this session, and a line of the shell. */
void check_report(const struct check_rules *rules, const struct check_display *display,
                  const struct process_result *result, enum verdict verdict, bool first_of_shell, struct log *log);

/* Whether check_report() shows all output of a run with this verdict. */
bool check_report_shows_all(const struct check_display *display, const struct process_result *result,
                            enum verdict verdict, const struct log *log);

/* Appends `output` to `ret`. What is no text is shown as string_add_visible() does. Of an output longer than twice
 * CHECK_OUTPUT_SHOWN only both ends appear, with a line between them that says how much is missing, of what was not
 * even kept, too. */
void check_output_render(const struct process_output *output, struct string_builder *ret);

/* Replaces the path `actual` by `usual` wherever it is in `output`, also where the same folder is spelt in another
 * way. */
void check_output_rename(struct process_output *output, const char *actual, const char *usual);

#endif
