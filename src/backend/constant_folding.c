/* backend/constant_folding.c: see constant_folding.h. */
#include "backend/constant_folding.h"

#include <stdlib.h>

#include "backend/subgraph_session.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "onnx/constants.h"
#include "onnx/fields.h"
#include "onnx/foldable.h"
#include "onnx/inline_branches.h"
#include "onnx/model_edit.h"
#include "onnx/model_rebuild.h"
#include "onnx/shape_folding.h"
#include "onnx/value_info.h"
#include "onnx/wire.h"

/* As deep as onnx/scope.c, which has walked every body before. */
#define MAX_DEPTH 64

struct folding {
    struct model *model;
    const struct folding_settings *settings;
    bool no_runtime;          /* there is none: nothing is computed */
    bool stop;                /* a pass failed as a whole */
    struct value_list failed; /* values: made by nodes that the runtime cannot compute */
    struct value_list large;  /* values: made by nodes whose outputs are too large, as a run has shown */
};

/* One pass, while node numbers do not change. */
struct folding_pass {
    struct folding *folding;
    struct bitset foldable; /* nodes */
    struct bitset large;    /* nodes */
    bool changed;
};

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
static bool is_large(const struct folding *folding, uint32_t value)
{
    struct value_type type;
    size_t size;

    if (value == VALUE_NONE)
        return false;
    value_info_decode(folding->model->values.items[value].info, &type);
    if (type.not_a_tensor != NULL || !type.has_shape || !shape_is_static(&type.shape) ||
        data_type_bits(type.element) == 0)
        return false;
    size = tensor_bytes(type.element, shape_elements(&type.shape));
    return size > folding->settings->size_limit;
}

/* The nodes are in order: one walk is enough. */
static void find_foldable(struct folding_pass *pass)
{
    const struct model *model = pass->folding->model;
    struct bitset failed;

    bitset_init(&failed, model->nodes.count);
    mark_producers(model, &pass->folding->failed, &failed);
    mark_producers(model, &pass->folding->large, &pass->large);
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (bitset_has(&failed, i) || !node_is_foldable(model, node) || !is_constant(model, node, &pass->foldable))
            continue;
        bitset_add(&pass->foldable, i);
        for (size_t k = 0; k < node->outputs.count; k++)
            if (is_large(pass->folding, model_edge(model, node->outputs, k)))
                bitset_add(&pass->large, i);
    }
    bitset_release(&failed);
}

static void add_used(const struct model *model, struct edge_range range, struct bitset *ret)
{
    for (size_t i = 0; i < range.count; i++)
        if (model_edge(model, range, i) != VALUE_NONE)
            bitset_add(ret, model_edge(model, range, i));
}

/* What the nodes of `part` make that is used outside of it, by other nodes or by those of its own that will stay because
 * their outputs are too large to be kept. */
static void list_wanted(const struct folding_pass *pass, const struct bitset *part, struct value_list *ret)
{
    const struct model *model = pass->folding->model;
    struct bitset used;

    bitset_init(&used, model->values.count);
    for (size_t i = 0; i < model->nodes.count; i++) {
        if (bitset_has(part, i) && !bitset_has(&pass->large, i))
            continue;
        add_used(model, model->nodes.items[i].inputs, &used);
        add_used(model, model->nodes.items[i].captures, &used);
    }
    for (size_t i = 0; i < model->outputs.count; i++)
        bitset_add(&used, model->outputs.items[i]);
    for (size_t i = bitset_next(part, 0); i < part->size; i = bitset_next(part, i + 1)) {
        struct edge_range outputs = model->nodes.items[i].outputs;

        for (size_t k = 0; k < outputs.count && !bitset_has(&pass->large, i); k++) {
            uint32_t value = model_edge(model, outputs, k);

            if (value != VALUE_NONE && bitset_has(&used, value) && model->values.items[value].producer == i)
                value_list_add(ret, value);
        }
    }
    bitset_release(&used);
}

/* ---- Their values ---- */

static int run_part(struct folding *folding, const struct subgraph *part, struct tensor_list *ret, struct error *err)
{
    struct backend_request request = folding->settings->request;
    struct subgraph_session session;
    struct tensor_list nothing = {0};
    int rc;

    request.providers = NULL;
    request.optimization_level = 0; /* what is to be computed is computed as it is written */
    rc = subgraph_session_open(&session, part, folding->settings->backend, &request, err);
    if (rc == 0)
        rc = subgraph_session_run(&session, &nothing, ret, err);
    subgraph_session_close(&session);
    return rc;
}

static int compute(struct folding *folding, const struct bitset *nodes, const struct value_list *wanted,
                   struct tensor_list *ret, struct error *err)
{
    struct subgraph part;
    int rc;

