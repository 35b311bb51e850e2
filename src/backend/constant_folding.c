/* backend/constant_folding.c: see constant_folding.h. */
#include "backend/constant_folding.h"

#include <stdlib.h>

#include "backend/constant_values.h"
#include "backend/onnxrt/settings.h"
#include "backend/subgraph_session.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "onnx/edit/inline_branches.h"
#include "onnx/edit/inner_graphs.h"
#include "onnx/edit/model.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/edit/shape_folding.h"
#include "onnx/model/operators.h"
#include "onnx/proto/value_info.h"

/* Folding one graph: the main graph, a body, or a function. */
struct constant_folding {
    const struct constant_folding *outer; /* of the enclosing graph; NULL: this is the main graph */
    struct model *model;
    const struct folding_settings *settings;
    struct unused_names *names;
    struct folding_counts counts;
    bool no_runtime;          /* there is none: nothing is computed */
    bool stop;                /* a pass failed as a whole */
    bool rewritten;           /* bodies or functions were */
    struct value_list failed; /* values: made by nodes that the runtime cannot compute */
    struct value_list large;  /* values: made by nodes whose outputs are too large, as a run has shown */
};

/* One pass, while node numbers do not change. */
struct folding_pass {
    struct constant_folding *folding;
    struct bitset foldable; /* nodes */
    struct bitset large;    /* nodes */
    struct kept_list {      /* values that have become constants since folding the present part began */
        struct kept {
            uint32_t value, producer; /* before that */
        } * items;
        size_t count, capacity;
    } kept;
    size_t constants; /* of the model, by then */
    bool too_large;   /* what the part makes: some of it is over the limit */
    bool broken;      /* there is no memory for a constant */
    bool changed;
};

static size_t count_changes(const struct folding_counts *counts)
{
    return counts->shapes + counts->computed + counts->casts + counts->branches;
}

/* ---- Which nodes ---- */

static void mark_producers(const struct model *model, const struct value_list *values, struct bitset *ret)
{
    for (size_t i = 0; i < values->count; i++) {
        uint32_t producer = model->values.items[values->items[i]].producer;

        if (producer != NODE_NONE)
            bitset_add(ret, producer);
    }
}

static bool edges_are_constant(const struct model *model, struct edge_range range, const struct bitset *foldable)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);
        const struct value *v = value != VALUE_NONE ? &model->values.items[value] : NULL;

        if (v == NULL || (v->producer == NODE_NONE && v->initializer != INITIALIZER_NONE))
            continue;
        if (v->producer == NODE_NONE || !bitset_has(foldable, v->producer))
            return false;
    }
    return true;
}

static bool is_constant(const struct model *model, const struct node *node, const struct bitset *foldable)
{
    return edges_are_constant(model, node->inputs, foldable) && edges_are_constant(model, node->captures, foldable);
}

/* Whether a value is known to be over the limit. */
static bool is_large(const struct constant_folding *folding, uint32_t value)
{
    return value != VALUE_NONE &&
           value_info_bytes(folding->model->values.items[value].info) > folding->settings->size_limit;
}

/* The nodes are in order: one walk is enough. */
static void find_foldable(struct folding_pass *pass)
{
    const struct model *model = pass->folding->model;
    SCOPED_BITSET(failed);

    bitset_init(&failed, model->nodes.count);
    mark_producers(model, &pass->folding->failed, &failed);
    mark_producers(model, &pass->folding->large, &pass->large);
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (bitset_has(&failed, i) || !node_is_foldable(model, NULL, node) ||
            !is_constant(model, node, &pass->foldable))
            continue;
        bitset_add(&pass->foldable, i);
        for (size_t k = 0; k < node->outputs.count; k++)
            if (is_large(pass->folding, model_edge(model, node->outputs, k)))
                bitset_add(&pass->large, i);
    }
}

/* What the nodes of `part` make that is used outside of it, by other nodes or by those of its own that will stay
 * because their outputs are too large to be kept. */
static void list_wanted(const struct folding_pass *pass, const struct bitset *part, struct value_list *ret)
{
    const struct model *model = pass->folding->model;
    SCOPED_BITSET(used);

    bitset_init(&used, model->values.count);
    for (size_t i = 0; i < model->nodes.count; i++) {
        if (bitset_has(part, i) && !bitset_has(&pass->large, i))
            continue;
        model_add_edges_to(model, model->nodes.items[i].inputs, &used);
        model_add_edges_to(model, model->nodes.items[i].captures, &used);
    }
    for (size_t i = 0; i < model->outputs.count; i++)
        bitset_add(&used, model->outputs.items[i]);
    BITSET_EACH (i, part) {
        struct edge_range outputs = model->nodes.items[i].outputs;

        for (size_t k = 0; k < outputs.count && !bitset_has(&pass->large, i); k++) {
            uint32_t value = model_edge(model, outputs, k);

            if (value != VALUE_NONE && bitset_has(&used, value) && model->values.items[value].producer == i)
                value_list_add(ret, value);
        }
    }
}

