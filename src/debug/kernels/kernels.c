/* debug/kernels/kernels.c: see kernels.h. */
#include "debug/kernels/kernels.h"

#include <math.h>
#include <stdlib.h>

#include "backend/exact/exact.h"
#include "backend/model_io.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "debug/cut/candidate.h"
#include "debug/kernels/bound.h"
#include "onnx/edit/model.h"
#include "onnx/model/graph_view.h"
#include "onnx/write/model.h"
#include "tensor/statistics/range.h"
#include "tensor/values/elements.h"

/* A node or a layer as a model of its own, and what came out of it. */
struct lone_kernel {
    struct subgraph part;
    char *bytes;
    struct backend_model source;
    struct model *model;
    struct tensor_list feed, exact, magnitudes, got;
    struct tensor_list tensors; /* the feed and, of a layer, what its nodes make */
};

static void release_kernel(struct lone_kernel *kernel)
{
    tensor_list_release(&kernel->feed);
    tensor_list_release(&kernel->tensors);
    tensor_list_release(&kernel->exact);
    tensor_list_release(&kernel->magnitudes);
    tensor_list_release(&kernel->got);
    model_free(kernel->model);
    subgraph_release(&kernel->part);
    free(kernel->bytes);
}

/* ---- The model of one node, or layer ---- */

static void lend_values(const struct reference_values *reference, const struct model *model,
                        const struct value_list *values, struct tensor_list *ret)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct tensor *tensor = reference_values_get(reference, values->items[i]);
        struct tensor lent;

        tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &lent);
        tensor_list_add(ret, model->values.items[values->items[i]].name, &lent);
    }
}

/* What is known of the tensors of a layer tells its bound. */
static int lend_inner_values(const struct candidate_maker *maker, struct lone_kernel *kernel, struct error *err)
{
    const struct model *model = kernel->part.model;
    struct value_list made SCOPED_ITEMS = {0};
    int rc;

    BITSET_EACH (i, &kernel->part.nodes)
        for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++)
            if (node_output(model, &model->nodes.items[i], k) != VALUE_NONE)
                *VECTOR_APPEND(&made) = node_output(model, &model->nodes.items[i], k);
    rc = reference_values_record(maker->reference, &made, err);
    if (rc == 0)
        lend_values(maker->reference, model, &made, &kernel->tensors);
    return rc;
}

static int cut_kernel(struct candidate_maker *maker, struct fused_layer layer, struct lone_kernel *ret,
                      struct error *err)
{
    SCOPED_BITSET(nodes);
    int rc;

    bitset_init(&nodes, maker->whole.model->nodes.count);
    for (size_t i = 0; i < layer.count; i++)
        bitset_add(&nodes, layer.nodes[i]);
    rc = candidate_of_nodes(maker, &nodes, &ret->part, err);
    if (rc < 0) {
        subgraph_init_whole(&ret->part, maker->whole.model); /* so that it can be released */
        return rc;
    }
    rc = candidate_prepare(maker, &ret->part, err);
    if (rc < 0)
        return rc;
    rc = reference_values_record(maker->reference, &ret->part.inputs, err);
    if (rc < 0)
        return rc;
    rc = model_write_memory(&ret->part, &ret->bytes, &ret->source.size, err);
    if (rc < 0)
        return rc;
    ret->source.data = ret->bytes;
    ret->source.external_folder = maker->whole.model->folder;
    lend_values(maker->reference, ret->part.model, &ret->part.inputs, &ret->feed);
    lend_values(maker->reference, ret->part.model, &ret->part.inputs, &ret->tensors);
    rc = layer.count > 1 ? lend_inner_values(maker, ret, err) : 0;
    if (rc < 0)
        return rc;
    rc = model_io_open(&ret->source, &ret->model, err);
    return rc < 0 ? rc : model_lower_constants(ret->model, err);
}

/* ---- One node, or layer ---- */

