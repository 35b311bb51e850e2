/* comparator/compare/pairing.c: see pairing.h. */
#include "comparator/compare/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/bitset.h"
#include "base/memory.h"
#include "base/text/names.h"

/* Maximum number of names in messages: all tensors of a model may be without a partner. */
enum { MOST_NAMES = 10 };

static void add_lonely(struct lonely *lonely, const char *name)
{
    if (lonely->count < MOST_NAMES)
        name_list_add(&lonely->names, name);
    else if (lonely->count == MOST_NAMES)
        string_add(&lonely->names, ", ...");
    lonely->count++;
}

static const struct named_tensor *find_similar(const struct tensor_list *list, const char *name, size_t position)
{
    for (size_t i = 0; i < list->count; i++) {
        struct text a = text_of(list->items[i].name), b = text_of(name);

        if (text_contains_ignoring_case(a, b) || text_contains_ignoring_case(b, a))
            return &list->items[i];
    }
    return position < list->count ? &list->items[position] : NULL;
}

static bool is_ignored(const char *name, const struct words *ignored)
{
    for (size_t i = 0; i < ignored->count; i++)
        if (name_rule_covers(ignored->items[i], name))
            return true;
    return false;
}

static const struct named_tensor *find_partner(const struct tensor_list *first, const struct tensor_list *second,
                                               size_t position, bool by_name)
{
    const char *name = first->items[position].name;
    const struct named_tensor *partner = tensor_list_find(second, text_of(name));

    if (partner != NULL || by_name)
        return partner;
    partner = find_similar(second, name, position);
    return partner != NULL && tensor_list_find(first, text_of(partner->name)) == NULL ? partner : NULL;
}

void pairing_init(struct pairing *pairing, const struct tensor_list *first, const struct tensor_list *second,
                  bool by_name, const struct words *ignored)
{
    struct bitset paired SCOPED(bitset_release) = {0}; /* positions in `second` */

    *pairing = (struct pairing){0};
    bitset_init(&paired, second->count);
    string_init(&pairing->first_alone.names);
    string_init(&pairing->second_alone.names);
    for (size_t i = 0; i < first->count; i++) {
        const struct named_tensor *partner = find_partner(first, second, i, by_name);

        if (is_ignored(first->items[i].name, ignored))
            continue;
        if (partner != NULL && !is_ignored(partner->name, ignored)) {
            *VECTOR_APPEND(pairing) = (struct output_pair){&first->items[i], partner};
            bitset_add(&paired, (size_t)(partner - second->items));
        } else {
            add_lonely(&pairing->first_alone, first->items[i].name);
        }
    }
    for (size_t i = 0; i < second->count; i++)
        if (!bitset_has(&paired, i) && !is_ignored(second->items[i].name, ignored))
            add_lonely(&pairing->second_alone, second->items[i].name);
}

void pairing_release(struct pairing *pairing)
{
    free(pairing->items);
    string_release(&pairing->first_alone.names);
    string_release(&pairing->second_alone.names);
}

void pairing_part(struct pairing *pairing, const struct output_pair *pair)
{
    add_lonely(&pairing->first_alone, pair->first->name);
    add_lonely(&pairing->second_alone, pair->second->name);
}

bool output_pair_is_exact(const struct output_pair *pair)
{
    return strcmp(pair->first->name, pair->second->name) == 0;
}
