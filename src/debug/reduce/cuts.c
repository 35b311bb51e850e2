/* debug/reduce/cuts.c: see cuts.h. */
#include "debug/reduce/cuts.h"

#include <stdlib.h>

#include "base/memory.h"

/* Takes what `subgraph` holds, in place of what was there. */
static void keep(struct subgraph *kept, struct subgraph subgraph)
{
    subgraph_release(kept);
    *kept = subgraph;
}

/* ---- Candidates ---- */

/* Cuts where a search of the present phase asks for it, and describes what that gives. Releases nothing when it
 * fails. */
static int make_cut(struct cut_reduction *reduction, const struct index_search *search, enum candidate_turn turn,
                    struct subgraph *ret, struct loop_candidate *ret_candidate, struct error *err)
{
    const struct cut_phase *phase = reduction->phase;
    bool quiet = turn != CANDIDATE_NOW;
    uint32_t not_a_tensor = VALUE_NONE;
    int rc =
        candidate_cut(reduction->maker, &phase->base, search->direction, phase->nodes[search->next], quiet, ret, err);

    if (rc < 0)
        return rc;
    /* Of candidates with a known verdict, too: what is known of the model must not depend on when a session was
     * resumed. */
    rc = candidate_complete(reduction->maker, ret, &not_a_tensor, err);
    if (rc < 0 && rc != ERR_BACKEND) {
        subgraph_release(ret);
        return rc;
    }
    if (rc < 0)
        log_once(reduction->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    *ret_candidate =
        (struct loop_candidate){.action = rc < 0 || not_a_tensor != VALUE_NONE ? CANDIDATE_SKIP : CANDIDATE_CHECK,
                                .skip_verdict = VERDICT_PASS,
                                .num_nodes = (int64_t)bitset_count(&ret->nodes),
                                .has_identity = true,
                                .identity = subgraph_identity(ret)};
    if (not_a_tensor != VALUE_NONE && !quiet)
        log_message(reduction->log, LOG_WARNING,
                    "'" TEXT_FORMAT
                    "' is not a tensor, so it can be neither fed nor compared: the model is not cut here",
                    TEXT_ARGS(ret->model->values.items[not_a_tensor].name));
    return 0;
}

static int describe(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                    struct error *err)
{
    struct cut_reduction *reduction = data;
    struct candidate_knowledge before;
    struct subgraph candidate;
    int rc;

    if (turn == CANDIDATE_AHEAD)
        candidate_maker_remember(reduction->maker, &before);
    rc = make_cut(reduction, search, turn, &candidate, ret, err);
    if (rc == 0 && turn == CANDIDATE_AHEAD)
        subgraph_release(&candidate);
    else if (rc == 0)
        keep(&reduction->candidate, candidate);
    if (turn == CANDIDATE_AHEAD)
        candidate_maker_forget(reduction->maker, &before);
    return rc;
}

static int prepare(void *data, const void *search, const char *path, struct loop_candidate *candidate,
                   struct error *err)
{
    struct cut_reduction *reduction = data;

    (void)search, (void)candidate;
    return candidate_prepare(reduction->maker, &reduction->candidate, path, err);
}

static int write_candidate(void *data, const void *search, enum candidate_turn turn,
                           const struct candidate_paths *paths, struct error *err)
{
    struct cut_reduction *reduction = data;
    struct candidate_knowledge before;
    struct loop_candidate described;
    struct subgraph candidate;
    int rc;

    if (turn != CANDIDATE_AHEAD)
        return candidate_write(reduction->maker, &reduction->candidate, paths, NULL, err);
    candidate_maker_remember(reduction->maker, &before);
    rc = make_cut(reduction, search, turn, &candidate, &described, err);
    if (rc < 0)
        goto done;
    rc = candidate_prepare(reduction->maker, &candidate, NULL, err);
    if (rc == 0)
        rc = candidate_write(reduction->maker, &candidate, paths, NULL, err);
    subgraph_release(&candidate);
done:
    candidate_maker_forget(reduction->maker, &before);
    return rc;
}

static void took(void *data, const void *search, int64_t nodes, enum verdict verdict)
{
    struct cut_reduction *reduction = data;
    struct subgraph copy;

    if (verdict != VERDICT_FAIL || nodes > ((const struct index_search *)search)->best_bad_nodes)
        return;
    subgraph_init_copy(&copy, &reduction->candidate);
    keep(&reduction->bad, copy);
}

/* ---- The phases ---- */

void cut_reduction_init(struct cut_reduction *reduction, struct candidate_maker *maker, const struct subgraph *bad,
                        enum index_mode mode, struct loop *loop, struct log *log)
{
    *reduction = (struct cut_reduction){.maker = maker, .mode = mode, .loop = loop, .log = log};
    subgraph_init_copy(&reduction->bad, bad);
    subgraph_init_copy(&reduction->candidate, bad);
}

void cut_reduction_release(struct cut_reduction *reduction)
{
    subgraph_release(&reduction->candidate);
    subgraph_release(&reduction->bad);
    for (size_t i = 0; i < ARRAY_LEN(reduction->phases); i++)
        if (reduction->phases[i].done) {
            subgraph_release(&reduction->phases[i].base);
            free(reduction->phases[i].nodes);
            index_search_ops.release(&reduction->phases[i].search);
        }
}

int cut_reduction_run(struct cut_reduction *reduction, enum index_direction direction, struct error *err)
{
    const char *what = direction == INDEX_FOR_OUTPUTS ? "outputs" : "inputs";
    struct cut_phase *phase = &reduction->phases[direction];
    struct loop_subject subject = {.data = reduction,
                                   .ops = &index_search_ops,
                                   .search = &phase->search,
                                   .suffix = what,
                                   .may_be_kept = true,
                                   .describe = describe,
                                   .prepare = prepare,
                                   .write = write_candidate,
                                   .took = took};
    size_t count = 0;
    int rc = 0;

    log_message(reduction->log, LOG_START, "Reducing model %s", what);
    reduction->phase = phase;
    phase->done = true;
    subgraph_init_copy(&phase->base, &reduction->bad);
    phase->nodes = memory_alloc_zero(bitset_count(&phase->base.nodes) + 1, sizeof(*phase->nodes));
    for (size_t i = bitset_next(&phase->base.nodes, 0); i < phase->base.nodes.size;
         i = bitset_next(&phase->base.nodes, i + 1))
        phase->nodes[count++] = (uint32_t)i;
    index_search_start(&phase->search, reduction->mode, direction, (int64_t)count);
    if (count > 0)
        rc = loop_run(reduction->loop, &subject, err);
    if (rc == 0)
        log_message(reduction->log, LOG_FINISH, "Finished reducing model %s", what);
    return rc;
}

/* ---- What passed ---- */

int cut_reduction_find_good(struct cut_reduction *reduction, const struct subgraph *bad, bool *ret_found,
                            struct subgraph *ret, struct error *err)
{
    int64_t bad_nodes = (int64_t)bitset_count(&bad->nodes);
    const struct cut_phase *phase = NULL;
    const struct index_pass *pass = NULL;

    for (size_t i = 0; i < ARRAY_LEN(reduction->phases); i++) {
        const struct index_pass *closest = index_search_closest_pass(&reduction->phases[i].search, bad_nodes, pass);

        if (closest != pass)
            phase = &reduction->phases[i];
        pass = closest;
    }

    *ret_found = pass != NULL;
    if (pass == NULL)
        return 0;
    return candidate_cut(reduction->maker, &phase->base, phase->search.direction, phase->nodes[pass->index], true, ret,
                         err);
}
