/* search/index_search.c: see index_search.h. */
#include "search/index_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void index_search_start(struct index_search *search, enum index_mode mode, enum index_direction direction,
                        int64_t count)
{
    *search = (struct index_search){
        .mode = mode, .direction = direction, .count = count, .best_bad = -1, .best_bad_nodes = INT64_MAX};
    if (direction == INDEX_FOR_OUTPUTS)
        search->bad = count;
    else
        search->good = count;
    if (count == 0)
        search->next = -1;
    else if (mode == INDEX_BISECT)
        search->next = count / 2;
    else
        search->next = direction == INDEX_FOR_OUTPUTS ? count - 1 : 0;
}

static void copy_index_search(void *copied, const void *from)
{
    const struct index_search *source = from;
    struct index_search *search = copied;

    *search = *source;
    search->passes.items = memory_resize(NULL, search->passes.capacity, sizeof(*search->passes.items));
    if (source->passes.count > 0)
        memcpy(search->passes.items, source->passes.items, source->passes.count * sizeof(*search->passes.items));
}

static void release_index_search(void *data)
{
    struct index_search *search = data;

    free(search->passes.items);
    search->passes.items = NULL;
}

static void record_index_verdict(struct index_search *search, int64_t nodes, enum verdict verdict)
{
    if (verdict == VERDICT_FAIL) {
        if (nodes <= search->best_bad_nodes) {
            search->best_bad = search->next;
            search->best_bad_nodes = nodes;
        }
        return;
    }
    for (size_t i = 0; i < search->passes.count; i++)
        if (search->passes.items[i].nodes == nodes) {
            search->passes.items[i].index = search->next;
            return;
        }
    *VECTOR_APPEND(&search->passes) = (struct index_pass){search->next, nodes};
}

static int64_t next_of_bisection(struct index_search *search, enum verdict verdict)
{
    int64_t distance;
    int64_t sum;

    if (verdict == VERDICT_PASS) {
        search->seen_pass = true;
        search->good = search->next;
    } else {
        search->bad = search->next;
    }
    sum = search->good + search->bad;
    distance = search->good > search->bad ? search->good - search->bad : search->bad - search->good;
    if (distance > 1)
        return verdict == VERDICT_PASS ? (sum + 1) / 2 : sum / 2;
    /* The lower bound was assumed to pass: verify it. */
    if (search->direction == INDEX_FOR_OUTPUTS && !search->seen_pass && search->bad == 1)
        return 0;
    return -1;
}

static bool advance_index_search(void *data, int64_t nodes, enum verdict verdict)
{
    struct index_search *search = data;

    if (verdict == VERDICT_SKIP)
        verdict = VERDICT_PASS;
    else
        record_index_verdict(search, nodes, verdict);
    search->tried++;
    if (search->mode == INDEX_BISECT)
        search->next = next_of_bisection(search, verdict);
    else if (search->direction == INDEX_FOR_OUTPUTS)
        search->next--;
    else
        search->next = search->next + 1 < search->count ? search->next + 1 : -1;
    return search->next >= 0;
}

static int64_t count_index_remaining(const void *data)
{
    const struct index_search *search = data;
    int64_t steps = 0;

    if (search->mode == INDEX_LINEAR)
        return search->count - search->tried;
    while (((int64_t)1 << steps) < search->count)
        steps++;
    return steps > search->tried ? steps - search->tried : 0;
}

const struct search_ops index_search_ops = {
    .size = sizeof(struct index_search),
    .copy = copy_index_search,
    .release = release_index_search,
    .advance = advance_index_search,
    .remaining = count_index_remaining,
};

const struct index_pass *index_search_closest_pass(const struct index_search *search)
{
    const struct index_pass *best = NULL;

    VECTOR_EACH (const struct index_pass, pass, search->passes) {
        bool below = pass->nodes < search->best_bad_nodes;

        if (best == NULL || (below && (best->nodes >= search->best_bad_nodes || pass->nodes >= best->nodes)) ||
            (!below && best->nodes >= search->best_bad_nodes && pass->nodes <= best->nodes))
            best = pass;
    }
    return best;
}
