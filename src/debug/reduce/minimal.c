/* debug/reduce/minimal.c: reduces the set of nodes to a 1-minimal one. */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "debug/reduce/node_dag.h"
#include "debug/reduce/part.h"
#include "debug/reduce/searches.h"
#include "search/doubtful_search.h"

/* With --flaky: the model is re-checked after this many acceptances. */
#define TRUSTED_ACCEPTANCES 6

struct minimal_reduction {
    struct candidate_maker *maker; /* the first: part_subject() */
    struct debug_session *session;
    struct found_part *part;

    struct dag dag; /* of the model's nodes */
    struct doubtful_search search;
    struct subgraph good; /* the last passing one */
    bool has_good;
    bool went_back; /* a re-check of part->bad passed, so the search returned to an earlier set */
};

static void keep_subgraph(struct subgraph *kept, const struct subgraph *subgraph)
{
    subgraph_release(kept);
    subgraph_init_copy(kept, subgraph);
}

/* ---- Candidates ---- */

/* The log has no description of a set of nodes. Candidates that the runtime rejects are skipped. */
static int identify_nodes(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    const struct doubtful_search *doubtful = search;
    struct minimal_reduction *reduction = data;
    struct candidate_maker *maker = reduction->maker;
    const struct bitset *nodes = doubtful_search_candidate(doubtful);
    uint32_t not_a_tensor = VALUE_NONE;
    struct subgraph part;
    bool is_made;
    int rc = candidate_of_nodes(maker, nodes, &part, err);

    is_made = rc == 0;
    if (is_made)
        rc = candidate_complete(maker, &part, &not_a_tensor, err);
    ret->action = rc < 0 || not_a_tensor != VALUE_NONE || part.outputs.count == 0 ? CANDIDATE_SKIP : CANDIDATE_CHECK;
    ret->skip_verdict = VERDICT_PASS;
    if (is_made)
        part_identify(maker, &part, NULL, ret);
    ret->num_nodes = (int64_t)bitset_count(nodes);
    ret->expectation = doubtful->looks_again ? EXPECT_AGAIN : EXPECT_NOTHING;
    if (rc < 0 && rc != ERR_BACKEND)
        return rc;
    if (doubtful->looks_again && !ret->is_known)
        log_message(maker->log, LOG_INFO, "Re-checking the remaining %zu node(s)", bitset_count(nodes));
    else if (!ret->is_known)
        log_message(maker->log, LOG_INFO, "Trying %zu of %zu nodes", bitset_count(nodes),
                    bitset_count(&doubtful->search.current));
    if (rc < 0)
        log_once(maker->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    return 0;
}

/* Stores the failing and the passing subgraph. `untested`: in the last round each verdict is about removing a single
 * node, until one is removed. */
static void learn_verdict(void *data, const void *search, const struct candidate_description *candidate, int64_t nodes,
                          enum verdict verdict)
{
    const struct doubtful_search *doubtful = search;
    struct minimal_reduction *reduction = data;

    (void)nodes;
    if ((verdict == VERDICT_FAIL) != doubtful->looks_again) /* the search continues from another model */
        reduction->part->untested = 0;
    else if (verdict == VERDICT_SKIP && !doubtful->looks_again && doubtful->search.phase == MINIMAL_DELETE &&
             doubtful->search.chunk == 1)
        reduction->part->untested++;
    if (verdict == VERDICT_FAIL) {
        keep_subgraph(&reduction->part->bad, part_of(candidate));
        reduction->went_back = false;
    } else if (doubtful->looks_again) {
        reduction->went_back = true;
        log_message(reduction->maker->log, LOG_WARNING,
                    "The remaining nodes do not fail when re-checked. Returning to the previous set");
    } else if (verdict == VERDICT_PASS) {
        /* Candidates shrink, so the last one that passed is the closest. */
        keep_subgraph(&reduction->good, part_of(candidate));
        reduction->has_good = true;
    }
}

/* ---- The search ---- */

/* Recreates the model to which the search returned. */
static int restore_bad(struct minimal_reduction *reduction, struct error *err)
{
    struct subgraph bad SCOPED(subgraph_release) = {0};
    uint32_t not_a_tensor;
    int rc = candidate_of_nodes(reduction->maker, &reduction->search.search.current, &bad, err);

    if (rc < 0)
        return rc;
    rc = candidate_complete(reduction->maker, &bad, &not_a_tensor, err);
    if (rc == 0)
        keep_subgraph(&reduction->part->bad, &bad);
    return rc;
}

/* Removes nodes that no output depends on: they are mostly not the cause, and a runtime that rejects one of them
 * rejects the model. */
static int drop_dead_nodes(struct minimal_reduction *reduction, size_t number, struct error *err)
{
    struct subgraph live SCOPED(subgraph_release) = {0};
    struct given_part given = {.maker = reduction->maker, .session = reduction->session, .part = &live};
    enum verdict verdict = VERDICT_PASS;
    uint32_t not_a_tensor;
    char key[64] = "_live";
    size_t nodes;
    int rc = 0;

    subgraph_init_copy(&live, &reduction->part->bad);
    subgraph_clean(&live, NULL, NULL, NULL);
    nodes = bitset_count(&live.nodes);
    if (nodes == 0 || nodes == bitset_count(&reduction->part->bad.nodes))
        return rc;
    if (number > 1)
        snprintf(key, sizeof(key), "_live_%zu", number);
    rc = given_part_check(
        &given, (struct check_request){ROLE_CANDIDATE, key, "the model without nodes that no output depends on"},
        &verdict, err);
    if (rc == 0 && verdict == VERDICT_FAIL)
        rc = candidate_complete(reduction->maker, &live, &not_a_tensor, err);
    if (rc == 0 && verdict == VERDICT_FAIL)
        keep_subgraph(&reduction->part->bad, &live);
    return rc;
}

int reduce_by_nodes(struct candidate_maker *maker, struct debug_session *session, size_t number,
                    struct found_part *part, struct error *err)
{
    struct minimal_reduction reduction = {.maker = maker, .session = session, .part = part};
    char suffix[64] = "minimal";
    struct session_subject subject = part_subject(&reduction, identify_nodes);
    int rc = 0;

    if (number > 1)
        snprintf(suffix, sizeof(suffix), "minimal_%zu", number);
    subject.ops = &doubtful_search_ops;
    subject.search = &reduction.search;
    subject.suffix = suffix;
    subject.took = learn_verdict;
    part->untested = 0;
    node_dag_init(&reduction.dag, maker->whole.model);
    subgraph_init_copy(&reduction.good, &part->bad);
    if (!session_state(session).is_interactive)
        rc = drop_dead_nodes(&reduction, number, err);
    if (rc < 0)
        goto done;
    log_message(maker->log, LOG_START, "Searching for the smallest set of nodes that fails");
    if (doubtful_search_start(&reduction.search, &reduction.dag, &part->bad.nodes,
                              session_state(session).is_flaky ? TRUSTED_ACCEPTANCES : 0))
        rc = session_search(session, &subject, err);
    part->is_ended = reduction.search.search.phase == MINIMAL_DONE && !reduction.search.looks_again;
    if (rc == 0 && reduction.went_back)
        rc = restore_bad(&reduction, err);
    search_release(&doubtful_search_ops, &reduction.search);
    if (rc == 0 && reduction.has_good && !part->has_good) {
        subgraph_init_copy(&part->good, &reduction.good);
        part->has_good = true;
    }
done:
    subgraph_release(&reduction.good);
    dag_release(&reduction.dag);
    return rc;
}
