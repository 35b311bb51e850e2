/* search/sets/greedy_search.c: see greedy_search.h. */
#include "search/sets/greedy_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void add_choice_range(struct greedy_search *search, uint32_t begin, uint32_t end)
{
    *VECTOR_APPEND(&search->ranges) = (struct greedy_range){begin, end};
}

/* Selects all unchanged elements that have this alternative. False if there are none. */
static bool begin_choice(struct greedy_search *search, uint8_t choice)
{
    search->choice = choice;
    search->member_count = 0;
    for (size_t i = 0; i < search->count; i++)
        if (search->current[i] == 0 && search->alternatives[i] >= choice)
            search->members[search->member_count++] = (uint32_t)i;
    search->ranges.first = search->ranges.count = 0;
    if (search->member_count > 0)
        add_choice_range(search, 0, (uint32_t)search->member_count);
    return search->member_count > 0;
}

static uint8_t last_choice(const struct greedy_search *search)
{
    uint8_t most = 0;

    for (size_t i = 0; i < search->count; i++)
        most = search->alternatives[i] > most ? search->alternatives[i] : most;
    return most;
}

/* Sets the candidate to the next part of this choice or of a later one. */
static bool propose_greedy_set(struct greedy_search *search)
{
    uint8_t last = last_choice(search);
    struct greedy_range range;

    while (search->ranges.first == search->ranges.count)
        if (search->choice >= last) {
            search->choice = 0;
            return false;
        } else {
            begin_choice(search, (uint8_t)(search->choice + 1));
        }
    range = search->ranges.items[search->ranges.first];
    memcpy(search->candidate, search->current, search->count);
    for (uint32_t i = range.begin; i < range.end; i++)
        search->candidate[search->members[i]] = search->choice;
    return true;
}

bool greedy_search_start(struct greedy_search *search, const uint8_t *alternatives, size_t count)
{
    *search = (struct greedy_search){.count = count};
    search->alternatives = memory_alloc_zero(count + 1, 1);
    search->current = memory_alloc_zero(count + 1, 1);
    search->candidate = memory_alloc_zero(count + 1, 1);
    search->members = memory_alloc_zero(count + 1, sizeof(*search->members));
    if (count > 0)
        memcpy(search->alternatives, alternatives, count);
    return propose_greedy_set(search);
}

static void *copy_bytes(const void *from, size_t count, size_t size)
{
    void *copy = memory_alloc_zero(count + 1, size);

    return memcpy(copy, from, count * size);
}

static void copy_greedy_search(void *copied, const void *from)
{
    const struct greedy_search *source = from;
    struct greedy_search *search = copied;
    size_t waiting = source->ranges.count - source->ranges.first;

    *search = *source;
    search->alternatives = copy_bytes(source->alternatives, source->count, 1);
    search->current = copy_bytes(source->current, source->count, 1);
    search->candidate = copy_bytes(source->candidate, source->count, 1);
    search->members = copy_bytes(source->members, source->count, sizeof(*source->members));
    search->ranges.items = memory_alloc_zero(waiting + 1, sizeof(*source->ranges.items));
    if (waiting > 0)
        memcpy(search->ranges.items, source->ranges.items + source->ranges.first,
               waiting * sizeof(*source->ranges.items));
    search->ranges.first = 0;
    search->ranges.count = waiting;
    search->ranges.capacity = waiting + 1;
}

static void release_greedy_search(void *data)
{
    struct greedy_search *search = data;

    free(search->alternatives);
    free(search->current);
    free(search->candidate);
    free(search->members);
    free(search->ranges.items);
    *search = (struct greedy_search){0};
}

static bool advance_greedy_search(void *data, int64_t nodes, enum verdict verdict)
{
    struct greedy_search *search = data;
    struct greedy_range range = search->ranges.items[search->ranges.first++];
    uint32_t middle = range.begin + (range.end - range.begin) / 2;

    (void)nodes;
    search->checks++;
    if (verdict == VERDICT_FAIL) {
        memcpy(search->current, search->candidate, search->count);
    } else if (range.end - range.begin > 1) {
        add_choice_range(search, range.begin, middle);
        add_choice_range(search, middle, range.end);
    }
    return propose_greedy_set(search);
}

static int64_t count_greedy_remaining(const void *data)
{
    const struct greedy_search *search = data;

    return search->choice == 0 ? 0 : (int64_t)(search->ranges.count - search->ranges.first);
}

const struct search_ops greedy_search_ops = {
    .size = sizeof(struct greedy_search),
    .copy = copy_greedy_search,
    .release = release_greedy_search,
    .advance = advance_greedy_search,
    .remaining = count_greedy_remaining,
};
