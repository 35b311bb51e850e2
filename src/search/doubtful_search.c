/* search/doubtful_search.c: see doubtful_search.h. */
#include "search/doubtful_search.h"

#include <stdlib.h>

#include "base/memory.h"

/* Assumed probability that a re-verification confirms the failure. */
#define FAILS_AGAIN 0.95

bool doubtful_search_start(struct doubtful_search *doubtful, const struct dag *dag, const struct bitset *all,
                           size_t trusted)
{
    *doubtful = (struct doubtful_search){.trusted = trusted};
    return minimal_search_start(&doubtful->search, dag, all);
}

static void copy_doubtful_search(void *copied, const void *from)
{
    const struct doubtful_search *source = from;
    struct doubtful_search *doubtful = copied;

    *doubtful = *source;
    search_copy(&minimal_search_ops, &doubtful->search, &source->search);
    doubtful->accepted = (struct search_stack){0};
    for (size_t i = 0; i < source->accepted.count; i++)
        search_copy(&minimal_search_ops, VECTOR_APPEND(&doubtful->accepted), &source->accepted.items[i]);
}

static void forget_accepted(struct doubtful_search *doubtful)
{
    struct search_stack *accepted = &doubtful->accepted;

    while (accepted->count > 0)
        search_release(&minimal_search_ops, &accepted->items[--accepted->count]);
}

static void release_doubtful_search(void *data)
{
    struct doubtful_search *doubtful = data;

    forget_accepted(doubtful);
    free(doubtful->accepted.items);
    search_release(&minimal_search_ops, &doubtful->search);
}

const struct bitset *doubtful_search_candidate(const struct doubtful_search *doubtful)
{
    return doubtful->looks_again ? &doubtful->search.current : &doubtful->search.candidate;
}

/* Reverts the last acceptance: that candidate has a new verdict. */
static void go_back(struct doubtful_search *doubtful, enum verdict verdict)
{
    search_release(&minimal_search_ops, &doubtful->search);
    doubtful->search = doubtful->accepted.items[--doubtful->accepted.count];
    minimal_search_ops.advance(&doubtful->search, -1, verdict);
}

static void take_second_look(struct doubtful_search *doubtful, enum verdict verdict)
{
    if (verdict == VERDICT_FAIL)
        forget_accepted(doubtful);
    else
        go_back(doubtful, verdict);
    /* The bottom of the stack was confirmed before, or is the starting point. */
    doubtful->looks_again = doubtful->accepted.count > 0;
}

static bool advance_doubtful_search(void *data, int64_t nodes, enum verdict verdict)
{
    struct doubtful_search *doubtful = data;
    bool more;

    if (doubtful->looks_again) {
        take_second_look(doubtful, verdict);
        return doubtful->looks_again || doubtful->search.phase != MINIMAL_DONE;
    }
    if (verdict == VERDICT_FAIL && doubtful->trusted > 0)
        search_copy(&minimal_search_ops, VECTOR_APPEND(&doubtful->accepted), &doubtful->search);
    more = minimal_search_ops.advance(&doubtful->search, nodes, verdict);
    doubtful->looks_again = doubtful->accepted.count > 0 && (doubtful->accepted.count >= doubtful->trusted || !more);
    return more || doubtful->looks_again;
}

static double expect_doubtful_verdict(const void *data)
{
    const struct doubtful_search *doubtful = data;

    return doubtful->looks_again ? FAILS_AGAIN : minimal_search_ops.expect(&doubtful->search);
}

static int64_t count_doubtful_remaining(const void *data)
{
    const struct doubtful_search *doubtful = data;

    return minimal_search_ops.remaining(&doubtful->search) + (doubtful->looks_again ? 1 : 0);
}

const struct search_ops doubtful_search_ops = {
    .size = sizeof(struct doubtful_search),
    .copy = copy_doubtful_search,
    .release = release_doubtful_search,
    .advance = advance_doubtful_search,
    .remaining = count_doubtful_remaining,
    .expect = expect_doubtful_verdict,
};
