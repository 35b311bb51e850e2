/* backend/exact/movement.c: operators that move elements: shapes, cuts, joins, copies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/external/tensor.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/values/elements.h"

/* ---- The same elements in another shape ---- */

static int copy_in_shape(struct exact_call *call, const struct shape *shape, struct error *err)
{
    const struct exact_value *input = call->inputs[0];
    double *ret;
    int rc;

    if (shape_elements(shape) != exact_count(input))
        return exact_refuse_shapes(call, err);
    rc = exact_allocate(call, 0, input->type, shape, &ret, err);
    if (rc == 0)
        memcpy(ret, input->tensor.data, exact_count(input) * sizeof(*ret));
    return rc;
}

static int copy_input(struct exact_call *call, struct error *err)
{
    return copy_in_shape(call, exact_shape(call->inputs[0]), err);
}

static int reshape_input(struct exact_call *call, struct error *err)
{
    bool allows_zero = node_attribute_integer(call->node->message, "allowzero", 0) != 0;
    const struct shape *from = exact_shape(call->inputs[0]);
    size_t count = exact_count(call->inputs[1]), known = 1, unknown = SIZE_MAX;
    struct shape shape = {.rank = count};

    if (count > TENSOR_MAX_RANK)
        return exact_refuse_shapes(call, err);
    exact_read_integers(call->inputs[1], shape.dims);
    for (size_t i = 0; i < count; i++) {
        if (shape.dims[i] == 0 && !allows_zero && i < from->rank)
            shape.dims[i] = from->dims[i];
        if (shape.dims[i] < 0)
            unknown = i;
        else
            known *= (size_t)shape.dims[i];
    }
    if (unknown != SIZE_MAX)
        shape.dims[unknown] = known > 0 ? (int64_t)(exact_count(call->inputs[0]) / known) : 0;
    return copy_in_shape(call, &shape, err);
}

static int flatten_input(struct exact_call *call, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    int64_t axis = node_attribute_integer(call->node->message, "axis", 1);
    struct shape shape = {.rank = 2};

    axis += axis < 0 ? (int64_t)from->rank : 0;
    if (axis < 0 || axis > (int64_t)from->rank)
        return exact_refuse_shapes(call, err);
    shape.dims[0] = (int64_t)shape_extent(from, 0, (size_t)axis);
    shape.dims[1] = (int64_t)shape_extent(from, (size_t)axis, from->rank);
    return copy_in_shape(call, &shape, err);
}

/* Axes are an input since version 13, an attribute before. Returns their number. */
static size_t read_axes(const struct exact_call *call, int64_t *ret)
{
    if (exact_input(call, 1) != NULL)
        return exact_read_integers(call->inputs[1], ret);
    return node_attribute_integers(call->node->message, "axes", ret, TENSOR_MAX_RANK);
}

static int squeeze_input(struct exact_call *call, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    int64_t axes[TENSOR_MAX_RANK];
    size_t count = read_axes(call, axes);
    bool removed[TENSOR_MAX_RANK] = {false};
    struct shape shape = {0};

    for (size_t i = 0; i < count && i < TENSOR_MAX_RANK; i++)
        if (exact_normalize_axis(&axes[i], from->rank))
            removed[axes[i]] = true;
    for (size_t i = 0; i < from->rank; i++)
        if (count == 0 ? from->dims[i] != 1 : !removed[i])
            shape.dims[shape.rank++] = from->dims[i];
    return copy_in_shape(call, &shape, err);
}

static int unsqueeze_input(struct exact_call *call, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    int64_t axes[TENSOR_MAX_RANK];
    size_t count = read_axes(call, axes), next = 0;
    bool added[TENSOR_MAX_RANK] = {false};
    struct shape shape = {.rank = from->rank + count};

    if (shape.rank > TENSOR_MAX_RANK)
        return exact_refuse_shapes(call, err);
    for (size_t i = 0; i < count; i++) {
        if (!exact_normalize_axis(&axes[i], shape.rank) || added[axes[i]])
            return exact_refuse_shapes(call, err);
        added[axes[i]] = true;
    }
    for (size_t i = 0; i < shape.rank; i++)
        shape.dims[i] = added[i] ? 1 : from->dims[next++];
    return copy_in_shape(call, &shape, err);
}

/* ---- Each axis by itself ---- */

/* For each axis and index of the output the index in the input, -1 for a constant. */
struct axis_maps {
    struct shape shape; /* of the output */
    int64_t *items[TENSOR_MAX_RANK];
};