static int run_kernel(struct kernel_study *study, struct lone_kernel *kernel, struct error *err)
{
    struct backend_request request = *study->request;
    struct backend_session *session = NULL;
    double seconds = 0;
    int rc;

    request.model = kernel->source;
    request.log = NULL;
    rc = study->backend->open(&request, &session, err);
    if (rc < 0)
        return rc;
    rc = study->backend->run(session, &kernel->feed, NULL, &kernel->got, &seconds, err);
    study->backend->close(session);
    study->seconds += seconds;
    return rc;
}

static int refuse_missing_output(const struct lone_kernel *kernel, struct error *err)
{
    for (size_t i = 0; i < kernel->model->outputs.count; i++) {
        struct text name = kernel->model->values.items[kernel->model->outputs.items[i]].name;

        if (tensor_list_find(&kernel->got, name) == NULL)
            return error_set(err, ERR_BACKEND, "the runner did not return output '" TEXT_FORMAT "'", TEXT_ARGS(name));
    }
    return 0;
}

/* The type that the model declares for an output, or that of `got` where it declares none. */
static enum data_type find_output_type(const struct lone_kernel *kernel, size_t output, const struct tensor *got)
{
    const struct graph_view view = graph_view_of(kernel->model);
    struct value_type type;

    graph_view_describe(&view, kernel->model->outputs.items[output], &type);
    return type.element != DATA_UNDEFINED ? type.element : got->type;
}

/* With a NaN; or of a layer, which may make one of an infinity, with either. */
static bool has_unordered(const struct tensor_list *feed, bool is_layer)
{
    struct value_range range;

    for (size_t i = 0; i < feed->count; i++) {
        const struct tensor *tensor = &feed->items[i].tensor;

        if (!data_type_is_float(tensor->type) || elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
            continue;
        range_compute(tensor, &range);
        if (range.nans > 0 || (is_layer && range.infinities > 0))
            return true;
    }
    return false;
}

static bool orders_elements(const struct model *model)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (kernel_orders_elements(&model->nodes.items[i]))
            return true;
    return false;
}

/* The exact outputs, and their magnitudes where there are sums. */
static int evaluate_kernel(struct lone_kernel *kernel, struct kernel_bound *ret, struct error *err)
{
    const struct node *node = &kernel->part.model->nodes.items[bitset_next(&kernel->part.nodes, 0)];
    bool is_layer = kernel->model->nodes.count > 1;
    struct exact_options options = {.type = DATA_FLOAT64};
    struct shape *shapes SCOPED_FREE = kernel_list_shapes(kernel->part.model, node, &kernel->tensors);
    const struct tensor *first = &kernel->got.items[0].tensor;
    enum data_type type = find_output_type(kernel, 0, first);
    int rc;

    if (is_layer)
        kernel_bound_find_layer(&kernel->part, &kernel->tensors, type, ret);
    else
        kernel_bound_find(node, shapes, node->inputs.count, &first->shape, type, ret);
    if (ret->is_known && orders_elements(kernel->model) && has_unordered(&kernel->feed, is_layer))
        *ret = (struct kernel_bound){.why_not = "it orders NaN, which ONNX does not define"};
    if (!ret->is_known)
        return 0;
    rc = exact_evaluate(kernel->model, &kernel->feed, &options, &kernel->exact, err);
    options.magnitudes = true;
    if (rc < 0 || ret->terms == 0)
        return rc;
    return exact_evaluate(kernel->model, &kernel->feed, &options, &kernel->magnitudes, err);
}

