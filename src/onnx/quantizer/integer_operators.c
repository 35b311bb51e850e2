/* onnx/quantizer/integer_operators.c: see integer_operators.h. */
#include "onnx/quantizer/integer_operators.h"

#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

enum { NONE = OPERAND_OMITTED, CONCAT_FIRST = 2, CONCAT_STEP = 3 };

#define MAX_OPERANDS 4

#define INPUT(p, s, z)                                                                                                 \
    {                                                                                                                  \
        .place = (p), .scale = (s), .zero_point = (z)                                                                  \
    }
#define OUTPUT(p, s, z)                                                                                                \
    {                                                                                                                  \
        .is_output = true, .place = (p), .scale = (s), .zero_point = (z)                                               \
    }
#define ALONG(p, s, z, a)                                                                                              \
    {                                                                                                                  \
        .place = (p), .scale = (s), .zero_point = (z), .has_axis = true, .axis = (a)                                   \
    }
#define BIAS(p)                                                                                                        \
    {                                                                                                                  \
        .place = (p), .scale = NONE, .zero_point = NONE, .is_bias = true                                               \
    }
#define EXPERTS(p, s, z)                                                                                               \
    {                                                                                                                  \
        .place = (p), .scale = (s), .zero_point = (z), .block_size = "block_size", .bits = "expert_weight_bits"        \
    }

static const struct {
    const char *op_type;
    bool is_standard; /* else com.microsoft's; true: both have it */
    uint8_t count;
    struct integer_operand operands[MAX_OPERANDS];
} operators[] = {
    {"QLinearConv", true, 4, {INPUT(0, 1, 2), ALONG(3, 4, 5, 0), BIAS(8), OUTPUT(0, 6, 7)}},
    {"QLinearMatMul", true, 3, {INPUT(0, 1, 2), ALONG(3, 4, 5, -1), OUTPUT(0, 6, 7)}},
    {"ConvInteger", true, 2, {INPUT(0, NONE, 2), ALONG(1, NONE, 3, 0)}},
    {"MatMulInteger", true, 2, {INPUT(0, NONE, 2), ALONG(1, NONE, 3, -1)}},
    {"DynamicQuantizeLinear", true, 1, {{.is_output = true, .scale = NONE, .zero_point = NONE, .computed = true}}},
    {"QLinearAdd", false, 3, {INPUT(0, 1, 2), INPUT(3, 4, 5), OUTPUT(0, 6, 7)}},
    {"QLinearMul", false, 3, {INPUT(0, 1, 2), INPUT(3, 4, 5), OUTPUT(0, 6, 7)}},
    {"QLinearAveragePool", false, 2, {INPUT(0, 1, 2), OUTPUT(0, 3, 4)}},
    {"QLinearGlobalAveragePool", false, 2, {INPUT(0, 1, 2), OUTPUT(0, 3, 4)}},
    {"QLinearReduceMean", false, 2, {INPUT(0, 1, 2), OUTPUT(0, 3, 4)}},
    {"QLinearLeakyRelu", false, 2, {INPUT(0, 1, 2), OUTPUT(0, 3, 4)}},
    {"QLinearSigmoid", false, 2, {INPUT(0, 1, 2), OUTPUT(0, 3, 4)}},
    {"QLinearSoftmax", false, 2, {INPUT(0, 1, 2), OUTPUT(0, 3, 4)}},
    {"QLinearWhere", false, 3, {INPUT(1, 2, 3), INPUT(4, 5, 6), OUTPUT(0, 7, 8)}},
    {"QLinearConcat", false, 1, {OUTPUT(0, 0, 1)}}, /* and every third input */
    {"QGemm", false, 4, {INPUT(0, 1, 2), ALONG(3, 4, 5, -1), BIAS(6), OUTPUT(0, 7, 8)}},
    {"MatMulIntegerToFloat", false, 2, {INPUT(0, 2, 4), ALONG(1, 3, 5, -1)}},
    {"DynamicQuantizeMatMul", false, 1, {ALONG(1, 2, 3, -1)}},
    {"QAttention", false, 2, {INPUT(0, 3, 6), ALONG(1, 4, 7, -1)}},
    {"MatMulNBits", false, 1, {{.place = 1, .scale = 2, .zero_point = 3, .block_size = "block_size", .bits = "bits"}}},
    {"GatherBlockQuantized", false, 1, {{.scale = 2, .zero_point = 3, .block_size = "block_size", .bits = "bits"}}},
    {"QMoE", false, 3, {EXPERTS(2, 3, 11), EXPERTS(5, 6, 12), EXPERTS(8, 9, 13)}},
};

static bool domain_is_microsoft(const struct node *node)
{
    return text_equal_string(node->domain, "com.microsoft");
}

static size_t find_integer_operator(const struct node *node)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (text_equal_string(node->op_type, operators[i].op_type) &&
            (domain_is_microsoft(node) || (operators[i].is_standard && domain_is_standard(node->domain))))
            return i;
    return ARRAY_LEN(operators);
}

bool node_is_on_integers(const struct node *node)
{
    return find_integer_operator(node) < ARRAY_LEN(operators);
}

bool integer_operand_of(const struct node *node, size_t i, struct integer_operand *ret)
{
    size_t found = find_integer_operator(node);
    size_t place;

    if (found == ARRAY_LEN(operators))
        return false;
    if (i < operators[found].count) {
        *ret = operators[found].operands[i];
        if (ret->has_axis && node_attribute_integer(node->message, "transB", 0) != 0) /* attribute of QGemm */
            ret->axis = 0;
        return true;
    }
    place = CONCAT_FIRST + (i - operators[found].count) * CONCAT_STEP;
    if (!text_equal_string(node->op_type, "QLinearConcat") || place >= node->inputs.count)
        return false;
    *ret = (struct integer_operand)INPUT((uint32_t)place, (int)place + 1, (int)place + 2);
    return true;
}