static void release_axis_maps(struct axis_maps *maps)
{
    for (size_t i = 0; i < TENSOR_MAX_RANK; i++)
        free(maps->items[i]);
}

/* An axis of `size` elements, each where it was. */
static int add_axis_map(struct axis_maps *maps, int64_t size, struct error *err)
{
    size_t axis = maps->shape.rank;
    int64_t *items = size >= 0 && size < (int64_t)1 << 32 ? malloc(((size_t)size + 1) * sizeof(*items)) : NULL;

    if (items == NULL)
        return tensor_refuse_size(DATA_FLOAT64, &maps->shape, SIZE_MAX, err);
    for (int64_t i = 0; i < size; i++)
        items[i] = i;
    maps->items[axis] = items;
    maps->shape.dims[axis] = size;
    maps->shape.rank++;
    return 0;
}

static int gather_axes(struct exact_call *call, const struct axis_maps *maps, double constant, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    struct shape position = {.rank = from->rank};
    double *ret;
    int rc = exact_allocate(call, 0, call->inputs[0]->type, &maps->shape, &ret, err);

    for (size_t i = 0; rc == 0 && i < shape_elements(&maps->shape); i++) {
        size_t at = 0;
        bool is_constant = false;

        for (size_t axis = 0; axis < from->rank; axis++) {
            int64_t index = maps->items[axis][position.dims[axis]];

            is_constant = is_constant || index < 0 || index >= from->dims[axis];
            at = at * (size_t)from->dims[axis] + (is_constant ? 0 : (size_t)index);
        }
        ret[i] = is_constant ? constant : exact_items(call->inputs[0])[at];
        for (size_t axis = from->rank; axis-- > 0; position.dims[axis] = 0)
            if (++position.dims[axis] < maps->shape.dims[axis])
                break;
    }
    return rc;
}

/* From `start` on by `step`, up to `end`, as ONNX has it. */
static int slice_axis(struct axis_maps *maps, size_t axis, int64_t start, int64_t end, int64_t step)
{
    int64_t size = maps->shape.dims[axis], count;

    if (step == 0 || step == INT64_MIN)
        return -1;
    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    if (step > 0) {
        start = start < 0 ? 0 : start > size ? size : start;
        end = end < 0 ? 0 : end > size ? size : end;
    } else {
        start = start < 0 ? -1 : start >= size ? size - 1 : start;
        end = end < 0 ? -1 : end >= size ? size - 1 : end;
    }
    count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    count = count < 0 ? 0 : count;
    for (int64_t i = 0; i < count; i++)
        maps->items[axis][i] = start + i * step;
    maps->shape.dims[axis] = count;
    return 0;
}

/* Starts, ends, axes and steps: inputs since version 10, attributes before. Returns how many there are of it. */
static size_t read_slice_list(const struct exact_call *call, size_t input, const char *name, int64_t *ret)
{
    if (exact_input(call, 1) != NULL)
        return exact_read_integers(exact_input(call, input), ret);
    return node_attribute_integers(call->node->message, name, ret, TENSOR_MAX_RANK);
}

static int add_input_axes(const struct exact_call *call, struct axis_maps *maps, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < from->rank; i++)
        rc = add_axis_map(maps, from->dims[i], err);
    return rc;
}

static int slice_input(struct exact_call *call, struct error *err)
{
    struct axis_maps maps SCOPED(release_axis_maps) = {0};
    int64_t starts[TENSOR_MAX_RANK], ends[TENSOR_MAX_RANK], axes[TENSOR_MAX_RANK], steps[TENSOR_MAX_RANK];
    size_t count = read_slice_list(call, 1, "starts", starts);
    bool has_axes = read_slice_list(call, 3, "axes", axes) == count;
    bool has_steps = read_slice_list(call, 4, "steps", steps) == count;
    int rc = add_input_axes(call, &maps, err);

    if (rc == 0 && (count > TENSOR_MAX_RANK || read_slice_list(call, 2, "ends", ends) != count))
        return exact_refuse_shapes(call, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        int64_t axis = has_axes ? axes[i] : (int64_t)i;

        if (!exact_normalize_axis(&axis, maps.shape.rank) ||
            slice_axis(&maps, (size_t)axis, starts[i], ends[i], has_steps ? steps[i] : 1) < 0)
            return exact_refuse_shapes(call, err);
    }
    return rc < 0 ? rc : gather_axes(call, &maps, 0, err);
}

