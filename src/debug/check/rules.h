/* debug/check/rules.h: the options for verdicts, and the verdict on one run: docs/coming-from-polygraphy.md, "Verdict
 * of a check". */
#ifndef DEBUG_CHECK_RULES_H
#define DEBUG_CHECK_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/process/process.h"
#include "base/text/text.h"
#include "search/search.h"

/* Exit code of a check that timed out, for the lists of exit codes; the same as that of timeout(1). */
#define CHECK_TIMED_OUT_CODE 124

/* Exit code of an inconclusive check, unless one of the lists has it; the same as for `git bisect run`. */
#define CHECK_UNTESTABLE_CODE 125

struct exit_codes {
    const int *items; /* -N stands for signal N */
    size_t count;
};

/* All pointers are borrowed. */
struct check_rules {
    struct exit_codes fail_codes, ignored_codes, skip_codes; /* skip: inconclusive */
    struct words fail_patterns;
    enum check_timeout_meaning { TIMEOUT_FAILS, TIMEOUT_PASSES, TIMEOUT_SKIPS } on_timeout;
    double timeout;    /* seconds; 0: none. In the lists above a timeout is exit code 124 */
    bool auto_timeout; /* `timeout` is 0, and follows from the first run */

    /* Failures with another exit code than the first one are inconclusive. With `by_pattern` those that match another
     * pattern are: the first pattern in their order that matches counts. */
    bool compare_failures, by_pattern;
    bool compare_reasons;   /* with the first: the runtime's reason for rejecting the model counts, too, in runs of this
                             * program */
    bool flaky;             /* the session repeats the check until the verdict is certain */
    bool no_false_failures; /* `flaky`: the check never fails without the bug */
};

/* How a child terminated as a single number: its exit code, -N after signal N, CHECK_TIMED_OUT_CODE after a timeout. */
int check_exit_code(const struct process_result *result);

/* Whether one of the lists contains this code. */
bool check_rules_name_code(const struct check_rules *rules, int code);

/* Whether the verdict depends on the output: a code that is ignored, or not among the failing ones, decides alone. */
bool check_rules_need_output(const struct check_rules *rules, int code);

/* The verdict on a check that exited with `code`. `output_matches`: a pattern matched its output. A timeout counts as a
 * match, so that only the lists of codes can turn it into a pass. */
enum verdict check_rules_verdict(const struct check_rules *rules, int code, bool output_matches);

#endif
