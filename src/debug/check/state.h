/* debug/check/state.h: a check, as the files of debug/check see it. */
#ifndef DEBUG_CHECK_STATE_H
#define DEBUG_CHECK_STATE_H

#include "base/process/fork_server.h"
#include "debug/check/check.h"
#include "debug/check/patterns.h"

struct check {
    struct check_settings settings;
    struct log *log;
    struct check_patterns *patterns;
    char *program;          /* what is executed; NULL when interactive */
    const char **arguments; /* NULL-terminated; files have their usual paths */
    size_t argument_count;
    char *command_line;         /* for the log */
    char *search_path;          /* "PATH=..." that leads to this program as `polygraphy`; NULL: not needed */
    struct fork_server *server; /* or NULL */
    const char **server_words;  /* what it runs: the words of `arguments`, or those of a shell's plain command */
    size_t server_word_count;
    char *server_text;     /* of the latter */
    bool ran;              /* at least once */
    bool has_failure_code; /* with settings.compare_failures */
    int failure_code;
    char failure_reason[PROCESS_REASON_SIZE]; /* "": any */
    int broken_code;                          /* see check_take_broken_code() */
    struct check_counts counts;
    struct check_evidence evidence;
    bool unsound; /* see check_is_unsound() */
    bool hangs;   /* the first failure was to run out of time: so that is what is looked for */
    bool told_of_hangs;
};

#endif