static int64_t find_padded_index(struct text mode, int64_t at, int64_t size)
{
    if (at >= 0 && at < size)
        return at;
    if (text_equal_string(mode, "edge"))
        return at < 0 ? 0 : size - 1;
    if (text_equal_string(mode, "reflect"))
        return at < 0 ? -at : 2 * (size - 1) - at;
    if (text_equal_string(mode, "wrap"))
        return (at % size + size) % size;
    return -1;
}

/* Pads are an input since version 11, an attribute before; their axes an input since version 18. */
static int pad_input(struct exact_call *call, struct error *err)
{
    struct axis_maps maps SCOPED(release_axis_maps) = {0};
    const struct shape *from = exact_shape(call->inputs[0]);
    struct text mode = exact_text_attribute(call, "mode", "constant");
    int64_t pads[2 * TENSOR_MAX_RANK], axes[TENSOR_MAX_RANK];
    const struct exact_value *constant = exact_input(call, 2);
    size_t count = exact_input(call, 1) != NULL
                       ? exact_count(call->inputs[1])
                       : node_attribute_integers(call->node->message, "pads", pads, ARRAY_LEN(pads));
    size_t axis_count = exact_read_integers(exact_input(call, 3), axes);
    int rc = 0;

    if (count > ARRAY_LEN(pads) || count % 2 != 0 ||
        (axis_count == 0 ? count / 2 != from->rank : axis_count != count / 2))
        return exact_refuse_shapes(call, err);
    for (size_t i = 0; exact_input(call, 1) != NULL && i < count; i++)
        pads[i] = (int64_t)exact_items(call->inputs[1])[i];
    for (size_t axis = 0; rc == 0 && axis < from->rank; axis++) {
        int64_t before = 0, after = 0;

        for (size_t k = 0; k < count / 2; k++) {
            int64_t padded = axis_count == 0 ? (int64_t)k : axes[k];

            if (exact_normalize_axis(&padded, from->rank) && (size_t)padded == axis) {
                before = pads[k];
                after = pads[count / 2 + k];
            }
        }
        rc = add_axis_map(&maps, from->dims[axis] + before + after, err);
        for (int64_t i = 0; rc == 0 && i < maps.shape.dims[axis]; i++)
            maps.items[axis][i] = find_padded_index(mode, i - before, from->dims[axis]);
    }
    return rc < 0 ? rc
                  : gather_axes(call, &maps,
                                constant != NULL && exact_count(constant) == 1
                                    ? exact_items(constant)[0]
                                    : (double)node_attribute_float(call->node->message, "value", 0),
                                err);
}

static int tile_input(struct exact_call *call, struct error *err)
{
    struct axis_maps maps SCOPED(release_axis_maps) = {0};
    const struct shape *from = exact_shape(call->inputs[0]);
    int64_t repeats[TENSOR_MAX_RANK];
    int rc = 0;

    if (exact_read_integers(call->inputs[1], repeats) != from->rank)
        return exact_refuse_shapes(call, err);
    for (size_t axis = 0; rc == 0 && axis < from->rank; axis++) {
        if (repeats[axis] < 0 || repeats[axis] > (int64_t)1 << 31 || from->dims[axis] > (int64_t)1 << 31)
            return exact_refuse_shapes(call, err);
        rc = add_axis_map(&maps, from->dims[axis] * repeats[axis], err);
        for (int64_t i = 0; rc == 0 && i < maps.shape.dims[axis]; i++)
            maps.items[axis][i] = i % from->dims[axis];
    }
    return rc < 0 ? rc : gather_axes(call, &maps, 0, err);
}

/* Output element i is the input's at indices[i]. Frees the indices; NULL: there was no memory for them. */
static int gather_at(struct exact_call *call, const struct shape *shape, size_t *indices, struct error *err)
{
    size_t *from SCOPED_FREE = indices;
    double *ret;
    int rc;

    if (from == NULL)
        return tensor_refuse_size(DATA_FLOAT64, shape, SIZE_MAX, err);
    rc = exact_allocate(call, 0, call->inputs[0]->type, shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < shape_elements(shape); i++)
        ret[i] = exact_items(call->inputs[0])[from[i]];
    return rc;
}

