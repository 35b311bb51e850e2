/* search/search.c: see search.h. */
#include "search/search.h"

static void copy_search_state(void *search, const void *from)
{
    *(struct repetition *)search = *(const struct repetition *)from;
}

static void release_search_state(void *search)
{
    (void)search;
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
    .copy = copy_search_state,
    .release = release_search_state,
    .advance = advance_search_state,
};
