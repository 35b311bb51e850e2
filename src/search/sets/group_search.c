/* search/sets/group_search.c: see group_search.h. */
#include "search/sets/group_search.h"

/* Proposes all elements except these. */
static void propose_without(struct group_search *search, const struct bitset *left_out, enum group_phase phase)
{
    bitset_fill(&search->candidate);
    bitset_subtract(&search->candidate, left_out);
    search->phase = phase;
}

static bool finish_group_search(struct group_search *search)
{
    search->phase = GROUP_DONE;
    return false;
}

/* Proposes the next unknown elements. */
static bool propose_chunk(struct group_search *search)
{
    size_t left = search->suspect > 0 ? (search->suspect + 1) / 2 : search->chunk;

    search->phase = GROUP_CHUNKS;
    bitset_clear(&search->candidate);
    for (size_t i = bitset_next(&search->open, 0); i < search->count && left > 0;
         i = bitset_next(&search->open, i + 1), left--)
        bitset_add(&search->candidate, i);
    if (bitset_count(&search->candidate) > 0)
        return true;
    search->exact = bitset_equal(&search->guilty, &search->group);
    if (search->exact) /* the first check was the same */
        return finish_group_search(search);
    propose_without(search, &search->guilty, GROUP_WITHOUT_GUILTY);
    return true;
}

static bool learn_of_chunk(struct group_search *search, bool fails)
{
    size_t size = bitset_count(&search->candidate);

    if (fails && size > 1) {
        search->suspect = size;
        return propose_chunk(search);
    }
    bitset_subtract(&search->open, &search->candidate);
    if (fails)
        bitset_unite(&search->guilty, &search->candidate);
    search->chunk = fails ? 1 : 2 * size;
    search->suspect = fails || search->suspect < size ? 0 : search->suspect - size;
    return propose_chunk(search);
}

void group_search_start(struct group_search *search, const struct bitset *group, size_t failing)
{
    *search = (struct group_search){.count = group->size, .chunk = 1};
    bitset_init(&search->candidate, group->size);
    bitset_init_copy(&search->group, group);
    bitset_init(&search->guilty, group->size);
    bitset_init(&search->open, group->size);
    if (failing < group->size) {
        bitset_assign(&search->open, group);
        bitset_remove(&search->open, failing);
        bitset_add(&search->guilty, failing);
    }
    propose_without(search, group, GROUP_WITHOUT_ALL);
}

static bool advance_group_search(void *data, int64_t nodes, enum verdict verdict)
{
    struct group_search *search = data;

    (void)nodes;
    switch (search->phase) {
    case GROUP_WITHOUT_ALL:
        search->without = verdict;
        search->cures = verdict == VERDICT_PASS;
        return search->cures && bitset_count(&search->guilty) > 0 ? propose_chunk(search) : finish_group_search(search);
    case GROUP_CHUNKS:
        return learn_of_chunk(search, verdict == VERDICT_FAIL);
    case GROUP_WITHOUT_GUILTY:
        search->exact = verdict == VERDICT_PASS;
        return finish_group_search(search);
    case GROUP_DONE:
        break;
    }
    return false;
}

/* Assumes that all remaining elements are faulty. */
static int64_t count_group_remaining(const void *data)
{
    const struct group_search *search = data;

    if (search->phase == GROUP_DONE)
        return 0;
    return 1 + (search->phase == GROUP_WITHOUT_GUILTY ? 0 : (int64_t)bitset_count(&search->open));
}

const struct search_ops group_search_ops = {
    .size = sizeof(struct group_search),
    SEARCH_SETS(struct group_search, candidate, open),
    .advance = advance_group_search,
    .remaining = count_group_remaining,
};