    subgraph_init_whole(&part, folding->model);
    bitset_assign(&part.nodes, nodes);
    part.inputs.count = 0;
    value_list_assign(&part.outputs, wanted);
    subgraph_clean(&part, NULL, NULL, NULL);
    rc = run_part(folding, &part, ret, err);
    subgraph_release(&part);
    return rc;
}

/* Makes results constants. When one turns out to be too large, its node stays, and needs others than these: the next pass, which
 * knows, computes those. */
static int keep_results(struct folding_pass *pass, const struct tensor_list *results, struct error *err)
{
    struct folding *folding = pass->folding;
    struct model *model = folding->model;
    bool any_large = false;
    int rc = 0;

    for (size_t i = 0; i < results->count; i++)
        if (results->items[i].tensor.size > folding->settings->size_limit) {
            value_list_add(&folding->large, model_find_value(model, text_of(results->items[i].name)));
            any_large = true;
        }
    for (size_t i = 0; rc == 0 && !any_large && i < results->count; i++)
        rc = constant_replace(model, model_find_value(model, text_of(results->items[i].name)),
                              &results->items[i].tensor, err);
    pass->changed |= results->count > 0;
    return rc;
}

static void give_up(struct folding_pass *pass, const struct bitset *part)
{
    const struct model *model = pass->folding->model;

    for (size_t i = bitset_next(part, 0); i < part->size; i = bitset_next(part, i + 1)) {
        struct edge_range outputs = model->nodes.items[i].outputs;

        for (size_t k = 0; k < outputs.count; k++)
            if (model_edge(model, outputs, k) != VALUE_NONE)
                value_list_add(&pass->folding->failed, model_edge(model, outputs, k));
        bitset_remove(&pass->foldable, i);
    }
}

static void report_failure(struct folding_pass *pass, const struct bitset *part, const struct error *why)
{
    struct model *model = pass->folding->model;
    struct log *log = pass->folding->settings->log;
    size_t count = bitset_count(part);

    if (count == 1)
        log_message(log, LOG_WARNING, "Constant folding: cannot compute '%s', which stays as it is: %s",
                    model_node_label(model, (uint32_t)bitset_next(part, 0)), why->message);
    else if (pass->folding->settings->partition == FOLDING_WHOLE)
        log_message(
            log, LOG_WARNING,
            "Constant folding pass failed, and is the last one: %s (--partitioning recursive folds what can be)",
            why->message);
    else
        log_message(log, LOG_WARNING, "Constant folding: cannot compute %zu nodes together, which stay: %s", count,
                    why->message);
}

static int fold_part(struct folding_pass *pass, const struct bitset *part, unsigned splits, struct error *err);

/* The first half in the order of nodes, then the rest, as far as it does not depend on what has failed. */
static int fold_halves(struct folding_pass *pass, const struct bitset *part, unsigned splits, struct error *err)
{
    const struct model *model = pass->folding->model;
    size_t left = bitset_count(part) / 2;
    struct bitset halves[2];
    int rc = 0;

    bitset_init(&halves[0], part->size);
    bitset_init(&halves[1], part->size);
    for (size_t i = bitset_next(part, 0); i < part->size; i = bitset_next(part, i + 1))
        bitset_add(&halves[left > 0 ? 0 : 1], i), left -= left > 0;
    for (size_t h = 0; rc == 0 && h < 2; h++) {
        for (size_t i = bitset_next(&halves[h], 0); i < part->size; i = bitset_next(&halves[h], i + 1))
            if (!is_constant(model, &model->nodes.items[i], &pass->foldable)) {
                bitset_remove(&halves[h], i);
                bitset_remove(&pass->foldable, i);
            }
        rc = fold_part(pass, &halves[h], splits - 1, err);
    }
    bitset_release(&halves[0]);
    bitset_release(&halves[1]);
    return rc;
}

/* `part` may be halved `splits` times. */
static int fold_part(struct folding_pass *pass, const struct bitset *part, unsigned splits, struct error *err)
{
    struct folding *folding = pass->folding;
    struct value_list wanted = {0};
    struct tensor_list results = {0};
    struct error why = {0};
    int rc = 0, failure = 0;

    list_wanted(pass, part, &wanted);
    if (wanted.count > 0 && !folding->no_runtime)
        failure = compute(folding, &pass->foldable, &wanted, &results, &why);
    if (failure == ERR_INTERRUPTED) {
        *err = why;
        rc = failure;
    } else if (failure == ERR_MISSING) {
        log_message(folding->settings->log, LOG_ERROR, "Only shapes are folded, because nothing can be computed: %s",
                    why.message);
        folding->no_runtime = true;
    } else if (failure < 0 && splits > 0 && bitset_count(part) > 1) {
        rc = fold_halves(pass, part, splits, err);
    } else if (failure < 0) {
        report_failure(pass, part, &why);
        give_up(pass, part);
        folding->stop = folding->settings->partition == FOLDING_WHOLE;
    } else {
        rc = keep_results(pass, &results, err);
    }
    tensor_list_release(&results);
    free(wanted.items);
    return rc;
}

