/* debug/reduce/minimal.c: see minimal.h. */
#include "debug/reduce/minimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "debug/reduce/node_dag.h"

/* With an unreliable check: after so many acceptances the model is looked at again. */
#define TRUSTED_ACCEPTANCES 6

/* ---- What the loop asks ---- */

static void drop_candidate(struct minimal_reduction *reduction)
{
    if (reduction->has_candidate)
        subgraph_release(&reduction->candidate);
    reduction->has_candidate = false;
}

/* Makes the candidate of these nodes. `ret_skipped`: it cannot be checked, and then there may be nothing to release
 * (`ret_made`); `why` says what the runtime had against it, if anything. */
static int make_candidate(struct minimal_reduction *reduction, const struct bitset *nodes, struct subgraph *ret,
                          bool *ret_made, bool *ret_skipped, struct error *why)
{
    uint32_t not_a_tensor = VALUE_NONE;
    int rc = candidate_of_nodes(reduction->maker, nodes, ret, why);

    *ret_made = rc == 0;
    if (rc == 0)
        rc = candidate_complete(reduction->maker, ret, &not_a_tensor, why);
    *ret_skipped = rc < 0 || not_a_tensor != VALUE_NONE || ret->outputs.count == 0;
    return rc;
}

static void describe_candidate(const struct subgraph *candidate, size_t nodes, bool made, bool skipped,
                               struct loop_candidate *ret)
{
    *ret = (struct loop_candidate){.action = skipped ? CANDIDATE_SKIP : CANDIDATE_CHECK,
                                   .skip_verdict = VERDICT_PASS,
                                   .num_nodes = (int64_t)nodes,
                                   .has_identity = made};
    if (made)
        ret->identity = subgraph_identity(candidate);
}

