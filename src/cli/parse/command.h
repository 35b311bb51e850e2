/* cli/parse/command.h: what a command is: a table, then the work.
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
 *       .groups = groups, .group_count = ARRAY_LEN(groups),
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

/* What main() hands to a command. */
struct command_context {
    const struct parse *parse; /* what was typed, for messages */
    struct log *log;
    struct log_sink *sink;           /* for what is no log line: log_sink_print() */
    const char *const *command_line; /* every word as typed, the program's name first, NULL-terminated */
    const char *program;             /* path of this program's file; NULL when unknown */
    struct progress_line *progress;  /* for those whose work takes long; may be NULL */
    struct junit *junit;             /* gets what was tested (format/ci/junit.h); NULL: --junit was not given */
    int (*main)(int argc, char **argv);
};

/* A command of Polygraphy's that is not here, what to do instead, and the heading that tells more
 * (FROM_POLYGRAPHY()). */
struct missing_command {
    const char *name, *instead, *topic;
};

struct command {
    const char *name;                   /* as typed */
    const char *summary;                /* one line for the list of commands */
    const char *description;            /* what it is good for: paragraphs, separated by blank lines */
    const char *example;                /* command lines that teach, one per line, for the end of --help */
    const struct command_group *groups; /* in the order in which they are checked and shown */
    size_t group_count;
    size_t settings_size; /* of the struct that the groups fill */

    /* Names of the options that --help shows, in this order, behind the words without a name; ends with NULL. It then
     * shows the first paragraph of the description, too; the rest is in --help-all. NULL: --help shows everything. */
    const char *const *essential;
    const struct command *const *subcommands; /* when not NULL the first positional word names one of these */
    size_t subcommand_count;
    const struct missing_command *missing; /* ends with a name that is NULL; NULL: there are none */
    bool exact_names;                      /* long options may not be abbreviated */
    bool framed;                           /* log a line when it starts (RUNNING) and when it ends (PASSED or FAILED) */

    /* Does the work with the command's settings, a struct of `settings_size`. Returns the exit status (0: success, 1:
     * the work was done, with a bad result), or a negative error code with `err` filled: the message is printed and the
     * exit status is 1 (inside of a check: by its kind, see cli/frame.h). After ERR_INTERRUPTED the process ends by the
     * signal that came, without the message. */
    int (*run)(const struct command_context *context, const void *settings, struct error *err);
};

/* The members `settings_size` and `run` of a command whose function is `int function(const struct command_context *,
 * const type *, struct error *)`: the second one has the compiler check that, behind the function. */
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
