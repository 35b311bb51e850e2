/* debug/check/verdict.h: from the end of a run of the check to its verdict, and what all runs so far have said.
 *
 * Runs are judged one after the other, in an order that does not depend on how many are run at a time: the first
 * failure is what is looked for from then on, and the first run may say how long others may take.
 */
#ifndef DEBUG_CHECK_VERDICT_H
#define DEBUG_CHECK_VERDICT_H

#include "debug/belief/evidence.h"
#include "debug/check/patterns.h"
#include "debug/check/report.h"
#include "debug/check/rules.h"

/* With this exit code a run of this program says that the runtime refused the model, or failed while running it. */
#define CHECK_NOT_RUN_CODE 3

/* How the runs of a check have ended, and what they have said. */
struct check_counts {
    int64_t failed;        /* with the failure that is looked for */
    int64_t other_failure; /* with another one (--signature) */
    int64_t passed;
    int64_t skipped; /* by --skip-code or --on-timeout */

    /* Of all those: */
    int64_t timed_out;
    int64_t signaled; /* ended by a signal, but not by running out of time */
};

/* Whoever runs the check reads it; only the functions here change it. */
struct judge {
    struct check_rules rules; /* with `auto_timeout`, `timeout` is what has followed from the first run */
    struct check_display display;
    bool shell; /* the check is a line of the shell */
    struct log *log;
    struct check_patterns *patterns;
    struct check_counts counts;
    struct check_evidence evidence; /* what runs have written */
    bool unsound; /* the last run said of itself that it cannot tell anything, by a code that the rules do not name */

    /* The failure that is looked for, with `compare_failures`, once there was one: its exit code (`by_pattern`: the
     * number of its pattern, counted from 1; 0 when it ran out of time). With `compare_reasons` also why it was one,
     * where a run of this program has told that (debug/check/failure_reason.h); else "". */
    bool has_failure;
    int failure_code;
    char failure_reason[PROCESS_REASON_SIZE];

    int broken_code; /* see judge_take_broken_code() */
    bool ran;        /* at least once */
    bool hangs;      /* the first failure was to run out of time: so that is what is looked for */
    bool told_of_hangs;
};

/* ERR_INVALID when a pattern is none. */
int judge_init(struct judge *judge, const struct check_rules *rules, const struct check_display *display, bool shell,
               struct log *log, struct error *err);
void judge_release(struct judge *judge);

/* The failure that is looked for is that of an earlier session. */
void judge_expect_failure(struct judge *judge, int code, const char *reason);

/* The verdict on a run, whose end is logged as Polygraphy does. ERR_IO when it may have been in output that was
 * lost. */
int judge_run(struct judge *judge, const struct process_result *result, enum verdict *ret, struct error *err);

/* What that would say now, as far as can be told without a log; nothing is remembered. */
enum verdict judge_foresee(const struct judge *judge, const struct process_result *result);

/* False while the time limit is to follow from a run which has not been judged yet: others should not be run ahead of
 * it. */
bool judge_knows_time_limit(const struct judge *judge);

/* Shells end with code 126 when they cannot execute a program, and with 127 when they do not find it: then the check
 * may have judged nothing. Returns the last such code since this was asked before, unless the rules say what it means;
 * 0: none. */
int judge_take_broken_code(struct judge *judge);

/* Logs all that the last run has written, as an error, unless that was shown. */
void judge_show_hidden_output(struct judge *judge);

int64_t check_counts_runs(const struct check_counts *counts);

/* Logs all of them in one line, when there is more to be told than how many have failed and passed. */
void check_counts_log(const struct check_counts *counts, struct log *log);

#endif
