/* onnx/edit/unbounded_shapes.c: see unbounded_shapes.h. */
#include "onnx/edit/unbounded_shapes.h"

#include "base/memory.h"
#include "onnx/proto/value_info.h"

/* Which input holds the sizes. */
static const struct {
    const char *op_type;
    uint32_t input;
} operators[] = {{"Range", 1}, {"Pad", 1}, {"Tile", 1}, {"Expand", 1}, {"Resize", 3}};

static bool is_constant(const struct model *model, uint32_t value)
{
    const struct value *v = &model->values.items[value];

    return v->initializer != INITIALIZER_NONE ||
           (v->producer != NODE_NONE && text_equal_string(model->nodes.items[v->producer].op_type, "Constant"));
}

/* Whether a node makes nothing larger than a constant. */
static bool is_bounding(const struct model *model, const struct node *node)
{
    if (!text_equal_string(node->op_type, "Min"))
        return false;
    for (size_t i = 0; i < node->inputs.count; i++)
        if (model_edge(model, node->inputs, i) != VALUE_NONE && is_constant(model, model_edge(model, node->inputs, i)))
            return true;
    return false;
}

/* The tensor that `node` takes sizes from, when a node makes it and does not bound it; else VALUE_NONE. */
static uint32_t sizes_of(const struct model *model, const struct node *node)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        uint32_t value, producer;

        if (!text_equal_string(node->op_type, operators[i].op_type) || node->inputs.count <= operators[i].input)
            continue;
        value = model_edge(model, node->inputs, operators[i].input);
        producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;
        if (producer == NODE_NONE || is_constant(model, value) || is_bounding(model, &model->nodes.items[producer]))
            return VALUE_NONE;
        return value;
    }
    return VALUE_NONE;
}

static bool has_symbol(const struct value_type *type, struct text symbol)
{
    for (size_t i = 0; type->has_shape && i < type->shape.rank; i++)
        if (type->shape.dims[i] < 0 && text_equal(type->symbols[i], symbol))
            return true;
    return false;
}

static bool an_input_has(const struct model *model, const struct node *node, struct text symbol)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = model_edge(model, node->inputs, i);
        struct value_type type;

        if (value == VALUE_NONE)
            continue;
        value_info_decode(model->values.items[value].info, &type);
        if (has_symbol(&type, symbol))
            return true;
    }
    return false;
}

/* Whether the result has a dimension that is not known, or known by a name that is new. */
static bool makes_dimension(const struct model *model, const struct node *node)
{
    uint32_t output = node->outputs.count > 0 ? model_edge(model, node->outputs, 0) : VALUE_NONE;
    struct value_type type;

    if (output == VALUE_NONE)
        return false;
    value_info_decode(model->values.items[output].info, &type);
    for (size_t i = 0; type.has_shape && i < type.shape.rank; i++)
        if (type.shape.dims[i] < 0 && (type.symbols[i].size == 0 || !an_input_has(model, node, type.symbols[i])))
            return true;
    return !type.has_shape;
}

void unbounded_shapes_find(const struct model *model, struct value_list *ret)
{
    struct bitset listed;

    value_list_to_set(ret, model->values.count, &listed);
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        uint32_t value = sizes_of(model, node);

        if (value == VALUE_NONE || bitset_has(&listed, value) || !makes_dimension(model, node))
            continue;
        bitset_add(&listed, value);
        value_list_add(ret, value);
    }
    bitset_release(&listed);
}
