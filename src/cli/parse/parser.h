/* cli/parse/parser.h: conversion of a command line into typed values, by the rules of Python's argparse.
 *
 * The module cli/parse/ parses command lines: option.h and command.h are the tables of options and commands, parser.h
 * assigns words to options, parse.h is the state of a parse, value.h reads values, help.h shows the tables. It does not
 * depend on any command; it uses base, and tensor and onnx for types of values.
 *
 * Parsing has two steps, because logging options must be in effect before other options log warnings:
 *
 *   parse_init(&parse, &root); switch (parse_words(&parse, argc - 1, argv + 1, err)) ... parse_finish_group(&parse,
 *   &logging_options, err); parse_finish(&parse, log, err); parse.settings is then complete, for the command's `run`
 *
 * The rules in short: long options as `--name value` or `--name=value`, clusters of short flags, positional words
 * anywhere, and only positional words after `--`. An option with one or more values consumes all following words that
 * are not options; `--name=value` gives it exactly one. Negative numbers are values. The last occurrence wins unless
 * the option appends values. A long name may be abbreviated to an unambiguous prefix, unless the command requires exact
 * names. Options of a command with subcommands may precede the subcommand's name, and are combined with those after it.
 */
#ifndef CLI_PARSE_PARSER_H
#define CLI_PARSE_PARSER_H

#include "cli/parse/parse.h"

#define HELP_ALL_NAME "--help-all"

enum parse_outcome {
    PARSE_DONE,
    PARSE_HELP,         /* -h, --help or --help-all was given: show the help of parse_command() */
    PARSE_VERSION,      /* -v or --version directly after the program's name */
    PARSE_REFUSED,      /* invalid; show `err` after a usage line, exit status 2 */
    PARSE_UNRECOGNIZED, /* unrecognised words, which `err` lists with a suggestion; exit status 1 */
};

void parse_init(struct parse *parse, const struct command *root);
void parse_release(struct parse *parse);

/* Assigns the words (without the program's name; they must outlive the parse) to options. Call once. */
enum parse_outcome parse_words(struct parse *parse, size_t count, const char *const *words, struct error *err);

/* Makes the named subcommand the innermost command, as if it had been typed, for callers without a command line. Fails
 * with ERR_INVALID or ERR_UNSUPPORTED if it does not exist. */
int parse_enter_subcommand(struct parse *parse, const char *word, struct error *err);

/* What the word after an unfinished command line can be. */
struct parse_place {
    struct option_match option; /* consumes the word unless it is an option; `state` is NULL if no option does */
    bool no_option;             /* true if true if the word cannot be an option */
    size_t command; /* index of the first word of a nested command line to which the word belongs, or SIZE_MAX */
};

/* Assigns the words of an unfinished command line, and ignores errors and missing words. For completion, instead of
 * parse_words(). */
void parse_words_so_far(struct parse *parse, size_t count, const char *const *words, struct parse_place *ret);

/* Converts and validates the values of one group, once: later calls do nothing. */
int parse_finish_group(struct parse *parse, const struct option_group *group, struct error *err);

/* Converts the values of one group again, into a zeroed struct of the type that the group fills. */
int parse_fill_group(struct parse *parse, const struct option_group *group, void *values, struct error *err);

/* parse_finish_group() for all groups in the order of the command's table. Warnings go to `log`. */
int parse_finish(struct parse *parse, struct log *log, struct error *err);

#endif
