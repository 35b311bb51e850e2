/* debug/check.h: the user's check command and what its end means (spec, behaviour 3).
 *
 * The command runs in the user's directory with inherited standard input; a verdict follows from its exit code and, when
 * asked for, from regular expressions (PCRE2) over its output. Without a command the user is asked: interactive mode.
 */
#ifndef DEBUG_CHECK_H
#define DEBUG_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/string_builder.h"
#include "search/verdict.h"

/* What the command line says; everything is borrowed. */
struct check_settings {
    const char *const *command; /* words, NULL-terminated; NULL: interactive */
    size_t command_count;
    bool shell; /* command[0] is a whole command line for `sh -c` */
    const int *fail_codes;
    size_t fail_code_count;
    const int *ignored_codes; /* --ignore-fail-code */
    size_t ignored_code_count;
    const char *const *fail_patterns; /* --fail-regex */
    size_t fail_pattern_count;
    const int *skip_codes; /* --skip-code: says nothing about the candidate */
    size_t skip_code_count;
    enum check_timeout_meaning { TIMEOUT_FAILS, TIMEOUT_PASSES, TIMEOUT_SKIPS } on_timeout;
    /* Failures that end with another code than the first one are something else, and say nothing. */
    bool compare_failures;
    bool flaky;             /* the loop runs it as often as a verdict needs */
    bool no_false_failures; /* `flaky`: it never fails without the bug */
    bool show_output;       /* also of passing iterations */
    bool hide_fail_output;
    double timeout;   /* seconds; 0: none. For the lists above, running out of time is exit code 124 */
    const char *self; /* path of this program: run in place of a `polygraphy` that is not on the path */
    /* This program's main function, for checks that run it: they are forked off a copy that has everything loaded, by
     * self_prepare(). NULL: they are executed. */
    int (*self_main)(int argc, char **argv);
    void (*self_prepare)(void *words); /* the check's, NULL-terminated */

    /* Interactive mode: shows `question` as it is and reads one line, without its line break, to `ret`. ERR_MISSING when
     * there is no more input, ERR_INTERRUPTED after Ctrl-C. */
    int (*ask)(const char *question, struct string_builder *ret, struct error *err);
};

struct check; /* compiled patterns, resolved program */

/* Refuses what would only fail later: a missing or unusable program, an invalid pattern, an empty command. */
int check_new(const struct check_settings *settings, struct log *log, struct check **ret, struct error *err);
void check_free(struct check *check);

bool check_is_interactive(const struct check *check);

/* With `compare_failures`: the exit code that failures have, once there was one; and what it was in an earlier session. */
bool check_failure_code(const struct check *check, int *ret);
void check_set_failure_code(struct check *check, int code);

/* Runs the command (or asks about `subject`, NULL: 'this iteration') and logs as Polygraphy does. `environment` holds
 * "NAME=value" to add, NULL-terminated, or is NULL. */
int check_run(struct check *check, const char *subject, const char *const *environment, enum verdict *ret,
              struct error *err);

/* Identifies command and verdict rules; the same for the same words in every directory. */
struct hash check_hash(const struct check *check);

#endif
