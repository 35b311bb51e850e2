/* debug/reduce_minimal.c: see reduce_minimal.h. */
#include "debug/reduce_minimal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

/* With an unreliable check: after so many acceptances the model is looked at again. */
#define TRUSTED_ACCEPTANCES 6

/* ---- The graph of nodes ---- */

struct edge_list {
    struct dag_edge *items;
    size_t count, capacity;
};

/* A node that stands in front of what it reads (runtimes refuse such models) depends on nothing here: edges only guide the search. */
static void add_edges(const struct model *model, struct edge_range range, uint32_t node, struct edge_list *ret)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);
        uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

        if (producer != NODE_NONE && producer < node)
            *VECTOR_APPEND(ret) = (struct dag_edge){producer, node};
    }
}

static void make_dag(const struct model *model, struct dag *ret)
{
    struct edge_list edges = {0};

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        add_edges(model, model->nodes.items[i].inputs, i, &edges);
        add_edges(model, model->nodes.items[i].captures, i, &edges);
    }
    dag_init(ret, model->nodes.count, edges.items, edges.count);
    free(edges.items);
}

/* ---- What the loop asks ---- */

static void drop_candidate(struct minimal_reduction *reduction)
{
    if (reduction->has_candidate)
        subgraph_release(&reduction->candidate);
    reduction->has_candidate = false;
}

/* What is cut is not described in words: it is a set, not a place. */
static int describe(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err)
{
    struct minimal_reduction *reduction = data;
    const struct doubtful_search *search = &reduction->search;
    const struct bitset *chosen = doubtful_search_candidate(search);
    size_t nodes = bitset_count(chosen), left = bitset_count(&search->search.current);
    uint32_t not_a_tensor = VALUE_NONE;
    int rc;

    (void)index;
    drop_candidate(reduction);
    rc = candidate_of_nodes(reduction->maker, chosen, &reduction->candidate, err);
    if (rc == 0) {
        reduction->has_candidate = true;
        rc = candidate_complete(reduction->maker, &reduction->candidate, &not_a_tensor, err);
    }
    if (rc < 0 && rc != ERR_BACKEND)
        return rc;
    if (!quiet && search->looks_again)
        log_message(reduction->log, LOG_INFO, "Looking again at the %zu node(s) that are left", nodes);
    else if (!quiet)
        log_message(reduction->log, LOG_INFO, "Trying %zu of %zu nodes", nodes, left);
    if (rc < 0)
        log_once(reduction->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    reduction->skipped = rc < 0 || not_a_tensor != VALUE_NONE || reduction->candidate.outputs.count == 0;
    *ret = (struct loop_candidate){.action = reduction->skipped ? CANDIDATE_SKIP : CANDIDATE_CHECK,
                                   .skip_verdict = VERDICT_PASS,
                                   .num_nodes = (int64_t)nodes,
                                   .has_identity = reduction->has_candidate,
                                   .expectation = search->looks_again ? EXPECT_AGAIN : EXPECT_NOTHING};
    if (reduction->has_candidate)
        ret->identity = subgraph_identity(&reduction->candidate);
    return 0;
}

static int write_candidate(void *data, const char *path, struct error *err)
{
    struct minimal_reduction *reduction = data;

    return candidate_write(reduction->maker, &reduction->candidate, path, NULL, err);
}

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

static bool advance(void *data, int64_t index, int64_t num_nodes, enum verdict verdict)
{
    struct minimal_reduction *reduction = data;
    bool more;

    (void)index, (void)num_nodes;
    if (reduction->skipped)
        verdict = VERDICT_SKIP;
    keep_candidate(reduction, verdict);
    more = doubtful_search_advance(&reduction->search, verdict);
    reduction->is_minimal = !more;
    return more;
}

static int64_t remaining(void *data)
{
    const struct minimal_reduction *reduction = data;

    return (int64_t)doubtful_search_remaining(&reduction->search);
}

/* ---- The search ---- */

void minimal_reduction_init(struct minimal_reduction *reduction, struct candidate_maker *maker,
                            const struct subgraph *bad, struct loop *loop, struct log *log)
{
    *reduction = (struct minimal_reduction){.maker = maker, .loop = loop, .log = log};
    make_dag(maker->whole.model, &reduction->dag);
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

static void log_certificate(const struct minimal_reduction *reduction)
{
    size_t nodes = bitset_count(&reduction->bad.nodes);

    if (nodes == 1)
        log_message(reduction->log, LOG_FINISH, "The model is 1-minimal: it is a single node");
    else
        log_message(reduction->log, LOG_FINISH,
                    "The model is 1-minimal: without any single one of its %zu nodes it does not fail", nodes);
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

int minimal_reduction_run(struct minimal_reduction *reduction, struct error *err)
{
    struct loop_subject subject = {.data = reduction,
                                   .suffix = "minimal",
                                   .describe = describe,
                                   .write = write_candidate,
                                   .advance = advance,
                                   .remaining = remaining};
    int rc = 0;

    log_message(reduction->log, LOG_START, "Looking for the smallest set of nodes that fails");
    reduction->is_minimal = !doubtful_search_start(&reduction->search, &reduction->dag, &reduction->bad.nodes,
                                                   loop_is_flaky(reduction->loop) ? TRUSTED_ACCEPTANCES : 0);
    if (!reduction->is_minimal)
        rc = loop_run(reduction->loop, &subject, err);
    if (rc == 0 && reduction->went_back)
        rc = restore_bad(reduction, err);
    doubtful_search_release(&reduction->search);
    if (rc == 0 && reduction->is_minimal)
        log_certificate(reduction);
    return rc;
}
