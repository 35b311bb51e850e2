/* onnx/inputs/moving.c: operators that take elements from other places: Transpose, Slice, Pad. See operators.h. */
#include <string.h>

#include "onnx/inputs/operators.h"
#include "onnx/proto/node_attribute.h"

#define OPEN_END INT32_MAX /* a Slice up to here, or farther, goes to the end */

/* Numbers at other places: element i along axis k of the result is element start[k] + i * step[k] along axis[k] of the
 * source. All sizes are constant. */
struct moved_numbers {
    size_t rank;
    int64_t from[TENSOR_MAX_RANK], to[TENSOR_MAX_RANK];    /* sizes */
    int64_t start[TENSOR_MAX_RANK], step[TENSOR_MAX_RANK]; /* for each axis of the result */
    size_t axis[TENSOR_MAX_RANK];                          /* of `from` */
};

static bool read_constant_sizes(const struct pass *pass, const struct fact *fact, int64_t *ret)
{
    for (size_t i = 0; i < fact->rank; i++)
        if (!dimension_is_constant(pass->system, fact->dims[i], &ret[i]) || ret[i] < 0)
            return false;
    return true;
}

static void move_numbers(struct pass *pass, const struct fact *from, struct fact *to, struct moved_numbers *moved)
{
    struct dimension numbers[FACT_MOST_NUMBERS];
    int64_t strides[TENSOR_MAX_RANK];
    size_t count = 1;

    if (to == NULL || !from->has_numbers || !read_constant_sizes(pass, from, moved->from) ||
        !read_constant_sizes(pass, to, moved->to))
        return;
    for (size_t i = to->rank; i-- > 0;) {
        strides[i] = (int64_t)count;
        if (moved->to[i] > FACT_MOST_NUMBERS)
            return;
        count *= (size_t)moved->to[i];
        if (count > FACT_MOST_NUMBERS)
            return;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t place = 0, stride = 1;

        for (size_t axis = from->rank; axis-- > 0;) {
            for (size_t k = 0; k < to->rank; k++)
                if (moved->axis[k] == axis)
                    place += stride * (moved->start[k] + moved->step[k] * ((int64_t)i / strides[k] % moved->to[k]));
            stride *= moved->from[axis];
        }
        if (place < 0 || place >= (int64_t)from->number_count)
            return;
        numbers[i] = from->numbers[place];
    }
    pass_set_numbers(pass, to, numbers, count);
}

static void infer_transpose(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t order[TENSOR_MAX_RANK];
    struct moved_numbers moved = {.rank = from.rank};
    struct fact *to;
    size_t count;

    if (!from.has_shape)
        return;
    count = node_attribute_integers(node->message, "perm", order, TENSOR_MAX_RANK);
    for (size_t i = 0; i < from.rank; i++) {
        size_t axis = count == from.rank ? (size_t)order[i] : from.rank - 1 - i;

        if (axis >= from.rank)
            return;
        dims[i] = from.dims[axis];
        moved.axis[i] = axis;
        moved.start[i] = 0;
        moved.step[i] = 1;
    }
    to = pass_set_shape(pass, node, 0, dims, from.rank);
    move_numbers(pass, &from, to, &moved);
    if (to != NULL)
        to->input = from.input;
    if (to != NULL && from.limit_count == 1) {
        to->limit_count = 1;
        to->limits = from.limits;
    }
}

/* ---- Slice ---- */

struct slice {
    struct dimension starts[FACT_MOST_NUMBERS], ends[FACT_MOST_NUMBERS];
    int64_t axes[FACT_MOST_NUMBERS], steps[FACT_MOST_NUMBERS];
    size_t count;
};

static bool read_slice_bounds(const struct pass *pass, const struct node *node, size_t input, const char *attribute,
                              struct dimension *ret, size_t *ret_count)
{
    const struct fact *fact = pass_input(pass, node, input);
    int64_t numbers[FACT_MOST_NUMBERS];

    if (node->inputs.count > 1) {
        if (!fact->has_numbers)
            return false;
        memcpy(ret, fact->numbers, fact->number_count * sizeof(*ret));
        *ret_count = fact->number_count;
        return true;
    }
    if (!pass_read_numbers(pass, node, SIZE_MAX, attribute, numbers, ret_count))
        return false;
    for (size_t i = 0; i < *ret_count; i++)
        ret[i] = dimension_constant(numbers[i]);
    return true;
}

static bool read_slice(const struct pass *pass, const struct node *node, struct slice *ret)
{
    struct span attribute;
    bool has_axes = node_input(pass->model, node, 3) != VALUE_NONE;
    bool has_steps = node_input(pass->model, node, 4) != VALUE_NONE;
    size_t counts[3];

    has_axes |= node_attribute_find(node->message, "axes", &attribute);
    if (!read_slice_bounds(pass, node, 1, "starts", ret->starts, &ret->count) ||
        !read_slice_bounds(pass, node, 2, "ends", ret->ends, &counts[0]) || counts[0] != ret->count)
        return false;
    for (size_t i = 0; i < ret->count; i++) {
        ret->axes[i] = (int64_t)i;
        ret->steps[i] = 1;
    }
    return (!has_axes ||
            (pass_read_numbers(pass, node, 3, "axes", ret->axes, &counts[1]) && counts[1] == ret->count)) &&
           (!has_steps ||
            (pass_constants(pass, pass_input(pass, node, 4), ret->steps, &counts[2]) && counts[2] == ret->count));
}

/* Where a bound is in an axis of this size. If that cannot be decided, it is inside; unknown to a pass that proves. */
static struct dimension place_bound(const struct pass *pass, struct dimension bound, struct dimension size)
{
    struct dimension excess;
    int64_t value, whole;

