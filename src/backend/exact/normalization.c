/* backend/exact/normalization.c: Softmax, LogSoftmax and normalizations. */
#include <math.h>

#include "backend/exact/kernels.h"
#include "onnx/proto/node_attribute.h"

/* ---- Softmax ---- */

static void normalize_exponentials(const struct exact_call *call, const double *items, size_t count, size_t stride,
                                   double *ret)
{
    bool is_logarithm = node_is(call->node, "LogSoftmax");
    double greatest = (double)-INFINITY, sum;

    for (size_t i = 0; i < count; i++)
        greatest =
            items[i * stride] > greatest || items[i * stride] != items[i * stride] ? items[i * stride] : greatest;
    for (size_t i = 0; i < count; i++)
        ret[i * stride] = exact_round(call->options, exp(items[i * stride] - greatest));
    sum = exact_sum(call->options, ret, count, stride);
    for (size_t i = 0; i < count; i++)
        ret[i * stride] =
            exact_round(call->options, is_logarithm ? items[i * stride] - greatest - log(sum) : ret[i * stride] / sum);
}

/* Before version 13 all axes from `axis` on, 1 by default, are one. */
static int compute_softmax(struct exact_call *call, struct error *err)
{
    bool joins_axes = model_opset(call->model) < 13;
    int64_t axis = node_attribute_integer(call->node->message, "axis", joins_axes ? 1 : -1);
    const struct shape *shape = exact_shape(call->inputs[0]);
    size_t inner, count;
    double *ret;
    int rc;

    if (!exact_normalize_axis(&axis, shape->rank))
        return exact_refuse_shapes(call, err);
    count = joins_axes ? shape_extent(shape, (size_t)axis, shape->rank) : (size_t)shape->dims[axis];
    inner = joins_axes ? 1 : shape_extent(shape, (size_t)axis + 1, shape->rank);
    rc = exact_allocate(call, 0, call->inputs[0]->type, shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < shape_extent(shape, 0, (size_t)axis) * inner; i++) {
        size_t first = i / inner * inner * count + i % inner;

        normalize_exponentials(call, &exact_items(call->inputs[0])[first], count, inner, &ret[first]);
    }
    return rc;
}

/* ---- Normalizations ---- */

/* Mean and variance of what is normalized together; the mean is 0 where it is left as it is. */
struct moments {
    double mean, variance;
};

static void compute_moments(const struct exact_options *options, const double *items, size_t count, bool has_mean,
                            struct moments *ret)
{
    double sum = 0;

    ret->mean = has_mean ? exact_round(options, exact_sum(options, items, count, 1) / (double)count) : 0;
    for (size_t i = 0; i < count; i++) {
        double distance = exact_round_sum(options, items[options->backwards ? count - 1 - i : i] - ret->mean);

        sum = exact_round_sum(options, sum + distance * distance);
    }
    ret->variance = sum / (double)count;
}

/* Whether a scale or bias has this many elements; it may be omitted. */
static bool has_elements(const struct exact_value *value, size_t count)
{
    return value == NULL || exact_count(value) == count;
}

/* LayerNormalization, and RMSNormalization, which leaves the mean as it is. */
static int normalize_last_axes(struct exact_call *call, struct error *err)
{
    bool has_mean = node_is(call->node, "LayerNormalization");
    double epsilon = (double)node_attribute_float(call->node->message, "epsilon", 1e-5F);
    int64_t axis = node_attribute_integer(call->node->message, "axis", -1);
    const struct exact_value *scale = exact_input(call, 1), *bias = exact_input(call, 2);
    const struct shape *shape = exact_shape(call->inputs[0]);
    const double *items = exact_items(call->inputs[0]);
    struct moments moments;
    double *ret;
    size_t count;
    int rc;

    if (!exact_normalize_axis(&axis, shape->rank))
        return exact_refuse_shapes(call, err);
    count = shape_extent(shape, (size_t)axis, shape->rank);
    if (count == 0 || !has_elements(scale, count) || !has_elements(bias, count))
        return exact_refuse_shapes(call, err);
    rc = exact_allocate(call, 0, call->inputs[0]->type, shape, &ret, err);
    for (size_t line = 0; rc == 0 && line < shape_extent(shape, 0, (size_t)axis); line++) {
        compute_moments(call->options, &items[line * count], count, has_mean, &moments);
        for (size_t i = 0; i < count; i++) {
            double x = (items[line * count + i] - moments.mean) / sqrt(moments.variance + epsilon);

            x = x * (scale != NULL ? exact_items(scale)[i] : 1) + (bias != NULL ? exact_items(bias)[i] : 0);
            ret[line * count + i] = exact_round(call->options, x);
        }
    }
    return rc;
}

