/* debug/check/verdict.h: the verdict on a run of the check, and counts of all runs so far.
 *
 * Runs are judged one after the other, in an order that does not depend on how many run in parallel: the first failure
 * defines the failure that is searched for, and the first run may set the time limit of the others.
 */
#ifndef DEBUG_CHECK_VERDICT_H
#define DEBUG_CHECK_VERDICT_H

#include "debug/belief/evidence.h"
#include "debug/check/patterns.h"
#include "debug/check/report.h"
#include "debug/check/rules.h"

/* Exit code of this program if the runtime rejects the model or fails while running it. */
#define CHECK_NOT_RUN_CODE 3

/* How the runs of a check terminated, and their verdicts. */
struct check_counts {
    int64_t failed;        /* with the failure that is searched for */
    int64_t other_failure; /* with another one (--signature) */
    int64_t passed;
    int64_t skipped; /* by --skip-code or --on-timeout */

    /* Among all of these: */
    int64_t timed_out;
    int64_t signaled; /* killed by a signal, timeouts excluded */
};

/* Read-only outside of verdict.c. */
struct judge {
    struct check_rules rules; /* with `auto_timeout`, `timeout` is set by the first run */
    struct check_display display;
    bool shell; /* the check is a shell line */
    struct log *log;
    struct check_patterns *patterns;
    struct check_counts counts;
    struct check_evidence evidence; /* output of the runs */
    bool unsound;                   /* the last run was inconclusive by an exit code that the rules do not list */

    /* With `compare_failures`, after the first failure: the failure that is searched for: its exit code (`by_pattern`:
     * the number of its pattern, from 1; 0 for a timeout). With `compare_reasons` also its reason, if a run of this
     * program reported one (debug/check/failure_reason.h); else "". */
    bool has_failure;
    int failure_code;
    char failure_reason[PROCESS_REASON_SIZE];

    int broken_code; /* see judge_take_broken_code() */
    bool ran;        /* at least once */
    bool hangs;      /* the first failure was a timeout, so the search is for timeouts */
    bool told_of_hangs;
};

/* ERR_INVALID if a pattern is not valid. */
int judge_init(struct judge *judge, const struct check_rules *rules, const struct check_display *display, bool shell,
               struct log *log, struct error *err);
void judge_release(struct judge *judge);

/* Sets the failure that is searched for to that of an earlier session. */
void judge_expect_failure(struct judge *judge, int code, const char *reason);

/* The verdict on a run, which is logged as Polygraphy does. ERR_IO if the verdict may depend on output that was lost.
 * */
int judge_run(struct judge *judge, const struct process_result *result, enum verdict *ret, struct error *err);

/* The verdict on a candidate that could not be built, for which the check did not run: as on a check whose runtime
 * rejects the model (CHECK_NOT_RUN_CODE) for the reason in `why`. A failure only if it is the one that is searched for;
 * otherwise inconclusive, which is logged. */
enum verdict judge_unmade(struct judge *judge, const struct error *why);

/* The verdict that judge_run() would give now, without a log and without changing the judge. */
enum verdict judge_foresee(const struct judge *judge, const struct process_result *result);

/* False while the time limit depends on a run that has not been judged yet: no other check should start before. */
bool judge_knows_time_limit(const struct judge *judge);

/* Shells exit with code 126 if they cannot execute a program, and with 127 if they do not find it: the check may not
 * have run. Returns the last such code since the previous call, unless the rules list that code; 0: none. */
int judge_take_broken_code(struct judge *judge);

/* Logs the whole output of the last run as an error, unless the log has shown it. */
void judge_show_hidden_output(struct judge *judge);

int64_t check_counts_runs(const struct check_counts *counts);

/* Logs the counts in one line if there are others than failures and passes. */
void check_counts_log(const struct check_counts *counts, struct log *log);

#endif