    if (!bound.known)
        return bound;
    if (dimension_is_constant(pass->system, bound, &value) && value < 0) {
        struct dimension place = dimension_add(pass->system, size, bound, 1);

        if (!dimension_is_constant(pass->system, place, &whole) && pass->proves)
            return dimension_unknown();
        return dimension_is_constant(pass->system, place, &whole) && whole < 0 ? dimension_constant(0) : place;
    }
    if (dimension_is_constant(pass->system, bound, &value) && (value >= OPEN_END || value == 0))
        return value == 0 ? bound : size;
    excess = dimension_add(pass->system, bound, size, -1);
    if (dimension_is_constant(pass->system, excess, &value))
        return value >= 0 ? size : bound;
    return size.known && !pass->proves ? bound : dimension_unknown();
}

static struct dimension measure_slice(const struct pass *pass, struct dimension size, const struct slice *slice,
                                      size_t i)
{
    struct dimension start = place_bound(pass, slice->starts[i], size);
    struct dimension length = dimension_add(pass->system, place_bound(pass, slice->ends[i], size), start, -1);
    int64_t value, bounds[2];

    if (pass->proves && !dimension_is_constant(pass->system, length, &value) &&
        !(dimension_is_constant(pass->system, start, &value) && value == 0))
        return dimension_unknown(); /* it may be empty */
    if (slice->steps[i] == 1)
        return dimension_is_constant(pass->system, length, &value) && value < 0 ? dimension_constant(0) : length;
    if (slice->steps[i] > 1 && dimension_is_constant(pass->system, length, &value))
        return dimension_constant(value <= 0 ? 0 : (value + slice->steps[i] - 1) / slice->steps[i]);
    if (slice->steps[i] == -1 && dimension_is_constant(pass->system, slice->starts[i], &bounds[0]) &&
        dimension_is_constant(pass->system, slice->ends[i], &bounds[1]) && bounds[0] == -1 && bounds[1] < -OPEN_END)
        return size;
    return dimension_unknown();
}

/* Where the first element of a slice is; false if that is not constant. */
static bool find_slice_start(const struct pass *pass, struct dimension size, const struct slice *slice, size_t i,
                             int64_t *ret)
{
    int64_t whole;

    if (slice->steps[i] > 0)
        return dimension_is_constant(pass->system, place_bound(pass, slice->starts[i], size), ret);
    if (!dimension_is_constant(pass->system, slice->starts[i], ret) ||
        !dimension_is_constant(pass->system, size, &whole))
        return false;
    *ret = *ret < 0 ? *ret + whole : *ret;
    *ret = *ret >= whole ? whole - 1 : *ret;
    return *ret >= 0;
}

static void infer_slice(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    struct moved_numbers moved = {.rank = from.rank};
    struct dimension dims[TENSOR_MAX_RANK];
    struct slice slice = {.count = 0};
    bool is_placed = true;
    struct fact *to;
    size_t axis;

    if (!from.has_shape)
        return;
    if (!read_slice(pass, node, &slice)) {
        pass_set_rank(pass, node, 0, from.rank);
        return;
    }
    memcpy(dims, from.dims, from.rank * sizeof(dims[0]));
    for (size_t k = 0; k < from.rank; k++) {
        moved.axis[k] = k;
        moved.start[k] = 0;
        moved.step[k] = 1;
    }
    for (size_t i = 0; i < slice.count; i++)
        if (pass_axis(slice.axes[i], from.rank, &axis)) {
            dims[axis] = measure_slice(pass, from.dims[axis], &slice, i);
            moved.step[axis] = slice.steps[i];
            is_placed &= find_slice_start(pass, from.dims[axis], &slice, i, &moved.start[axis]);
        }
    to = pass_set_shape(pass, node, 0, dims, from.rank);
    if (to != NULL)
        to->input = from.input; /* some of its elements */
    if (is_placed)
        move_numbers(pass, &from, to, &moved);
}

/* ---- Padding and resizing ---- */

static void infer_pad(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t pads[FACT_MOST_NUMBERS], axes[FACT_MOST_NUMBERS];
    size_t count, axis_count = 0, axis;
    bool reflects = node_attribute_is(node->message, "mode", "reflect");

    if (!from.has_shape)
        return;
    pass_set_rank(pass, node, 0, from.rank);
    if (!pass_read_numbers(pass, node, 1, "pads", pads, &count) ||
        (node_input(pass->model, node, 3) != VALUE_NONE &&
         !pass_constants(pass, pass_input(pass, node, 3), axes, &axis_count)))
        return;
    for (size_t i = 0; axis_count == 0 && i < count / 2; i++)
        axes[i] = (int64_t)i;
    memcpy(dims, from.dims, from.rank * sizeof(dims[0]));
    for (size_t i = 0; i < count / 2; i++) {
        if (!pass_axis(axes[i], from.rank, &axis))
            return;
        dims[axis] = dimension_add(pass->system, from.dims[axis], dimension_constant(pads[i] + pads[i + count / 2]), 1);
        if (reflects) {
            int64_t larger = pads[i] > pads[i + count / 2] ? pads[i] : pads[i + count / 2];

            pass_demand(pass, from.dims[axis], larger + 1);
            if (larger > 0)
                pass_mark(pass, from.dims[axis], ROLE_SPATIAL);
        }
    }
    pass_set_shape(pass, node, 0, dims, from.rank);
}

const struct known_operator moving_operators[] = {
    {"Pad", infer_pad},
    {"Slice", infer_slice},
    {"Transpose", infer_transpose},
    {0},
};
