/* debug/reduce/minimal.c: any set of nodes, down to one that none can be left out of. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "debug/reduce/node_dag.h"
#include "debug/reduce/searches.h"
#include "search/doubtful_search.h"

/* With an unreliable check: after so many acceptances the model is looked at again. */
#define TRUSTED_ACCEPTANCES 6

struct minimal_reduction {
    struct candidate_maker *maker;
    struct loop *loop;
    struct found_part *part;

    struct dag dag; /* of the model's nodes */
    struct doubtful_search search;
    struct subgraph candidate; /* the one that was described last, for now */
    struct subgraph good;      /* the last one that passed */
    bool has_good;
    bool went_back; /* from part->bad: a second look at it has shown that it does not fail */
};

static void keep(struct subgraph *kept, const struct subgraph *subgraph)
{
    subgraph_release(kept);
    subgraph_init_copy(kept, subgraph);
}

/* ---- Candidates ---- */

/* Makes the candidate of these nodes, and describes it. `ret_made`: there is one, which is to be released. ERR_BACKEND
 * when the runtime has something against it: then it is described as one that is skipped. */
static int make_candidate(struct minimal_reduction *reduction, const struct bitset *nodes, struct subgraph *ret,
                          bool *ret_made, struct loop_candidate *ret_candidate, struct error *err)
{
    uint32_t not_a_tensor = VALUE_NONE;
    int rc = candidate_of_nodes(reduction->maker, nodes, ret, err);

    *ret_made = rc == 0;
    if (rc == 0)
        rc = candidate_complete(reduction->maker, ret, &not_a_tensor, err);
    *ret_candidate = (struct loop_candidate){
        .action = rc < 0 || not_a_tensor != VALUE_NONE || ret->outputs.count == 0 ? CANDIDATE_SKIP : CANDIDATE_CHECK,
        .skip_verdict = VERDICT_PASS,
        .num_nodes = (int64_t)bitset_count(nodes),
        .has_identity = *ret_made};
    if (*ret_made)
        ret_candidate->identity = subgraph_identity(ret);
    return rc;
}

/* What is cut is not described in words: it is a set, not a place. */
static int describe(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                    struct error *err)
{
    const struct doubtful_search *doubtful = search;
    struct minimal_reduction *reduction = data;
    const struct bitset *nodes = doubtful_search_candidate(doubtful);
    struct candidate_knowledge before;
    struct subgraph candidate;
    bool made;
    int rc;

    if (turn == CANDIDATE_AHEAD)
        candidate_maker_remember(reduction->maker, &before);
    rc = make_candidate(reduction, nodes, &candidate, &made, ret, err);
    if (turn == CANDIDATE_AHEAD)
        candidate_maker_forget(reduction->maker, &before);
    if (made && turn == CANDIDATE_AHEAD) {
        subgraph_release(&candidate);
    } else if (made) {
        subgraph_release(&reduction->candidate);
        reduction->candidate = candidate;
    }
    if (rc < 0 && rc != ERR_BACKEND)
        return rc;
    if (turn == CANDIDATE_NOW && doubtful->looks_again)
        log_message(reduction->maker->log, LOG_INFO, "Looking again at the %zu node(s) that are left",
                    bitset_count(nodes));
    else if (turn == CANDIDATE_NOW)
        log_message(reduction->maker->log, LOG_INFO, "Trying %zu of %zu nodes", bitset_count(nodes),
                    bitset_count(&doubtful->search.current));
    if (rc < 0)
        log_once(reduction->maker->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    ret->expectation = doubtful->looks_again ? EXPECT_AGAIN : EXPECT_NOTHING;
    return 0;
}

static int prepare(void *data, const void *search, const char *path, struct loop_candidate *candidate,
                   struct error *err)
{
    struct minimal_reduction *reduction = data;

    (void)search, (void)candidate;
    return candidate_prepare(reduction->maker, &reduction->candidate, path, err);
}

static int write_candidate(void *data, const void *search, enum candidate_turn turn,
                           const struct candidate_paths *paths, struct error *err)
{
    struct minimal_reduction *reduction = data;
    struct candidate_knowledge before;
    struct loop_candidate described;
    struct subgraph candidate;
    bool made;
    int rc;

    if (turn != CANDIDATE_AHEAD)
        return candidate_write(reduction->maker, &reduction->candidate, paths, NULL, err);
    candidate_maker_remember(reduction->maker, &before);
    rc = make_candidate(reduction, doubtful_search_candidate(search), &candidate, &made, &described, err);
    if (rc == 0)
        rc = candidate_prepare(reduction->maker, &candidate, NULL, err);
    if (rc == 0)
        rc = candidate_write(reduction->maker, &candidate, paths, NULL, err);
    if (made)
        subgraph_release(&candidate);
    candidate_maker_forget(reduction->maker, &before);
    return rc;
}

/* Notes what is now known to fail, and to pass. `untested`: in the last round each verdict is about a single node that
 * was left out, until one of them can be. */
static void took(void *data, const void *search, int64_t nodes, enum verdict verdict)
{
    const struct doubtful_search *doubtful = search;
    struct minimal_reduction *reduction = data;

    (void)nodes;
    if ((verdict == VERDICT_FAIL) != doubtful->looks_again) /* the search goes on from another model */
        reduction->part->untested = 0;
    else if (verdict == VERDICT_SKIP && !doubtful->looks_again && doubtful->search.phase == MINIMAL_DELETE &&
             doubtful->search.chunk == 1)
        reduction->part->untested++;
    if (verdict == VERDICT_FAIL) {
        keep(&reduction->part->bad, &reduction->candidate);
        reduction->went_back = false;
    } else if (doubtful->looks_again) {
        reduction->went_back = true;
        log_message(reduction->maker->log, LOG_WARNING,
                    "They do not fail after all. Going back to what was there before");
    } else if (verdict == VERDICT_PASS) {
        /* Candidates shrink, so the last one that passed is the closest. */
        keep(&reduction->good, &reduction->candidate);
        reduction->has_good = true;
    }
}

/* ---- The search ---- */

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
        keep(&reduction->part->bad, &bad);
    subgraph_release(&bad);
    return rc;
}

