/* base/text/named_values.c: see named_values.h. */
#include "base/text/named_values.h"

#include "base/text/names.h"

double named_number_find(const struct named_numbers *list, const char *name, double fallback)
{
    const struct named_number *item = name_rule_find(list->items, list->count, sizeof(*item), name);

    return item ? item->value : fallback;
}

bool named_number_is_integer(const struct named_numbers *list, const char *name)
{
    const struct named_number *item = name_rule_find(list->items, list->count, sizeof(*item), name);

    return item != NULL && item->is_integer;
}

int64_t named_integer_find(const struct named_integers *list, const char *name, int64_t fallback)
{
    const struct named_integer *item = name_rule_find(list->items, list->count, sizeof(*item), name);

    return item ? item->value : fallback;
}

const char *named_word_find(const struct named_words *list, const char *name, const char *fallback)
{
    const struct named_word *item = name_rule_find(list->items, list->count, sizeof(*item), name);

    return item ? item->value : fallback;
}
