/* search/minimal_search.c: see minimal_search.h. */
#include "search/minimal_search.h"

#include "search/graph/best_cut.h"

/* A cut that splits off less than this fraction of the suspects is not worth a check: removing chunks is faster. */
#define WORST_SPLIT 10

/* Assumed probability that the other part of a chunk is innocent if one part contains a culprit. */
#define OTHER_PART_IS_INNOCENT 0.8

/* Assumed probability of verdicts that contradict earlier ones. */
#define UNLIKELY 0.05

/* ---- Cuts ---- */

/* Sets the candidate to the cut that splits the suspects most evenly. False if no cut is informative. */
static bool choose_cut(struct minimal_search *search)
{
    size_t suspects = bitset_count(&search->suspects);
    struct best_cut best;
    struct cut_question question = {
        .dag = search->dag,
        .direction = search->phase == MINIMAL_CUT_OUTPUTS ? DAG_ANCESTORS : DAG_DESCENDANTS,
        .current = &search->current,
        .is_convex = search->is_convex,
        .suspects = &search->suspects,
        .refused = &search->refused,
    };

    if (!best_cut_find(&question, &best))
        return false;
    search->pivot = best.pivot;
    cut_make(&question, best.pivot, &search->candidate);
    return best.balance * WORST_SPLIT >= suspects || suspects < WORST_SPLIT;
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

/* The last member below `end` that is not known to be needed, or dag->count. */
static size_t last_single(const struct minimal_search *search)
{
    size_t ret = bitset_previous(&search->current, search->end);

    while (ret < search->dag->count && bitset_has(&search->needed, ret))
        ret = bitset_previous(&search->current, ret);
    return ret;
}

/* The number of scopes shared by the members on both sides of the border below `member`. */
static size_t shared_scopes(const struct minimal_search *search, size_t before, size_t member)
{
    size_t ret = SIZE_MAX;

    if (before == search->dag->count)
        return 0; /* no member on the other side */
    for (size_t i = before + 1; i <= member; i++)
        ret = search->dag->shared_scopes[i] < ret ? search->dag->shared_scopes[i] : ret;
    return ret;
}

/* The first member of a chunk that ends before `end`: the start of a scope, if that changes the size by at most a
 * quarter. dag->count if there are too few members. */
static size_t chunk_of_scopes(const struct minimal_search *search)
{
    size_t size = search->chunk - search->chunk / 4, most = search->chunk + search->chunk / 4;
    size_t member = bitset_nth_previous(&search->current, search->end, size), ret = search->dag->count;
    size_t best_shared = SIZE_MAX, best_distance = 0;

    while (member < search->dag->count && size <= most) {
        size_t before = bitset_previous(&search->current, member);
        size_t shared = shared_scopes(search, before, member);
        size_t distance = size < search->chunk ? search->chunk - size : size - search->chunk;

        if (shared < best_shared || (shared == best_shared && distance < best_distance)) {
            ret = member;
            best_shared = shared;
            best_distance = distance;
        }
        member = before;
        size++;
    }
    return ret;
}

/* Sets the candidate: `current` without the next chunk of members below `search->end`; single members only if not known
 * to be needed. False if there are none. */
static bool choose_chunk(struct minimal_search *search)
{
    size_t end = search->end, start;

    if (search->chunk == 1)
        start = last_single(search);
    else if (search->dag->shared_scopes != NULL)
        start = chunk_of_scopes(search);
    else
        start = bitset_nth_previous(&search->current, end, search->chunk);
    if (start == search->dag->count) { /* the rest is smaller than a chunk */
        search->end = 0;
        if (search->chunk == 1 || bitset_previous(&search->current, end) == search->dag->count)
            return false;
        start = 0;
    }
    search->end = start;
    search->last = search->chunk == 1 ? start : bitset_previous(&search->current, end);
    bitset_assign(&search->candidate, &search->current);
    if (search->chunk == 1)
        bitset_remove(&search->candidate, start);
    else
        bitset_remove_range(&search->candidate, start, end);
    return true;
}

/* The start of the chunk with culprits that contains `member`. */
static size_t border_below(const struct minimal_search *search, size_t member)
{
    size_t ret = bitset_previous(&search->borders, member + 1);

    return ret < search->dag->count ? ret : 0;
}

static void take_deletion_verdict(struct minimal_search *search, enum verdict verdict)
{
    if (verdict == VERDICT_FAIL) {
        bitset_assign(&search->current, &search->candidate);
        bitset_clear(&search->needed);
        return;
    }
    search->explained = border_below(search, search->end);
    bitset_add(&search->borders, search->end);
    if (search->chunk == 1)
        bitset_add(&search->needed, search->end);
}

/* Sets the next candidate of this or a later round. The empty set is never a candidate. */
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
        search->explained = search->dag->count;
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
    bitset_clear(&search->borders);
    search->explained = search->dag->count;
}

