/* debug/reduce/cuts.c: moves outputs, then inputs, by a search over a list of places to cut. */
#include <stdlib.h>

#include "base/memory.h"
#include "debug/reduce/part.h"
#include "debug/reduce/searches.h"

/* One phase: the model to cut, the places, and the result. */
struct cut_phase {
    struct subgraph base;
    uint32_t *nodes; /* nodes of `base` in order, indexed by the search */
    struct index_search search;
};

struct cut_reduction {
    struct candidate_maker *maker; /* the first: part_subject() */
    const struct cut_settings *settings;
    struct found_part *part;
    struct cut_phase phases[2]; /* by enum index_direction */
    struct cut_phase *phase;    /* the current phase */
};

/* ---- Candidates ---- */

/* Cuts at the place that the search of the current phase asks for. */
static int identify_cut(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    struct cut_reduction *reduction = data;
    const struct index_search *index = search;
    const struct cut_phase *phase = reduction->phase;
    uint32_t not_a_tensor = VALUE_NONE;
    struct cut_place place = {index->direction, phase->nodes[index->next]};
    struct subgraph part;
    int rc = candidate_cut(reduction->maker, &phase->base, place, ret->is_known, &part, err);

    if (rc < 0)
        return rc;
    /* Also for candidates with a known verdict, so that knowledge of the model does not depend on when a session was
     * resumed. */
    rc = candidate_complete(reduction->maker, &part, &not_a_tensor, err);
    if (rc < 0 && rc != ERR_BACKEND) {
        subgraph_release(&part);
        return rc;
    }
    if (rc < 0)
        log_once(reduction->maker->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    if (not_a_tensor != VALUE_NONE && !ret->is_known)
        log_message(reduction->maker->log, LOG_WARNING,
                    "'" TEXT_FORMAT
                    "' is not a tensor, so it can be neither fed nor compared: the model is not cut here",
                    TEXT_ARGS(part.model->values.items[not_a_tensor].name));
    ret->action = rc < 0 || not_a_tensor != VALUE_NONE ? CANDIDATE_SKIP : CANDIDATE_CHECK;
    ret->skip_verdict = VERDICT_PASS;
    part_identify(reduction->maker, &part, NULL, ret);
    return 0;
}

static void keep_failing_cut(void *data, const void *search, const struct candidate_description *candidate,
                             int64_t nodes, enum verdict verdict)
{
    struct cut_reduction *reduction = data;

    if (verdict != VERDICT_FAIL || nodes > ((const struct index_search *)search)->best_bad_nodes)
        return;
    subgraph_release(&reduction->part->bad);
    subgraph_init_copy(&reduction->part->bad, part_of(candidate));
}

/* ---- The search ---- */

static int run_phase(struct cut_reduction *reduction, enum index_direction direction, struct debug_session *session,
                     struct error *err)
{
    const char *what = direction == INDEX_FOR_OUTPUTS ? "outputs" : "inputs";
    struct candidate_maker *maker = reduction->maker;
    struct cut_phase *phase = &reduction->phases[direction];
    const struct bitset *nodes = &reduction->part->bad.nodes;
    struct session_subject subject = part_subject(reduction, identify_cut);
    size_t count = 0;
    int rc = 0;

    log_message(maker->log, LOG_START, "Reducing model %s", what);
    reduction->phase = phase;
    subgraph_init_copy(&phase->base, &reduction->part->bad);
    phase->nodes = memory_alloc_zero(bitset_count(nodes) + 1, sizeof(*phase->nodes));
    BITSET_EACH (i, nodes)
        phase->nodes[count++] = (uint32_t)i;
    subject.ops = &index_search_ops;
    subject.search = &phase->search;
    subject.suffix = what;
    subject.took = keep_failing_cut;
    index_search_start(&phase->search, reduction->settings->mode, direction, (int64_t)count);
    if (count > 0)
        rc = session_search(session, &subject, err);
    if (rc == 0)
        log_message(maker->log, LOG_FINISH, "Finished reducing model %s", what);
    return rc;
}

/* Recreates the passing candidate of --min-good: that of the last phase if it is smaller than the failing one there.
 * Sizes in different phases are not compared, since each phase starts from another model. */
static int make_good(struct cut_reduction *reduction, struct error *err)
{
    const struct cut_phase *phase = NULL;
    const struct index_pass *pass = NULL;
    struct cut_place place;
    int rc;

    for (size_t i = 0; i < ARRAY_LEN(reduction->phases); i++) {
        const struct index_search *search = &reduction->phases[i].search;
        const struct index_pass *closest = index_search_closest_pass(search);

        if (closest == NULL || (pass != NULL && closest->nodes >= search->best_bad_nodes))
            continue;
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

int reduce_by_cuts(struct candidate_maker *maker, const struct cut_settings *settings, struct debug_session *session,
                   struct found_part *part, struct error *err)
{
    struct cut_reduction reduction = {.maker = maker, .settings = settings, .part = part};
    int rc = 0;

    if (settings->outputs)
        rc = run_phase(&reduction, INDEX_FOR_OUTPUTS, session, err);
    if (rc == 0 && settings->inputs)
        rc = run_phase(&reduction, INDEX_FOR_INPUTS, session, err);
    if (rc == 0)
        rc = make_good(&reduction, err);
    for (size_t i = 0; i < ARRAY_LEN(reduction.phases); i++)
        if (reduction.phases[i].nodes != NULL) {
            subgraph_release(&reduction.phases[i].base);
            free(reduction.phases[i].nodes);
            search_release(&index_search_ops, &reduction.phases[i].search);
        }
    return rc;
}
