/* search/sets/set_isolation.c: see set_isolation.h. */
#include "search/sets/set_isolation.h"

/* Proposes the found elements and the first `prefix` elements. */
static void propose_element_prefix(struct set_isolation *search, size_t prefix)
{
    bitset_assign(&search->candidate, &search->found);
    for (size_t i = 0; i < prefix; i++)
        bitset_add(&search->candidate, i);
}

static bool finish_isolation(struct set_isolation *search)
{
    search->phase = ISOLATION_DONE;
    return false;
}

static bool check_necessity(struct set_isolation *search)
{
    bitset_fill(&search->candidate);
    bitset_subtract(&search->candidate, &search->found);
    search->phase = ISOLATION_NECESSARY;
    search->without = VERDICT_PASS;
    search->necessary = true;
    /* the set is everything, and the empty set is known to pass */
    if (bitset_next(&search->candidate, 0) == search->count)
        return finish_isolation(search);
    return true;
}

/* The last element found is needed: the set passed without it. Tries to remove all others. */
static bool delete_next(struct set_isolation *search)
{
    size_t element = bitset_next(&search->found, search->next_delete);

    if (element == search->last_found)
        element = bitset_next(&search->found, element + 1);
    if (element >= search->count || bitset_count(&search->found) == 1) /* the empty set is known to pass */
        return check_necessity(search);
    search->phase = ISOLATION_DELETE;
    search->next_delete = element;
    bitset_assign(&search->candidate, &search->found);
    bitset_remove(&search->candidate, element);
    return true;
}

/* Halves the difference; if it is one element, that element changes the verdict. */
static bool narrow_difference(struct set_isolation *search)
{
    if (search->high - search->low > 1) {
        search->phase = ISOLATION_NARROW;
        propose_element_prefix(search, search->low + (search->high - search->low) / 2);
        return true;
    }
    search->last_found = search->high - 1;
    bitset_add(&search->found, search->last_found);
    if (search->low == 0) { /* the failing set contains no other elements */
        search->next_delete = 0;
        return delete_next(search);
    }
    search->phase = ISOLATION_ALONE;
    bitset_assign(&search->candidate, &search->found);
    return true;
}

bool set_isolation_start(struct set_isolation *search, size_t count)
{
    *search = (struct set_isolation){.count = count, .high = count};
    bitset_init(&search->candidate, count);
    bitset_init(&search->found, count);
    return narrow_difference(search);
}

static bool advance_isolation(void *data, int64_t nodes, enum verdict verdict)
{
    struct set_isolation *search = data;
    bool fails = verdict == VERDICT_FAIL;

    (void)nodes;
    search->checks++;
    switch (search->phase) {
    case ISOLATION_NARROW: {
        size_t middle = search->low + (search->high - search->low) / 2;

        *(fails ? &search->high : &search->low) = middle;
        return narrow_difference(search);
    }
    case ISOLATION_ALONE:
        if (fails) {
            search->next_delete = 0;
            return delete_next(search);
        }
        search->high = search->last_found; /* it failed with these */
        search->low = 0;
        return narrow_difference(search);
    case ISOLATION_DELETE:
        if (fails) { /* earlier passes were for a larger set */
            bitset_remove(&search->found, search->next_delete);
            search->next_delete = 0;
            search->last_found = search->count;
        } else {
            search->next_delete++;
        }
        return delete_next(search);
    case ISOLATION_NECESSARY:
        search->without = verdict;
        search->necessary = verdict == VERDICT_PASS;
        return finish_isolation(search);
    case ISOLATION_DONE:
        break;
    }
    return false;
}

static int64_t count_set_halvings(size_t count)
{
    int64_t ret = 0;

    while (((size_t)1 << ret) < count)
        ret++;
    return ret;
}

static int64_t count_isolation_remaining(const void *data)
{
    const struct set_isolation *search = data;

    switch (search->phase) {
    case ISOLATION_NARROW: /* then ALONE, then NECESSARY */
        return count_set_halvings(search->high - search->low) + 2;
    case ISOLATION_ALONE:
        return 2;
    case ISOLATION_DELETE:
        return (int64_t)bitset_count(&search->found);
    case ISOLATION_NECESSARY:
        return 1;
    case ISOLATION_DONE:
        break;
    }
    return 0;
}

const struct search_ops set_isolation_ops = {
    .size = sizeof(struct set_isolation),
    SEARCH_SETS(struct set_isolation, candidate, found),
    .advance = advance_isolation,
    .remaining = count_isolation_remaining,
};
