/* debug/check/check.h: the user's check: a command that decides whether a candidate passes.
 *
 * The module debug/check/ runs that command and derives a verdict: check.h runs it, verdict.h judges a run, words.h
 * finds file names in its arguments; the other files serve these three. Inputs: settings and paths. Outputs: verdicts.
 * It may use debug/candidate, debug/belief and the layers below debug; it knows neither searches nor models.
 *
 * The command runs in the current directory with inherited standard input; the verdict follows from its exit code and,
 * with --fail-regex, from regular expressions (PCRE2) over its output. Without a command the user is asked (interactive
 * mode).
 *
 * Running is separate from judging: checks of candidates at different paths can run in parallel, while verdicts are
 * given one after the other, in an order that does not depend on that.
 */
#ifndef DEBUG_CHECK_CHECK_H
#define DEBUG_CHECK_CHECK_H

#include "base/hash.h"
#include "debug/check/verdict.h"
#include "debug/check/words.h"

/* Options of the command line. All pointers are borrowed. */
struct check_settings {
    struct words command;         /* a NULL follows; items is NULL when there is none: interactive */
    int caller;                   /* a socket (caller.h): the command is only a name, in log and replay; 0: none */
    bool shell;                   /* the command is a single word, a whole command line for `sh -c` */
    struct words launcher;        /* words in front of the command: `srun -n1` */
    bool has_lists;               /* candidates are lists of what to disable */
    const char *variable;         /* of the environment, with the path of the candidate; NULL: none but the usual one */
    struct candidate_paths files; /* default paths of a candidate, which the command may name */
    struct check_rules rules;
    struct check_display display;
    const char *self; /* path of this program: executed as `polygraphy` if the PATH has none */

    /* This program's main function, for checks that run it: they are forked off a process in which self_prepare() has
     * loaded the libraries. NULL: they are executed. */
    int (*self_main)(int argc, char **argv);
    void (*self_prepare)(void *words); /* the check's, NULL-terminated */

    /* Interactive mode: shows `question` as it is and reads one line, without its line break, to `ret`. ERR_MISSING
     * when there is no more input, ERR_INTERRUPTED after Ctrl-C. */
    int (*ask)(const char *question, struct string_builder *ret, struct error *err);
};

struct check; /* the resolved program and the results of its runs */

/* Fails early on a missing or unusable program, an invalid pattern, or an empty command. */
int check_new(const struct check_settings *settings, struct log *log, struct check **ret, struct error *err);
void check_free(struct check *check);

bool check_is_interactive(const struct check *check);

/* Arguments of the check, and the judge of its runs; both valid until check_free(). */
const struct check_words *check_words(const struct check *check);
struct judge *check_judge(struct check *check);

/* Arguments of one run of the command. */
struct check_run {
    struct candidate_paths files; /* paths of the candidate */
    int64_t iteration;            /* POLYGRAPHY_ITERATION in its environment; -1: not a numbered iteration */
    double timeout;               /* seconds; 0: none */
    const int *stop;              /* as in struct process_request; may be NULL */
    bool without_input;           /* no standard input, because checks run in parallel */
};

/* Logs which command is run (if candidates are lists, with a short list in its environment and its words), then runs
 * it. Only the latter may be called by several threads at once. The output in
 * `ret`, which is given back with process_result_release(), calls files by their usual paths: the user knows no
 * others, and what is shown must not depend on where a candidate was. */
void check_announce(const struct check *check, const struct check_run *run);
int check_execute(const struct check *check, const struct check_run *run, struct process_result *ret,
                  struct error *err);

/* Asks the user whether `subject` (NULL: 'this iteration') passed or failed, when there is no command, until an answer
 * begins with p or f. */
int check_ask(const struct check *check, const char *subject, enum verdict *ret, struct error *err);

/* Sets `err` to say that the check does not work: that code came from the original. `worked_before`: it did in the
 * beginning. */
int check_refuse_broken(const struct check *check, int code, bool worked_before, struct error *err);

/* Whether this process runs inside of a check, as the command itself or as a child of it. Every check has
 * POLYGRAPHY_ITERATION in its environment, and POLYGRAPHY_ARTIFACT where there is a candidate. */
bool check_is_around_us(void);

/* Identifies command and verdict rules; the same for the same words in every directory. */
struct hash check_hash(const struct check *check);

#endif
