/* onnx/quantizer/likeness.c: see likeness.h. */
#include "onnx/quantizer/likeness.h"

#include <string.h>

#include "base/memory.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/quantizer/integer_operators.h"

#define MOST_INTEGER_OPERANDS 64 /* of a QLinearConcat: limits a quadratic search */

struct text node_float_operator(const struct node *node)
{
    static const struct {
        const char *on_integers, *on_floats;
    } operators[] = {{"ConvInteger", "Conv"},
                     {"MatMulInteger", "MatMul"},
                     {"MatMulIntegerToFloat", "MatMul"},
                     {"DynamicQuantizeMatMul", "MatMul"},
                     {"MatMulNBits", "MatMul"},
                     {"GatherBlockQuantized", "Gather"},
                     {"QMoE", "MoE"},
                     {"QGemm", "Gemm"}};
    struct text name = node->op_type;

    if (!node_is_on_integers(node))
        return name;
    if (text_begins_with(name, "QLinear"))
        return (struct text){name.data + strlen("QLinear"), name.size - strlen("QLinear")};
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (text_equal_string(name, operators[i].on_integers))
            return text_of(operators[i].on_floats);
    return name;
}

/* Whether the first input of an integer operator is neither an integer operand nor a parameter of one: the left side of
 * MatMulNBits, the condition of QLinearWhere. */
static bool begins_with_another_operand(const struct node *node)
{
    struct integer_operand operand;

    for (size_t i = 0; integer_operand_of(node, i, &operand); i++)
        if ((!operand.is_output && operand.place == 0) || operand.scale == 0 || operand.zero_point == 0)
            return false;
    return true;
}

uint32_t node_operand(const struct model *model, const struct node *node, size_t i)
{
    struct integer_operand operand;
    size_t number = 0;

    if (!node_is_on_integers(node))
        return node_input(model, node, i);
    if (begins_with_another_operand(node) && number++ == i)
        return node_input(model, node, 0);
    for (size_t k = 0; integer_operand_of(node, k, &operand); k++)
        if (!operand.is_output && number++ == i)
            return node_input(model, node, operand.place);
    return VALUE_NONE;
}

size_t node_operand_count(const struct model *model, const struct node *node)
{
    size_t most = node->inputs.count; /* at most as many operands as inputs */
    size_t count = 0;

    if (node_is_on_integers(node) && most > MOST_INTEGER_OPERANDS)
        most = MOST_INTEGER_OPERANDS;
    for (size_t i = 0; i < most; i++)
        if (node_operand(model, node, i) != VALUE_NONE)
            count = i + 1;
    return count;
}

static bool attributes_are_equal(const struct attribute *a, const struct attribute *b)
{
    bool is_compared = a->type == ATTRIBUTE_ONE_FLOAT || a->type == ATTRIBUTE_ONE_INTEGER ||
                       a->type == ATTRIBUTE_ONE_STRING || a->type == ATTRIBUTE_MANY_INTEGERS ||
                       a->type == ATTRIBUTE_MANY_FLOATS;

    return a->type == b->type && (!is_compared || hash_equal(attribute_value_hash(a), attribute_value_hash(b)));
}

bool nodes_are_alike(const struct model *a_model, const struct node *a, const struct model *b_model,
                     const struct node *b)
{
    struct wire_reader reader = wire_reader_of(a->message);
    struct wire_field field;
    bool same_domain = node_is_on_integers(a) || node_is_on_integers(b) || text_equal(a->domain, b->domain) ||
                       (domain_is_standard(a->domain) && domain_is_standard(b->domain));

    if (!same_domain || !text_equal(node_float_operator(a), node_float_operator(b)) ||
        node_operand_count(a_model, a) != node_operand_count(b_model, b))
        return false;
    while (wire_next(&reader, &field)) {
        struct attribute of_a, of_b;
        struct span other;

        if (field.number != NODE_ATTRIBUTE || field.type != WIRE_BYTES)
            continue;
        attribute_read(field.bytes, &of_a);
        if (!node_attribute_find_text(b->message, of_a.name, &other))
            continue;
        attribute_read(other, &of_b);
        if (!attributes_are_equal(&of_a, &of_b))
            return false;
    }
    return true;
}
