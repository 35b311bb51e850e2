/* cli/parse/parse.h: a parse: what is known of a command line, while its words are assigned to options and afterwards.
 */
#ifndef CLI_PARSE_PARSE_H
#define CLI_PARSE_PARSE_H

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
    bool is_attached;   /* the last occurrence was --name=value */
    const char **words; /* the values so far */
    size_t count, capacity;
};

/* One option where it stands on the command line, in its order. */
struct option_use {
    const struct group_state *state;
    size_t index;     /* into the options of the group */
    const char *name; /* as in option_state */
    const char **words;
    size_t count; /* of the words that were given here */
};

/* One group of the commands named so far. */
struct group_state {
    const struct option_group *group;
    struct option_state *options; /* group->count */
    struct option_state *of_all;  /* the same, while `options` are those of one runner: see runner_place.h */
    bool finished;
};

#define PARSE_MAX_DEPTH 4

struct parse {
    const struct command *path[PARSE_MAX_DEPTH]; /* the commands named so far, the root first */
    size_t depth;
    struct group_state **groups; /* of all commands on the path, each group once */
    size_t group_count;
    struct visible_group {
        struct group_state *state;
        size_t offset; /* of the struct that the group fills, in `settings` */
    } * visible;       /* the groups of the innermost command, in its order */
    size_t visible_count;
    void *settings;          /* of the innermost command */
    struct option_use *uses; /* of the options that take values or have an order: the runners */
    size_t use_count, use_capacity;
    struct option_state unrecognized; /* words that nobody takes */
    struct log *log;
    struct arena arena; /* owns all of the above */
};

/* ---- For commands and for what finishes a group ---- */

/* The name by which an option was given ("--abs-tol"), or NULL when it was not. `name` is any of its names. */
const char *parse_given(const struct parse *parse, const char *name);

/* The last word that was given to an option as its value, else the option's default; NULL when there is neither. `name`
 * is any of its names. */
const char *parse_last_word(const struct parse *parse, const char *name);

/* The word that was given to a positional option of the innermost command, as it was typed; NULL: none. */
const char *parse_positional_word(const struct parse *parse, const char *name);

/* Appends, as typed and separated by commas, those of a NULL-terminated list of options that were given; and those of a
 * group. */
void parse_list_given(const struct parse *parse, const char *const *names, struct string_builder *ret);
void parse_list_given_of_group(const struct parse *parse, const struct option_group *group, struct string_builder *ret);

/* Appends to `ret` what was given of a group, as it can be typed again: names and values, but those of the options in
 * `except` (first names, NULL-terminated; may be NULL). Only options that have values of their own (not ORDERED). */
void parse_add_given_of_group(const struct parse *parse, const struct option_group *group, const char *const *except,
                              struct word_list *ret);

struct arena *parse_arena(struct parse *parse);
struct log *parse_log(struct parse *parse); /* NULL until parse_finish() */

/* The innermost command that was named. */
const struct command *parse_command(const struct parse *parse);

/* ---- Options ---- */

/* An option of the innermost command, and how it was met. */
struct option_match {
    struct group_state *state;
    size_t index;      /* into state->group->options and state->options */
    const char *name;  /* the registered name that matched, in full */
    const char *value; /* what was attached: "x" of --name=x, "vv" of -vvv; NULL: nothing */
};

/* Calls `visit` for every name of every option of the innermost command, until it returns false. */
void option_each_name(const struct parse *parse, bool (*visit)(void *data, struct option_match match), void *data);

/* Finds an option of the innermost command by its exact name, dashes included. */
bool option_find(const struct parse *parse, struct text name, struct option_match *ret);

const struct option *option_of(const struct option_match *match);

/* "-o/--output", as argparse calls an option in messages. Owned by the parse. */
const char *option_title(struct parse *parse, const struct option *option);

bool option_is_positional(const struct option *option);
bool option_takes_values(const struct option *option);

/* The index of `word` among the option's choices; that of the final NULL when it is none of them. */
size_t option_choice(const struct option *option, const char *word);

#endif
