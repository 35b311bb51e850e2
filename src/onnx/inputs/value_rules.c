/* onnx/inputs/value_rules.c: see value_rules.h. */
#include "onnx/inputs/value_rules.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

#define MOST_STEPS 4096 /* tensors that are followed from one input */
#define MASKED_PLACES 3
#define LEAST_MASKED 8 /* a shorter axis is not masked */

/* A tensor with the elements of the input, at most changed by what is said here. */
struct followed {
    uint32_t value;
    int64_t shift;  /* added to each */
    bool is_scaled; /* multiplied, or more: only its use as an angle counts */
    bool is_summed; /* added up along an axis */
};

/* What readers say. */
struct demands {
    const struct pass *pass;
    struct bitset seen;
    struct followed *items;
    size_t count, capacity;

    bool has_low, has_high; /* bounds */
    int64_t low, high;
    uint32_t bound_node;
    bool is_mask, is_whole_mask, is_angle, is_compared, is_ordered;
    uint32_t mask_node, angle_node, compared_node, ordered_node;
    int64_t compared;
    bool is_number, is_branch;
    int64_t number;
    uint32_t number_node;
};

static void follow_value(struct demands *demands, struct followed from, uint32_t value)
{
    if (value == VALUE_NONE || demands->count >= MOST_STEPS || bitset_has(&demands->seen, value))
        return;
    bitset_add(&demands->seen, value);
    from.value = value;
    *VECTOR_APPEND(demands) = from;
}

static void follow_outputs(struct demands *demands, struct followed from, const struct node *node)
{
    for (size_t i = 0; i < node->outputs.count; i++)
        follow_value(demands, from, model_edge(demands->pass->model, node->outputs, i));
}

static bool is_any(const struct node *node, const char *const *operators)
{
    for (size_t i = 0; operators[i] != NULL; i++)
        if (text_equal_string(node->op_type, operators[i]))
            return true;
    return false;
}

/* ---- Bounds ---- */

static void bound_below(struct demands *demands, const struct followed *from, struct dimension size, uint32_t node)
{
    int64_t rows;

    if (from->is_scaled || from->is_summed || !dimension_is_constant(demands->pass->system, size, &rows) || rows < 1)
        return;
    if (!demands->has_high || rows - 1 - from->shift < demands->high) {
        demands->high = rows - 1 - from->shift;
        demands->bound_node = node;
    }
    if (!demands->has_low || -from->shift > demands->low)
        demands->low = -from->shift;
    demands->has_low = demands->has_high = true;
}

/* The axis of the data in which a node looks indices up; false if the input is not its indices. */
static bool find_looked_up(const struct demands *demands, const struct node *node, size_t input,
                           const struct fact **ret_data, size_t *ret_axis)
{
    static const char *const along_axis[] = {"Gather", "GatherElements", "ScatterElements", "Scatter", NULL};
    static const char *const rotary[] = {"RotaryEmbedding", NULL};
    int64_t axis = node_attribute_integer(node->message, "axis", 0);

    if (is_any(node, rotary) && !domain_is_standard(node->domain)) {
        *ret_data = pass_input(demands->pass, node, 2);
        *ret_axis = 0;
        return input == 1 && (*ret_data)->has_shape && (*ret_data)->rank > 0;
    }
    if (text_equal_string(node->op_type, "GatherBlockQuantized"))
        axis = node_attribute_integer(node->message, "gather_axis", 0);
    else if (!is_any(node, along_axis))
        return false;
    *ret_data = pass_input(demands->pass, node, 0);
    return input == 1 && (*ret_data)->has_shape && pass_axis(axis, (*ret_data)->rank, ret_axis);
}

/* GatherND and ScatterND: an index of each of the first axes. The smallest of them bounds all. */
static void bound_places(struct demands *demands, const struct followed *from, const struct node *node, uint32_t number)
{
    const struct fact *data = pass_input(demands->pass, node, 0), *indices = pass_input(demands->pass, node, 1);
    size_t batch = (size_t)node_attribute_integer(node->message, "batch_dims", 0);
    int64_t depth;

    if (!data->has_shape || !indices->has_shape || indices->rank == 0 ||
        !dimension_is_constant(demands->pass->system, indices->dims[indices->rank - 1], &depth))
        return;
    for (size_t i = batch; i < batch + (size_t)depth && i < data->rank; i++)
        bound_below(demands, from, data->dims[i], number);
}

/* ---- Uses ---- */

static void note_mask(struct demands *demands, uint32_t node, bool whole)
{
    if (!demands->is_mask)
        demands->mask_node = node;
    demands->is_mask = true;
    demands->is_whole_mask |= whole;
}

static void note_number(struct demands *demands, int64_t number, uint32_t node)
{
    if (demands->is_number)
        return;
    demands->is_number = true;
    demands->number = number;
    demands->number_node = node;
}

