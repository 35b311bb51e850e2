/* search/sets/precision_search.c: see precision_search.h. */
#include "search/sets/precision_search.h"

/* Chunks of at most this size are not halved after a round in which none could be removed. On random sets with
 * accumulating errors this saves a third of all checks. */
#define SHORT_CHUNK 16

static int64_t larger_count(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller_number(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t count_halvings(int64_t distance)
{
    int64_t ret = 0;

    while (((int64_t)1 << ret) < distance)
        ret++;
    return ret;
}

static bool end_search(struct precision_search *search, enum precision_outcome outcome)
{
    search->outcome = outcome;
    return false;
}

/* ---- Prefixes ---- */

static bool propose_layer_prefix(struct precision_search *search, int64_t length)
{
    search->next = length;
    bitset_clear(&search->candidate);
    for (int64_t i = 0; i < length; i++)
        bitset_add(&search->candidate, (size_t)i);
    return true;
}

static bool end_with_good(struct precision_search *search)
{
    if (search->good > search->count) /* the initial value: nothing has passed */
        return end_search(search, PRECISION_NOT_FOUND);
    propose_layer_prefix(search, search->good);
    return end_search(search, PRECISION_FOUND);
}

static bool advance_bisection(struct precision_search *search, bool passed)
{
    int64_t next;

    if (passed) {
        search->good = search->next;
        next = (search->good + search->bad) / 2;
    } else {
        search->bad = search->next;
        next = (search->good + search->bad + 1) / 2;
    }
    if (next == search->next || search->good - search->bad <= 1)
        return end_with_good(search);
    return propose_layer_prefix(search, next);
}

static bool advance_line(struct precision_search *search, bool passed)
{
    if (passed)
        search->good = search->next;
    if (passed || search->next == search->count)
        return end_with_good(search);
    return propose_layer_prefix(search, search->next + 1);
}

/* ---- Deletion ---- */

/* The element, or its group. */
static int64_t unit_of(const struct precision_search *search, int64_t element)
{
    return search->by_groups ? search->hints.groups[element] : element;
}

static int64_t count_units(const struct precision_search *search, const struct bitset *set)
{
    int64_t count = 0, last = -1;

    BITSET_EACH (i, set) {
        count += unit_of(search, (int64_t)i) != last;
        last = unit_of(search, (int64_t)i);
    }
    return count;
}

/* Removes the next chunk from the kept set: elements of unknown importance; single elements unless proven to be needed.
 * Returns false if none is left in this round. */
static bool propose_deletion(struct precision_search *search)
{
    const struct bitset *spared = search->chunk > 1 || search->by_groups ? &search->suspected : &search->needed;
    int64_t taken = 0, last = -1;

    bitset_assign(&search->candidate, &search->kept);
    for (; search->end > 0; search->end--) {
        int64_t element = search->end - 1;

        if (!bitset_has(&search->kept, (size_t)element) || bitset_has(spared, (size_t)element))
            continue;
        if (unit_of(search, element) != last && taken++ == search->chunk)
            break;
        last = unit_of(search, element);
        bitset_remove(&search->candidate, (size_t)element);
    }
    return taken > 0;
}

static int64_t next_chunk(struct precision_search *search)
{
    int64_t kept = (int64_t)bitset_count(&search->kept), groups;

    if (!search->by_groups && search->in_vain && search->chunk <= SHORT_CHUNK)
        return 1;
    if (!search->by_groups || search->chunk > 1)
        return larger_count(1, smaller_number(search->chunk, kept) / 2);
    groups = count_units(search, &search->kept);
    search->by_groups = false;
    return larger_count(1, kept / larger_count(1, 2 * groups)); /* half of a group */
}

static bool next_deletion(struct precision_search *search)
{
    while (!propose_deletion(search)) {
        if (search->chunk == 1 && !search->by_groups && bitset_equal(&search->kept, &search->needed)) {
            bitset_assign(&search->candidate, &search->kept);
            return end_search(search, PRECISION_FOUND);
        }
        search->chunk = next_chunk(search);
        search->in_vain = true;
        search->end = search->count;
    }
    return true;
}

static bool start_deletion(struct precision_search *search)
{
    search->phase = PRECISION_DELETE;
    for (int64_t i = 0; i < search->good; i++)
        bitset_add(&search->kept, (size_t)i);
    for (int64_t i = 0; i < smaller_number(search->hints.presumed, search->good); i++)
        bitset_add(&search->suspected, (size_t)i);
    if (search->good > 0 && search->bad == search->good - 1) { /* it fails without its last element */
        bitset_add(&search->needed, (size_t)(search->good - 1));
        bitset_add(&search->suspected, (size_t)(search->good - 1));
    }
    search->by_groups = search->hints.groups != NULL;
    search->chunk = larger_count(1, count_units(search, &search->kept) / 2);
    search->in_vain = true;
    search->end = search->count;
    return next_deletion(search);
}

/* Adds the elements removed in the candidate. */
static void add_deleted(const struct precision_search *search, struct bitset *ret)
{
    SCOPED_BITSET(deleted);

    bitset_init_copy(&deleted, &search->kept);
    bitset_subtract(&deleted, &search->candidate);
    bitset_unite(ret, &deleted);
}

static bool advance_deletion(struct precision_search *search, bool passed)
{
    if (passed) {
        bitset_assign(&search->kept, &search->candidate);
        search->in_vain = false;
        bitset_clear(&search->needed); /* those results were for a larger set */
        bitset_intersect(&search->suspected, &search->kept);
    } else if (bitset_count(&search->kept) == bitset_count(&search->candidate) + 1) {
        add_deleted(search, &search->needed);
        add_deleted(search, &search->suspected);
    }
    return next_deletion(search);
}

/* ---- The shortest passing prefix ---- */

/* Extends a prefix to the end of its last group, or shortens it to an earlier group: between `bad` and `good`; 0:
 * impossible. */
static int64_t whole_groups(const struct precision_search *search, int64_t length)
{
    const uint32_t *groups = search->hints.groups;
    int64_t end = length;

    if (groups == NULL)
        return length;
    while (end < search->good && groups[end] == groups[end - 1])
        end++;
    if (end < search->good)
        return end;
    for (end = length - 1; end > search->bad && groups[end] == groups[end - 1];)
        end--;
    return end > search->bad ? end : 0;
}

/* Short prefixes are likely: doubles the length before bisecting. */
static bool next_beginning(struct precision_search *search)
{
    int64_t first = search->hints.first, length;

    if (search->bad < first && first < search->good)
        return propose_layer_prefix(search, first);
    if (search->good - search->bad <= 1 || (first > 0 && search->good == first))
        return start_deletion(search);
    length = smaller_number(first + larger_count(1, 2 * (search->bad - first)), (search->good + search->bad) / 2);
    length = whole_groups(search, length);
    return length == 0 ? start_deletion(search) : propose_layer_prefix(search, length);
}

static bool advance_minimal(struct precision_search *search, bool passed)
{
    switch (search->phase) {
    case PRECISION_ALL:
        if (!passed)
            return end_search(search, PRECISION_NOT_FOUND);
        if (search->count == 0)
            return end_search(search, PRECISION_FOUND);
        search->good = search->count;
        search->phase = PRECISION_NONE;
        return propose_layer_prefix(search, 0);
    case PRECISION_NONE:
        if (passed)
            return end_search(search, PRECISION_FOUND);
        search->bad = 0;
        search->phase = PRECISION_PREFIX;
        return next_beginning(search);
    case PRECISION_PREFIX:
        *(passed ? &search->good : &search->bad) = search->next;
        return next_beginning(search);
    case PRECISION_DELETE:
        break;
    }
    return advance_deletion(search, passed);
}

/* ---- All modes ---- */

void precision_search_start(struct precision_search *search, enum precision_mode mode, size_t count, bool verified)
{
    *search = (struct precision_search){.mode = mode, .count = (int64_t)count, .phase = PRECISION_PREFIX};
    bitset_init(&search->candidate, count);
    bitset_init(&search->kept, count);
    bitset_init(&search->needed, count);
    bitset_init(&search->suspected, count);
    search->good = search->count + 1;
    if (mode != PRECISION_MINIMAL) {
        propose_layer_prefix(search, mode == PRECISION_BISECT ? search->count : 0);
        return;
    }
    if (verified && count > 0) {
        search->good = search->count;
        next_beginning(search);
        return;
    }
    search->phase = PRECISION_ALL;
    propose_layer_prefix(search, search->count);
}

void precision_search_hint(struct precision_search *search, const struct precision_hints *hints)
{
    search->hints = *hints;
    if (search->phase == PRECISION_PREFIX && search->count > 0)
        next_beginning(search);
}

static bool advance_precision_search(void *data, int64_t nodes, enum verdict verdict)
{
    struct precision_search *search = data;
    bool passed = verdict == VERDICT_PASS;

    (void)nodes;
    if (search->mode == PRECISION_BISECT)
        return advance_bisection(search, passed);
    if (search->mode == PRECISION_LINEAR)
        return advance_line(search, passed);
    return advance_minimal(search, passed);
}

/* Remaining checks of this round, and one for each element in the next. */
static int64_t deletions_remaining(const struct precision_search *search)
{
    int64_t left = 0, kept = (int64_t)bitset_count(&search->kept);

    for (int64_t i = 0; i < search->end; i++)
        left += bitset_has(&search->kept, (size_t)i);
    if (search->chunk == 1)
        return left + 1;
    return (left + search->chunk - 1) / search->chunk + kept + 1;
}

static int64_t count_precision_remaining(const void *data)
{
    const struct precision_search *search = data;

    if (search->mode == PRECISION_LINEAR)
        return search->count - search->next;
    if (search->mode == PRECISION_BISECT)
        return count_halvings(search->good - search->bad);
    if (search->phase == PRECISION_DELETE)
        return deletions_remaining(search);
    return count_halvings(search->good - search->bad) + 1;
}

const struct search_ops precision_search_ops = {
    .size = sizeof(struct precision_search),
    SEARCH_SETS(struct precision_search, candidate, suspected),
    .advance = advance_precision_search,
    .remaining = count_precision_remaining,
};
