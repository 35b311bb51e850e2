/* debug/accuracy/inner_sums.c: sums inside of nodes, which are no tensors of the model. Engines that store float16
 * mostly add up in float32; one that adds up in float16 overflows where such a sum is beyond its range.
 */
#include <math.h>

#include "base/memory.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"
#include "format/data/file.h"
#include "onnx/edit/constants.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/values/elements.h"

#define MOST_SUMS 5            /* that are listed */
#define MOST_ELEMENTS 16777216 /* of a tensor whose sums are computed */

/* What a node adds up, along some axes of its first input. */
enum summand {
    NOTHING_SUMMED,
    VALUES,            /* x */
    SQUARES,           /* x^2 */
    VALUES_AND_SPREAD, /* x, and (x - mean)^2 */
};

struct inner_sum {
    enum summand what;
    bool axes[TENSOR_MAX_RANK]; /* that it adds up along */
};

/* ---- Which sums ---- */

static void mark_axes_from(struct inner_sum *sum, size_t first)
{
    for (size_t i = first; i < TENSOR_MAX_RANK; i++)
        sum->axes[i] = true;
}

/* Axes of a reduction: an attribute, or an input that is a constant; all of them where there are none. */
static bool read_reduced_axes(const struct model *model, const struct node *node, size_t rank, struct inner_sum *sum)
{
    int64_t axes[TENSOR_MAX_RANK];
    size_t count = node_attribute_integers(node->message, "axes", axes, TENSOR_MAX_RANK);
    uint32_t input = node_input(model, node, 1);
    struct shape shape;

    if (input != VALUE_NONE) {
        if (!constant_integers(model, input, TENSOR_MAX_RANK, axes, &shape))
            return false;
        count = shape_elements(&shape);
    }
    if (count > TENSOR_MAX_RANK)
        return false;
    for (size_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i];

        if (axis < 0 || axis >= (int64_t)rank)
            return false;
        sum->axes[axis] = true;
    }
    if (count == 0)
        mark_axes_from(sum, 0);
    return true;
}

static struct inner_sum find_inner_sum(const struct model *model, const struct node *node, size_t rank)
{
    struct inner_sum ret = {.what = NOTHING_SUMMED};
    int64_t axis = node_attribute_integer(node->message, "axis", -1);

    if (node_is(node, "ReduceMean") || node_is(node, "ReduceSum"))
        ret.what = read_reduced_axes(model, node, rank, &ret) ? VALUES : NOTHING_SUMMED;
    else if (node_is(node, "ReduceL2") || node_is(node, "ReduceSumSquare"))
        ret.what = read_reduced_axes(model, node, rank, &ret) ? SQUARES : NOTHING_SUMMED;
    else if (node_is(node, "GlobalAveragePool") || node_is(node, "InstanceNormalization"))
        ret.what = node_is(node, "GlobalAveragePool") ? VALUES : VALUES_AND_SPREAD;
    else if (node_is(node, "LayerNormalization") || node_is(node, "RMSNormalization"))
        ret.what = node_is(node, "RMSNormalization") ? SQUARES : VALUES_AND_SPREAD;
    if (node_is(node, "GlobalAveragePool") || node_is(node, "InstanceNormalization"))
        mark_axes_from(&ret, 2);
    else if (node_is(node, "LayerNormalization") || node_is(node, "RMSNormalization"))
        mark_axes_from(&ret, (size_t)(axis < 0 && axis + (int64_t)rank >= 0 ? axis + (int64_t)rank : axis));
    return ret;
}

/* ---- How large they are ---- */

/* The number of the sum that element `at` belongs to. */
static size_t find_group(const struct shape *shape, const struct inner_sum *sum, size_t at)
{
    size_t ret = 0, stride = 1;

    for (size_t axis = shape->rank; axis-- > 0;) {
        size_t size = (size_t)shape->dims[axis];

        if (!sum->axes[axis]) {
            ret += at % size * stride;
            stride *= size;
        }
        at /= size;
    }
    return ret;
}

/* The largest magnitude of a sum; that of (x - mean)^2 is the sum of squares without that of the mean. */
static double measure_inner_sum(const struct tensor *tensor, const struct inner_sum *sum)
{
    size_t elements = tensor_elements(tensor);
    double *values SCOPED_FREE = memory_alloc_zero(elements + 1, sizeof(*values)), ret = 0;
    double *squares SCOPED_FREE = memory_alloc_zero(elements + 1, sizeof(*squares)), run[ELEMENTS_RUN];
    size_t *counts SCOPED_FREE = memory_alloc_zero(elements + 1, sizeof(*counts));

    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);

        elements_to_float64(tensor, first, count, run);
        for (size_t i = 0; i < count; i++) {
            size_t group = find_group(&tensor->shape, sum, first + i);

            values[group] += run[i];
            squares[group] += run[i] * run[i];
            counts[group]++;
        }
    }
    for (size_t i = 0; i < elements && counts[i] > 0; i++) {
        double spread = squares[i] - values[i] * values[i] / (double)counts[i];

        ret = fmax(ret, sum->what == SQUARES ? squares[i] : fabs(values[i]));
        ret = fmax(ret, sum->what == VALUES_AND_SPREAD ? spread : 0);
    }
    return ret;
}

/* In all iterations. 0 where the node adds nothing up, or its input has no numbers. */
static double largest_inner_sum(struct study *study, const struct feed_dicts *feeds, uint32_t index)
{
    const struct model *model = study->model;
    const struct node *node = &model->nodes.items[index];
    uint32_t input = node_input(model, node, 0);
    double ret = 0;

    for (size_t i = 0; input != VALUE_NONE && i < feeds->count; i++) {
        const struct named_tensor *item = tensor_list_find(&feeds->items[i], model->values.items[input].name);
        struct inner_sum sum;

        if (item == NULL || !data_type_is_float(item->tensor.type) || tensor_elements(&item->tensor) > MOST_ELEMENTS)
            continue;
        sum = find_inner_sum(model, node, item->tensor.shape.rank);
        if (sum.what != NOTHING_SUMMED)
            ret = fmax(ret, measure_inner_sum(&item->tensor, &sum));
    }
    return ret;
}

/* ---- The answer ---- */

void study_note_inner_sums(struct study *study, const struct float_format *format)
{
    struct feed_dicts feeds = {0};
    size_t count = 0;
    struct error err;

    if (!study_make_values(study) || !study_open_model(study)) {
        study_dismiss_error(study, "sums inside of nodes");
        return;
    }
    if (data_file_add_inputs(&feeds, study->layerwise, &err) < 0) {
        study_add_not_tested(study, "sums inside of nodes: %s", err.message);
        return;
    }
    for (uint32_t i = 0; i < study->model->nodes.count; i++) {
        double sum = largest_inner_sum(study, &feeds, i);

        if (sum > format->largest && isfinite(sum) && count++ < MOST_SUMS)
            study_add_not_tested(study,
                                 "an engine that adds up in %s: the sum inside of '%s' (" TEXT_FORMAT
                                 ") reaches %.6g (max %.6g). Keep it in float32 there",
                                 format->name, node_label(study, i), TEXT_ARGS(study->model->nodes.items[i].op_type),
                                 sum, format->largest);
    }
    if (count > MOST_SUMS)
        study_add_not_tested(study, "the same for %zu more nodes", count - MOST_SUMS);
    feed_dicts_release(&feeds);
}
