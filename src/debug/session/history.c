/* debug/session/history.c: see history.h. */
#include "debug/session/history.h"

#include <stdlib.h>

#include "base/memory.h"

void history_init(struct history *history)
{
    *history = (struct history){.nodes_now = -1, .nodes_whole = -1};
    name_map_init(&history->candidates.indices);
    arena_init(&history->candidates.memory);
    name_map_init(&history->files.indices);
    arena_init(&history->files.memory);
}

static void release_candidates(struct seen_candidates *seen)
{
    name_map_release(&seen->indices);
    arena_release(&seen->memory);
    free(seen->items);
}

void history_release(struct history *history)
{
    release_candidates(&history->candidates);
    release_candidates(&history->files);
}

const struct seen_candidate *seen_candidates_find(const struct seen_candidates *seen, struct hash identity)
{
    uint32_t index = name_map_find(&seen->indices, (struct text){(const char *)&identity, sizeof(identity)});

    return index == NAME_MAP_NONE ? NULL : &seen->items[index];
}

void seen_candidates_add(struct seen_candidates *seen, struct hash identity, struct seen_candidate candidate,
                         bool correct)
{
    uint32_t index = name_map_find(&seen->indices, (struct text){(const char *)&identity, sizeof(identity)});
    struct seen_candidate *known;

    if (index != NAME_MAP_NONE && !correct)
        return;
    if (index == NAME_MAP_NONE) {
        const char *bytes = arena_copy(&seen->memory, &identity, sizeof(identity));

        index = (uint32_t)seen->count;
        name_map_add(&seen->indices, (struct text){bytes, sizeof(identity)}, index);
        known = VECTOR_APPEND(seen);
        known->what = arena_strdup(&seen->memory, candidate.what);
        known->phase = candidate.phase ? arena_strdup(&seen->memory, candidate.phase) : NULL;
    }
    known = &seen->items[index];
    known->verdict = candidate.verdict;
    known->source = candidate.source;
    known->counts = candidate.counts;
}

void history_count(struct history *history, enum verdict verdict)
{
    history->told++;
    *(verdict == VERDICT_PASS ? &history->last_pass : &history->last_failure) = history->told;
}

void history_note_nodes(struct history *history, int64_t nodes)
{
    if (nodes < 0)
        return;
    history->nodes_now = nodes;
    history->nodes_whole = history->nodes_whole < 0 ? nodes : history->nodes_whole;
}
