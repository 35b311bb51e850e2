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

/* A node as a model of its own, and what came out of it. */
struct lone_kernel {
    struct subgraph part;
    char *bytes;
    struct backend_model source;
    struct model *model;
    struct tensor_list feed, exact, magnitudes, got;
};

static void release_kernel(struct lone_kernel *kernel)
{
    tensor_list_release(&kernel->feed);
    tensor_list_release(&kernel->exact);
    tensor_list_release(&kernel->magnitudes);
    tensor_list_release(&kernel->got);
    model_free(kernel->model);
    subgraph_release(&kernel->part);
    free(kernel->bytes);
}

/* ---- The model of one node ---- */

static void lend_values(const struct reference_values *reference, const struct lone_kernel *kernel,
                        struct tensor_list *ret)
{
    for (size_t i = 0; i < kernel->part.inputs.count; i++) {
        uint32_t value = kernel->part.inputs.items[i];
        const struct tensor *tensor = reference_values_get(reference, value);
        struct tensor lent;

        tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &lent);
        tensor_list_add(ret, kernel->part.model->values.items[value].name, &lent);
    }
}

static int cut_kernel(struct candidate_maker *maker, uint32_t node, struct lone_kernel *ret, struct error *err)
{
    SCOPED_BITSET(nodes);
    int rc;

    bitset_init(&nodes, maker->whole.model->nodes.count);
    bitset_add(&nodes, node);
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
    lend_values(maker->reference, ret, &ret->feed);
    rc = model_io_open(&ret->source, &ret->model, err);
    return rc < 0 ? rc : model_lower_constants(ret->model, err);
}

/* ---- One node ---- */

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

/* The shapes of what the only node reads, malloc'd. */
static struct shape *list_shapes(const struct lone_kernel *kernel, const struct node *node)
{
    struct shape *ret = memory_alloc_zero(node->inputs.count + 1, sizeof(*ret));

    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = node_input(kernel->model, node, i);
        const struct value *input = value != VALUE_NONE ? &kernel->model->values.items[value] : NULL;
        const struct named_tensor *given = input != NULL ? tensor_list_find(&kernel->feed, input->name) : NULL;
        struct value_type type;

        if (given != NULL) {
            ret[i] = given->tensor.shape;
        } else if (input != NULL && input->initializer != INITIALIZER_NONE) {
            graph_view_initializer_type(&kernel->model->initializers.items[input->initializer], &type);
            ret[i] = type.shape;
        }
    }
    return ret;
}

/* The type that the model declares for an output, or that of `got` where it declares none. */
static enum data_type find_output_type(const struct lone_kernel *kernel, size_t output, const struct tensor *got)
{
    const struct graph_view view = graph_view_of(kernel->model);
    struct value_type type;

    graph_view_describe(&view, kernel->model->outputs.items[output], &type);
    return type.element != DATA_UNDEFINED ? type.element : got->type;
}

static bool has_nan(const struct tensor_list *feed)
{
    struct value_range range;

    for (size_t i = 0; i < feed->count; i++) {
        const struct tensor *tensor = &feed->items[i].tensor;

        if (!data_type_is_float(tensor->type) || elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
            continue;
        range_compute(tensor, &range);
        if (range.nans > 0)
            return true;
    }
    return false;
}

/* The exact outputs, and their magnitudes where it is a sum. */
static int evaluate_kernel(struct lone_kernel *kernel, struct kernel_bound *ret, struct error *err)
{
    const struct node *node = &kernel->model->nodes.items[0];
    struct exact_options options = {.type = DATA_FLOAT64};
    struct shape *shapes SCOPED_FREE = list_shapes(kernel, node);
    const struct tensor *first = &kernel->got.items[0].tensor;
    int rc;

    kernel_bound_find(node, shapes, node->inputs.count, &first->shape, find_output_type(kernel, 0, first), ret);
    if (ret->is_known && kernel_orders_elements(node) && has_nan(&kernel->feed))
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
static int test_node(struct kernel_study *study, struct candidate_maker *maker, uint32_t node, struct error *err)
{
    struct kernel_finding *finding = &study->findings[node];
    struct lone_kernel kernel SCOPED(release_kernel) = {0};
    struct kernel_bound bound;
    int rc;

    *finding = (struct kernel_finding){.node = node, .outcome = KERNEL_NOT_TESTED};
    rc = cut_kernel(maker, node, &kernel, err);
    if (rc < 0)
        goto done;
    if (kernel.model->nodes.count != 1 || kernel.model->outputs.count == 0) {
        finding->why = "it is a constant";
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

int kernel_study_run(struct kernel_study *study, struct error *err)
{
    size_t count = study->model->nodes.count;
    struct candidate_maker maker;
    int rc;

    arena_init(&study->arena);
    study->findings = memory_alloc_zero(count + 1, sizeof(*study->findings));
    candidate_maker_init(&maker, study->model, study->candidates, study->log);
    rc = record_values(&maker, err);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        if (interrupt_pending())
            rc = error_set(err, ERR_INTERRUPTED, "interrupted after %u of %zu nodes", i, count);
        else
            rc = test_node(study, &maker, i, err);
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
