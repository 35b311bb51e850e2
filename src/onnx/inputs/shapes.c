/* onnx/inputs/shapes.c: operators that move elements, and those that compute shapes. See operators.h. */
#include <string.h>

#include "onnx/inputs/operators.h"
#include "onnx/proto/node_attribute.h"

/* The elements of `from` in the same order: numbers, and a bound of all of them. */
static void take_elements(struct fact *to, const struct fact *from)
{
    if (to == NULL)
        return;
    to->has_numbers = from->has_numbers;
    to->number_count = from->number_count;
    to->numbers = from->numbers;
    to->input = from->input;
    if (from->limit_count == 1) {
        to->limit_count = 1;
        to->limits = from->limits;
    }
}

/* ---- Shapes as values ---- */

static void compute_shape(struct pass *pass, const struct node *node)
{
    const struct fact *from = pass_input(pass, node, 0);
    int64_t rank = (int64_t)from->rank, start, end;
    struct dimension count;

    if (!from->has_shape)
        return;
    start = shape_clamp_bound(node_attribute_integer(node->message, "start", 0), rank);
    end = shape_clamp_bound(node_attribute_integer(node->message, "end", rank), rank);
    count = dimension_constant(end > start ? end - start : 0);
    pass_set_numbers(pass, pass_set_shape(pass, node, 0, &count, 1), from->dims + start, (size_t)count.constant);
}

static void compute_size(struct pass *pass, const struct node *node)
{
    const struct fact *from = pass_input(pass, node, 0);
    struct dimension size = dimension_constant(1);

    for (size_t i = 0; i < from->rank; i++) {
        int64_t factor;

        if (dimension_is_constant(pass->system, from->dims[i], &factor))
            size = dimension_multiply(pass->system, size, factor);
        else if (size.known && size.count == 0)
            size = dimension_multiply(pass->system, from->dims[i], size.constant);
        else
            size = dimension_unknown();
    }
    pass_set_numbers(pass, pass_set_shape(pass, node, 0, NULL, 0), &size, from->has_shape);
}

static void make_constant_of_shape(struct pass *pass, const struct node *node)
{
    const struct fact *shape = pass_input(pass, node, 0);
    struct span value = node_attribute_tensor(node->message, "value");
    struct dimension numbers[FACT_MOST_NUMBERS];
    struct fact one = {0}, *to;
    int64_t count;

    if (!shape->has_numbers) {
        if (shape->has_shape && shape->rank == 1 && dimension_is_constant(pass->system, shape->dims[0], &count) &&
            count >= 0)
            pass_set_rank(pass, node, 0, (size_t)count);
        return;
    }
    to = pass_set_shape(pass, node, 0, shape->numbers, shape->number_count);
    if (value.data == NULL || shape->number_count != 1 ||
        !dimension_is_constant(pass->system, shape->numbers[0], &count) || count < 0 || count > FACT_MOST_NUMBERS)
        return;
    pass_read_tensor(pass, value, &one); /* exporters make [1, 1, ...] like this, to choose between it and a shape */
    if (!one.has_numbers || one.number_count != 1)
        return;
    for (int64_t i = 0; i < count; i++)
        numbers[i] = one.numbers[0];
    pass_set_numbers(pass, to, numbers, (size_t)count);
}

static void make_range(struct pass *pass, const struct node *node)
{
    const struct fact *start = pass_input(pass, node, 0), *limit = pass_input(pass, node, 1);
    struct dimension length = dimension_unknown();
    int64_t step;
    size_t count;
    struct fact *to;

    if (start->has_numbers && limit->has_numbers && pass_constants(pass, pass_input(pass, node, 2), &step, &count) &&
        step == 1)
        length = dimension_add(pass->system, limit->numbers[0], start->numbers[0], -1);
    to = pass_set_shape(pass, node, 0, &length, 1);
    if (to == NULL || !length.known)
        return;
    to->limit_count = 1;
    to->limits = pass_copy(pass, limit->numbers, 1);
}

/* ---- The same elements in another shape ---- */

/* Numbers of `count` dimensions, of which equal ones are left out on both sides. */
struct factors {
    struct dimension items[TENSOR_MAX_RANK];
    size_t count;
    int64_t constant; /* the product of constants that are left */
    bool known;
};