static int fold_nodes(struct folding *folding, bool *changed, struct error *err)
{
    static const unsigned splits[] = {[FOLDING_WHOLE] = 0, [FOLDING_HALVES] = 1, [FOLDING_NODES] = 64};
    struct folding_pass pass = {.folding = folding};
    struct bitset all;
    int rc;

    bitset_init(&pass.foldable, folding->model->nodes.count);
    bitset_init(&pass.large, folding->model->nodes.count);
    find_foldable(&pass);
    bitset_init_copy(&all, &pass.foldable);
    rc = fold_part(&pass, &all, splits[folding->settings->partition], err);
    *changed |= pass.changed;
    bitset_release(&all);
    bitset_release(&pass.foldable);
    bitset_release(&pass.large);
    return rc;
}

/* ---- Passes ---- */

static void infer_types(struct folding *folding)
{
    struct subgraph whole;
    struct error why = {0};

    subgraph_init_whole(&whole, folding->model);
    if (types_refine(&whole, folding->settings->backend, &folding->settings->request, NULL, &why) < 0)
        log_message(folding->settings->log, LOG_VERBOSE, "Shape inference is not possible: %s", why.message);
    subgraph_release(&whole);
}

static size_t count_in_body(struct span body, unsigned depth);

/* The nodes in the bodies of a node. */
static size_t count_in_bodies(struct span node, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(node), inner;
    struct wire_field field, part;
    size_t count = 0;

    while (wire_next(&reader, &field)) {
        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES)
            continue;
        inner = wire_reader_of(field.bytes);
        while (wire_next(&inner, &part))
            if ((part.number == ATTRIBUTE_GRAPH || part.number == ATTRIBUTE_GRAPHS) && part.type == WIRE_BYTES)
                count += count_in_body(part.bytes, depth + 1);
    }
    return count;
}

static size_t count_in_body(struct span body, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;
    size_t count = 0;

    while (depth < MAX_DEPTH && wire_next(&reader, &field))
        if (field.number == GRAPH_NODE && field.type == WIRE_BYTES)
            count += 1 + count_in_bodies(field.bytes, depth);
    return count;
}

/* All nodes, those in bodies included. */
static size_t count_nodes(const struct model *model)
{
    size_t count = model->nodes.count;

    for (size_t i = 0; i < model->nodes.count; i++)
        if (model->nodes.items[i].has_subgraphs)
            count += count_in_bodies(model->nodes.items[i].message, 0);
    return count;
}

static int fold_once(struct folding *folding, bool *changed, struct error *err)
{
    struct model *model = folding->model;
    int rc = 0;

    if (folding->settings->infer_types && !folding->no_runtime)
        infer_types(folding);
    if (!folding->settings->keep_shapes)
        rc = model_fold_shapes(model, changed, err);
    if (rc == 0)
        rc = model_remove_unneeded_nodes(model, err);
    if (rc == 0 && !folding->settings->keep_shapes)
        rc = model_elide_casts(model, changed, err);
    if (rc == 0)
        rc = fold_nodes(folding, changed, err);
    if (rc == 0) /* what made the new constants has to go before nodes are put together anew */
        rc = model_remove_unneeded_nodes(model, err);
    if (rc == 0)
        rc = model_inline_branches(model, changed, err);
    return rc == 0 ? model_remove_unneeded_nodes(model, err) : rc;
}

int constants_fold(struct model *model, const struct folding_settings *settings, struct error *err)
{
    struct folding folding = {.model = model, .settings = settings};
    size_t before = count_nodes(model), after;
    bool changed = true;
    int rc = model_lower_constants(model, err);

    if (rc == 0)
        rc = model_sort_nodes(model, err);
    for (int64_t pass = 1; rc == 0 && changed && !folding.stop && pass - 1 != settings->passes; pass++) {
        changed = false;
        log_message(settings->log, LOG_INFO, "Folding Constants | Pass %lld", (long long)pass);
        log_indent(settings->log, 1);
        rc = fold_once(&folding, &changed, err);
        after = count_nodes(model);
        if (rc == 0)
            log_message(settings->log, LOG_INFO,
                        "Total Nodes | Original: %5zu, After Folding: %5zu | %5lld Nodes Folded", before, after,
                        (long long)before - (long long)after);
        log_indent(settings->log, -1);
        before = after;
    }
    free(folding.failed.items);
    free(folding.large.items);
    return rc;
}