/* ---- Their values ---- */

/* Makes a value a constant. When one of a part turns out to be too large, its node stays, and needs others than these:
 * the next pass, which knows, computes those. */
static int keep_constant(void *context, uint32_t value, const struct tensor *tensor, struct error *err)
{
    struct folding_pass *pass = context;
    struct constant_folding *folding = pass->folding;
    uint32_t producer = folding->model->values.items[value].producer;
    int rc = 0;

    if (bitset_has(&pass->large, producer))
        return 0;
    pass->changed = true;
    if (tensor->size > folding->settings->size_limit) {
        value_list_add(&folding->large, value);
        pass->too_large = true;
    }
    if (pass->too_large)
        return 0;
    *VECTOR_APPEND(&pass->kept) = (struct kept){value, producer};
    rc = constant_replace(folding->model, value, tensor, err);
    pass->broken = rc < 0;
    return rc;
}

static void undo_kept(struct folding_pass *pass)
{
    struct model *model = pass->folding->model;

    for (size_t i = 0; i < pass->kept.count; i++) {
        model->values.items[pass->kept.items[i].value].producer = pass->kept.items[i].producer;
        model->values.items[pass->kept.items[i].value].initializer = INITIALIZER_NONE;
    }
    model->initializers.count = pass->constants;
}

static void give_up_node(struct folding_pass *pass, uint32_t node)
{
    const struct model *model = pass->folding->model;
    struct edge_range outputs = model->nodes.items[node].outputs;

    pass->folding->counts.refused++;
    for (size_t k = 0; k < outputs.count; k++)
        if (model_edge(model, outputs, k) != VALUE_NONE)
            value_list_add(&pass->folding->failed, model_edge(model, outputs, k));
    bitset_remove(&pass->foldable, node);
}

static void refuse_node(void *context, uint32_t node, const struct error *why)
{
    struct folding_pass *pass = context;

    log_message(pass->folding->settings->log, LOG_WARNING,
                "Constant folding: cannot compute '%s', which stays as it is: %s",
                model_node_label(pass->folding->model, node), why->message);
    give_up_node(pass, node);
}

/* Makes constants of what is wanted of a part: of all, or none. */
static int compute_constants(struct folding_pass *pass, const struct value_list *wanted, struct error *err)
{
    const struct folding_settings *settings = pass->folding->settings;
    struct constant_values_request request = {
        .model = pass->folding->model,
        .nodes = &pass->foldable,
        .wanted = wanted,
        .backend = settings->backend,
        .runtime = settings->request,
        .piece_nodes = settings->piece_nodes > 0 ? settings->piece_nodes : session_piece_nodes(pass->folding->model),
        .take = keep_constant,
        .refuse = settings->partition == FOLDING_NODES ? refuse_node : NULL,
        .context = pass,
    };
    const struct onnxrt_settings plain = onnxrt_settings_unoptimized(&settings->request);
    bool changed = pass->changed;
    int rc;

    request.runtime.settings = &plain;
    pass->kept.count = 0;
    pass->constants = pass->folding->model->initializers.count;
    pass->too_large = false;
    rc = constant_values_compute(&request, err);
    if (rc < 0 || pass->too_large)
        undo_kept(pass);
    else
        pass->folding->counts.computed += pass->kept.count;
    if (rc < 0)
        pass->changed = changed;
    return rc;
}

static void report_failure(struct folding_pass *pass, const struct bitset *part, const struct error *why)
{
    struct log *log = pass->folding->settings->log;
    size_t count = bitset_count(part);

    if (count == 1)
        log_message(log, LOG_WARNING, "Constant folding: cannot compute '%s', which stays as it is: %s",
                    model_node_label(pass->folding->model, (uint32_t)bitset_next(part, 0)), why->message);
    else if (pass->folding->settings->partition == FOLDING_WHOLE)
        log_message(
            log, LOG_WARNING,
            "Constant folding pass failed, and is the last one: %s (--partitioning recursive folds what can be)",
            why->message);
    else
        log_message(log, LOG_WARNING, "Constant folding: cannot compute %zu nodes together, which stay: %s", count,
                    why->message);
}

static int fold_part(struct folding_pass *pass, const struct bitset *part, bool halve, struct error *err);