static int expand_input(struct exact_call *call, struct error *err)
{
    struct shape shape = {.rank = exact_count(call->inputs[1])};

    if (shape.rank > TENSOR_MAX_RANK)
        return exact_refuse_shapes(call, err);
    exact_read_integers(call->inputs[1], shape.dims);
    if (!exact_broadcast_shape(&shape, exact_shape(call->inputs[0])))
        return exact_refuse_shapes(call, err);
    return gather_at(call, &shape, exact_broadcast_indices(exact_shape(call->inputs[0]), &shape), err);
}

static int transpose_input(struct exact_call *call, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    int64_t permutation[TENSOR_MAX_RANK];
    size_t count = node_attribute_integers(call->node->message, "perm", permutation, TENSOR_MAX_RANK);
    size_t order[TENSOR_MAX_RANK];
    bool seen[TENSOR_MAX_RANK] = {false};
    struct shape shape = {.rank = from->rank};

    if (count != 0 && count != from->rank)
        return exact_refuse_shapes(call, err);
    for (size_t i = 0; i < from->rank; i++) {
        int64_t axis = count == 0 ? (int64_t)(from->rank - 1 - i) : permutation[i];

        if (!exact_normalize_axis(&axis, from->rank) || seen[axis])
            return exact_refuse_shapes(call, err);
        seen[axis] = true;
        order[i] = (size_t)axis;
        shape.dims[i] = from->dims[axis];
    }
    return gather_at(call, &shape, exact_transposed_indices(from, order), err);
}

/* ---- Joins and parts ---- */

static int concatenate_inputs(struct exact_call *call, struct error *err)
{
    int64_t axis = node_attribute_integer(call->node->message, "axis", 0);
    struct shape shape = *exact_shape(call->inputs[0]);
    size_t outer, inner, first = 0, total;
    double *ret;
    int rc;

    if (!exact_normalize_axis(&axis, shape.rank))
        return exact_refuse_shapes(call, err);
    for (size_t k = 1; k < call->input_count; k++) {
        struct shape other = *exact_shape(call->inputs[k]);

        if (other.rank != shape.rank)
            return exact_refuse_shapes(call, err);
        shape.dims[axis] += other.dims[axis];
        other.dims[axis] = shape.dims[axis];
        if (!shape_equal(&other, &shape))
            return exact_refuse_shapes(call, err);
    }
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    outer = shape_extent(&shape, 0, (size_t)axis);
    inner = shape_extent(&shape, (size_t)axis + 1, shape.rank);
    total = (size_t)shape.dims[axis] * inner;
    for (size_t k = 0; rc == 0 && k < call->input_count; k++) {
        size_t size = (size_t)exact_shape(call->inputs[k])->dims[axis] * inner;

        for (size_t i = 0; i < outer; i++)
            memcpy(&ret[i * total + first], &exact_items(call->inputs[k])[i * size], size * sizeof(*ret));
        first += size;
    }
    return rc;
}

/* Sizes are an input since version 13, an attribute before; without them the parts are equal, but for the last one. */
static int split_input(struct exact_call *call, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    int64_t axis = node_attribute_integer(call->node->message, "axis", 0), sizes[TENSOR_MAX_RANK], first = 0;
    size_t count = exact_input(call, 1) != NULL
                       ? exact_read_integers(call->inputs[1], sizes)
                       : node_attribute_integers(call->node->message, "split", sizes, TENSOR_MAX_RANK);
    size_t outer, inner;

    if (!exact_normalize_axis(&axis, from->rank) || call->output_count > TENSOR_MAX_RANK ||
        (count != 0 && count != call->output_count))
        return exact_refuse_shapes(call, err);
    outer = shape_extent(from, 0, (size_t)axis);
    inner = shape_extent(from, (size_t)axis + 1, from->rank);
    for (size_t k = 0; k < call->output_count; k++) {
        int64_t parts = (int64_t)call->output_count, equal = (from->dims[axis] + parts - 1) / parts;
        int64_t left = from->dims[axis] - first, size = count != 0 ? sizes[k] : equal < left ? equal : left;
        struct shape shape = *from;
        double *ret;
        int rc;

        if (size < 0 || size > left)
            return exact_refuse_shapes(call, err);
        shape.dims[axis] = size;
        rc = exact_allocate(call, k, call->inputs[0]->type, &shape, &ret, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < outer; i++)
            memcpy(&ret[i * (size_t)size * inner],
                   &exact_items(call->inputs[0])[(i * (size_t)from->dims[axis] + (size_t)first) * inner],
                   (size_t)size * inner * sizeof(*ret));
        first += size;
    }
    return 0;
}