static void add_factor(const struct pass *pass, struct factors *factors, struct dimension factor)
{
    int64_t value;

    if (!factor.known)
        factors->known = false;
    else if (!dimension_is_constant(pass->system, factor, &value))
        factors->items[factors->count++] = factor;
    else if (__builtin_mul_overflow(factors->constant, value, &factors->constant))
        factors->known = false;
}

static void cancel_factors(const struct pass *pass, struct factors *a, struct factors *b)
{
    for (size_t i = a->count; i-- > 0;)
        for (size_t k = 0; k < b->count; k++)
            if (dimension_is_same(pass->system, a->items[i], b->items[k])) {
                a->items[i] = a->items[--a->count];
                b->items[k] = b->items[--b->count];
                break;
            }
}

/* The factor that is missing on the other side; unknown if that is no sum. */
static struct dimension divide_factors(const struct pass *pass, const struct factors *all, const struct factors *others)
{
    struct dimension ret = dimension_constant(1);

    if (!all->known || !others->known || others->count > 0 || all->count > 1 || others->constant <= 0)
        return dimension_unknown();
    if (all->count == 1)
        ret = all->items[0];
    ret = dimension_multiply(pass->system, ret, all->constant);
    return dimension_divide(pass->system, ret, others->constant);
}

/* Both sides have as many elements. */
static void equate_products(struct pass *pass, const struct factors *from, const struct factors *to)
{
    struct dimension sides[2] = {dimension_constant(from->constant), dimension_constant(to->constant)};

    if (!from->known || !to->known || from->count > 1 || to->count > 1 || from->constant == 0)
        return;
    if (from->count == 1)
        sides[0] = dimension_multiply(pass->system, from->items[0], from->constant);
    if (to->count == 1)
        sides[1] = dimension_multiply(pass->system, to->items[0], to->constant);
    pass_equate(pass, sides[0], sides[1]);
}

static void fill_reshaped(struct pass *pass, const struct fact *from, const struct fact *wanted, bool zero_copies,
                          struct dimension *ret)
{
    struct factors all = {.constant = 1, .known = true}, others = all;
    size_t inferred = SIZE_MAX;

    for (size_t i = 0; i < from->rank; i++)
        add_factor(pass, &all, from->dims[i]);
    for (size_t i = 0; i < wanted->number_count; i++) {
        int64_t value;
        bool is_constant = dimension_is_constant(pass->system, wanted->numbers[i], &value);

        ret[i] = wanted->numbers[i];
        if (is_constant && value == 0 && zero_copies)
            ret[i] = i < from->rank ? from->dims[i] : dimension_unknown();
        if (is_constant && value < 0)
            inferred = i;
        else
            add_factor(pass, &others, ret[i]);
    }
    cancel_factors(pass, &all, &others);
    if (inferred == SIZE_MAX) {
        equate_products(pass, &all, &others);
        return;
    }
    ret[inferred] = divide_factors(pass, &all, &others);
    if (!ret[inferred].known && all.known && others.known && all.count == 0 && others.count == 0)
        pass_report_conflict(pass);
}

static void infer_reshape(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0), wanted = *pass_input(pass, node, 1);
    bool zero_copies = node_attribute_integer(node->message, "allowzero", 0) == 0;
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t count;

    if (!wanted.has_numbers) {
        if (wanted.has_shape && wanted.rank == 1 && dimension_is_constant(pass->system, wanted.dims[0], &count) &&
            count >= 0)
            take_elements(pass_set_rank(pass, node, 0, (size_t)count), &from);
        return;
    }
    if (!from.has_shape) {
        pass_set_rank(pass, node, 0, wanted.number_count);
        return;
    }
    fill_reshaped(pass, &from, &wanted, zero_copies, dims);
    take_elements(pass_set_shape(pass, node, 0, dims, wanted.number_count), &from);
}

static void infer_flatten(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    int64_t axis = node_attribute_integer(node->message, "axis", 1);
    struct dimension dims[2];

    if (!from.has_shape)
        return;
    axis = axis < 0 ? axis + (int64_t)from.rank : axis;
    for (size_t side = 0; side < 2; side++) {
        struct factors factors = {.constant = 1, .known = true}, nothing = factors;

        for (size_t i = 0; i < from.rank; i++)
            if (((int64_t)i >= axis) == (side == 1))
                add_factor(pass, &factors, from.dims[i]);
        dims[side] = divide_factors(pass, &factors, &nothing);
    }
    take_elements(pass_set_shape(pass, node, 0, dims, 2), &from);
}