/* The first half in the order of nodes, then the rest, as far as it does not depend on what has failed. */
static int fold_halves(struct folding_pass *pass, const struct bitset *part, struct error *err)
{
    const struct model *model = pass->folding->model;
    size_t left = bitset_count(part) / 2;
    struct bitset halves[2];
    int rc = 0;

    bitset_init(&halves[0], part->size);
    bitset_init(&halves[1], part->size);
    BITSET_EACH (i, part)
        bitset_add(&halves[left > 0 ? 0 : 1], i), left -= left > 0;
    for (size_t h = 0; rc == 0 && h < 2; h++) {
        for (size_t i = bitset_next(&halves[h], 0); i < part->size; i = bitset_next(&halves[h], i + 1))
            if (!is_constant(model, &model->nodes.items[i], &pass->foldable)) {
                bitset_remove(&halves[h], i);
                bitset_remove(&pass->foldable, i);
            }
        rc = fold_part(pass, &halves[h], false, err);
    }
    bitset_release(&halves[0]);
    bitset_release(&halves[1]);
    return rc;
}

/* `halve`: when it fails as a whole, its halves are tried. */
static int fold_part(struct folding_pass *pass, const struct bitset *part, bool halve, struct error *err)
{
    struct constant_folding *folding = pass->folding;
    struct value_list wanted SCOPED_ITEMS = {0};
    struct error why = {0};
    int rc = 0, failure = 0;

    list_wanted(pass, part, &wanted);
    if (wanted.count > 0 && !folding->no_runtime)
        failure = compute_constants(pass, &wanted, &why);
    if (failure == ERR_INTERRUPTED || pass->broken) {
        *err = why;
        rc = failure;
    } else if (failure < 0 && bounded_process_is_end(&why)) { /* it would be ended again */
        *err = why;
        rc = failure;
    } else if (failure == ERR_MISSING) {
        log_message(folding->settings->log, LOG_ERROR, "Only shapes are folded, because nothing can be computed: %s",
                    why.message);
        folding->no_runtime = true;
    } else if (failure < 0 && halve && bitset_count(part) > 1) {
        rc = fold_halves(pass, part, err);
    } else if (failure < 0) {
        report_failure(pass, part, &why);
        BITSET_EACH (i, part)
            give_up_node(pass, (uint32_t)i);
        folding->stop = folding->settings->partition == FOLDING_WHOLE;
    }
    return rc;
}

static int fold_nodes(struct constant_folding *folding, bool *changed, struct error *err)
{
    struct folding_pass pass = {.folding = folding};
    SCOPED_BITSET(all);
    int rc;

    bitset_init(&pass.foldable, folding->model->nodes.count);
    bitset_init(&pass.large, folding->model->nodes.count);
    find_foldable(&pass);
    bitset_init_copy(&all, &pass.foldable);
    rc = fold_part(&pass, &all, folding->settings->partition == FOLDING_HALVES, err);
    *changed |= pass.changed;
    free(pass.kept.items);
    bitset_release(&pass.foldable);
    bitset_release(&pass.large);
    return rc;
}

/* ---- Passes ---- */

static int fold_body(void *data, struct model *graph, bool *ret_changed, struct error *err);
static int fold_function(void *data, struct model *graph, bool *ret_changed, struct error *err);

static int fold_inner_graphs(struct constant_folding *folding, struct error *err)
{
    int rc;

    if (!folding->settings->inner_graphs)
        return 0;
    rc = model_edit_bodies(folding->model, fold_body, folding, &folding->rewritten, err);
    return rc == 0 && folding->outer == NULL
               ? model_edit_functions(folding->model, fold_function, folding, &folding->rewritten, err)
               : rc;
}

static int fold_once(struct constant_folding *folding, bool *changed, struct error *err)
{
    struct model *model = folding->model;
    struct folding_counts *counts = &folding->counts, before = *counts;
    bool keep_shapes = folding->settings->keep_shapes;
    int rc = 0;

    if (folding->settings->infer_types && !folding->no_runtime)
        rc = types_refine(model, folding->settings->backend, &folding->settings->request, folding->settings->log, err);
    if (rc < 0)
        return rc;
    rc = keep_shapes ? 0 : model_fold_shapes(model, &counts->shapes, err);
    if (rc < 0)
        return rc;
    rc = model_remove_unneeded_nodes(model, err);
    if (rc < 0)
        return rc;
    rc = keep_shapes ? 0 : model_elide_casts(model, folding->names, &counts->casts, err);
    if (rc < 0)
        return rc;
    rc = fold_nodes(folding, changed, err);
    if (rc < 0)
        return rc;
    rc = model_remove_unneeded_nodes(model, err); /* what made the new constants goes before nodes are put together */
    if (rc < 0)
        return rc;
    rc = model_inline_branches(model, folding->names, &counts->branches, err);
    if (rc < 0)
        return rc;
    rc = fold_inner_graphs(folding, err);
    *changed |= count_changes(counts) > count_changes(&before);
    return rc < 0 ? rc : model_remove_unneeded_nodes(model, err);
}

