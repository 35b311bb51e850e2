/* cli/parse/command.h: a command: its tables of options, and the function that does its work.
 *
 *   struct debug_tool_settings {
 *       struct debug_values debug;
 *   };
 *
 *   static const struct command_group groups[] = {
 *       COMMAND_GROUP(struct debug_tool_settings, debug.common.logging, logging_options),
 *       COMMAND_GROUP(struct debug_tool_settings, debug, check_options),
 *   };
 *
 *   const struct command cmd_debug_repeat = {
 *       .name = "repeat",
 *       .summary = "run a command repeatedly and sort its artifacts into good and bad",
 *       COMMAND_GROUPS(groups),
 *       .exact_names = true, .framed = true,
 *       COMMAND_RUN(debug_repeat_run),
 *   };
 */
#ifndef CLI_PARSE_COMMAND_H
#define CLI_PARSE_COMMAND_H

#include "base/log.h"
#include "cli/parse/option.h"
#include "cli/parse/parse.h"

struct log_sink;
struct progress_line;
struct junit;

/* What main() passes to a command. */
struct command_context {
    const struct parse *parse; /* the command line, for messages */
    struct log *log;
    struct log_sink *sink;           /* for output that is not a log line: log_sink_print() */
    const char *const *command_line; /* all words as typed, the program's name first, NULL-terminated */
    const char *program;             /* path of this program's file; NULL when unknown */
    struct progress_line *progress;  /* for commands that run long; may be NULL */
    struct junit *junit;             /* receives the test cases (format/ci/junit.h); NULL: --junit was not given */
    int (*main)(int argc, char **argv);
};

/* A command of Polygraphy that is not supported, the alternative, and the heading that explains it
 * (FROM_POLYGRAPHY()). */
struct missing_command {
    const char *name, *instead, *topic;
};

struct command {
    const char *name;                   /* as typed */
    const char *summary;                /* one line for the list of commands */
    const char *description;            /* purpose and use: paragraphs, separated by blank lines */
    const char *example;                /* example command lines, one per line, at the end of --help */
    const struct command_group *groups; /* in the order in which they are checked and shown */
    size_t group_count;
    size_t settings_size; /* size of the struct that the groups fill */

    /* Names of the options that --help shows, separated by blanks, in this order, after the positional words, with the
     * first paragraph of the description. --help-all shows everything. NULL: --help does, too. */
    const char *essential;
    const struct command *const *subcommands; /* if not NULL, the first positional word names one of these */
    size_t subcommand_count;
    const struct missing_command *missing; /* the last one has a NULL name; NULL: no commands */
    bool exact_names;                      /* long options may not be abbreviated */
    bool framed;                           /* log a line when it starts (RUNNING) and when it ends (PASSED or FAILED) */

    /* Does the work with the command's settings, a struct of `settings_size` bytes. Returns the exit status (0:
     * success, 1: completed with a negative result), or a negative error code with `err` filled: the message is printed
     * and the exit status is 1 (inside a check: by the kind of the error, see cli/frame.h). After ERR_INTERRUPTED the
     * process terminates by the received signal, without the message. */
    int (*run)(const struct command_context *context, const void *settings, struct error *err);
};

/* The members `groups` and `group_count` of a command with these groups. */
#define COMMAND_GROUPS(list) .groups = (list), .group_count = ARRAY_LEN(list)

/* The members `settings_size` and `run` of a command whose function is `int function(const struct command_context *,
 * const type *, struct error *)`. The second macro follows the function and makes the compiler check its type. */
#define COMMAND_RUN(function) .settings_size = function##_settings_size, .run = function##_untyped
#define DEFINE_COMMAND_RUN(function, type)                                                                             \
    enum { function##_settings_size = sizeof(type) };                                                                  \
    static int function##_untyped(const struct command_context *context, const void *settings, struct error *err)      \
    {                                                                                                                  \
        const type *typed = settings;                                                                                  \
                                                                                                                       \
        return function(context, typed, err);                                                                          \
    }

#endif