/* Axes of Squeeze and Unsqueeze as a set of bits. False if they are not known. */
static bool read_axes(const struct pass *pass, const struct node *node, size_t rank, uint64_t *ret)
{
    int64_t axes[FACT_MOST_NUMBERS];
    size_t count, axis;

    *ret = 0;
    if (!pass_read_numbers(pass, node, 1, "axes", axes, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!pass_axis(axes[i], rank, &axis))
            return false;
        *ret |= (uint64_t)1 << axis;
    }
    return true;
}

static void infer_unsqueeze(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t axes[FACT_MOST_NUMBERS];
    size_t count, next = 0;
    uint64_t set;

    if (!from.has_shape || !pass_read_numbers(pass, node, 1, "axes", axes, &count) ||
        from.rank + count > TENSOR_MAX_RANK || !read_axes(pass, node, from.rank + count, &set))
        return;
    for (size_t i = 0; i < from.rank + count; i++)
        if ((set >> i & 1) != 0)
            dims[i] = dimension_constant(1);
        else
            dims[i] = next < from.rank ? from.dims[next++] : dimension_unknown();
    take_elements(pass_set_shape(pass, node, 0, dims, from.rank + count), &from);
}

static void infer_squeeze(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    bool has_axes = node_input(pass->model, node, 1) != VALUE_NONE;
    struct dimension dims[TENSOR_MAX_RANK];
    struct span attribute;
    size_t rank = 0;
    uint64_t set;

    has_axes |= node_attribute_find(node->message, "axes", &attribute);
    if (!from.has_shape || (has_axes && !read_axes(pass, node, from.rank, &set)))
        return;
    for (size_t i = 0; i < from.rank; i++) {
        int64_t value;

        if (pass->proves && !has_axes && !dimension_is_constant(pass->system, from.dims[i], &value))
            return;
        if (has_axes ? (set >> i & 1) != 0 : dimension_is_constant(pass->system, from.dims[i], &value) && value == 1)
            pass_equate(pass, from.dims[i], dimension_constant(1));
        else
            dims[rank++] = from.dims[i];
    }
    take_elements(pass_set_shape(pass, node, 0, dims, rank), &from);
}

static void infer_expand(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0), shape = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];
    struct fact wanted = {.has_shape = true, .rank = shape.number_count, .dims = shape.numbers}, *to;
    int64_t count;
    size_t rank;

    if (from.has_shape && !shape.has_numbers && shape.has_shape && shape.rank == 1 &&
        dimension_is_constant(pass->system, shape.dims[0], &count) && count >= 0)
        pass_set_rank(pass, node, 0, (size_t)count > from.rank ? (size_t)count : from.rank);
    if (!from.has_shape || !shape.has_numbers)
        return;
    rank = pass_broadcast_shapes(pass, &from, &wanted, 0, dims);
    to = pass_set_shape(pass, node, 0, dims, rank);
    if (to != NULL)
        take_elements(to, &(struct fact){.limit_count = from.limit_count, .limits = from.limits, .input = from.input});
}

static void infer_tile(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0), repeats = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];

    if (!from.has_shape || !repeats.has_numbers || repeats.number_count != from.rank)
        return;
    for (size_t i = 0; i < from.rank; i++) {
        int64_t factor;

        if (dimension_is_constant(pass->system, repeats.numbers[i], &factor))
            dims[i] = dimension_multiply(pass->system, from.dims[i], factor);
        else if (dimension_is_constant(pass->system, from.dims[i], &factor))
            dims[i] = dimension_multiply(pass->system, repeats.numbers[i], factor);
        else
            dims[i] = dimension_unknown();
    }
    pass_set_shape(pass, node, 0, dims, from.rank);
}

/* ---- Joining and parting ---- */

static void concatenate_numbers(struct pass *pass, const struct node *node, struct fact *to)
{
    struct dimension numbers[FACT_MOST_NUMBERS];
    size_t count = 0;

    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct fact *part = pass_input(pass, node, i);

        if (!part->has_numbers || count + part->number_count > FACT_MOST_NUMBERS)
            return;
        memcpy(numbers + count, part->numbers, part->number_count * sizeof(numbers[0]));
        count += part->number_count;
    }
    pass_set_numbers(pass, to, numbers, count);
}

