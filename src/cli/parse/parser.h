/* cli/parse/parser.h: from the words of a command line to typed values, by the rules of Python's argparse.
 *
 * The module cli/parse/ makes typed values of words: tables (option.h, command.h) say what may be typed, parser.h
 * assigns words to them, parse.h is what is known then, value.h reads the values, help.h shows the tables. It knows no
 * command, and uses base, tensor and onnx for the forms that values have.
 *
 * Parsing has two steps, because the logging options have to be in effect before anything is said about the others:
 *
 *   parse_init(&parse, &root);
 *   switch (parse_words(&parse, argc - 1, argv + 1, err)) ...
 *   parse_finish_group(&parse, &logging_options, err);
 *   parse_finish(&parse, log, err);
 *   parse.settings is then what the command runs with
 *
 * The rules in short: long options with `--name value` or `--name=value`, clusters of short flags, positional words
 * anywhere, `--` makes everything after it positional. An option with one or more values takes all following words that
 * are not options; `--name=value` gives it exactly one. Negative numbers are values. The last occurrence wins unless
 * values are said to add up. An unambiguous beginning of a long name will do, unless the command wants exact names.
 * Options of a command that has subcommands may stand before the subcommand's name and add up with those after it.
 */
#ifndef CLI_PARSE_PARSER_H
#define CLI_PARSE_PARSER_H

#include "cli/parse/parse.h"

#define HELP_ALL_NAME "--help-all"

enum parse_outcome {
    PARSE_DONE,
    PARSE_HELP,         /* -h, --help or --help-all was met: help about parse_command() is wanted */
    PARSE_VERSION,      /* -v or --version directly after the program's name */
    PARSE_REFUSED,      /* `err` says why; to be shown under a usage line, exit status 2 */
    PARSE_UNRECOGNIZED, /* `err` lists what nobody knows, with a suggestion; exit status 1 */
};

void parse_init(struct parse *parse, const struct command *root);
void parse_release(struct parse *parse);

/* Assigns the words (without the program's name; they have to outlive the parse) to options. Call once. */
enum parse_outcome parse_words(struct parse *parse, size_t count, const char *const *words, struct error *err);

/* Goes down to the subcommand that the word names, as if it had been typed: for those who ask about a command without a
 * command line. ERR_INVALID or ERR_UNSUPPORTED when there is none. */
int parse_enter_subcommand(struct parse *parse, const char *word, struct error *err);

/* What a word can be that stands behind those of an unfinished command line. */
struct parse_place {
    struct option_match option; /* takes the word, unless it is an option itself; `state` is NULL when none does */
    bool no_option;             /* the word cannot be an option */
    size_t command; /* the word belongs to a command line of its own, whose first word this is, or it is that
                                   word: an index into the words, or SIZE_MAX */
};

/* Assigns the words of an unfinished command line as far as they can be assigned, whatever is wrong with them or
 * missing. Takes the place of parse_words(). */
void parse_words_so_far(struct parse *parse, size_t count, const char *const *words, struct parse_place *ret);

/* Converts the values of one group and lets it check them, unless that was done before. */
int parse_finish_group(struct parse *parse, const struct option_group *group, struct error *err);

/* Converts the values of one group once more, into a zeroed struct of the kind that the group fills. */
int parse_fill_group(struct parse *parse, const struct option_group *group, void *values, struct error *err);

/* parse_finish_group() for all groups in the order of the command's table. Warnings go to `log`. */
int parse_finish(struct parse *parse, struct log *log, struct error *err);

#endif
