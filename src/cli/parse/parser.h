/* cli/parse/parser.h: from the words of a command line to typed values, by the rules of Python's argparse.
 *
 * Parsing has two steps, because the logging options have to be in effect before anything is said about the others:
 *
 *   parse_init(&parse, &root);
 *   switch (parse_words(&parse, argc - 1, argv + 1, err)) ...
 *   parse_finish_group(&parse, &logging_options, err);
 *   parse_finish(&parse, log, err);
 *   const struct loop_settings *loop = PARSE_VALUES(&parse, struct loop_settings);
 *
 * The rules in short: long options with `--name value` or `--name=value`, clusters of short flags, positional words
 * anywhere, `--` makes everything after it positional. An option with one or more values takes all following words that
 * are not options; `--name=value` gives it exactly one. Negative numbers are values. The last occurrence wins unless
 * values are said to add up. An unambiguous beginning of a long name will do, unless the command wants exact names.
 * Options of a command that has subcommands may stand before the subcommand's name and add up with those after it.
 */
#ifndef CLI_PARSE_PARSER_H
#define CLI_PARSE_PARSER_H

#include "base/container/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text/string_builder.h"
#include "cli/parse/option.h"

struct command;

/* What the command line said about one option. */
struct option_state {
    const char *name; /* the registered name that was used last; NULL: the option was not given */
    int occurrences;
    const char **words; /* the values so far */
    size_t count, capacity;
};

/* One group of the commands named so far. */
struct group_state {
    const struct option_group *group;
    struct option_state *options; /* group->count */
    bool finished;
};

/* A struct that options fill. */
struct parsed_values {
    const char *type; /* "struct check_settings" */
    void *values;
    struct parsed_values *next;
};

#define PARSE_MAX_DEPTH 4

struct parse {
    const struct command *path[PARSE_MAX_DEPTH]; /* the commands named so far, the root first */
    size_t depth;
    struct group_state **groups; /* of all commands on the path, each group once */
    size_t group_count;
    size_t *visible; /* indices of the groups of the innermost command, in its order */
    size_t visible_count;
    struct parsed_values *values;
    struct option_state unrecognized; /* words that nobody takes */
    struct log *log;
    struct arena arena; /* owns all of the above */
};

enum parse_outcome {
    PARSE_DONE,
    PARSE_HELP,         /* -h or --help was met: help about parse_command() is wanted */
    PARSE_VERSION,      /* -v or --version directly after the program's name */
    PARSE_REFUSED,      /* `err` says why; to be shown under a usage line, exit status 2 */
    PARSE_UNRECOGNIZED, /* `err` lists what nobody knows, with a suggestion; exit status 1 */
};

void parse_init(struct parse *parse, const struct command *root);
void parse_release(struct parse *parse);

/* Assigns the words (without the program's name; they have to outlive the parse) to options. Call once. */
enum parse_outcome parse_words(struct parse *parse, size_t count, const char *const *words, struct error *err);

/* The innermost command that was named. */
const struct command *parse_command(const struct parse *parse);

/* "polygraphy debug reduce"; owned by the parse. */
const char *parse_command_name(struct parse *parse);

/* Converts the values of one group and lets it check them, unless that was done before. */
int parse_finish_group(struct parse *parse, const struct option_group *group, struct error *err);

/* The same for all groups in the order of the command's table. Warnings go to `log`. */
int parse_finish(struct parse *parse, struct log *log, struct error *err);

/* The struct of this type that options have filled, or NULL when the command has none that do: a `type *`. It belongs
 * to the parse; only what finishes a group changes it. */
#define PARSE_VALUES(parse, type) ((type *)parse_values_of((parse), #type))
void *parse_values_of(const struct parse *parse, const char *type);

/* The name by which an option was given ("--abs-tol"), or NULL when it was not. `name` is any of its names. */
const char *parse_given(const struct parse *parse, const char *name);

/* The last word that was given to an option as its value, else the option's default; NULL when there is neither. `name`
 * is any of its names. */
const char *parse_last_word(const struct parse *parse, const char *name);

/* Appends, as typed and separated by commas, those of a NULL-terminated list of options that were given; and those of a
 * group. */
void parse_list_given(const struct parse *parse, const char *const *names, struct string_builder *ret);
void parse_list_given_of_group(const struct parse *parse, const struct option_group *group, struct string_builder *ret);

struct arena *parse_arena(struct parse *parse);
struct log *parse_log(struct parse *parse); /* NULL until parse_finish() */

#endif
