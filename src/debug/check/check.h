/* debug/check/check.h: the user's check command: a program that looks at a candidate and says whether it is bad.
 *
 * The module debug/check/ runs that command and makes a verdict of its end: check.h runs it, verdict.h says what its
 * end means, words.h where its words name files; what else is here serves these three. Settings and paths come in,
 * verdicts go out. It may use debug/candidate, debug/belief and the layers below debug; it knows neither searches nor
 * models.
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

#include "base/hash.h"
#include "debug/check/verdict.h"
#include "debug/check/words.h"

/* What the command line says; everything is borrowed. */
struct check_settings {
    struct words command;         /* a NULL follows; items is NULL when there is none: interactive */
    bool shell;                   /* the command is a single word, a whole command line for `sh -c` */
    struct words launcher;        /* words in front of the command: `srun -n1` */
    bool has_lists;               /* candidates are lists of what is switched off */
    struct candidate_paths files; /* where a candidate is as a rule. The command may name these paths */
    struct check_rules rules;
    struct check_display display;
    const char *self; /* path of this program: run in place of a `polygraphy` that is not on the path */

    /* This program's main function, for checks that run it: they are forked off a copy that has everything loaded, by
     * self_prepare(). NULL: they are executed. */
    int (*self_main)(int argc, char **argv);
    void (*self_prepare)(void *words); /* the check's, NULL-terminated */

    /* Interactive mode: shows `question` as it is and reads one line, without its line break, to `ret`. ERR_MISSING
     * when there is no more input, ERR_INTERRUPTED after Ctrl-C. */
    int (*ask)(const char *question, struct string_builder *ret, struct error *err);
};

struct check; /* resolved program, what its runs have said */

/* Refuses what would only fail later: a missing or unusable program, an invalid pattern, an empty command. */
int check_new(const struct check_settings *settings, struct log *log, struct check **ret, struct error *err);
void check_free(struct check *check);

bool check_is_interactive(const struct check *check);

/* Its words, and what judges its runs; both live as long as the check. */
const struct check_words *check_words(const struct check *check);
struct judge *check_judge(struct check *check);

/* What one run of the command is about. */
struct check_run {
    struct candidate_paths files; /* where the candidate is */
    int64_t iteration;            /* POLYGRAPHY_ITERATION in its environment; -1: apart from the numbered ones */
    double timeout;               /* seconds; 0: none */
    const int *stop;              /* as in struct process_request; may be NULL */
    bool without_input;           /* it cannot read the standard input, as others run at the same time */
};

/* Logs which command is run, then runs it. Only the latter may be called by several threads at once. The output in
 * `ret`, which is given back with process_result_release(), calls files by their usual paths: the user knows no
 * others, and what is shown must not depend on where a candidate was. */
void check_announce(const struct check *check);
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
