/* cli/parse/lookup.h: what a word of the command line is: an option of the command being parsed, or a value. */
#ifndef CLI_PARSE_LOOKUP_H
#define CLI_PARSE_LOOKUP_H

#include "cli/parse/parse.h"

enum word_class {
    WORD_VALUE,     /* not an option: a value, or a positional word */
    WORD_OPTION,    /* `ret` is filled */
    WORD_UNKNOWN,   /* has the form of an option, but is unknown */
    WORD_AMBIGUOUS, /* an ambiguous prefix of several options; `err` is filled */
    WORD_DASHES,    /* -- */
};

enum word_class word_classify(const struct parse *parse, const char *word, struct option_match *ret, struct error *err);

/* The name among the innermost command's options and subcommands that is closest to `word`, or NULL if none is close
 * enough. */
const char *option_suggest(const struct parse *parse, const char *word);

/* "polygraphy debug reduce"; owned by the parse. */
const char *parse_command_name(struct parse *parse);

#endif