/* Either branch is valid; the one for true is that with a cache. */
static void note_branch(struct demands *demands, uint32_t node)
{
    demands->is_branch |= !demands->is_number;
    note_number(demands, 1, node);
}

/* The number in the other input of two, if it is a constant. */
static bool read_other(const struct demands *demands, const struct node *node, size_t input, int64_t *ret)
{
    int64_t numbers[FACT_MOST_NUMBERS];
    size_t count;

    if (!pass_constants(demands->pass, pass_input(demands->pass, node, 1 - input), numbers, &count) || count != 1)
        return false;
    *ret = numbers[0];
    return true;
}

static void note_comparison(struct demands *demands, const struct followed *from, const struct node *node, size_t input,
                            uint32_t number)
{
    int64_t other;

    if (from->is_scaled || from->is_summed)
        return;
    if (!read_other(demands, node, input, &other)) {
        demands->is_ordered = true;
        demands->ordered_node = number;
    } else if (node_is(node, "Equal") && !demands->is_compared) {
        demands->is_compared = true;
        demands->compared = other - from->shift;
        demands->compared_node = number;
    }
}

/* GroupQueryAttention: the last index of each row, or the number of all entries. */
static void note_lengths(struct demands *demands, const struct followed *from, const struct node *node, size_t input,
                         uint32_t number)
{
    const struct fact *query = pass_input(demands->pass, node, 0), *past = pass_input(demands->pass, node, 3);
    struct dimension total;
    int64_t value;

    if (!query->has_shape || query->rank != 3 ||
        node_attribute_integer(node->message, "sliding_window_cache", 0) != 0) /* says nothing about all entries */
        return;
    total = query->dims[1];
    if (past->has_shape && past->rank == 4)
        total = dimension_add(demands->pass->system, total, past->dims[2], 1);
    if (from->is_summed)
        note_mask(demands, number, true);
    else if (!from->is_scaled && dimension_is_constant(demands->pass->system, total, &value))
        note_number(demands, value - (input == 5) - from->shift, number);
}

static bool casts_to_bool(const struct node *node)
{
    return node_is(node, "Cast") && node_attribute_integer(node->message, "to", 0) == DATA_BOOL;
}

/* Operators whose input is a condition, or counts elements that are 1. */
static bool is_mask_use(const struct demands *demands, const struct node *node, size_t input)
{
    static const char *const logical[] = {"And", "Or", "Not", "Xor", NULL};
    static const char *const counting[] = {"ReduceSum", "CumSum", NULL};

    if (is_any(node, logical) || casts_to_bool(node) || (node_is(node, "Where") && input == 0) ||
        (is_any(node, counting) && input == 0))
        return true;
    if (text_equal_string(node->op_type, "Attention") && domain_is_standard(node->domain))
        return input == 3;
    if (text_equal_string(node->op_type, "MultiHeadAttention"))
        return input == 4;
    /* 1 - mask, which becomes a large negative number where it is not 0 */
    return node_is(node, "Sub") && input == 1 && pass_input(demands->pass, node, 0)->has_shape &&
           pass_input(demands->pass, node, 0)->rank == 0;
}

/* ---- Following ---- */

static const char *const moving[] = {"Identity", "Cast",  "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Transpose",
                                     "Expand",   "Slice", "Tile",    "Gather",    "Split",   "Clip",    NULL};
static const char *const limiting[] = {"Min", "Max", NULL};
static const char *const scaling[] = {"Mul", "Div", "MatMul", "Einsum", "Neg", "Gemm", NULL};

static void follow_sum(struct demands *demands, struct followed from, const struct node *node, size_t input)
{
    int64_t other;

    if (!read_other(demands, node, input, &other))
        return;
    if (node_is(node, "Add"))
        from.shift += other;
    else if (input == 0)
        from.shift -= other;
    else
        from.is_scaled = true;
    follow_outputs(demands, from, node);
}

static void follow_elements(struct demands *demands, const struct followed *from, const struct node *node, size_t input)
{
    struct followed next = *from;

    if ((is_any(node, moving) && input == 0) || is_any(node, limiting) || node_is(node, "Concat") ||
        (node_is(node, "Where") && input > 0)) {
        follow_outputs(demands, next, node);
    } else if (node_is(node, "Add") || node_is(node, "Sub")) {
        follow_sum(demands, next, node, input);
    } else if (is_any(node, scaling)) {
        next.is_scaled = true;
        follow_outputs(demands, next, node);
    } else if (node_is(node, "ReduceSum") && input == 0) {
        next.is_summed = true;
        follow_outputs(demands, next, node);
    }
}

