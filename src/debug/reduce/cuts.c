/* debug/reduce/cuts.c: outputs and inputs are moved, one list of cuts after the other. */
#include <stdlib.h>

#include "base/memory.h"
#include "debug/reduce/searches.h"

/* What is cut, where, and what was found. */
struct cut_phase {
    struct subgraph base;
    uint32_t *nodes; /* of base, in order: what the search's indices stand for */
    struct index_search search;
};

struct cut_reduction {
    struct candidate_maker *maker;
    const struct cut_settings *settings;
    struct found_part *part;
    struct cut_phase phases[2]; /* by enum index_direction */
    struct cut_phase *phase;    /* the one that runs */
    struct subgraph candidate;  /* the one that was described last, for now */
};

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
    struct cut_place place = {search->direction, phase->nodes[search->next]};
    int rc = candidate_cut(reduction->maker, &phase->base, place, quiet, ret, err);

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
        log_once(reduction->maker->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    *ret_candidate =
        (struct loop_candidate){.action = rc < 0 || not_a_tensor != VALUE_NONE ? CANDIDATE_SKIP : CANDIDATE_CHECK,
                                .skip_verdict = VERDICT_PASS,
                                .num_nodes = (int64_t)bitset_count(&ret->nodes),
                                .has_identity = true,
                                .identity = subgraph_identity(ret)};
    if (not_a_tensor != VALUE_NONE && !quiet)
        log_message(reduction->maker->log, LOG_WARNING,
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
    keep(&reduction->part->bad, copy);
}

/* ---- The search ---- */

static int run_phase(struct cut_reduction *reduction, enum index_direction direction, struct loop *loop,
                     struct error *err)
{
    const char *what = direction == INDEX_FOR_OUTPUTS ? "outputs" : "inputs";
    struct candidate_maker *maker = reduction->maker;
    struct cut_phase *phase = &reduction->phases[direction];
    const struct bitset *nodes = &reduction->part->bad.nodes;
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

    log_message(maker->log, LOG_START, "Reducing model %s", what);
    reduction->phase = phase;
    subgraph_init_copy(&phase->base, &reduction->part->bad);
    phase->nodes = memory_alloc_zero(bitset_count(nodes) + 1, sizeof(*phase->nodes));
    for (size_t i = bitset_next(nodes, 0); i < nodes->size; i = bitset_next(nodes, i + 1))
        phase->nodes[count++] = (uint32_t)i;
    index_search_start(&phase->search, reduction->settings->mode, direction, (int64_t)count);
    if (count > 0)
        rc = loop_run(loop, &subject, err);
    if (rc == 0)
        log_message(maker->log, LOG_FINISH, "Finished reducing model %s", what);
    return rc;
}

/* Makes the passing candidate that is closest in size to the result again. */
static int make_good(struct cut_reduction *reduction, struct error *err)
{
    int64_t bad_nodes = (int64_t)bitset_count(&reduction->part->bad.nodes);
    const struct cut_phase *phase = NULL;
    const struct index_pass *pass = NULL;
    struct cut_place place;
    int rc;

    for (size_t i = 0; i < ARRAY_LEN(reduction->phases); i++) {
        const struct index_pass *closest = index_search_closest_pass(&reduction->phases[i].search, bad_nodes, pass);

        if (closest != pass)
            phase = &reduction->phases[i];
        pass = closest;
    }
    if (pass == NULL)
        return 0;
    place = (struct cut_place){phase->search.direction, phase->nodes[pass->index]};
    rc = candidate_cut(reduction->maker, &phase->base, place, true, &reduction->part->good, err);
    reduction->part->has_good = rc == 0;
    return rc;
}

int reduce_by_cuts(struct candidate_maker *maker, const struct cut_settings *settings, struct loop *loop,
                   struct found_part *part, struct error *err)
{
    struct cut_reduction reduction = {.maker = maker, .settings = settings, .part = part};
    int rc = 0;

    subgraph_init_copy(&reduction.candidate, &part->bad);
    if (settings->outputs)
        rc = run_phase(&reduction, INDEX_FOR_OUTPUTS, loop, err);
    if (rc == 0 && settings->inputs)
        rc = run_phase(&reduction, INDEX_FOR_INPUTS, loop, err);
    if (rc == 0)
        rc = make_good(&reduction, err);
    for (size_t i = 0; i < ARRAY_LEN(reduction.phases); i++)
        if (reduction.phases[i].nodes != NULL) {
            subgraph_release(&reduction.phases[i].base);
            free(reduction.phases[i].nodes);
            index_search_ops.release(&reduction.phases[i].search);
        }
    subgraph_release(&reduction.candidate);
    return rc;
}