/* Indices put together along the last axis: each part has a bound of its own. */
static void concatenate_limits(struct pass *pass, const struct node *node, struct fact *to)
{
    struct dimension limits[FACT_MOST_NUMBERS];
    size_t count = 0;

    for (size_t i = 0; i < node->inputs.count; i++) {
        const struct fact *part = pass_input(pass, node, i);
        int64_t width;

        if (part->limit_count != 1 || part->rank == 0 || count == FACT_MOST_NUMBERS ||
            !dimension_is_constant(pass->system, part->dims[part->rank - 1], &width) || width != 1)
            return;
        limits[count++] = part->limits[0];
    }
    to->limit_count = count;
    to->limits = pass_copy(pass, limits, count);
}

/* A cache is an input, and what is appended to it is computed. */
static void mark_cache(struct pass *pass, const struct node *node, size_t axis)
{
    size_t cache = node->inputs.count;

    for (size_t i = 0; i < node->inputs.count; i++)
        if (pass_input(pass, node, i)->input != VALUE_NONE)
            cache = cache == node->inputs.count ? i : node->inputs.count + 1;
    if (node->inputs.count == 2 && cache < 2 && pass_input(pass, node, cache)->rank > 2)
        pass_mark(pass, pass_input(pass, node, cache)->dims[axis], ROLE_CACHE);
}

static void infer_concatenate(struct pass *pass, const struct node *node)
{
    const struct fact *first = pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];
    struct fact *to;
    size_t axis;

    for (size_t i = 0; i < node->inputs.count; i++)
        if (!pass_input(pass, node, i)->has_shape || pass_input(pass, node, i)->rank != first->rank)
            return;
    if (!pass_axis(node_attribute_integer(node->message, "axis", 1), first->rank, &axis))
        return;
    memcpy(dims, first->dims, first->rank * sizeof(dims[0]));
    for (size_t i = 1; i < node->inputs.count; i++) {
        const struct fact *part = pass_input(pass, node, i);

        for (size_t k = 0; k < first->rank; k++)
            if (k == axis)
                dims[k] = dimension_add(pass->system, dims[k], part->dims[k], 1);
            else
                pass_equate(pass, dims[k], part->dims[k]);
    }
    mark_cache(pass, node, axis);
    to = pass_set_shape(pass, node, 0, dims, first->rank);
    if (to == NULL)
        return;
    if (first->rank == 1)
        concatenate_numbers(pass, node, to);
    else if (axis == first->rank - 1)
        concatenate_limits(pass, node, to);
}

static void infer_split(struct pass *pass, const struct node *node)
{
    struct fact from = *pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t sizes[FACT_MOST_NUMBERS], whole;
    size_t axis, count = 0;
    bool given;

    if (!from.has_shape || !pass_axis(node_attribute_integer(node->message, "axis", 0), from.rank, &axis))
        return;
    given = pass_read_numbers(pass, node, 1, "split", sizes, &count) && count == node->outputs.count;
    memcpy(dims, from.dims, from.rank * sizeof(dims[0]));
    for (size_t i = 0; i < node->outputs.count; i++) {
        int64_t parts = (int64_t)node->outputs.count;

        if (given) {
            dims[axis] = dimension_constant(sizes[i]);
        } else if (dimension_is_constant(pass->system, from.dims[axis], &whole)) {
            int64_t each = (whole + parts - 1) / parts;

            dims[axis] = dimension_constant((int64_t)i + 1 < parts ? each : whole - each * (parts - 1));
        } else {
            dims[axis] = dimension_divide(pass->system, from.dims[axis], parts);
        }
        pass_set_shape(pass, node, i, dims, from.rank);
    }
    if (given) {
        struct dimension sum = dimension_constant(0);

        for (size_t i = 0; i < count; i++)
            sum.constant += sizes[i];
        pass_equate(pass, from.dims[axis], sum);
    }
}

const struct known_operator shape_operators[] = {
    {"Concat", infer_concatenate},
    {"ConstantOfShape", make_constant_of_shape},
    {"Expand", infer_expand},
    {"Flatten", infer_flatten},
    {"Range", make_range},
    {"Reshape", infer_reshape},
    {"Shape", compute_shape},
    {"Size", compute_size},
    {"Split", infer_split},
    {"Squeeze", infer_squeeze},
    {"Tile", infer_tile},
    {"Unsqueeze", infer_unsqueeze},
    {0},
};
