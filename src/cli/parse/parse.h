/* cli/parse/parse.h: a parse: the state of a command line while its words are assigned to options, and afterwards.
 */
#ifndef CLI_PARSE_PARSE_H
#define CLI_PARSE_PARSE_H

#include "base/container/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text/string_builder.h"
#include "cli/parse/option.h"

struct command;

/* The state of one option. */
struct option_state {
    const char *name; /* the registered name that was used last; NULL: the option was not given */
    int occurrences;
    bool is_attached;   /* the last occurrence was --name=value */
    const char **words; /* the values so far */
    size_t count, capacity;
};

/* One occurrence of an option, in the order of the command line. */
struct option_use {
    const struct group_state *state;
    size_t index;     /* into the options of the group */
    const char *name; /* registered name, as in option_state */
    const char **words;
    size_t count; /* number of words in this occurrence */
};

/* A group of the commands named so far. */
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
    struct group_state **groups; /* groups of all commands on the path, each once */
    size_t group_count;
    struct visible_group {
        struct group_state *state;
        size_t offset; /* offset of the struct that the group fills, in `settings` */
    } * visible;       /* the groups of the innermost command, in its order */
    size_t visible_count;
    void *settings;          /* of the innermost command */
    struct option_use *uses; /* occurrences of options with values or with an order (the runners) */
    size_t use_count, use_capacity;
    struct option_state unrecognized; /* words that no option accepts */
    struct log *log;
    struct arena arena; /* owns all memory of the members above */
};

/* ---- For commands and for `finish` functions of groups ---- */

/* The name with which an option was given ("--abs-tol"), or NULL if it was not given. `name` is any of its names. */
const char *parse_given(const struct parse *parse, const char *name);

/* The last word given as an option's value, or the option's default; NULL without either. `name` is any of its
 * names. */
const char *parse_last_word(const struct parse *parse, const char *name);

/* The word of a positional option of the innermost command, as typed, or NULL. */
const char *parse_positional_word(const struct parse *parse, const char *name);

/* Append the given options of a NULL-terminated list, or of a group, as typed and separated by commas. */
void parse_list_given(const struct parse *parse, const char *const *names, struct string_builder *ret);
void parse_list_given_of_group(const struct parse *parse, const struct option_group *group, struct string_builder *ret);

/* Appends the given options of a group to `ret` as words of a command line: names and values, without the options in
 * `except` (first names, NULL-terminated; may be NULL) and without ORDERED options. */
void parse_add_given_of_group(const struct parse *parse, const struct option_group *group, const char *const *except,
                              struct word_list *ret);

struct arena *parse_arena(struct parse *parse);
struct log *parse_log(struct parse *parse); /* NULL until parse_finish() */

/* The innermost command that was named. */
const struct command *parse_command(const struct parse *parse);

/* ---- Options ---- */

/* An option of the innermost command, and how it was spelled. */
struct option_match {
    struct group_state *state;
    size_t index;      /* index into state->group->options and state->options */
    const char *name;  /* the registered name that matched, in full */
    const char *value; /* attached text: "x" of --name=x, "vv" of -vvv; NULL: none */
};

/* Calls `visit` for every name of every option of the innermost command, until it returns false. */
void option_each_name(const struct parse *parse, bool (*visit)(void *data, struct option_match match), void *data);

/* Finds an option of the innermost command by its exact name, dashes included. */
bool option_find(const struct parse *parse, struct text name, struct option_match *ret);

const struct option *option_of(const struct option_match *match);

/* "-o/--output", argparse's form of an option in messages. Owned by the parse. */
const char *option_title(struct parse *parse, const struct option *option);

bool option_is_positional(const struct option *option);
bool option_takes_values(const struct option *option);

/* The index of `word` among the option's choices, or the index of the final NULL if it is not one of them. */
size_t option_choice(const struct option *option, const char *word);

#endif
