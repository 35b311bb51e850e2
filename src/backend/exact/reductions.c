/* backend/exact/reductions.c: reductions, arg-max and cumulative sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

/* ---- Reductions ---- */

/* The details of these operators. */
struct reduction_details {
    double (*reduce)(const struct exact_options *options, const double *terms, size_t count);
};

/* `terms` are `count` elements next to each other. */
static double reduce_sum(const struct exact_options *options, const double *terms, size_t count)
{
    return exact_sum(options, terms, count, 1);
}

static double reduce_mean(const struct exact_options *options, const double *terms, size_t count)
{
    return exact_sum(options, terms, count, 1) / (double)count;
}

static double reduce_to_greatest(const struct exact_options *options, const double *terms, size_t count)
{
    double ret = (double)-INFINITY;

    (void)options;
    for (size_t i = 0; i < count; i++)
        ret = terms[i] > ret || terms[i] != terms[i] ? terms[i] : ret;
    return ret;
}

static double reduce_to_least(const struct exact_options *options, const double *terms, size_t count)
{
    double ret = (double)INFINITY;

    (void)options;
    for (size_t i = 0; i < count; i++)
        ret = terms[i] < ret || terms[i] != terms[i] ? terms[i] : ret;
    return ret;
}

static double reduce_product(const struct exact_options *options, const double *terms, size_t count)
{
    double ret = 1;

    for (size_t i = 0; i < count; i++)
        ret = exact_round_sum(options, ret * terms[options->backwards ? count - 1 - i : i]);
    return ret;
}

static double reduce_magnitudes(const struct exact_options *options, const double *terms, size_t count)
{
    double ret = 0;

    for (size_t i = 0; i < count; i++)
        ret = exact_round_sum(options, ret + fabs(terms[options->backwards ? count - 1 - i : i]));
    return ret;
}

static double reduce_squares(const struct exact_options *options, const double *terms, size_t count)
{
    double ret = 0;

    for (size_t i = 0; i < count; i++) {
        double term = terms[options->backwards ? count - 1 - i : i];

        ret = exact_round_sum(options, ret + term * term);
    }
    return ret;
}

static double reduce_norm(const struct exact_options *options, const double *terms, size_t count)
{
    return sqrt(reduce_squares(options, terms, count));
}

static double reduce_logarithm(const struct exact_options *options, const double *terms, size_t count)
{
    return log(exact_sum(options, terms, count, 1));
}

static double reduce_exponentials(const struct exact_options *options, const double *terms, size_t count)
{
    double greatest = reduce_to_greatest(options, terms, count), sum = 0;

    if (!isfinite(greatest))
        return greatest;
    for (size_t i = 0; i < count; i++)
        sum = exact_round_sum(options, sum + exp(terms[options->backwards ? count - 1 - i : i] - greatest));
    return greatest + log(sum);
}

/* Which axes are reduced: an attribute, or an input since version 13 of ReduceSum, and 18 of the others. */
static int read_reduced_axes(struct exact_call *call, bool *ret_axes, struct error *err)
{
    size_t rank = exact_shape(call->inputs[0])->rank;
    int64_t axes[TENSOR_MAX_RANK];
    size_t count = exact_input(call, 1) != NULL
                       ? exact_read_integers(call->inputs[1], axes)
                       : node_attribute_integers(call->node->message, "axes", axes, TENSOR_MAX_RANK);

    if (count > TENSOR_MAX_RANK)
        return exact_refuse_shapes(call, err);
    memset(ret_axes, 0, TENSOR_MAX_RANK * sizeof(*ret_axes));
    for (size_t i = 0; i < count; i++) {
        if (!exact_normalize_axis(&axes[i], rank))
            return exact_refuse_shapes(call, err);
        ret_axes[axes[i]] = true;
    }
    for (size_t i = 0; i < rank && count == 0; i++)
        ret_axes[i] = node_attribute_integer(call->node->message, "noop_with_empty_axes", 0) == 0;
    return 0;
}

/* The shape that is left, and the order of axes in which those that are reduced come last. Returns how many terms
 * become one. */
static size_t plan_reduction(const struct shape *shape, const bool *reduced, bool keeps_axes, struct shape *ret,
                             size_t *order)
{
    size_t kept = 0, terms = 1;

    *ret = (struct shape){0};
    for (size_t i = 0; i < shape->rank; i++)
        if (!reduced[i])
            order[kept++] = i;
    for (size_t i = 0; i < shape->rank; i++) {
        if (reduced[i]) {
            order[kept++] = i;
            terms *= (size_t)shape->dims[i];
        }
        if (!reduced[i] || keeps_axes)
            ret->dims[ret->rank++] = reduced[i] ? 1 : shape->dims[i];
    }
    return terms;
}