static int gather_slices(struct exact_call *call, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]), *of_indices = exact_shape(call->inputs[1]);
    int64_t axis = node_attribute_integer(call->node->message, "axis", 0);
    size_t outer, inner, count = exact_count(call->inputs[1]);
    struct shape shape = {0};
    double *ret;
    int rc;

    if (!exact_normalize_axis(&axis, from->rank) || from->rank - 1 + of_indices->rank > TENSOR_MAX_RANK)
        return exact_refuse_shapes(call, err);
    for (size_t i = 0; i < (size_t)axis; i++)
        shape.dims[shape.rank++] = from->dims[i];
    for (size_t i = 0; i < of_indices->rank; i++)
        shape.dims[shape.rank++] = of_indices->dims[i];
    for (size_t i = (size_t)axis + 1; i < from->rank; i++)
        shape.dims[shape.rank++] = from->dims[i];
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    outer = shape_extent(from, 0, (size_t)axis);
    inner = shape_extent(from, (size_t)axis + 1, from->rank);
    for (size_t k = 0; rc == 0 && k < count; k++) {
        int64_t at = (int64_t)exact_items(call->inputs[1])[k];

        if (!exact_normalize_axis(&at, (size_t)from->dims[axis]))
            return exact_refuse_shapes(call, err);
        for (size_t i = 0; i < outer; i++)
            memcpy(&ret[(i * count + k) * inner],
                   &exact_items(call->inputs[0])[(i * (size_t)from->dims[axis] + (size_t)at) * inner],
                   inner * sizeof(*ret));
    }
    return rc;
}

/* ---- Shapes and constants ---- */

static int compute_shape(struct exact_call *call, struct error *err)
{
    const struct shape *from = exact_shape(call->inputs[0]);
    int64_t rank = (int64_t)from->rank;
    int64_t start = shape_clamp_bound(node_attribute_integer(call->node->message, "start", 0), rank);
    int64_t end = shape_clamp_bound(node_attribute_integer(call->node->message, "end", rank), rank);
    struct shape shape = {.rank = 1};
    double *ret;
    int rc;

    shape.dims[0] = end > start ? end - start : 0;
    rc = exact_allocate(call, 0, DATA_INT64, &shape, &ret, err);
    for (int64_t i = 0; rc == 0 && i < shape.dims[0]; i++)
        ret[i] = (double)from->dims[start + i];
    return rc;
}

static int fill_shape(struct exact_call *call, struct error *err)
{
    struct span message = node_attribute_tensor(call->node->message, "value");
    struct shape shape = {.rank = exact_count(call->inputs[0])};
    enum data_type type = DATA_FLOAT32;
    double value = 0, *ret;
    int rc;

    if (message.data != NULL) {
        struct tensor tensor SCOPED(tensor_release) = {0};

        rc = external_tensor_read(call->model, message, &tensor, err);
        if (rc < 0)
            return rc;
        type = tensor.type;
        if (elements_arithmetic(type) != ARITHMETIC_NONE && tensor_elements(&tensor) > 0)
            elements_to_float64(&tensor, 0, 1, &value);
    }
    if (shape.rank > TENSOR_MAX_RANK)
        return exact_refuse_shapes(call, err);
    exact_read_integers(call->inputs[0], shape.dims);
    rc = exact_allocate(call, 0, type, &shape, &ret, err);
    for (size_t i = 0; rc == 0 && i < shape_elements(&shape); i++)
        ret[i] = value;
    return rc;
}

const struct exact_operator exact_movement_operators[] = {
    {"Identity", 1, true, copy_input, NULL},
    {"Dropout", 1, true, copy_input, NULL},
    {"Reshape", 2, true, reshape_input, NULL},
    {"Flatten", 1, true, flatten_input, NULL},
    {"Squeeze", 1, true, squeeze_input, NULL},
    {"Unsqueeze", 1, true, unsqueeze_input, NULL},
    {"Slice", 1, true, slice_input, NULL},
    {"Pad", 1, true, pad_input, NULL},
    {"Tile", 2, true, tile_input, NULL},
    {"Expand", 2, true, expand_input, NULL},
    {"Transpose", 1, true, transpose_input, NULL},
    {"Concat", EXACT_ALL_INPUTS, true, concatenate_inputs, NULL},
    {"Split", 1, false, split_input, NULL},
    {"Gather", 2, true, gather_slices, NULL},
    {"Shape", 1, true, compute_shape, NULL},
    {"ConstantOfShape", 1, true, fill_shape, NULL},
    {0},
};
