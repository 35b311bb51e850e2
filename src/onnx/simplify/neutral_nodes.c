/* onnx/simplify/neutral_nodes.c: see neutral_nodes.h. */
#include "onnx/simplify/neutral_nodes.h"

#include "base/memory.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/simplify/reshapes.h"
#include "tensor/values/elements.h"

#define CASTS_IN_A_ROW 16

struct neutral_search {
    const struct symbolic_sizes *sizes;
    const struct model *model;
    const struct node *node;
    const uint32_t *same_as;
};

static uint32_t read_source(const struct neutral_search *search, const struct node *node, size_t input)
{
    uint32_t value = node_input(search->model, node, input);

    return value != VALUE_NONE ? search->same_as[value] : VALUE_NONE;
}

static bool has_shape_of_output(const struct neutral_search *search, uint32_t value)
{
    const struct fact *facts = search->sizes->pass.facts;

    return value != VALUE_NONE &&
           symbolic_sizes_equal(search->sizes, &facts[value], &facts[node_output(search->model, search->node, 0)]);
}

/* ---- Reshapes ---- */

static bool operator_is_in(const struct node *node, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (node_is(node, names[i]))
            return true;
    return false;
}

/* The first value in a row of reshapes that has the shape of the last one. */
static uint32_t find_same_shape(const struct neutral_search *search)
{
    const struct node *node = search->node;
    uint32_t ret = VALUE_NONE;

    for (size_t i = 0; i < RESHAPES_IN_A_ROW && node != NULL && node_is_reshape(search->sizes, node); i++) {
        uint32_t value = read_source(search, node, 0);

        if (has_shape_of_output(search, value))
            ret = value;
        node = model_producer(search->model, value);
    }
    return ret;
}

/* ---- Nodes that copy their input when it has the shape of the output already ---- */

