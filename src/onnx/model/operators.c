/* onnx/model/operators.c: see operators.h. Source: ONNX, "Operator Schemas". */
#include "onnx/model/operators.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/wire.h"

/* Sorted by strcmp(). */
static const char *const names[] = {
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "AffineGrid",
    "And",
    "ArgMax",
    "ArgMin",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Attention",
    "AveragePool",
    "BatchNormalization",
    "Bernoulli",
    "BitCast",
    "BitShift",
    "BitwiseAnd",
    "BitwiseNot",
    "BitwiseOr",
    "BitwiseXor",
    "BlackmanWindow",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "CenterCropPad",
    "Clip",
    "Col2Im",
    "Compress",
    "Concat",
    "ConcatFromSequence",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "Cos",
    "Cosh",
    "CumProd",
    "CumSum",
    "DFT",
    "DeformConv",
    "DepthToSpace",
    "DequantizeLinear",
    "Det",
    "Div",
    "Dropout",
    "DynamicQuantizeLinear",
    "Einsum",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "EyeLike",
    "Flatten",
    "Floor",
    "GRU",
    "Gather",
    "GatherElements",
    "GatherND",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "Greater",
    "GreaterOrEqual",
    "GridSample",
    "GroupNormalization",
    "HammingWindow",
    "HannWindow",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "If",
    "ImageDecoder",
    "InstanceNormalization",
    "IsInf",
    "IsNaN",
    "LRN",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "LogSoftmax",
    "Loop",
    "LpNormalization",
    "LpPool",
    "MatMul",
    "MatMulInteger",
    "Max",
    "MaxPool",
    "MaxRoiPool",
    "MaxUnpool",
    "Mean",
    "MeanVarianceNormalization",
    "MelWeightMatrix",
    "Min",
    "Mish",
    "Mod",
    "Mul",
    "Multinomial",
    "Neg",
    "NegativeLogLikelihoodLoss",
    "NonMaxSuppression",
    "NonZero",
    "Not",
    "OneHot",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "Or",
    "PRelu",
    "Pad",
    "Pow",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "RMSNormalization",
    "RNN",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Range",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "RegexFullMatch",
    "Relu",
    "Reshape",
    "Resize",
    "ReverseSequence",
    "RoiAlign",
    "RotaryEmbedding",
    "Round",
    "STFT",
    "Scan",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
    "Shape",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Size",
    "Slice",
    "Softmax",
    "SoftmaxCrossEntropyLoss",
    "Softplus",
    "Softsign",
    "SpaceToDepth",
    "Split",
    "SplitToSequence",
    "Sqrt",
    "Squeeze",
    "StringConcat",
    "StringNormalizer",
    "StringSplit",
    "Sub",
    "Sum",
    "Swish",
    "Tan",
    "Tanh",
    "TensorScatter",
    "TfIdfVectorizer",
    "ThresholdedRelu",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unique",
    "Unsqueeze",
    "Upsample",
    "Where",
    "Xor",
};

static int compare_operator_names(const void *key, const void *element)
{
    const struct text *op_type = key;
    const char *name = *(const char *const *)element;
    int order = strncmp(op_type->data, name, op_type->size);

    return order != 0 ? order : -(name[op_type->size] != '\0');
}

bool operator_is_standard(struct text op_type)
{
    return bsearch(&op_type, names, ARRAY_LEN(names), sizeof(names[0]), compare_operator_names) != NULL;
}

/* ---- Constant folding ---- */

static const char *const random_operators[] = {
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli",
};

static const char *const other_operators[] = {
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    /* these do not produce tensors, and only tensors can be constants */
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceInsert",
    "SequenceErase",
    "SequenceMap",
    "SplitToSequence",
    "Optional",
};

/* Dropout in training mode is random. */
static bool operator_is_random(struct text op_type, size_t input_count)
{
    return text_is_one_of(op_type, random_operators, ARRAY_LEN(random_operators)) ||
           (text_equal_string(op_type, "Dropout") && input_count > 2);
}

static bool body_varies(struct span body, unsigned depth);

/* Whether a node, or one in its bodies, is random or has attributes that a function's caller gives. */
static bool node_varies(struct span node, unsigned depth)
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
                body_varies(part.bytes, depth + 1))
                return true;
    }
    return operator_is_random(op_type, input_count) || node_has_references(node);
}

static bool body_varies(struct span body, unsigned depth)
{
    struct wire_reader reader = wire_reader_of(body);
    struct wire_field field;

    if (depth > BODY_MAX_DEPTH)
        return true;
    while (wire_next(&reader, &field))
        if (field.number == GRAPH_NODE && field.type == WIRE_BYTES && node_varies(field.bytes, depth))
            return true;
    return false;
}

bool node_is_random(const struct node *node)
{
    return node_varies(node->message, 0);
}

static const struct {
    const char *op_type;
    size_t first, last; /* places among the inputs; later ones of the operator, if any, are values */
} shape_inputs[] = {
    {"CenterCropPad", 1, 1},
    {"Col2Im", 1, 2},
    {"Compress", 1, 1},
    {"ConstantOfShape", 0, 0},
    {"CumSum", 1, 1},
    {"DFT", 1, 2},
    {"Expand", 1, 1},
    {"Gather", 1, 1},
    {"GatherElements", 1, 1},
    {"GatherND", 1, 1},
    {"MaxUnpool", 1, 2},
    {"OneHot", 1, 1},
    {"Pad", 1, 1},
    {"Pad", 3, 3},
    {"Range", 0, 2},
    {"ReduceL1", 1, 1},
    {"ReduceL2", 1, 1},
    {"ReduceLogSum", 1, 1},
    {"ReduceLogSumExp", 1, 1},
    {"ReduceMax", 1, 1},
    {"ReduceMean", 1, 1},
    {"ReduceMin", 1, 1},
    {"ReduceProd", 1, 1},
    {"ReduceSum", 1, 1},
    {"ReduceSumSquare", 1, 1},
    {"Reshape", 1, 1},
    {"Resize", 1, 3},
    {"ReverseSequence", 1, 1},
    {"ScatterElements", 1, 1},
    {"ScatterND", 1, 1},
    {"Slice", 1, 4},
    {"Split", 1, 1},
    {"Squeeze", 1, 1},
    {"STFT", 1, 1},
    {"STFT", 3, 3},
    {"Tile", 1, 1},
    {"TopK", 1, 1},
    {"Trilu", 1, 1},
    {"Unsqueeze", 1, 1},
    {"Upsample", 1, 1},
};

bool node_input_decides_shape(const struct node *node, size_t input)
{
    for (size_t i = 0; i < ARRAY_LEN(shape_inputs); i++)
        if (node_is(node, shape_inputs[i].op_type) && input >= shape_inputs[i].first && input <= shape_inputs[i].last)
            return true;
    return false;
}

bool node_is_foldable(const struct model *model, const struct known_types *known, const struct node *node)
{
    bool is_own_function = model->function_count > 0 && !domain_is_standard(node->domain);

    if (is_own_function || text_is_one_of(node->op_type, other_operators, ARRAY_LEN(other_operators)) ||
        node_varies(node->message, 0))
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
    return true;
}
