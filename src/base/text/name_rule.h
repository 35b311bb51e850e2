/* base/text/name_rule.h: what holds for a name, where rules are given for names, for patterns, and for all the rest. */
#ifndef BASE_TEXT_NAME_RULE_H
#define BASE_TEXT_NAME_RULE_H

#include <stdbool.h>
#include <stddef.h>

/* The rule for `name` among `count` structs of `item_size` bytes whose first member is a `const char *`: the one with
 * just this name; else the first one whose name is a pattern that matches (see text_matches_pattern()); else the one
 * with the empty name; else NULL. */
const void *name_rule_find(const void *items, size_t count, size_t item_size, const char *name);

/* Whether a rule called `rule` can be meant for `name`: it is empty, or equal, or a pattern that matches. */
bool name_rule_covers(const char *rule, const char *name);

#endif
