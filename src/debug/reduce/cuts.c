/* debug/reduce/cuts.c: see cuts.h. */
#include "debug/reduce/cuts.h"

#include <stdlib.h>

#include "base/memory.h"

static void drop_candidate(struct cut_reduction *reduction)
{
    if (reduction->has_candidate)
        subgraph_release(&reduction->candidate);
    reduction->has_candidate = false;
}

static void keep_as_bad(struct cut_reduction *reduction, const struct subgraph *subgraph)
{
    struct subgraph copy;

    subgraph_init_copy(&copy, subgraph);
    subgraph_release(&reduction->bad);
    reduction->bad = copy;
}

/* ---- What the loop asks ---- */

/* Cuts where a search of this phase asks for it, and describes what that gives. Releases nothing when it fails. */
static int make_cut(struct cut_reduction *reduction, const struct cut_phase *phase, const struct index_search *search,
                    bool quiet, struct subgraph *ret, uint32_t *ret_not_a_tensor, struct loop_candidate *ret_candidate,
                    struct error *err)
{
    int rc =
        candidate_cut(reduction->maker, &phase->base, search->direction, phase->nodes[search->next], quiet, ret, err);

    *ret_not_a_tensor = VALUE_NONE;
    if (rc < 0)
        return rc;
    /* Of candidates with a known verdict, too: what is known of the model must not depend on when a session was
     * resumed. */
    rc = candidate_complete(reduction->maker, ret, ret_not_a_tensor, err);
    if (rc < 0 && rc != ERR_BACKEND) {
        subgraph_release(ret);
        return rc;
    }
    if (rc < 0)
        log_once(reduction->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    *ret_candidate =
        (struct loop_candidate){.action = rc < 0 || *ret_not_a_tensor != VALUE_NONE ? CANDIDATE_SKIP : CANDIDATE_CHECK,
                                .skip_verdict = VERDICT_PASS,
                                .num_nodes = (int64_t)bitset_count(&ret->nodes),
                                .has_identity = true,
                                .identity = subgraph_identity(ret)};
    return 0;
}

static int describe_cut(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err)
{
    struct cut_reduction *reduction = data;
    uint32_t not_a_tensor;
    int rc;

    (void)index; /* the search knows where it stands */
    drop_candidate(reduction);
    rc = make_cut(reduction, reduction->phase, &reduction->phase->search, quiet, &reduction->candidate, &not_a_tensor,
                  ret, err);
    if (rc < 0)
        return rc;
    reduction->has_candidate = true;
    reduction->skipped = ret->action == CANDIDATE_SKIP;
    if (not_a_tensor != VALUE_NONE && !quiet)
        log_message(reduction->log, LOG_WARNING,
                    "'" TEXT_FORMAT
                    "' is not a tensor, so it can be neither fed nor compared: the model is not cut here",
                    TEXT_ARGS(reduction->candidate.model->values.items[not_a_tensor].name));
    return 0;
}

static int prepare_candidate(void *data, const char *path, struct error *err)
{
    struct cut_reduction *reduction = data;

    return candidate_prepare(reduction->maker, &reduction->candidate, path, err);
}

static int write_candidate(void *data, const struct candidate_paths *paths, struct error *err)
{
    struct cut_reduction *reduction = data;

    return candidate_write(reduction->maker, &reduction->candidate, paths, NULL, err);
}

/* ---- What it asks ahead of its turn ---- */

static const void *search_now(void *data)
{
    const struct cut_reduction *reduction = data;

    return &reduction->phase->search;
}

static int describe_ahead(void *data, const void *search, struct loop_candidate *ret, struct error *err)
{
    struct cut_reduction *reduction = data;
    struct candidate_knowledge before;
    struct subgraph candidate;
    uint32_t not_a_tensor;
    int rc;

    candidate_maker_remember(reduction->maker, &before);
    rc = make_cut(reduction, reduction->phase, search, true, &candidate, &not_a_tensor, ret, err);
    if (rc == 0)
        subgraph_release(&candidate);
    candidate_maker_forget(reduction->maker, &before);
    return rc;
}

static int write_ahead(void *data, const void *search, const struct candidate_paths *paths, struct error *err)
{
    struct cut_reduction *reduction = data;
    struct loop_candidate described;
    struct candidate_knowledge before;
    struct subgraph candidate;
    uint32_t not_a_tensor;
    int rc;

    candidate_maker_remember(reduction->maker, &before);
    rc = make_cut(reduction, reduction->phase, search, true, &candidate, &not_a_tensor, &described, err);
    if (rc == 0) {
        rc = candidate_prepare(reduction->maker, &candidate, NULL, err);
        if (rc == 0)
            rc = candidate_write(reduction->maker, &candidate, paths, NULL, err);
        subgraph_release(&candidate);
    }
    candidate_maker_forget(reduction->maker, &before);
    return rc;
}

static const struct foresight foresight = {
    .search = search_now,
    .ops = &index_search_ops,
    .describe = describe_ahead,
    .write = write_ahead,
};

/* ---- A verdict ---- */

static bool advance(void *data, int64_t index, int64_t num_nodes, enum verdict verdict)
{
    struct cut_reduction *reduction = data;
    struct index_search *search = &reduction->phase->search;
    int64_t before = search->best_bad;
    int64_t tried = search->next;
    bool more = index_search_ops.advance(search, num_nodes, reduction->skipped ? VERDICT_SKIP : verdict);

    (void)index;
    if (verdict == VERDICT_FAIL && search->best_bad == tried && before != tried && reduction->has_candidate)
        keep_as_bad(reduction, &reduction->candidate);
    return more;
}

static int64_t remaining(void *data)
{
    struct cut_reduction *reduction = data;

    return index_search_ops.remaining(&reduction->phase->search);
}

/* ---- The phases ---- */

void cut_reduction_init(struct cut_reduction *reduction, struct candidate_maker *maker, const struct subgraph *bad,
                        enum index_mode mode, struct loop *loop, struct log *log)
{
    *reduction = (struct cut_reduction){.maker = maker, .mode = mode, .loop = loop, .log = log};
    subgraph_init_copy(&reduction->bad, bad);
}

void cut_reduction_release(struct cut_reduction *reduction)
{
    drop_candidate(reduction);
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
                                   .suffix = what,
                                   .may_be_kept = true,
                                   .describe = describe_cut,
                                   .prepare = prepare_candidate,
                                   .write = write_candidate,
                                   .advance = advance,
                                   .remaining = remaining,
                                   .foresight = &foresight};
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
