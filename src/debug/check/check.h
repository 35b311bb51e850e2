/* debug/check/check.h: the user's check command and what its end means.
 *
 * The command runs in the user's directory with inherited standard input; a verdict follows from its exit code and,
 * when asked for, from regular expressions (PCRE2) over its output. Without a command the user is asked: interactive
 * mode.
 *
 * Running is parted from judging: several checks can run at a time, of candidates at different paths, while verdicts
 * are given one after the other, in an order that does not depend on that.
 */
#ifndef DEBUG_CHECK_CHECK_H
#define DEBUG_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/process/process.h"
#include "base/text/string_builder.h"
#include "base/text/text.h"
#include "debug/candidate/place.h"
#include "debug/check/counts.h"
#include "debug/check/evidence.h"
#include "search/search.h"

struct exit_codes {
    const int *items; /* -N stands for signal N */
    size_t count;
};

/* What the command line says; everything is borrowed. */
struct check_settings {
    struct words command;         /* a NULL follows; items is NULL when there is none: interactive */
    bool shell;                   /* the command is a single word, a whole command line for `sh -c` */
    struct words launcher;        /* words in front of the command: `srun -n1` */
    struct candidate_paths files; /* where a candidate is as a rule. The command may name these paths */
    struct exit_codes fail_codes, ignored_codes, skip_codes; /* skip: says nothing about the candidate */
    struct words fail_patterns;
    enum check_timeout_meaning { TIMEOUT_FAILS, TIMEOUT_PASSES, TIMEOUT_SKIPS } on_timeout;
    /* Failures that end with another code than the first one are something else, and say nothing. With `by_pattern`
     * those are that match another one of the patterns: the first in their order that is found counts. */
    bool compare_failures, by_pattern;
    bool compare_reasons;   /* with the first: of runs of this program, why the runtime refused the model counts, too */
    bool flaky;             /* the loop runs it as often as a verdict needs */
    bool no_false_failures; /* `flaky`: it never fails without the bug */
    bool show_output;       /* also of passing iterations */
    bool hide_fail_output;
    double timeout;    /* seconds; 0: none. For the lists above, running out of time is exit code 124 */
    bool auto_timeout; /* `timeout` is 0, and follows from the first run */
    const char *self;  /* path of this program: run in place of a `polygraphy` that is not on the path */
    /* This program's main function, for checks that run it: they are forked off a copy that has everything loaded, by
     * self_prepare(). NULL: they are executed. */
    int (*self_main)(int argc, char **argv);
    void (*self_prepare)(void *words); /* the check's, NULL-terminated */

    /* Interactive mode: shows `question` as it is and reads one line, without its line break, to `ret`. ERR_MISSING
     * when there is no more input, ERR_INTERRUPTED after Ctrl-C. */
    int (*ask)(const char *question, struct string_builder *ret, struct error *err);
};

/* With this exit code a run of this program says that the runtime refused the model, or failed while running it. */
#define CHECK_NOT_RUN_CODE 3

struct check; /* compiled patterns, resolved program */

/* Refuses what would only fail later: a missing or unusable program, an invalid pattern, an empty command. */
int check_new(const struct check_settings *settings, struct log *log, struct check **ret, struct error *err);
void check_free(struct check *check);

bool check_is_interactive(const struct check *check);

/* With `compare_failures`: the exit code that failures have (`by_pattern`: the number of their pattern, counted from 1;
 * 0 for those that ran out of time), once there was one; and what it was in an earlier session. */
bool check_failure_code(const struct check *check, int *ret);
void check_set_failure_code(struct check *check, int code);

/* With `compare_reasons`: why the first failure was one, where a run of this program has told that
 * (debug/check/failure_reason.h); else "". */
const char *check_failure_reason(const struct check *check);
void check_set_failure_reason(struct check *check, const char *reason);

/* What one run of the command is about. */
struct check_run {
    struct candidate_paths files; /* where the candidate is */
    int64_t iteration;            /* POLYGRAPHY_ITERATION in its environment; -1: apart from the numbered ones */
    double timeout;               /* seconds; 0: none */
    const int *stop;              /* as in struct process_request; may be NULL */
    bool without_input;           /* it cannot read the standard input, as others run at the same time */
};

/* How long a run may take now, in seconds; 0: any time. */
double check_time_limit(const struct check *check);

/* False while that is to follow from a run which has not been judged yet: others should not be run ahead of it. */
bool check_knows_time_limit(const struct check *check);

/* True when the command names this file of a candidate, so that it can be elsewhere than at its usual path; and how
 * commands name it there: "{artifact}". */
bool check_mentions(const struct check *check, enum candidate_file file);

/* True when the name of this file, without its folder, occurs in the command. */
bool check_mentions_path(const struct check *check, const char *path);
const char *check_placeholder(enum candidate_file file);

/* Whether this process runs inside of a check, as the command itself or as a child of it. Every check has
 * POLYGRAPHY_ITERATION in its environment, and POLYGRAPHY_ARTIFACT where there is a candidate. */
bool check_is_around_us(void);

/* False when neither the command nor a script that it names says how it gets to the candidate: by path, {artifact} or
 * POLYGRAPHY_ARTIFACT. It may do so all the same, by a program that looks into its environment. */
bool check_tells_of_artifact(const struct check *check);

/* Watches the files that the command names: vital are those that --load-inputs and --load-outputs read. What it
 * replaces itself, by the look of the word before, is left out, also where it reads that afterwards. */
void check_watch_files(const struct check *check, struct watched_files *ret);

/* Logs which command is run, then runs it. Only the latter may be called by several threads at once. What `ret` holds
 * is given back with process_result_release(). */
void check_announce(struct check *check);
int check_execute(const struct check *check, const struct check_run *run, struct process_result *ret,
                  struct error *err);

/* The verdict on a run, whose end is logged as Polygraphy does. Its output then calls the files by their usual
 * paths. */
int check_judge(struct check *check, const struct check_run *run, struct process_result *result, enum verdict *ret,
                struct error *err);

/* What the runs that were judged have said, and how they ended. */
const struct check_counts *check_counts(const struct check *check);

/* What they have written. */
const struct check_evidence *check_evidence(const struct check *check);

/* Logs all that the last run has written, as an error, unless that was shown. */
void check_show_hidden_output(struct check *check);

/* Runs since `before` was copied do not count for what all runs have in common: they were about something else than
 * candidates. */
void check_leave_out_evidence(struct check *check, const struct check_evidence *before);

/* Shells end with code 126 when they cannot execute a program, and with 127 when they do not find it: then the check
 * may have judged nothing. Returns the last such code since this was asked before, unless the settings say what it
 * means; 0: none. */
int check_take_broken_code(struct check *check);

/* True when the last run said of itself that it cannot tell anything, by a code that the settings do not name. */
bool check_is_unsound(const struct check *check);

/* Sets `err` to say that the check does not work: that code came from the original. `worked_before`: it did in the
 * beginning. */
int check_refuse_broken(const struct check *check, int code, bool worked_before, struct error *err);

/* What check_judge() would say now, as far as can be told without a log; nothing is remembered. */
enum verdict check_foresee(const struct check *check, const struct process_result *result);

/* Asks the user about `subject` (NULL: 'this iteration'), when there is no command. */
int check_ask(struct check *check, const char *subject, enum verdict *ret, struct error *err);

/* Identifies command and verdict rules; the same for the same words in every directory. */
struct hash check_hash(const struct check *check);

#endif
