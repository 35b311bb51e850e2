/* base/text/names.h: names of tensors, nodes and options as users type them: lists of them, rules for some of them, and
 * those that somebody may have meant, for messages about a name that does not exist. */
#ifndef BASE_TEXT_NAMES_H
#define BASE_TEXT_NAMES_H

#include "base/text/string_builder.h"

/* In front of a name that is one of a list of things to do without: there may be nothing of that name. */
#define NAME_MAY_MISS '?'

/* Adds a name to a list for messages: "'a', 'b'", as between the brackets of a Python list. */
void name_list_add(struct string_builder *list, const char *name);

/* A list of which a message tells the first few: "'a', 'b' and 3 more". */
struct short_list {
    struct string_builder *text; /* what it is added to */
    size_t most;                 /* that are told */
    size_t count;                /* of all that are in it */
};

/* Counts one more. True: it is told, what parts it from the one before is there already, and the caller adds it. */
bool short_list_next(struct short_list *list);
void short_list_add(struct short_list *list, const char *name); /* with string_add_quoted() */
void short_list_end(struct short_list *list);

/* The rule for `name` among `count` structs of `item_size` bytes whose first member is a `const char *`: the one with
 * just this name; else the first one whose name is a pattern that matches (see text_matches_pattern()); else the one
 * with the empty name; else NULL. */
const void *name_rule_find(const void *items, size_t count, size_t item_size, const char *name);

/* Whether a rule called `rule` can be meant for `name`: it is empty, or equal, or a pattern that matches. */
bool name_rule_covers(const char *rule, const char *name);

/* The number of letters to insert, remove, replace or swap with their neighbour to get from one name to the other. Of
 * names of more than 200 bytes only the beginnings count. */
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

/* Offers a name, whose memory has to outlive `names`. The same one may be offered several times. */
void close_names_offer(struct close_names *names, struct text name);

/* Appends "; did you mean 'a', 'b' or 'c'?", or nothing when no offered name was close. */
void close_names_add_to(const struct close_names *names, struct string_builder *ret);

#endif