/* Makes the Constant nodes of a graph initializers, and sorts the others. */
static int begin_folding(struct constant_folding *folding, struct error *err)
{
    struct model *model = folding->model;
    size_t nodes = model->nodes.count;
    int rc = model_lower_constants(model, err);

    if (rc < 0)
        return rc;
    folding->counts.constants += nodes - model->nodes.count;
    return model_sort_nodes(model, err);
}

/* One pass over a body or function. What was found to be too large is forgotten with the graph, so the pass is repeated
 * until it finds no more of that. `*ret_changed`: something was folded. */
static int fold_inner_graph(struct constant_folding *outer, struct constant_folding *inner, bool *ret_changed,
                            struct error *err)
{
    size_t before = count_changes(&outer->counts);
    bool changed = true;
    int rc = begin_folding(inner, err);

    while (rc == 0 && changed && !inner->stop && count_changes(&inner->counts) == before) {
        changed = false;
        rc = fold_once(inner, &changed, err);
    }
    *ret_changed = count_changes(&inner->counts) > before || inner->rewritten;
    outer->counts = inner->counts;
    outer->no_runtime = inner->no_runtime;
    outer->stop = inner->stop;
    free(inner->failed.items);
    free(inner->large.items);
    return rc;
}

static struct constant_folding folding_of_graph(struct constant_folding *outer, struct model *graph,
                                                struct unused_names *names)
{
    return (struct constant_folding){.outer = outer,
                                     .model = graph,
                                     .settings = outer->settings,
                                     .names = names,
                                     .counts = outer->counts,
                                     .no_runtime = outer->no_runtime,
                                     .stop = outer->stop};
}

static int fold_body(void *data, struct model *graph, bool *ret_changed, struct error *err)
{
    struct constant_folding *outer = data;
    struct constant_folding inner = folding_of_graph(outer, graph, outer->names);
    size_t nodes = graph->nodes.count;
    int rc = fold_inner_graph(outer, &inner, ret_changed, err);

    *ret_changed |= graph->nodes.count != nodes;
    return rc;
}

/* The names of a function are its own. Its constants stay nodes. */
static int fold_function(void *data, struct model *graph, bool *ret_changed, struct error *err)
{
    struct constant_folding *outer = data;
    struct unused_names names SCOPED(unused_names_release) = {0};
    struct constant_folding inner = folding_of_graph(outer, graph, &names);
    size_t constants = outer->counts.constants;
    int rc;

    unused_names_init(&names, graph, &graph->arena);
    rc = fold_inner_graph(outer, &inner, ret_changed, err);
    outer->counts.constants = constants;
    return rc;
}

int constants_fold(struct model *model, const struct folding_settings *settings, struct error *err)
{
    struct unused_names names SCOPED(unused_names_release) = {0};
    struct constant_folding folding = {.model = model, .settings = settings, .names = &names};
    struct folding_counts *counts = &folding.counts;
    bool changed = true;
    int rc;

    counts->nodes_before = counts->nodes_after = model_count_nodes(model);
    if (memory_limit_is_set()) /* constants are made one by one, and all of them are kept */
        memory_limit_enforce();
    unused_names_init(&names, model, &model->arena);
    rc = begin_folding(&folding, err);
    if (rc < 0)
        goto done;
    for (int64_t pass = 1; changed && !folding.stop && pass - 1 != settings->passes; pass++) {
        size_t before;

        changed = false;
        log_message(settings->log, LOG_INFO, "Folding Constants | Pass %lld", (long long)pass);
        log_indent(settings->log, 1);
        rc = fold_once(&folding, &changed, err);
        before = counts->nodes_after;
        counts->nodes_after = model_count_nodes(model);
        counts->passes++;
        if (rc == 0)
            log_message(settings->log, LOG_INFO,
                        "Total Nodes | Original: %5zu, After Folding: %5zu | %5lld Nodes Folded", before,
                        counts->nodes_after, (long long)before - (long long)counts->nodes_after);
        log_indent(settings->log, -1);
        if (rc < 0)
            goto done;
    }
    if (settings->counts != NULL)
        *settings->counts = *counts;
done:
    free(folding.failed.items);
    free(folding.large.items);
    return rc;
}
