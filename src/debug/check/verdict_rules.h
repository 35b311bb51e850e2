/* debug/check/verdict_rules.h: what the end of a check means. */
#ifndef DEBUG_CHECK_VERDICT_RULES_H
#define DEBUG_CHECK_VERDICT_RULES_H

#include "base/process/process.h"
#include "debug/check/check.h"

/* What a check that ran out of time counts as in the lists of exit codes. timeout(1) ends with the same. */
#define CHECK_TIMED_OUT_CODE 124

/* What a check ends with that has found nothing out, unless one of the lists says something else; `git bisect run` has
 * the same. */
#define CHECK_UNTESTABLE_CODE 125

/* A child's end as a single number: its exit code, -N after signal N, CHECK_TIMED_OUT_CODE when it was out of time. */
int verdict_exit_code(const struct process_result *result);

/* Whether one of the lists of codes says what this one means. */
bool verdict_names_code(const struct check_settings *rules, int code);

/* Whether the verdict depends on the output at all: a code that is ignored, or not among those that fail, decides
 * alone. */
bool verdict_needs_output(const struct check_settings *rules, int code);

/* The verdict on a check that ended with `code`. `output_matches`: a pattern was found in its output. Running out of
 * time counts as a match, so that only the lists of codes can make a pass of it. */
enum verdict verdict_from_end(const struct check_settings *rules, int code, bool output_matches);

#endif
