/* search/minimal_search.c: see minimal_search.h. */
#include "search/minimal_search.h"

/* More possible cuts than this are not all looked at: evenly spaced ones do nearly as well. */
#define MAX_PIVOTS 256

/* A cut that splits off less than this part of the suspects is not worth a check: chunks get on faster. */
#define WORST_SPLIT 10

/* ---- Cuts ---- */

static enum dag_direction direction_of(const struct minimal_search *search)
{
    return search->phase == MINIMAL_CUT_OUTPUTS ? DAG_ANCESTORS : DAG_DESCENDANTS;
}

/* Sets the candidate to the cut that splits the suspects most evenly. False when no cut says anything new. */
static bool choose_cut(struct minimal_search *search)
{
    size_t suspects = bitset_count(&search->suspects);
    size_t step = suspects / MAX_PIVOTS + 1, position = 0, best = 0;
    bool found = false;
    struct bitset reach;

    bitset_init(&reach, search->dag->count);
    for (size_t i = bitset_next(&search->suspects, 0); i < search->dag->count;
         i = bitset_next(&search->suspects, i + 1), position++) {
        size_t inside, balance;

        if (position % step != 0 || bitset_has(&search->refused, i))
            continue;
        dag_reach(search->dag, (uint32_t)i, direction_of(search), &search->current, &reach);
        inside = bitset_count_common(&reach, &search->suspects);
        balance = inside < suspects - inside ? inside : suspects - inside;
        if ((found && balance <= best) || bitset_equal(&reach, &search->current))
            continue;
        found = true;
        best = balance;
        search->pivot = (uint32_t)i;
        bitset_assign(&search->candidate, &reach);
    }
    bitset_release(&reach);
    return found && (best * WORST_SPLIT >= suspects || suspects < WORST_SPLIT);
}

static void take_cut_verdict(struct minimal_search *search, enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_FAIL:
        bitset_assign(&search->current, &search->candidate);
        bitset_intersect(&search->suspects, &search->candidate);
        break;
    case VERDICT_PASS:
        bitset_subtract(&search->suspects, &search->candidate);
        break;
    case VERDICT_SKIP:
        bitset_add(&search->refused, search->pivot);
        break;
    }
}

/* ---- Deletion ---- */

/* The candidate without `search->chunk` members below `search->end` that are not known to be needed. False when there are none. */
static bool choose_chunk(struct minimal_search *search)
{
    size_t left = search->chunk;

    bitset_assign(&search->candidate, &search->current);
    for (; search->end > 0 && left > 0; search->end--) {
        size_t element = search->end - 1;

        if (!bitset_has(&search->current, element) || (search->chunk == 1 && bitset_has(&search->needed, element)))
            continue;
        bitset_remove(&search->candidate, element);
        left--;
    }
    return left < search->chunk;
}

static void take_deletion_verdict(struct minimal_search *search, enum verdict verdict)
{
    if (verdict == VERDICT_FAIL) {
        bitset_assign(&search->current, &search->candidate);
        bitset_clear(&search->needed);
    } else if (search->chunk == 1) {
        size_t i = search->end;

        bitset_add(&search->needed, i);
    }
}

/* The next candidate of this round or of the ones after it. An empty model is no candidate. */
static bool choose_deletion(struct minimal_search *search)
{
    for (;;) {
        size_t members = bitset_count(&search->current);

        if (members <= 1)
            return false;
        while (choose_chunk(search))
            if (bitset_count(&search->candidate) > 0)
                return true;
        if (search->chunk == 1 && bitset_count(&search->needed) == members)
            return false;
        search->end = search->dag->count;
        search->chunk = search->chunk / 2 < (members + 1) / 2 ? search->chunk / 2 : (members + 1) / 2;
        if (search->chunk == 0)
            search->chunk = 1;
    }
}

/* ---- Phases ---- */

static void begin_cuts(struct minimal_search *search, enum minimal_phase phase)
{
    search->phase = phase;
    bitset_assign(&search->suspects, &search->current);
    bitset_clear(&search->refused);
}

static void begin_deletion(struct minimal_search *search)
{
    search->phase = MINIMAL_DELETE;
    search->chunk = (bitset_count(&search->current) + 1) / 2;
    search->end = search->dag->count;
    bitset_clear(&search->needed);
}

/* Finds the next candidate, in this phase or a later one. */
static bool propose(struct minimal_search *search)
{
    if (search->phase == MINIMAL_CUT_OUTPUTS && !choose_cut(search))
        begin_cuts(search, MINIMAL_CUT_INPUTS);
    else if (search->phase == MINIMAL_CUT_OUTPUTS)
        return true;
    if (search->phase == MINIMAL_CUT_INPUTS && !choose_cut(search))
        begin_deletion(search);
    else if (search->phase == MINIMAL_CUT_INPUTS)
        return true;
    if (search->phase == MINIMAL_DELETE && choose_deletion(search))
        return true;
    search->phase = MINIMAL_DONE;
    return false;
}

bool minimal_search_advance(struct minimal_search *search, enum verdict verdict)
{
    search->checks++;
    if (search->phase == MINIMAL_DELETE)
        take_deletion_verdict(search, verdict);
    else
        take_cut_verdict(search, verdict);
    return propose(search);
}

bool minimal_search_start(struct minimal_search *search, const struct dag *dag, const struct bitset *all)
{
    *search = (struct minimal_search){.dag = dag};
    bitset_init_copy(&search->current, all);
    bitset_init(&search->candidate, dag->count);
    bitset_init(&search->suspects, dag->count);
    bitset_init(&search->refused, dag->count);
    bitset_init(&search->needed, dag->count);
    begin_cuts(search, MINIMAL_CUT_OUTPUTS);
    return propose(search);
}

void minimal_search_copy(struct minimal_search *search, const struct minimal_search *from)
{
    *search = *from;
    bitset_init_copy(&search->current, &from->current);
    bitset_init_copy(&search->candidate, &from->candidate);
    bitset_init_copy(&search->suspects, &from->suspects);
    bitset_init_copy(&search->refused, &from->refused);
    bitset_init_copy(&search->needed, &from->needed);
}

void minimal_search_release(struct minimal_search *search)
{
    bitset_release(&search->current);
    bitset_release(&search->candidate);
    bitset_release(&search->suspects);
    bitset_release(&search->refused);
    bitset_release(&search->needed);
}

static size_t logarithm(size_t value)
{
    size_t bits = 0;

    while (value > 1) {
        value = (value + 1) / 2;
        bits++;
    }
    return bits;
}

size_t minimal_search_remaining(const struct minimal_search *search)
{
    size_t members = bitset_count(&search->current);

    switch (search->phase) {
    case MINIMAL_CUT_OUTPUTS:
        return 2 * logarithm(bitset_count(&search->suspects)) + 1;
    case MINIMAL_CUT_INPUTS:
        return logarithm(bitset_count(&search->suspects)) + 1;
    case MINIMAL_DELETE:
        return search->chunk == 1 ? members - bitset_count(&search->needed) : 2 * logarithm(members) + 1;
    case MINIMAL_DONE:
        break;
    }
    return 0;
}