/* Finds the next candidate, in this phase or a later one. */
static bool propose_minimal_set(struct minimal_search *search)
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

static bool advance_minimal_search(void *data, int64_t nodes, enum verdict verdict)
{
    struct minimal_search *search = data;

    (void)nodes;
    search->checks++;
    if (search->phase == MINIMAL_DELETE)
        take_deletion_verdict(search, verdict);
    else
        take_cut_verdict(search, verdict);
    return propose_minimal_set(search);
}

bool minimal_search_start(struct minimal_search *search, const struct dag *dag, const struct bitset *all)
{
    *search = (struct minimal_search){.dag = dag, .is_convex = dag_is_convex(dag, all)};
    bitset_init_copy(&search->current, all);
    bitset_init(&search->candidate, dag->count);
    bitset_init(&search->suspects, dag->count);
    bitset_init(&search->refused, dag->count);
    bitset_init(&search->needed, dag->count);
    bitset_init(&search->borders, dag->count);
    begin_cuts(search, MINIMAL_CUT_OUTPUTS);
    return propose_minimal_set(search);
}

/* Limits probabilities, so that a wrong expectation does not cost much. */
static double limit_certainty(double probability)
{
    if (probability < UNLIKELY)
        return UNLIKELY;
    return probability > 1 - UNLIKELY ? 1 - UNLIKELY : probability;
}

/* Each chunk between borders contains a culprit, usually one. */
static double deletion_failure_probability(const struct minimal_search *search)
{
    size_t border = border_below(search, search->last);
    size_t chunk = bitset_count_common_between(&search->current, &search->current, search->end, search->last + 1);
    size_t whole = bitset_count_common_between(&search->current, &search->current, border, search->last + 1);

    if (border == search->explained)
        return OTHER_PART_IS_INNOCENT;
    return chunk < whole ? limit_certainty(1 - (double)chunk / (double)whole) : UNLIKELY;
}

static double expect_minimal_verdict(const void *data)
{
    const struct minimal_search *search = data;

    if (search->phase == MINIMAL_DELETE)
        return deletion_failure_probability(search);
    return limit_certainty((double)bitset_count_common(&search->candidate, &search->suspects) /
                           (double)bitset_count(&search->suspects));
}

static size_t ceil_logarithm(size_t value)
{
    size_t bits = 0;

    while (value > 1) {
        value = (value + 1) / 2;
        bits++;
    }
    return bits;
}

/* Assumes a single culprit. */
static int64_t count_minimal_remaining(const void *data)
{
    const struct minimal_search *search = data;
    size_t members = bitset_count(&search->current);

    switch (search->phase) {
    case MINIMAL_CUT_OUTPUTS:
        return (int64_t)(2 * ceil_logarithm(bitset_count(&search->suspects)) + 1);
    case MINIMAL_CUT_INPUTS:
        return (int64_t)(ceil_logarithm(bitset_count(&search->suspects)) + 1);
    case MINIMAL_DELETE:
        return (int64_t)(search->chunk == 1 ? members - bitset_count(&search->needed)
                                            : 2 * ceil_logarithm(members) + 1);
    case MINIMAL_DONE:
        break;
    }
    return 0;
}

const struct search_ops minimal_search_ops = {
    .size = sizeof(struct minimal_search),
    SEARCH_SETS(struct minimal_search, current, borders),
    .advance = advance_minimal_search,
    .remaining = count_minimal_remaining,
    .expect = expect_minimal_verdict,
};