static void note_use(struct demands *demands, const struct followed *from, uint32_t number, size_t input)
{
    static const char *const comparing[] = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", NULL};
    static const char *const placing[] = {"GatherND", "ScatterND", NULL};
    static const char *const turning[] = {"Sin", "Cos", NULL};
    const struct node *node = &demands->pass->model->nodes.items[number];
    const struct fact *data;
    size_t axis;

    if (is_any(node, turning) || (text_equal_string(node->op_type, "RotaryEmbedding") && input == 1)) {
        demands->is_angle = true;
        demands->angle_node = number;
    }
    if (find_looked_up(demands, node, input, &data, &axis))
        bound_below(demands, from, data->dims[axis], number);
    else if (is_any(node, placing) && input == 1)
        bound_places(demands, from, node, number);
    else if (node_is(node, "OneHot") && input == 0 && pass_input(demands->pass, node, 1)->has_numbers)
        bound_below(demands, from, pass_input(demands->pass, node, 1)->numbers[0], number);
    else if (text_equal_string(node->op_type, "GroupQueryAttention") && (input == 5 || input == 6))
        note_lengths(demands, from, node, input, number);
    else if (node_is(node, "If") && input == 0)
        note_branch(demands, number);
    else if (is_any(node, comparing) && input < 2)
        note_comparison(demands, from, node, input, number);
    else if (!from->is_scaled && is_mask_use(demands, node, input))
        note_mask(demands, number, false);
}

/* ---- The rule ---- */

static struct value_rule rule_of(enum derived_values values, int64_t low, int64_t high, uint32_t node)
{
    return (struct value_rule){.values = values,
                               .low = low,
                               .high = high,
                               .is_certain = true,
                               .allows_default = low <= 0 && high >= 1,
                               .node = node};
}

static bool is_called_position(struct text name)
{
    return text_contains_ignoring_case(name, TEXT("position"));
}

static void choose_rule(const struct demands *demands, uint32_t value, int64_t cache, struct value_rule *ret)
{
    const struct fact *fact = &demands->pass->facts[value];
    struct text name = demands->pass->model->values.items[value].name;
    int64_t low = demands->has_low && demands->low > 0 ? demands->low : 0, high = demands->high, places;
    bool is_long = fact->rank > 0 && fact->dims[fact->rank - 1].known &&
                   dimension_is_constant(demands->pass->system, fact->dims[fact->rank - 1], &places) &&
                   places >= LEAST_MASKED;

    if (demands->is_number) {
        *ret = rule_of(DERIVED_NUMBER, demands->number, demands->number, demands->number_node);
        ret->allows_default = demands->is_branch;
    } else if (demands->is_angle || (demands->is_ordered && fact->rank == 1 && !demands->is_mask)) {
        *ret = rule_of(DERIVED_POSITIONS, cache, demands->has_high ? high : INT64_MAX,
                       demands->is_angle ? demands->angle_node : demands->ordered_node);
    } else if (demands->has_high && high >= low) {
        *ret = rule_of(DERIVED_INTEGERS, low, high, demands->bound_node);
        if (is_called_position(name)) {
            ret->values = DERIVED_POSITIONS;
            ret->low = cache;
            ret->by_name = true;
        }
    } else if (demands->is_mask || (demands->is_compared && (demands->compared == 0 || demands->compared == 1))) {
        *ret = rule_of(DERIVED_MASK, is_long && !demands->is_whole_mask ? MASKED_PLACES : 0, 1,
                       demands->is_mask ? demands->mask_node : demands->compared_node);
        ret->allows_default = true;
    } else if (demands->is_compared) {
        *ret = rule_of(DERIVED_NUMBER, demands->compared, demands->compared, demands->compared_node);
        ret->allows_default = true;
    }
    if (ret->values == DERIVED_POSITIONS && ret->low > ret->high)
        ret->low = 0;
}

void value_rule_find(const struct pass *pass, const struct value_readers *readers, uint32_t value, int64_t cache,
                     struct value_rule *ret)
{
    struct demands demands = {.pass = pass};

    *ret = (struct value_rule){.values = DERIVED_ANY, .allows_default = true, .node = NODE_NONE};
    bitset_init(&demands.seen, pass->model->values.count);
    follow_value(&demands, (struct followed){0}, value);
    for (size_t i = 0; i < demands.count; i++) {
        struct followed from = demands.items[i];

        for (size_t k = 0; k < value_read_count(readers, from.value); k++) {
            struct value_read read = value_read_at(readers, from.value, k);
            const struct node *node = &pass->model->nodes.items[read.node];

            if (read.input >= node->inputs.count) /* a body reads it */
                continue;
            note_use(&demands, &from, read.node, read.input);
            follow_elements(&demands, &from, node, read.input);
        }
    }
    choose_rule(&demands, value, cache, ret);
    bitset_release(&demands.seen);
    free(demands.items);
}
