/* debug/check/rules.h: what the user has said about the end of a check, and the verdict that follows from it alone:
 * docs/coming-from-polygraphy.md, "Verdict of a check". */
#ifndef DEBUG_CHECK_RULES_H
#define DEBUG_CHECK_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/process/process.h"
#include "base/text/text.h"
#include "search/search.h"

/* What a check that ran out of time counts as in the lists of exit codes. timeout(1) ends with the same. */
#define CHECK_TIMED_OUT_CODE 124

/* What a check ends with that has found nothing out, unless one of the lists says something else; `git bisect run` has
 * the same. */
#define CHECK_UNTESTABLE_CODE 125

struct exit_codes {
    const int *items; /* -N stands for signal N */
    size_t count;
};

/* Everything is borrowed. */
struct check_rules {
    struct exit_codes fail_codes, ignored_codes, skip_codes; /* skip: says nothing about the candidate */
    struct words fail_patterns;
    enum check_timeout_meaning { TIMEOUT_FAILS, TIMEOUT_PASSES, TIMEOUT_SKIPS } on_timeout;
    double timeout;    /* seconds; 0: none. For the lists above, running out of time is exit code 124 */
    bool auto_timeout; /* `timeout` is 0, and follows from the first run */

    /* Failures that end with another code than the first one are something else, and say nothing. With `by_pattern`
     * those are that match another one of the patterns: the first in their order that is found counts. */
    bool compare_failures, by_pattern;
    bool compare_reasons;   /* with the first: of runs of this program, why the runtime refused the model counts, too */
    bool flaky;             /* the session runs it as often as a verdict needs */
    bool no_false_failures; /* `flaky`: it never fails without the bug */
};

/* A child's end as a single number: its exit code, -N after signal N, CHECK_TIMED_OUT_CODE when it was out of time. */
int check_exit_code(const struct process_result *result);

/* Whether one of the lists of codes says what this one means. */
bool check_rules_name_code(const struct check_rules *rules, int code);

/* Whether the verdict depends on the output at all: a code that is ignored, or not among those that fail, decides
 * alone. */
bool check_rules_need_output(const struct check_rules *rules, int code);

/* The verdict on a check that ended with `code`. `output_matches`: a pattern was found in its output. Running out of
 * time counts as a match, so that only the lists of codes can make a pass of it. */
enum verdict check_rules_verdict(const struct check_rules *rules, int code, bool output_matches);

#endif