/* The worst of its outputs. */
static void compare_kernel(struct kernel_study *study, const struct lone_kernel *kernel,
                           const struct kernel_bound *bound, struct kernel_finding *ret)
{
    ret->outcome = KERNEL_IS_WITHIN;
    ret->terms = bound->terms;
    for (size_t i = 0; i < kernel->exact.count; i++) {
        const struct named_tensor *exact = &kernel->exact.items[i];
        const struct named_tensor *got = tensor_list_find(&kernel->got, text_of(exact->name));
        const struct tensor *sums = kernel->magnitudes.count > i ? &kernel->magnitudes.items[i].tensor : NULL;
        struct kernel_comparison found =
            kernel_bound_compare(bound, &exact->tensor, sums, find_output_type(kernel, i, &got->tensor), &got->tensor);

        if (isnan(found.excess)) {
            ret->outcome = KERNEL_NOT_TESTED;
            ret->why = "no element of an output has a bound: it is empty, its sums are too long or too large for its "
                       "type, or its integers overflow or are rounded";
            return;
        }
        if (ret->output != NULL && found.excess <= ret->excess)
            continue;
        ret->output = arena_strdup(&study->arena, exact->name);
        ret->excess = found.excess;
        ret->error = found.error;
        ret->element = found.element;
    }
    if (ret->excess > 1)
        ret->outcome = KERNEL_IS_BEYOND;
}

/* What cannot be cut out, run or evaluated is a finding. ERR_INTERRUPTED otherwise. */
static int test_nodes(struct kernel_study *study, struct candidate_maker *maker, struct kernel_finding *finding,
                      struct error *err)
{
    struct lone_kernel kernel SCOPED(release_kernel) = {0};
    struct kernel_bound bound;
    int rc;

    finding->outcome = KERNEL_NOT_TESTED;
    rc = cut_kernel(maker, finding->nodes, &kernel, err);
    if (rc < 0)
        goto done;
    if (kernel.model->nodes.count != finding->nodes.count || kernel.model->outputs.count == 0) {
        finding->why = finding->nodes.count == 1 ? "it is a constant" : "a part of it is constant";
        return 0;
    }
    rc = run_kernel(study, &kernel, err);
    if (rc == 0)
        rc = refuse_missing_output(&kernel, err);
    if (rc < 0) {
        finding->outcome = KERNEL_IS_REFUSED;
        goto done;
    }
    rc = evaluate_kernel(&kernel, &bound, err);
    if (rc < 0)
        goto done;
    finding->why = bound.why_not;
    if (bound.is_known)
        compare_kernel(study, &kernel, &bound, finding);
done:
    if (rc == 0 || rc == ERR_INTERRUPTED)
        return rc;
    finding->why = arena_strdup(&study->arena, err->message);
    return 0;
}

/* ---- All nodes ---- */

/* All tensors that nodes read from each other, at once. Where the model does not run like that, each node has those
 * that it reads recorded. */
static int record_values(struct candidate_maker *maker, struct error *err)
{
    struct value_list tensors = {0};
    int rc;

    reference_values_list_tensors(maker->reference, &maker->known.types, &tensors);
    rc = reference_values_record(maker->reference, &tensors, err);
    free(tensors.items);
    return rc == ERR_INTERRUPTED ? rc : 0;
}

static void list_findings(struct kernel_study *study)
{
    size_t nodes = study->model->nodes.count;

    study->finding_count = nodes + study->layers->count;
    study->findings = memory_alloc_zero(study->finding_count + 1, sizeof(*study->findings));
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t *node = arena_alloc_zero(&study->arena, 1, sizeof(*node));

        *node = i;
        study->findings[i].nodes = (struct fused_layer){node, 1};
    }
    for (size_t i = 0; i < study->layers->count; i++)
        study->findings[nodes + i].nodes = study->layers->items[i];
}

int kernel_study_run(struct kernel_study *study, struct error *err)
{
    struct candidate_maker maker;
    int rc;

    arena_init(&study->arena);
    list_findings(study);
    candidate_maker_init(&maker, study->model, study->candidates, study->log);
    rc = record_values(&maker, err);
    for (size_t i = 0; rc == 0 && i < study->finding_count; i++) {
        if (interrupt_pending())
            rc = error_set(err, ERR_INTERRUPTED, "interrupted after %zu of %zu nodes and layers", i,
                           study->finding_count);
        else
            rc = test_nodes(study, &maker, &study->findings[i], err);
    }
    candidate_maker_release(&maker);
    return rc;
}

void kernel_study_release(struct kernel_study *study)
{
    if (study->findings == NULL)
        return;
    free(study->findings);
    arena_release(&study->arena);
}
