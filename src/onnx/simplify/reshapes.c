/* onnx/simplify/reshapes.c: see reshapes.h. */
#include "onnx/simplify/reshapes.h"

#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

/* Whether all axes that move have one element. */
static bool transpose_keeps_order(const struct symbolic_sizes *sizes, const struct node *node)
{
    const struct fact *from = pass_input(&sizes->pass, node, 0);
    int64_t order[TENSOR_MAX_RANK], size, last = -1;

    if (!from->has_shape || node_attribute_integers(node->message, "perm", order, TENSOR_MAX_RANK) != from->rank)
        return false;
    for (size_t i = 0; i < from->rank; i++) {
        if (order[i] < 0 || order[i] >= (int64_t)from->rank)
            return false;
        if (dimension_is_constant(&sizes->system, from->dims[order[i]], &size) && size == 1)
            continue;
        if (order[i] < last)
            return false;
        last = order[i];
    }
    return true;
}

bool node_is_reshape(const struct symbolic_sizes *sizes, const struct node *node)
{
    static const char *const names[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (node_is(node, names[i]))
            return true;
    return node_is(node, "Transpose") && transpose_keeps_order(sizes, node);
}

/* ---- Reshape ---- */

/* The shape as constants: 0 for a size of the input at the same place, -1 for one that follows from the others. A
 * Reshape refuses -1 if one of the others is 0. So these have to be positive constants, unless `wanted`, what it has
 * now, has -1 there already. */
static bool plan_shape(const struct dimension_system *system, const struct fact *from, const struct fact *to,
                       const struct fact *wanted, struct reshape_plan *ret)
{
    size_t inferred = SIZE_MAX;
    bool copies = false;
    int64_t before;

    ret->count = to->rank;
    for (size_t i = 0; i < to->rank; i++) {
        if (dimension_is_constant(system, to->dims[i], &ret->numbers[i]) && ret->numbers[i] > 0)
            continue;
        if (i < from->rank && dimension_is_same(system, to->dims[i], from->dims[i])) {
            ret->numbers[i] = 0;
            copies = true;
        } else if (inferred == SIZE_MAX) {
            ret->numbers[i] = -1;
            inferred = i;
        } else {
            return false;
        }
    }
    return inferred == SIZE_MAX || !copies ||
           (wanted->has_numbers && wanted->number_count == to->rank &&
            dimension_is_constant(system, wanted->numbers[inferred], &before) && before < 0);
}

/* The first value in the row from which a constant shape leads to that of `node`. */
static bool plan_reshape(const struct symbolic_sizes *sizes, const struct node *node, const uint32_t *same_as,
                         struct reshape_plan *ret)
{
    static const struct fact nothing = {.has_shape = false};
    const struct model *model = sizes->pass.model;
    const struct fact *facts = sizes->pass.facts, *to = &facts[node_output(model, node, 0)];
    const struct fact *wanted = node_is(node, "Reshape") ? pass_input(&sizes->pass, node, 1) : &nothing;
    const struct node *at = node;

    ret->input = VALUE_NONE;
    if (!to->has_shape || model_opset(model) < 5)
        return false;
    for (size_t i = 0; i < RESHAPES_IN_A_ROW && at != NULL && node_is_reshape(sizes, at); i++) {
        struct reshape_plan plan = {.input = node_input(model, at, 0)};

        if (plan.input == VALUE_NONE)
            break;
        plan.input = same_as[plan.input];
        if (facts[plan.input].has_shape &&
            plan_shape(&sizes->system, &facts[plan.input], to, at == node ? wanted : &nothing, &plan))
            *ret = plan;
        at = model_producer(model, plan.input);
    }
    return ret->input != VALUE_NONE;
}

/* ---- Unsqueeze ---- */

/* The axes of an Unsqueeze, of those of its output. */
static bool read_unsqueezed(const struct symbolic_sizes *sizes, const struct node *node, uint64_t *ret,
                            size_t *ret_rank)
{
    const struct fact *to = &sizes->pass.facts[node_output(sizes->pass.model, node, 0)];
    int64_t axes[FACT_MOST_NUMBERS];
    size_t count, axis;

    *ret = 0;
    *ret_rank = to->rank;
    if (!node_is(node, "Unsqueeze") || !to->has_shape ||
        !pass_read_numbers(&sizes->pass, node, 1, "axes", axes, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!pass_axis(axes[i], to->rank, &axis))
            return false;
        *ret |= (uint64_t)1 << axis;
    }
    return true;
}

/* An Unsqueeze after another one. */
static bool plan_unsqueeze(const struct symbolic_sizes *sizes, const struct node *node, const uint32_t *same_as,
                           struct reshape_plan *ret)
{
    const struct model *model = sizes->pass.model;
    uint32_t middle = node_input(model, node, 0);
    const struct node *before = middle != VALUE_NONE ? model_producer(model, same_as[middle]) : NULL;
    uint64_t outer, inner;
    size_t rank, inner_rank, next = 0;

    if (before == NULL || node_input(model, before, 0) == VALUE_NONE || !read_unsqueezed(sizes, node, &outer, &rank) ||
        !read_unsqueezed(sizes, before, &inner, &inner_rank))
        return false;
    *ret = (struct reshape_plan){.input = same_as[node_input(model, before, 0)], .unsqueezes = true};
    for (size_t i = 0; i < rank; i++) {
        bool is_new = (outer >> i & 1) != 0;

        if (is_new || (inner >> next & 1) != 0)
            ret->numbers[ret->count++] = (int64_t)i;
        next += !is_new;
    }
    return next == inner_rank;
}

/* ---- Both ---- */

bool reshape_plan_find(const struct symbolic_sizes *sizes, const struct node *node, const uint32_t *same_as,
                       struct reshape_plan *ret)
{
    const struct model *model = sizes->pass.model;
    uint32_t shape = node_input(model, node, 1);

    if (!node_is_reshape(sizes, node) || node_is(node, "Identity") || node->outputs.count != 1 ||
        node_has_references(node->message) || node_attribute_integer(node->message, "allowzero", 0) != 0)
        return false;
    if (plan_unsqueeze(sizes, node, same_as, ret))
        return true;
    return plan_reshape(sizes, node, same_as, ret) && (ret->input != same_as[node_input(model, node, 0)] ||
                                                       (node_is(node, "Reshape") && shape != VALUE_NONE &&
                                                        model_dense_initializer(model, same_as[shape]) == NULL));
}
