/* search/doubtful_search.c: see doubtful_search.h. */
#include "search/doubtful_search.h"

#include <stdlib.h>

#include "base/memory.h"

/* A second look confirms the first one with this probability: a guess. */
#define FAILS_AGAIN 0.95

bool doubtful_search_start(struct doubtful_search *doubtful, const struct dag *dag, const struct bitset *all,
                           size_t trusted)
{
    *doubtful = (struct doubtful_search){.trusted = trusted};
    return minimal_search_start(&doubtful->search, dag, all);
}

void doubtful_search_copy(struct doubtful_search *doubtful, const struct doubtful_search *from)
{
    *doubtful = *from;
    minimal_search_copy(&doubtful->search, &from->search);
    doubtful->accepted = (struct search_stack){0};
    for (size_t i = 0; i < from->accepted.count; i++)
        minimal_search_copy(VECTOR_APPEND(&doubtful->accepted), &from->accepted.items[i]);
}

static void forget_accepted(struct doubtful_search *doubtful)
{
    struct search_stack *accepted = &doubtful->accepted;

    while (accepted->count > 0)
        minimal_search_release(&accepted->items[--accepted->count]);
}

void doubtful_search_release(struct doubtful_search *doubtful)
{
    forget_accepted(doubtful);
    free(doubtful->accepted.items);
    minimal_search_release(&doubtful->search);
}

const struct bitset *doubtful_search_candidate(const struct doubtful_search *doubtful)
{
    return doubtful->looks_again ? &doubtful->search.current : &doubtful->search.candidate;
}

/* Takes the last acceptance back: that candidate has got another verdict now. */
static void go_back(struct doubtful_search *doubtful, enum verdict verdict)
{
    minimal_search_release(&doubtful->search);
    doubtful->search = doubtful->accepted.items[--doubtful->accepted.count];
    minimal_search_advance(&doubtful->search, verdict);
}

static void take_second_look(struct doubtful_search *doubtful, enum verdict verdict)
{
    if (verdict == VERDICT_FAIL)
        forget_accepted(doubtful);
    else
        go_back(doubtful, verdict);
    /* At the bottom is what was confirmed before, or what the search started from. */
    doubtful->looks_again = doubtful->accepted.count > 0;
}

bool doubtful_search_advance(struct doubtful_search *doubtful, enum verdict verdict)
{
    bool more;

    if (doubtful->looks_again) {
        take_second_look(doubtful, verdict);
        return doubtful->looks_again || doubtful->search.phase != MINIMAL_DONE;
    }
    if (verdict == VERDICT_FAIL && doubtful->trusted > 0) {
        struct minimal_search *before = VECTOR_APPEND(&doubtful->accepted);
        minimal_search_copy(before, &doubtful->search);
    }
    more = minimal_search_advance(&doubtful->search, verdict);
    doubtful->looks_again = doubtful->accepted.count > 0 && (doubtful->accepted.count >= doubtful->trusted || !more);
    return more || doubtful->looks_again;
}

double doubtful_search_failure_probability(const struct doubtful_search *doubtful)
{
    return doubtful->looks_again ? FAILS_AGAIN : minimal_search_failure_probability(&doubtful->search);
}

size_t doubtful_search_remaining(const struct doubtful_search *doubtful)
{
    return minimal_search_remaining(&doubtful->search) + (doubtful->looks_again ? 1 : 0);
}