static int compute_reduction(struct exact_call *call, struct error *err)
{
    const struct reduction_details *reduction = call->details;
    bool keeps_axes = node_attribute_integer(call->node->message, "keepdims", 1) != 0, reduced[TENSOR_MAX_RANK];
    int rc = read_reduced_axes(call, reduced, err);
    size_t order[TENSOR_MAX_RANK], terms;
    struct shape shape;
    double *ret;

    if (rc < 0)
        return rc;
    terms = plan_reduction(exact_shape(call->inputs[0]), reduced, keeps_axes, &shape, order);
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    if (rc == 0) {
        size_t *from SCOPED_FREE = exact_transposed_indices(exact_shape(call->inputs[0]), order);
        double *items SCOPED_FREE = terms < SIZE_MAX / sizeof(*items) ? malloc((terms + 1) * sizeof(*items)) : NULL;

        if (from == NULL || items == NULL)
            return tensor_refuse_size(DATA_FLOAT64, &shape, SIZE_MAX, err);
        for (size_t i = 0; i < shape_elements(&shape); i++) {
            for (size_t k = 0; k < terms; k++)
                items[k] = exact_items(call->inputs[0])[from[i * terms + k]];
            ret[i] = exact_round(call->options, reduction->reduce(call->options, items, terms));
        }
    }
    return rc;
}

/* ---- Along one axis ---- */

static size_t find_extreme(const double *items, size_t count, size_t stride, bool is_least, bool is_last)
{
    size_t ret = 0;

    for (size_t i = 1; i < count; i++) {
        double x = is_least ? -items[i * stride] : items[i * stride];
        double best = is_least ? -items[ret * stride] : items[ret * stride];

        if (x > best || (is_last && x == best))
            ret = i;
    }
    return ret;
}

static int compute_arg_extreme(struct exact_call *call, struct error *err)
{
    bool is_last = node_attribute_integer(call->node->message, "select_last_index", 0) != 0;
    bool keeps_axis = node_attribute_integer(call->node->message, "keepdims", 1) != 0;
    int64_t axis = node_attribute_integer(call->node->message, "axis", 0);
    struct shape shape = *exact_shape(call->inputs[0]);
    size_t outer, inner, count;
    double *ret;
    int rc;

    if (!exact_normalize_axis(&axis, shape.rank))
        return exact_refuse_shapes(call, err);
    outer = shape_extent(&shape, 0, (size_t)axis);
    inner = shape_extent(&shape, (size_t)axis + 1, shape.rank);
    count = (size_t)shape.dims[axis];
    shape.dims[axis] = 1;
    for (size_t i = (size_t)axis; !keeps_axis && i + 1 < shape.rank; i++)
        shape.dims[i] = shape.dims[i + 1];
    shape.rank -= !keeps_axis;
    if (count == 0)
        return exact_refuse_shapes(call, err);
    rc = exact_allocate(call, 0, DATA_INT64, &shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < outer * inner; i++)
        ret[i] = (double)find_extreme(&exact_items(call->inputs[0])[i / inner * inner * count + i % inner], count,
                                      inner, node_is(call->node, "ArgMin"), is_last);
    return rc;
}

static void accumulate_line(const struct exact_call *call, const double *items, size_t count, size_t stride,
                            double *ret)
{
    bool is_reversed = node_attribute_integer(call->node->message, "reverse", 0) != 0;
    bool is_exclusive = node_attribute_integer(call->node->message, "exclusive", 0) != 0;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t at = (is_reversed ? count - 1 - i : i) * stride;
        double before = sum;

        sum = exact_round_sum(call->options, sum + items[at]);
        ret[at] = is_exclusive ? before : sum;
    }
}

static int compute_cumulative_sum(struct exact_call *call, struct error *err)
{
    const struct shape *shape = exact_shape(call->inputs[0]);
    int64_t axes[TENSOR_MAX_RANK];
    size_t inner, count;
    double *ret;
    int rc;

    if (exact_read_integers(call->inputs[1], axes) != 1 || !exact_normalize_axis(&axes[0], shape->rank))
        return exact_refuse_shapes(call, err);
    rc = exact_allocate(call, 0, call->inputs[0]->type, shape, &ret, err);
    inner = shape_extent(shape, (size_t)axes[0] + 1, shape->rank);
    count = (size_t)shape->dims[axes[0]];
    for (size_t i = 0; rc == 0 && i < shape_extent(shape, 0, (size_t)axes[0]) * inner; i++) {
        size_t first = i / inner * inner * count + i % inner;

        accumulate_line(call, &exact_items(call->inputs[0])[first], count, inner, &ret[first]);
    }
    return rc;
}

#define REDUCTION(name, function)                                                                                      \
    {                                                                                                                  \
        name, 1, false, compute_reduction, &(const struct reduction_details)                                           \
        {                                                                                                              \
            function                                                                                                   \
        }                                                                                                              \
    }

const struct exact_operator exact_reduction_operators[] = {
    REDUCTION("ReduceSum", reduce_sum),
    REDUCTION("ReduceMean", reduce_mean),
    REDUCTION("ReduceMax", reduce_to_greatest),
    REDUCTION("ReduceMin", reduce_to_least),
    REDUCTION("ReduceProd", reduce_product),
    REDUCTION("ReduceL1", reduce_magnitudes),
    REDUCTION("ReduceL2", reduce_norm),
    REDUCTION("ReduceSumSquare", reduce_squares),
    REDUCTION("ReduceLogSum", reduce_logarithm),
    REDUCTION("ReduceLogSumExp", reduce_exponentials),
    {"ArgMax", 1, false, compute_arg_extreme, NULL},
    {"ArgMin", 1, false, compute_arg_extreme, NULL},
    {"CumSum", 2, false, compute_cumulative_sum, NULL},
    {0},
};
