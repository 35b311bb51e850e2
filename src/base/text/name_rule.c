/* base/text/name_rule.c: see name_rule.h. */
#include "base/text/name_rule.h"

#include <string.h>

#include "base/text/text.h"

const void *name_rule_find(const void *items, size_t count, size_t item_size, const char *name)
{
    const char *item = items;
    const void *matching = NULL, *unnamed = NULL;

    for (size_t i = 0; i < count; i++, item += item_size) {
        const char *rule = *(const char *const *)(const void *)item;

        if (strcmp(rule, name) == 0)
            return item;
        if (rule[0] == '\0')
            unnamed = item;
        else if (matching == NULL && text_matches_pattern(text_of(name), text_of(rule)))
            matching = item;
    }
    return matching != NULL ? matching : unnamed;
}

bool name_rule_covers(const char *rule, const char *name)
{
    return rule[0] == '\0' || strcmp(rule, name) == 0 || text_matches_pattern(text_of(name), text_of(rule));
}
