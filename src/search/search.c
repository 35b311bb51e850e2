/* search/search.c: see search.h. */
#include "search/search.h"

#include <string.h>

#include "base/container/bitset.h"

void search_copy(const struct search_ops *ops, void *search, const void *from)
{
    const struct bitset *sets = (const void *)((const char *)from + ops->sets);
    struct bitset *copies = (void *)((char *)search + ops->sets);

    if (ops->copy != NULL) {
        ops->copy(search, from);
        return;
    }
    memcpy(search, from, ops->size);
    for (size_t i = 0; i < ops->set_count; i++)
        bitset_init_copy(&copies[i], &sets[i]);
}

void search_release(const struct search_ops *ops, void *search)
{
    struct bitset *sets = (void *)((char *)search + ops->sets);

    if (ops->release != NULL)
        ops->release(search);
    for (size_t i = 0; i < ops->set_count; i++)
        bitset_release(&sets[i]);
    memset(search, 0, ops->size);
}

static bool advance_search_state(void *search, int64_t nodes, enum verdict verdict)
{
    struct repetition *repetition = search;

    (void)nodes;
    repetition->index++;
    switch (repetition->end) {
    case ENDS_BY_PASS:
        return verdict != VERDICT_PASS;
    case ENDS_BY_FAILURE:
        return verdict != VERDICT_FAIL;
    case ENDS_BY_ITSELF:
        break;
    }
    return repetition->index < repetition->count;
}

const struct search_ops repetition_ops = {
    .size = sizeof(struct repetition),
    .advance = advance_search_state,
};
