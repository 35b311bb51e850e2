/* onnx/inputs/indices.c: operators that look elements up, and those that find them. See operators.h. */
#include <string.h>

#include "onnx/inputs/operators.h"
#include "onnx/proto/node_attribute.h"

/* Indices below `limit` look up in `size` elements. */
static void demand_in_bounds(struct pass *pass, struct dimension limit, struct dimension size)
{
    struct dimension excess = dimension_add(pass->system, limit, size, -1);
    int64_t value;

    if (!excess.known)
        return;
    if (dimension_is_constant(pass->system, excess, &value)) {
        if (value > 0)
            pass_report_conflict(pass);
        return;
    }
    if (!dimension_is_constant(pass->system, size, &value)) /* a table may have more rows than are used */
        pass_assume(pass, limit, size);
}

/* Indices are an input of the model: their last axis counts what is looked up. */
static void mark_indices(struct pass *pass, const struct fact *data, size_t axis, const struct fact *indices)
{
    if (indices->input == VALUE_NONE)
        return;
    if (indices->rank > 0)
        pass_mark(pass, indices->dims[indices->rank - 1], ROLE_SEQUENCE);
    if (data->has_shape && axis < data->rank)
        pass_mark(pass, data->dims[axis], ROLE_ROWS);
}

static void gather_numbers(struct pass *pass, const struct fact *data, const struct fact *indices, struct fact *to)
{
    int64_t places[FACT_MOST_NUMBERS];
    size_t count;

    if (!data->has_numbers || data->rank > 1 || !pass_constants(pass, indices, places, &count))
        return;
    to->numbers = pass_copy(pass, NULL, count);
    for (size_t i = 0; i < count; i++) {
        int64_t place = places[i] < 0 ? places[i] + (int64_t)data->number_count : places[i];

        if (place < 0 || place >= (int64_t)data->number_count)
            return;
        to->numbers[i] = dimension_normalize(pass->system, data->numbers[place]);
    }
    to->has_numbers = true;
    to->number_count = count;
}

/* Constant indices are in bounds. */
static void demand_places(struct pass *pass, const struct fact *indices, struct dimension size)
{
    int64_t places[FACT_MOST_NUMBERS];
    size_t count;

    if (!pass_constants(pass, indices, places, &count))
        return;
    for (size_t i = 0; i < count; i++)
        pass_demand(pass, size, places[i] >= 0 ? places[i] + 1 : -places[i]);
}

/* Elements of `data` along `axis`, at `indices`. */
static void gather_along(struct pass *pass, const struct node *node, int64_t axis_attribute)
{
    struct fact data = *pass_input(pass, node, 0), indices = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];
    struct fact *to;
    size_t axis, rank;

    if (!data.has_shape || !indices.has_shape || !pass_axis(axis_attribute, data.rank, &axis))
        return;
    rank = data.rank - 1 + indices.rank;
    if (rank > TENSOR_MAX_RANK)
        return;
    if (indices.limit_count == 1)
        demand_in_bounds(pass, indices.limits[0], data.dims[axis]);
    demand_places(pass, &indices, data.dims[axis]);
    mark_indices(pass, &data, axis, &indices);
    memcpy(dims, data.dims, axis * sizeof(dims[0]));
    memcpy(dims + axis, indices.dims, indices.rank * sizeof(dims[0]));
    memcpy(dims + axis + indices.rank, data.dims + axis + 1, (data.rank - axis - 1) * sizeof(dims[0]));
    to = pass_set_shape(pass, node, 0, dims, rank);
    if (to == NULL)
        return;
    to->input = data.input; /* some of its elements */
    gather_numbers(pass, &data, &indices, to);
}

static void infer_gather(struct pass *pass, const struct node *node)
{
    gather_along(pass, node, node_attribute_integer(node->message, "axis", 0));
}

static void gather_block_quantized(struct pass *pass, const struct node *node)
{
    const struct fact *data = pass_input(pass, node, 0);
    int64_t bits = node_attribute_integer(node->message, "bits", 4);
    struct dimension width;
    struct value_type type;
    struct fact *to;

    gather_along(pass, node, node_attribute_integer(node->message, "gather_axis", 0));
    if (node_output(pass->model, node, 0) == VALUE_NONE || !data->has_shape || data->rank == 0)
        return;
    to = &pass->facts[node_output(pass->model, node, 0)];
    width = data->dims[data->rank - 1];
    value_info_decode(pass->model->values.items[node_input(pass->model, node, 0)].info, &type);
    if (to->has_shape && to->rank > 0) /* bytes hold two elements of 4 bits; other types are what they say */
        to->dims[to->rank - 1] =
            type.element == DATA_UINT8 ? dimension_multiply(pass->system, width, 8 / bits) : dimension_unknown();
}

