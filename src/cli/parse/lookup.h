/* cli/parse/lookup.h: what a word of the command line is: an option of the command being parsed, or a value. */
#ifndef CLI_PARSE_LOOKUP_H
#define CLI_PARSE_LOOKUP_H

#include "base/text/text.h"
#include "cli/parse/parser.h"

/* An option of the innermost command, and how it was met. */
struct option_match {
    struct group_state *state;
    size_t index;      /* into state->group->options and state->options */
    const char *name;  /* the registered name that matched, in full */
    const char *value; /* what was attached: "x" of --name=x, "vv" of -vvv; NULL: nothing */
};

enum word_class {
    WORD_VALUE,     /* no option: a value, or a positional word */
    WORD_OPTION,    /* `ret` is filled */
    WORD_UNKNOWN,   /* looks like an option, but is none */
    WORD_AMBIGUOUS, /* the beginning of several options; `err` is filled */
    WORD_DASHES,    /* -- */
};

enum word_class word_classify(const struct parse *parse, const char *word, struct option_match *ret, struct error *err);

/* Finds an option of the innermost command by its exact name, dashes included. */
bool option_find(const struct parse *parse, struct text name, struct option_match *ret);

const struct option *option_of(const struct option_match *match);

/* "-o/--output", as argparse calls an option in messages. Owned by the parse. */
const char *option_title(struct parse *parse, const struct option *option);

bool option_is_positional(const struct option *option);

/* The index of `word` among the option's choices; that of the final NULL when it is none of them. */
size_t option_choice(const struct option *option, const char *word);

/* The name among the innermost command's options and subcommands that `word` may have been meant to be; NULL: none is
 * close enough. */
const char *option_suggest(const struct parse *parse, const char *word);

#endif