/* BatchNormalization as it is used for inference. */
static int normalize_with_statistics(struct exact_call *call, struct error *err)
{
    double epsilon = (double)node_attribute_float(call->node->message, "epsilon", 1e-5F), *ret;
    const struct exact_value *input = call->inputs[0];
    const struct shape *shape = exact_shape(input);
    size_t channels, plane;
    int rc;

    if (node_attribute_integer(call->node->message, "training_mode", 0) != 0)
        return exact_refuse(call, err, "the mode of training is not computed in float64");
    if (shape->rank < 2)
        return exact_refuse_shapes(call, err);
    channels = (size_t)shape->dims[1];
    plane = shape_extent(shape, 2, shape->rank);
    for (size_t i = 1; i < 5; i++)
        if (!has_elements(call->inputs[i], channels))
            return exact_refuse_shapes(call, err);
    rc = exact_allocate(call, 0, input->type, shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < exact_count(input); i++) {
        size_t c = i / plane % channels;
        double mean = exact_items(call->inputs[3])[c] * (call->options->magnitudes ? -1 : 1);
        double x = (exact_items(input)[i] - mean) / sqrt(exact_items(call->inputs[4])[c] + epsilon);

        ret[i] = exact_round(call->options, x * exact_items(call->inputs[1])[c] + exact_items(call->inputs[2])[c]);
    }
    return rc;
}

/* GroupNormalization, whose scale is one for each channel since version 21, for each group before; and
 * InstanceNormalization, where each channel is a group. */
static int normalize_groups(struct exact_call *call, struct error *err)
{
    double epsilon = (double)node_attribute_float(call->node->message, "epsilon", 1e-5F), *ret;
    const struct exact_value *input = call->inputs[0];
    const struct shape *shape = exact_shape(input);
    size_t channels, plane, groups, count;
    bool is_by_channel = node_is(call->node, "InstanceNormalization") || model_opset(call->model) >= 21;
    struct moments moments;
    int rc;

    if (shape->rank < 3)
        return exact_refuse_shapes(call, err);
    channels = (size_t)shape->dims[1];
    plane = shape_extent(shape, 2, shape->rank);
    groups = node_is(call->node, "InstanceNormalization")
                 ? channels
                 : (size_t)node_attribute_integer(call->node->message, "num_groups", 0);
    if (groups == 0 || channels == 0 || groups > channels || channels % groups != 0 ||
        !has_elements(call->inputs[1], is_by_channel ? channels : groups) ||
        !has_elements(call->inputs[2], is_by_channel ? channels : groups))
        return exact_refuse_shapes(call, err);
    count = channels / groups * plane;
    rc = exact_allocate(call, 0, input->type, shape, &ret, err);
    for (size_t line = 0; rc == 0 && line < (size_t)shape->dims[0] * groups; line++) {
        compute_moments(call->options, &exact_items(input)[line * count], count, true, &moments);
        for (size_t i = 0; i < count; i++) {
            size_t group = line % groups, at = is_by_channel ? group * (channels / groups) + i / plane : group;
            double x = (exact_items(input)[line * count + i] - moments.mean) / sqrt(moments.variance + epsilon);

            ret[line * count + i] =
                exact_round(call->options, x * exact_items(call->inputs[1])[at] + exact_items(call->inputs[2])[at]);
        }
    }
    return rc;
}

/* LpNormalization: each line of an axis by its norm. */
static int normalize_by_norm(struct exact_call *call, struct error *err)
{
    int64_t axis = node_attribute_integer(call->node->message, "axis", -1);
    bool is_first = node_attribute_integer(call->node->message, "p", 2) == 1;
    const struct shape *shape = exact_shape(call->inputs[0]);
    size_t inner, count;
    double *ret;
    int rc;

    if (!exact_normalize_axis(&axis, shape->rank))
        return exact_refuse_shapes(call, err);
    inner = shape_extent(shape, (size_t)axis + 1, shape->rank);
    count = (size_t)shape->dims[axis];
    rc = exact_allocate(call, 0, call->inputs[0]->type, shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < shape_extent(shape, 0, (size_t)axis) * inner; i++) {
        const double *items = &exact_items(call->inputs[0])[i / inner * inner * count + i % inner];
        double *line = &ret[i / inner * inner * count + i % inner], norm;

        for (size_t k = 0; k < count; k++)
            line[k * inner] = is_first ? fabs(items[k * inner]) : items[k * inner] * items[k * inner];
        norm = exact_sum(call->options, line, count, inner);
        norm = is_first ? norm : sqrt(norm);
        for (size_t k = 0; k < count; k++)
            line[k * inner] = norm > 0 ? exact_round(call->options, items[k * inner] / norm) : 0;
    }
    return rc;
}

const struct exact_operator exact_normalization_operators[] = {
    {"LayerNormalization", 1, true, normalize_last_axes, NULL},
    {"RMSNormalization", 1, true, normalize_last_axes, NULL},
    {"LpNormalization", 1, true, normalize_by_norm, NULL},
    {"BatchNormalization", 5, true, normalize_with_statistics, NULL},
    {"GroupNormalization", 3, true, normalize_groups, NULL},
    {"InstanceNormalization", 3, true, normalize_groups, NULL},
    {"Softmax", 1, true, compute_softmax, NULL},
    {"LogSoftmax", 1, true, compute_softmax, NULL},
    {0},
};