static void gather_elements(struct pass *pass, const struct node *node)
{
    struct fact data = *pass_input(pass, node, 0), indices = *pass_input(pass, node, 1);
    size_t axis;

    if (!indices.has_shape)
        return;
    if (data.has_shape && pass_axis(node_attribute_integer(node->message, "axis", 0), data.rank, &axis)) {
        if (indices.limit_count == 1)
            demand_in_bounds(pass, indices.limits[0], data.dims[axis]);
        mark_indices(pass, &data, axis, &indices);
    }
    pass_set_shape(pass, node, 0, indices.dims, indices.rank);
}

static void gather_nd(struct pass *pass, const struct node *node)
{
    struct fact data = *pass_input(pass, node, 0), indices = *pass_input(pass, node, 1);
    size_t batch = (size_t)node_attribute_integer(node->message, "batch_dims", 0), rank;
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t depth;

    if (!data.has_shape || !indices.has_shape || indices.rank == 0 ||
        !dimension_is_constant(pass->system, indices.dims[indices.rank - 1], &depth) || depth < 1 ||
        batch + (size_t)depth > data.rank || indices.rank - 1 + data.rank - batch - (size_t)depth > TENSOR_MAX_RANK)
        return;
    for (size_t i = 0; i < (size_t)depth && indices.limit_count > 0; i++)
        demand_in_bounds(pass, indices.limits[indices.limit_count == 1 ? 0 : i], data.dims[batch + i]);
    rank = indices.rank - 1;
    memcpy(dims, indices.dims, rank * sizeof(dims[0]));
    for (size_t i = batch + (size_t)depth; i < data.rank; i++)
        dims[rank++] = data.dims[i];
    pass_set_shape(pass, node, 0, dims, rank);
}

/* Scatter: the output has the shape of the data. */
static void infer_scatter(struct pass *pass, const struct node *node)
{
    struct fact data = *pass_input(pass, node, 0), indices = *pass_input(pass, node, 1);

    if (!data.has_shape)
        return;
    mark_indices(pass, &data, 0, &indices);
    pass_set_shape(pass, node, 0, data.dims, data.rank);
}

static void one_hot(struct pass *pass, const struct node *node)
{
    struct fact indices = *pass_input(pass, node, 0), depth = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];
    size_t axis, from = 0;

    if (!indices.has_shape || indices.rank + 1 > TENSOR_MAX_RANK ||
        !pass_axis(node_attribute_integer(node->message, "axis", -1), indices.rank + 1, &axis))
        return;
    for (size_t i = 0; i < indices.rank + 1; i++)
        if (i == axis)
            dims[i] = depth.has_numbers ? depth.numbers[0] : dimension_unknown();
        else
            dims[i] = indices.dims[from++];
    pass_set_shape(pass, node, 0, dims, indices.rank + 1);
}

static void find_largest(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0), count = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t wanted, size;
    size_t axis;

    if (!from.has_shape || !pass_axis(node_attribute_integer(node->message, "axis", -1), from.rank, &axis))
        return;
    memcpy(dims, from.dims, from.rank * sizeof(dims[0]));
    dims[axis] = count.has_numbers ? count.numbers[0] : dimension_unknown();
    if (dimension_is_constant(pass->system, from.dims[axis], &size) &&
        dimension_is_constant(pass->system, dims[axis], &wanted) && wanted > size)
        pass_report_conflict(pass);
    for (size_t i = 0; i < 2; i++)
        pass_set_shape(pass, node, i, dims, from.rank);
}

static void find_nonzero(struct pass *pass, const struct node *node)
{
    const struct fact *from = pass_input(pass, node, 0);
    struct dimension dims[] = {dimension_constant((int64_t)from->rank), dimension_unknown()};

    if (from->has_shape)
        pass_set_shape(pass, node, 0, dims, 2);
}

static void select_boxes(struct pass *pass, const struct node *node)
{
    struct dimension dims[] = {dimension_unknown(), dimension_constant(3)};
    const struct fact *boxes = pass_input(pass, node, 0), *scores = pass_input(pass, node, 1);

    if (boxes->has_shape && scores->has_shape && boxes->rank == 3 && scores->rank == 3) {
        pass_equate(pass, boxes->dims[0], scores->dims[0]);
        pass_equate(pass, boxes->dims[1], scores->dims[2]);
    }
    pass_set_shape(pass, node, 0, dims, 2);
}

const struct known_operator index_operators[] = {
    {"Gather", infer_gather},     {"GatherElements", gather_elements},
    {"GatherND", gather_nd},      {"NonMaxSuppression", select_boxes},
    {"NonZero", find_nonzero},    {"OneHot", one_hot},
    {"Scatter", infer_scatter},   {"ScatterElements", infer_scatter},
    {"ScatterND", infer_scatter}, {"TensorScatter", infer_scatter},
    {"TopK", find_largest},       {0},
};

const struct known_operator quantized_index_operators[] = {
    {"GatherBlockQuantized", gather_block_quantized},
    {0},
};
