/* library/checked_search.c: see checked_search.h. */
#include "library/checked_search.h"

#include <inttypes.h>
#include <string.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/hash.h"

/* The error codes of the public header must equal those of base/error.h. */
_Static_assert((int)POLYGRAPHY_ERROR_INVALID == (int)ERR_INVALID, "another number");
_Static_assert((int)POLYGRAPHY_ERROR_MISSING == (int)ERR_MISSING, "another number");
_Static_assert((int)POLYGRAPHY_ERROR_IO == (int)ERR_IO, "another number");
_Static_assert((int)POLYGRAPHY_ERROR_CORRUPT == (int)ERR_CORRUPT, "another number");
_Static_assert((int)POLYGRAPHY_ERROR_UNSUPPORTED == (int)ERR_UNSUPPORTED, "another number");
_Static_assert((int)POLYGRAPHY_ERROR_BACKEND == (int)ERR_BACKEND, "another number");
_Static_assert((int)POLYGRAPHY_ERROR_MEMORY == (int)ERR_MEMORY, "another number");
_Static_assert((int)POLYGRAPHY_ERROR_EXISTS == (int)ERR_EXISTS, "another number");
_Static_assert(sizeof(((struct polygraphy_error *)0)->message) == sizeof(((struct error *)0)->message), "another size");

/* State of a running search. */
struct checked_run {
    const struct checked_search *search;
    struct name_map verdicts; /* by the hash of a set */
    struct arena memory;      /* of these hashes */
    uint64_t checks;
    bool ended;      /* stopped before the search was complete */
    int32_t outcome; /* reason for that */
};

static struct hash identify_set(const struct bitset *set)
{
    return hash_bytes(set->words, bitset_words(set) * sizeof(*set->words));
}

/* Finds the cached verdict on a set. */
static bool find_verdict(const struct checked_run *run, const struct hash *identity, enum verdict *ret)
{
    uint32_t found = name_map_find(&run->verdicts, (struct text){(const char *)identity, sizeof(*identity)});

    if (found != NAME_MAP_NONE)
        *ret = (enum verdict)found;
    return found != NAME_MAP_NONE;
}

static void remember_verdict(struct checked_run *run, const struct hash *identity, enum verdict verdict)
{
    const char *copy = arena_copy(&run->memory, identity, sizeof(*identity));

    name_map_add(&run->verdicts, (struct text){copy, sizeof(*identity)}, (uint32_t)verdict);
}

static int verdict_of(int32_t answer, uint64_t check, enum verdict *ret, struct error *err)
{
    switch (answer) {
    case POLYGRAPHY_PASSES:
        *ret = VERDICT_PASS;
        return 0;
    case POLYGRAPHY_FAILS:
        *ret = VERDICT_FAIL;
        return 0;
    case POLYGRAPHY_UNTESTABLE:
        *ret = VERDICT_SKIP;
        return 0;
    default:
        return error_set(err, ERR_INVALID,
                         "check %" PRIu64 ": the oracle returned %" PRId32
                         ", which is not a valid answer: expected POLYGRAPHY_PASSES (0), POLYGRAPHY_FAILS (1), "
                         "POLYGRAPHY_UNTESTABLE (2) or POLYGRAPHY_STOP (3)",
                         check, answer);
    }
}

/* Gets the verdict on a set, from the cache or the oracle. Sets run->ended if the budget or the oracle ends the
 * search. */
static int check_set(struct checked_run *run, const struct bitset *set, size_t smallest, size_t remaining,
                     enum verdict *ret, struct error *err)
{
    const struct checked_search *search = run->search;
    const struct polygraphy_progress progress = {
        .check = run->checks + 1, .smallest = smallest, .remaining = remaining > 0 ? remaining - 1 : 0};
    struct hash identity = identify_set(set);
    int32_t answer = POLYGRAPHY_UNTESTABLE;
    bool asked = true;
    int rc;

    if (find_verdict(run, &identity, ret))
        return 0;
    if (search->max_checks > 0 && run->checks >= search->max_checks) {
        run->ended = true;
        run->outcome = POLYGRAPHY_OUT_OF_CHECKS;
        return 0;
    }
    rc = search->ask(search->data, set, &progress, &answer, &asked, err);
    if (rc < 0)
        return rc;
    run->checks += asked;
    if (answer == POLYGRAPHY_STOP) {
        run->ended = true;
        run->outcome = POLYGRAPHY_STOPPED;
        return 0;
    }
    rc = verdict_of(answer, progress.check, ret, err);
    if (rc == 0)
        remember_verdict(run, &identity, *ret);
    return rc;
}

/* Reduces `all`, which fails. */
static int shrink_set(struct checked_run *run, const struct bitset *all, struct bitset *ret, struct error *err)
{
    struct minimal_search search;
    bool more = minimal_search_start(&search, run->search->dag, all);
    int rc = 0;

    while (more) {
        enum verdict verdict = VERDICT_SKIP;

        rc = check_set(run, &search.candidate, bitset_count(&search.current),
                       (size_t)minimal_search_ops.remaining(&search), &verdict, err);
        if (rc < 0 || run->ended)
            break;
        more = minimal_search_ops.advance(&search, -1, verdict);
    }
    bitset_assign(ret, &search.current);
    search_release(&minimal_search_ops, &search);
    return rc;
}

static int check_whole_and_shrink(struct checked_run *run, const struct bitset *all, struct bitset *ret,
                                  struct error *err)
{
    enum verdict verdict = VERDICT_SKIP;
    int rc = check_set(run, all, 0, 0, &verdict, err);

    if (rc < 0 || run->ended)
        return rc;
    if (verdict == VERDICT_SKIP)
        return error_set(err, ERR_INVALID, "the oracle cannot test the full set, so its subsets cannot be judged");
    run->outcome = verdict == VERDICT_FAIL ? POLYGRAPHY_MINIMAL : POLYGRAPHY_DOES_NOT_FAIL;
    return verdict == VERDICT_FAIL ? shrink_set(run, all, ret, err) : 0;
}

int checked_search_run(const struct checked_search *search, struct checked_result *ret, struct error *err)
{
    struct checked_run run = {.search = search};
    SCOPED_BITSET(all);
    int rc;

    name_map_init(&run.verdicts);
    arena_init(&run.memory);
    bitset_init(&ret->smallest, search->dag->count);
    bitset_init(&all, search->dag->count);
    bitset_fill(&all);
    rc = check_whole_and_shrink(&run, &all, &ret->smallest, err);
    ret->outcome = rc < 0 ? POLYGRAPHY_STOPPED : run.outcome;
    ret->checks = run.checks;
    name_map_release(&run.verdicts);
    arena_release(&run.memory);
    return rc;
}

int32_t library_return(int rc, const struct error *err, struct polygraphy_error *ret)
{
    if (rc < 0 && ret != NULL) {
        ret->code = rc;
        memcpy(ret->message, err->message, sizeof(ret->message));
    }
    return rc;
}