static int describe_live(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                         struct error *err)
{
    struct minimal_reduction *reduction = data;
    uint32_t not_a_tensor;

    (void)search, (void)turn;
    keep(&reduction->candidate, &reduction->part->bad);
    subgraph_clean(&reduction->candidate, NULL, NULL, NULL);
    *ret = (struct loop_candidate){.action = CANDIDATE_CHECK,
                                   .num_nodes = (int64_t)bitset_count(&reduction->candidate.nodes),
                                   .has_identity = true,
                                   .identity = subgraph_identity(&reduction->candidate)};
    return candidate_complete(reduction->maker, &reduction->candidate, &not_a_tensor, err);
}

/* Nodes that no output needs are mostly not what fails, and a runtime that refuses one of them refuses the model. */
static int drop_dead_nodes(struct minimal_reduction *reduction, size_t number, struct error *err)
{
    struct loop_subject subject = {.data = reduction,
                                   .may_be_kept = true,
                                   .describe = describe_live,
                                   .prepare = prepare,
                                   .write = write_candidate};
    enum verdict verdict = VERDICT_PASS;
    struct subgraph live;
    char key[64] = "_live";
    size_t nodes;
    int rc;

    subgraph_init_copy(&live, &reduction->part->bad);
    subgraph_clean(&live, NULL, NULL, NULL);
    nodes = bitset_count(&live.nodes);
    subgraph_release(&live);
    if (nodes == 0 || nodes == bitset_count(&reduction->part->bad.nodes))
        return 0;
    if (number > 1)
        snprintf(key, sizeof(key), "_live_%zu", number);
    rc =
        loop_check_apart(reduction->loop, &subject, key, "the model without nodes that no output needs", &verdict, err);
    if (rc == 0 && verdict == VERDICT_FAIL)
        keep(&reduction->part->bad, &reduction->candidate);
    return rc;
}

int reduce_by_nodes(struct candidate_maker *maker, struct loop *loop, size_t number, struct found_part *part,
                    struct error *err)
{
    struct minimal_reduction reduction = {.maker = maker, .loop = loop, .part = part};
    char suffix[64] = "minimal";
    struct loop_subject subject = {.data = &reduction,
                                   .ops = &doubtful_search_ops,
                                   .search = &reduction.search,
                                   .suffix = suffix,
                                   .may_be_kept = true,
                                   .describe = describe,
                                   .prepare = prepare,
                                   .write = write_candidate,
                                   .took = took};
    int rc = 0;

    if (number > 1)
        snprintf(suffix, sizeof(suffix), "minimal_%zu", number);
    part->untested = 0;
    node_dag_init(&reduction.dag, maker->whole.model);
    subgraph_init_copy(&reduction.good, &part->bad);
    subgraph_init_copy(&reduction.candidate, &part->bad);
    if (!loop_is_interactive(loop))
        rc = drop_dead_nodes(&reduction, number, err);
    if (rc < 0)
        goto done;
    log_message(maker->log, LOG_START, "Looking for the smallest set of nodes that fails");
    if (doubtful_search_start(&reduction.search, &reduction.dag, &part->bad.nodes,
                              loop_is_flaky(loop) ? TRUSTED_ACCEPTANCES : 0))
        rc = loop_run(loop, &subject, err);
    part->is_ended = reduction.search.search.phase == MINIMAL_DONE && !reduction.search.looks_again;
    if (rc == 0 && reduction.went_back)
        rc = restore_bad(&reduction, err);
    doubtful_search_ops.release(&reduction.search);
    if (rc == 0 && reduction.has_good && !part->has_good) {
        subgraph_init_copy(&part->good, &reduction.good);
        part->has_good = true;
    }
done:
    subgraph_release(&reduction.candidate);
    subgraph_release(&reduction.good);
    dag_release(&reduction.dag);
    return rc;
}
