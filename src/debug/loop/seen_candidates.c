/* debug/loop/seen_candidates.c: see seen_candidates.h. */
#include "debug/loop/seen_candidates.h"

#include <stdlib.h>

#include "base/memory.h"

void seen_candidates_init(struct seen_candidates *seen)
{
    *seen = (struct seen_candidates){0};
    name_map_init(&seen->indices);
    arena_init(&seen->memory);
}

void seen_candidates_release(struct seen_candidates *seen)
{
    name_map_release(&seen->indices);
    arena_release(&seen->memory);
    free(seen->items);
}

static struct seen_candidate *find(const struct seen_candidates *seen, struct hash identity)
{
    uint32_t index = name_map_find(&seen->indices, (struct text){(const char *)&identity, sizeof(identity)});

    return index == NAME_MAP_NONE ? NULL : &seen->items[index];
}

const struct seen_candidate *seen_candidates_find(const struct seen_candidates *seen, struct hash identity)
{
    return find(seen, identity);
}

void seen_candidates_correct(struct seen_candidates *seen, struct hash identity, struct seen_candidate candidate)
{
    struct seen_candidate *known = find(seen, identity);

    if (!known)
        return;
    known->verdict = candidate.verdict;
    known->source = candidate.source;
    known->counts = candidate.counts;
}

void seen_candidates_add(struct seen_candidates *seen, struct hash identity, struct seen_candidate candidate)
{
    if (seen_candidates_find(seen, identity))
        return;
    const char *bytes = arena_copy(&seen->memory, &identity, sizeof(identity));
    name_map_add(&seen->indices, (struct text){bytes, sizeof(identity)}, (uint32_t)seen->count);

    struct seen_candidate *copy = VECTOR_APPEND(seen);
    copy->verdict = candidate.verdict;
    copy->source = candidate.source;
    copy->counts = candidate.counts;
    copy->what = arena_strdup(&seen->memory, candidate.what);
    copy->phase = candidate.phase ? arena_strdup(&seen->memory, candidate.phase) : NULL;
}