/* What is cut is not described in words: it is a set, not a place. */
static int describe(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err)
{
    struct minimal_reduction *reduction = data;
    const struct doubtful_search *search = &reduction->search;
    const struct bitset *chosen = doubtful_search_candidate(search);
    size_t nodes = bitset_count(chosen), left = bitset_count(&search->search.current);
    int rc;

    (void)index;
    drop_candidate(reduction);
    rc = make_candidate(reduction, chosen, &reduction->candidate, &reduction->has_candidate, &reduction->skipped, err);
    if (rc < 0 && rc != ERR_BACKEND)
        return rc;
    if (!quiet && search->looks_again)
        log_message(reduction->log, LOG_INFO, "Looking again at the %zu node(s) that are left", nodes);
    else if (!quiet)
        log_message(reduction->log, LOG_INFO, "Trying %zu of %zu nodes", nodes, left);
    if (rc < 0)
        log_once(reduction->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    describe_candidate(&reduction->candidate, nodes, reduction->has_candidate, reduction->skipped, ret);
    ret->expectation = search->looks_again ? EXPECT_AGAIN : EXPECT_NOTHING;
    return 0;
}

static int prepare_candidate(void *data, const char *path, struct error *err)
{
    struct minimal_reduction *reduction = data;

    return candidate_prepare(reduction->maker, &reduction->candidate, path, err);
}

static int write_candidate(void *data, const struct candidate_paths *paths, struct error *err)
{
    struct minimal_reduction *reduction = data;

    return candidate_write(reduction->maker, &reduction->candidate, paths, NULL, err);
}

/* ---- Ahead of its turn ---- */

/* An unreliable check is never ahead, so that the search is nothing but a minimal one here. */
static const void *search_now(void *data)
{
    const struct minimal_reduction *reduction = data;

    return &reduction->search.search;
}

static int describe_ahead(void *data, const void *search, struct loop_candidate *ret, struct error *err)
{
    struct minimal_reduction *reduction = data;
    const struct bitset *nodes = &((const struct minimal_search *)search)->candidate;
    struct candidate_knowledge before;
    struct subgraph candidate;
    bool made, skipped;
    int rc;

    candidate_maker_remember(reduction->maker, &before);
    rc = make_candidate(reduction, nodes, &candidate, &made, &skipped, err);
    describe_candidate(&candidate, bitset_count(nodes), made, skipped, ret);
    if (made)
        subgraph_release(&candidate);
    candidate_maker_forget(reduction->maker, &before);
    return rc == ERR_BACKEND ? 0 : rc;
}

static int write_ahead(void *data, const void *search, const struct candidate_paths *paths, struct error *err)
{
    struct minimal_reduction *reduction = data;
    const struct bitset *nodes = &((const struct minimal_search *)search)->candidate;
    struct candidate_knowledge before;
    struct subgraph candidate;
    bool made, skipped;
    int rc;

    candidate_maker_remember(reduction->maker, &before);
    rc = make_candidate(reduction, nodes, &candidate, &made, &skipped, err);
    if (rc == 0)
        rc = candidate_prepare(reduction->maker, &candidate, NULL, err);
    if (rc == 0)
        rc = candidate_write(reduction->maker, &candidate, paths, NULL, err);
    if (made)
        subgraph_release(&candidate);
    candidate_maker_forget(reduction->maker, &before);
    return rc;
}

static const struct foresight foresight = {
    .search = search_now,
    .ops = &minimal_search_ops,
    .describe = describe_ahead,
    .write = write_ahead,
};

/* ---- A verdict ---- */

static void keep(struct subgraph *kept, const struct subgraph *candidate)
{
    subgraph_release(kept);
    subgraph_init_copy(kept, candidate);
}

/* Notes what is now known to fail, and to pass. */
static void keep_candidate(struct minimal_reduction *reduction, enum verdict verdict)
{
    if (verdict == VERDICT_FAIL) {
        keep(&reduction->bad, &reduction->candidate);
        reduction->went_back = false;
    } else if (reduction->search.looks_again) {
        reduction->went_back = true;
        log_message(reduction->log, LOG_WARNING, "They do not fail after all. Going back to what was there before");
    } else if (verdict == VERDICT_PASS) {
        /* Candidates shrink, so the last one that passed is the closest. */
        keep(&reduction->good, &reduction->candidate);
        reduction->has_good = true;
    }
}

/* In the last round each verdict is about a single node that was left out, until one of them can be. */
static void count_untested(struct minimal_reduction *reduction, enum verdict verdict)
{
    const struct doubtful_search *search = &reduction->search;

    if ((verdict == VERDICT_FAIL) != search->looks_again) /* the search goes on from another model */
        reduction->untested = 0;
    else if (verdict == VERDICT_SKIP && !search->looks_again && search->search.phase == MINIMAL_DELETE &&
             search->search.chunk == 1)
        reduction->untested++;
}

static bool advance(void *data, int64_t index, int64_t num_nodes, enum verdict verdict)
{
    struct minimal_reduction *reduction = data;
    bool more;

    (void)index, (void)num_nodes;
    if (reduction->skipped)
        verdict = VERDICT_SKIP;
    count_untested(reduction, verdict);
    keep_candidate(reduction, verdict);
    more = doubtful_search_ops.advance(&reduction->search, -1, verdict);
    reduction->is_ended = !more;
    return more;
}

static int64_t remaining(void *data)
{
    const struct minimal_reduction *reduction = data;

    return doubtful_search_ops.remaining(&reduction->search);
}

/* ---- The search ---- */

void minimal_reduction_init(struct minimal_reduction *reduction, struct candidate_maker *maker,
                            const struct subgraph *bad, struct loop *loop, struct log *log)
{
    *reduction = (struct minimal_reduction){.maker = maker, .loop = loop, .log = log};
    node_dag_init(&reduction->dag, maker->whole.model);
    subgraph_init_copy(&reduction->bad, bad);
    subgraph_init_copy(&reduction->good, bad);
}

void minimal_reduction_release(struct minimal_reduction *reduction)
{
    drop_candidate(reduction);
    subgraph_release(&reduction->bad);
    subgraph_release(&reduction->good);
    dag_release(&reduction->dag);
}

void minimal_reduction_certify(size_t nodes, size_t untested, struct log *log)
{
    if (nodes == 1)
        log_message(log, LOG_FINISH, "The model is 1-minimal: it is a single node");
    else if (untested > 0)
        log_message(log, LOG_WARNING,
                    "No single one of the %zu nodes can be left out. But %zu of them only because the check says "
                    "nothing about the model without them",
                    nodes, untested);
    else
        log_message(log, LOG_FINISH, "The model is 1-minimal: without any single one of its %zu nodes it does not fail",
                    nodes);
}

/* Makes the model again to which the search went back last. */
static int restore_bad(struct minimal_reduction *reduction, struct error *err)
{
    struct subgraph bad;
    uint32_t not_a_tensor;
    int rc = candidate_of_nodes(reduction->maker, &reduction->search.search.current, &bad, err);

    if (rc < 0)
        return rc;
    rc = candidate_complete(reduction->maker, &bad, &not_a_tensor, err);
    if (rc == 0)
        keep(&reduction->bad, &bad);
    subgraph_release(&bad);
    return rc;
}

static int describe_live(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err)
{
    struct minimal_reduction *reduction = data;
    uint32_t not_a_tensor;

    (void)index, (void)quiet;
    drop_candidate(reduction);
    subgraph_init_copy(&reduction->candidate, &reduction->bad);
    subgraph_clean(&reduction->candidate, NULL, NULL, NULL);
    reduction->has_candidate = true;
    describe_candidate(&reduction->candidate, bitset_count(&reduction->candidate.nodes), true, false, ret);
    return candidate_complete(reduction->maker, &reduction->candidate, &not_a_tensor, err);
}

/* Nodes that no output needs are mostly not what fails, and a runtime that refuses one of them refuses the model. */
static int drop_dead_nodes(struct minimal_reduction *reduction, size_t number, struct error *err)
{
    struct loop_subject subject = {.data = reduction,
                                   .may_be_kept = true,
                                   .describe = describe_live,
                                   .prepare = prepare_candidate,
                                   .write = write_candidate};
    enum verdict verdict = VERDICT_PASS;
    struct subgraph live;
    char key[64] = "_live";
    size_t nodes;
    int rc;

    subgraph_init_copy(&live, &reduction->bad);
    subgraph_clean(&live, NULL, NULL, NULL);
    nodes = bitset_count(&live.nodes);
    subgraph_release(&live);
    if (nodes == 0 || nodes == bitset_count(&reduction->bad.nodes))
        return 0;
    if (number > 1)
        snprintf(key, sizeof(key), "_live_%zu", number);
    rc =
        loop_check_apart(reduction->loop, &subject, key, "the model without nodes that no output needs", &verdict, err);
    if (rc == 0 && verdict == VERDICT_FAIL)
        keep(&reduction->bad, &reduction->candidate);
    return rc;
}

int minimal_reduction_run(struct minimal_reduction *reduction, size_t number, struct error *err)
{
    char suffix[64] = "minimal";
    struct loop_subject subject = {.data = reduction,
                                   .suffix = suffix,
                                   .may_be_kept = true,
                                   .describe = describe,
                                   .prepare = prepare_candidate,
                                   .write = write_candidate,
                                   .advance = advance,
                                   .remaining = remaining,
                                   .foresight = &foresight};
    int rc = 0;

    if (number > 1)
        snprintf(suffix, sizeof(suffix), "minimal_%zu", number);
    if (!loop_is_interactive(reduction->loop))
        rc = drop_dead_nodes(reduction, number, err);
    if (rc < 0)
        return rc;
    log_message(reduction->log, LOG_START, "Looking for the smallest set of nodes that fails");
    reduction->is_ended = !doubtful_search_start(&reduction->search, &reduction->dag, &reduction->bad.nodes,
                                                 loop_is_flaky(reduction->loop) ? TRUSTED_ACCEPTANCES : 0);
    if (!reduction->is_ended)
        rc = loop_run(reduction->loop, &subject, err);
    if (rc == 0 && reduction->went_back)
        rc = restore_bad(reduction, err);
    doubtful_search_ops.release(&reduction->search);
    return rc;
}