static bool slice_is_whole(const struct neutral_search *search)
{
    int64_t steps[FACT_MOST_NUMBERS];
    size_t count;

    if (node_input(search->model, search->node, 4) == VALUE_NONE)
        return true;
    if (!pass_constants(&search->sizes->pass, pass_input(&search->sizes->pass, search->node, 4), steps, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (steps[i] != 1)
            return false;
    return true;
}

static bool pads_are_zero(const struct neutral_search *search)
{
    int64_t pads[FACT_MOST_NUMBERS];
    size_t count;

    if (!pass_read_numbers(&search->sizes->pass, search->node, 1, "pads", pads, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (pads[i] != 0)
            return false;
    return true;
}

static bool transpose_is_identity(const struct neutral_search *search)
{
    int64_t order[TENSOR_MAX_RANK];
    size_t count = node_attribute_integers(search->node->message, "perm", order, TENSOR_MAX_RANK);

    for (size_t i = 0; i < count; i++)
        if (order[i] != (int64_t)i)
            return false;
    return count > 0;
}

static bool copies_its_input(const struct neutral_search *search)
{
    static const char *const of_one[] = {"Concat", "Max", "Mean", "Min", "Sum", NULL};
    static const char *const stretching[] = {"Expand", "Tile", NULL};
    const struct node *node = search->node;

    if (operator_is_in(node, of_one))
        return node->inputs.count == 1;
    if (node_is(node, "Transpose"))
        return transpose_is_identity(search);
    if (node_is(node, "Dropout"))
        return node->inputs.count < 3 && model_opset(search->model) >= 7;
    return (operator_is_in(node, stretching) || (node_is(node, "Slice") && slice_is_whole(search)) ||
            (node_is(node, "Pad") && pads_are_zero(search))) &&
           has_shape_of_output(search, read_source(search, node, 0));
}

/* ---- Casts ---- */

static enum data_type read_element_type(const struct neutral_search *search, uint32_t value)
{
    struct value_type type;

    if (value == VALUE_NONE)
        return DATA_UNDEFINED;
    value_info_decode(search->model->values.items[value].info, &type);
    return type.not_a_tensor == NULL ? type.element : DATA_UNDEFINED;
}

/* Whether a cast to `wide` and back changes no value of `type`. */
static bool type_holds(enum data_type wide, enum data_type type)
{
    switch (type) {
    case DATA_BOOL:
        return data_type_is_integer(wide) || wide == DATA_FLOAT32 || wide == DATA_FLOAT64;
    case DATA_FLOAT16:
    case DATA_BFLOAT16:
        return wide == DATA_FLOAT32 || wide == DATA_FLOAT64;
    case DATA_FLOAT32:
        return wide == DATA_FLOAT64;
    case DATA_INT32:
        return wide == DATA_INT64 || wide == DATA_FLOAT64;
    case DATA_INT8:
    case DATA_UINT8:
        return wide == DATA_INT64 || wide == DATA_INT32 || wide == DATA_FLOAT32 || wide == DATA_FLOAT64;
    default:
        return false;
    }
}

/* The first value in a row of casts that has the type of the last one, if every type between holds it. */
static uint32_t find_same_type(const struct neutral_search *search)
{
    enum data_type wanted = (enum data_type)node_attribute_integer(search->node->message, "to", DATA_UNDEFINED);
    uint32_t value = read_source(search, search->node, 0), ret = VALUE_NONE;

    for (size_t i = 0; i < CASTS_IN_A_ROW && value != VALUE_NONE; i++) {
        enum data_type type = read_element_type(search, value);
        const struct node *before = model_producer(search->model, value);

        if (type == DATA_UNDEFINED)
            break;
        if (type == wanted)
            ret = value;
        else if (!type_holds(type, wanted))
            break;
        if (before == NULL || !node_is(before, "Cast"))
            break;
        value = read_source(search, before, 0);
    }
    return ret;
}

/* ---- Arithmetic with neutral constants ---- */

static bool is_filled_with(const struct model *model, uint32_t value, double number)
{
    const struct initializer *initializer = model_dense_initializer(model, value);
    struct tensor tensor SCOPED(tensor_release) = {0};
    double items[ELEMENTS_RUN];
    size_t count;

    if (initializer == NULL || model->values.items[value].info_of_input ||
        tensor_proto_decode(initializer->message, &tensor, NULL) < 0 ||
        elements_arithmetic(tensor.type) == ARITHMETIC_NONE)
        return false;
    count = tensor_elements(&tensor);
    for (size_t first = 0; first < count; first += ELEMENTS_RUN) {
        elements_to_float64(&tensor, first, elements_in_run(count, first), items);
        for (size_t i = 0; i < elements_in_run(count, first); i++)
            if (items[i] != number)
                return false;
    }
    return true;
}

/* The operand that an operation with a neutral constant returns. */
static uint32_t find_neutral_operand(const struct neutral_search *search)
{
    static const struct neutral_element {
        const char *op_type;
        double number;
        bool on_either_side;
    } elements[] = {{"Add", 0, true},  {"Sub", 0, false}, {"Mul", 1, true}, {"Div", 1, false},
                    {"Pow", 1, false}, {"And", 1, true},  {"Or", 0, true}};

    for (size_t i = 0; i < ARRAY_LEN(elements); i++) {
        if (!node_is(search->node, elements[i].op_type) || search->node->inputs.count != 2)
            continue;
        for (size_t side = elements[i].on_either_side ? 0 : 1; side < 2; side++) {
            uint32_t other = read_source(search, search->node, 1 - side);

            if (has_shape_of_output(search, other) &&
                is_filled_with(search->model, read_source(search, search->node, side), elements[i].number))
                return other;
        }
    }
    return VALUE_NONE;
}

/* ---- All ---- */

uint32_t neutral_node_source(const struct symbolic_sizes *sizes, const struct node *node, const uint32_t *same_as)
{
    const struct neutral_search search = {sizes, sizes->pass.model, node, same_as};

    if (node->outputs.count != 1 || node_has_references(node->message))
        return VALUE_NONE;
    if (node_is(node, "Identity") || copies_its_input(&search))
        return read_source(&search, node, 0);
    if (node_is_reshape(sizes, node))
        return find_same_shape(&search);
    if (node_is(node, "Cast"))
        return find_same_type(&search);
    return find_neutral_operand(&search);
}
