/* base/text/names.h: names of tensors, nodes and options: lists of names for messages, rules by name or pattern, and
 * suggestions for misspelled names. */
#ifndef BASE_TEXT_NAMES_H
#define BASE_TEXT_NAMES_H

#include "base/text/string_builder.h"

/* Prefix of an optional entry in a list of excluded names: it is no error if nothing has that name. */
#define NAME_MAY_MISS '?'

/* Adds a name to a list for messages: "'a', 'b'", as between the brackets of a Python list. */
void name_list_add(struct string_builder *list, const char *name);

/* A list of names for messages, which prints only the first ones: "'a', 'b' and 3 more". */
struct short_list {
    struct string_builder *text; /* receives the list */
    size_t most;                 /* names printed */
    size_t count;                /* of all names, printed or not */
};

/* Counts one more name. True: the caller appends the name; the separator has been appended already. */
bool short_list_next(struct short_list *list);
void short_list_add(struct short_list *list, const char *name); /* with string_add_quoted() */
void short_list_end(struct short_list *list);

/* The rule for `name` among `count` structs of `item_size` bytes whose first member is a `const char *`: the one with
 * just this name; else the first one whose name is a pattern that matches (see text_matches_pattern()); else the one
 * with the empty name; else NULL. */
const void *name_rule_find(const void *items, size_t count, size_t item_size, const char *name);

/* Whether the rule `rule` applies to `name`: it is empty, equal, or a pattern that matches. */
bool name_rule_covers(const char *rule, const char *name);

/* The edit distance of two names: letters to insert, remove, replace or swap with their neighbour (optimal string
 * alignment). Only the first 200 bytes of each name are compared. */
size_t name_distance(struct text a, struct text b);

#define CLOSE_NAMES_LIMIT 3

struct close_names {
    struct text wanted;
    struct {
        struct text name;
        size_t distance; /* name_distance() */
    } best[CLOSE_NAMES_LIMIT];
    size_t count;
};

void close_names_start(struct close_names *names, struct text wanted);

/* Adds a name as a candidate; it is not copied and must outlive `names`. The same name may be added several times. */
void close_names_offer(struct close_names *names, struct text name);

/* Appends "; did you mean 'a', 'b' or 'c'?", or nothing if no name is close. */
void close_names_add_to(const struct close_names *names, struct string_builder *ret);

#endif
