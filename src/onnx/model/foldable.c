/* onnx/model/foldable.c: see foldable.h. */
#include "onnx/model/foldable.h"

#include "base/memory.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"

/* As deep as scope.c, which has walked every body when the model was read. */
#define MAX_DEPTH 64

static const char *const random_operators[] = {
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli",
};

static const char *const other_operators[] = {
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    /* these make no tensors, and only tensors can be constants */
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceInsert",
    "SequenceErase",
    "SequenceMap",
    "SplitToSequence",
    "Optional",
};

static bool is_one_of(struct text name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal_string(name, names[i]))
            return true;
    return false;
}

/* Dropout that was told to train throws dice. */
static bool is_random(struct text op_type, size_t input_count)
{
    return is_one_of(op_type, random_operators, ARRAY_LEN(random_operators)) ||
           (text_equal_string(op_type, "Dropout") && input_count > 2);
}

static bool body_is_random(struct span body, unsigned depth);

/* A node inside a body, or that of the main graph that has bodies. */
static bool node_is_random(struct span node, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(node), inner;
    struct wire_field field, part;
    struct text op_type = {"", 0};
    size_t input_count = 0;

    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        input_count += field.number == NODE_INPUT;
        if (field.number == NODE_OP_TYPE)
            op_type = span_text(field.bytes);
        if (field.number != NODE_ATTRIBUTE)
            continue;
        inner = wire_reader_of(field.bytes);
        while (wire_next(&inner, &part))
            if (part.type == WIRE_BYTES && (part.number == ATTRIBUTE_GRAPH || part.number == ATTRIBUTE_GRAPHS) &&
                body_is_random(part.bytes, depth + 1))
                return true;
    }
    return is_random(op_type, input_count);
}

static bool body_is_random(struct span body, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;

    if (depth > MAX_DEPTH)
        return true;
    while (wire_next(&reader, &field))
        if (field.number == GRAPH_NODE && field.type == WIRE_BYTES && node_is_random(field.bytes, depth))
            return true;
    return false;
}

bool node_is_foldable(const struct model *model, const struct known_types *known, const struct node *node)
{
    bool is_own_function = model->function_count > 0 && !domain_is_standard(node->domain);

    if (is_own_function || is_random(node->op_type, node->inputs.count) ||
        is_one_of(node->op_type, other_operators, ARRAY_LEN(other_operators)))
        return false;
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);
        struct value_type type;

        if (value == VALUE_NONE)
            continue;
        value_info_decode(known_types_info(known, model, value), &type);
        if (type.not_a_tensor != NULL)
            return false;
    }
    return !node->has_subgraphs || !node_is_random(node->message, 0);
}
