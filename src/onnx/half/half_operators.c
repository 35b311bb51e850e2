/* onnx/half/half_operators.c: see half_operators.h. */
#include "onnx/half/half_operators.h"

#include "base/memory.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"

/* ---- Tables ---- */

/* Operators with a float32 tensor that do not support float16 in some operator set, or whose results would differ
 * completely (random operators, and operators on bits); and operators on sequences and optionals, whose type would
 * change with their elements. Source: the type constraints in ONNX's operator schemas, and the function bodies there,
 * which a runtime uses for operators without a kernel: that of MeanVarianceNormalization has float32 constants. */
static const char *const float32_operators[] = {
    "Bernoulli",
    "BitCast",
    "BlackmanWindow",
    "Celu",
    "ConcatFromSequence",
    "Constant",
    "CumSum",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "EyeLike",
    "HammingWindow",
    "HannWindow",
    "IsInf",
    "MeanVarianceNormalization",
    "MelWeightMatrix",
    "Multinomial",
    "NonMaxSuppression",
    "Optional",
    "OptionalGetElement",
    "OptionalHasElement",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Range",
    "ReverseSequence",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
    "TfIdfVectorizer",
};

/* Operators that support bfloat16 for each of their float32 tensors, and the first ONNX operator set in which they and
 * the operators in their function bodies do (Clip needs Where, SoftmaxCrossEntropyLoss needs
 * NegativeLogLikelihoodLoss). Operators that TensorRT does not support in bfloat16 are left out: DeformConv,
 * GridSample, Mish, NonZero and RoiAlign. Sources: the type constraints and functions in ONNX's operator schemas, and
 * the list of operators of TensorRT's parser. */
static const struct {
    const char *name;
    int opset;
} bfloat16_operators[] = {
    {"Abs", 13},
    {"Acos", 22},
    {"Acosh", 22},
    {"Add", 13},
    {"AffineGrid", 20},
    {"ArgMax", 13},
    {"ArgMin", 13},
    {"Asin", 22},
    {"Asinh", 22},
    {"Atan", 22},
    {"Atanh", 22},
    {"Attention", 23},
    {"AveragePool", 22},
    {"BatchNormalization", 14},
    {"Cast", 13},
    {"CastLike", 15},
    {"CausalConvWithState", 27},
    {"Ceil", 13},
    {"CenterCropPad", 18},
    {"Clip", 16},
    {"Col2Im", 18},
    {"Concat", 13},
    {"ConstantOfShape", 20},
    {"Conv", 22},
    {"ConvTranspose", 22},
    {"Cos", 22},
    {"Cosh", 22},
    {"CumProd", 26},
    {"DFT", 17},
    {"DepthToSpace", 13},
    {"Det", 22},
    {"Div", 13},
    {"Dropout", 22},
    {"Elu", 22},
    {"Equal", 13},
    {"Erf", 13},
    {"Exp", 13},
    {"Expand", 13},
    {"Flatten", 13},
    {"Floor", 13},
    {"GRU", 22},
    {"Gather", 13},
    {"GatherElements", 13},
    {"GatherND", 13},
    {"Gelu", 20},
    {"Gemm", 13},
    {"GlobalAveragePool", 22},
    {"GlobalLpPool", 22},
    {"GlobalMaxPool", 22},
    {"Greater", 13},
    {"GreaterOrEqual", 16},
    {"GroupNormalization", 21},
    {"HardSigmoid", 22},
    {"HardSwish", 22},
    {"Hardmax", 13},
    {"Identity", 13},
    {"InstanceNormalization", 22},
    {"IsNaN", 13},
    {"LRN", 13},
    {"LSTM", 22},
    {"LayerNormalization", 17},
    {"LeakyRelu", 16},
    {"Less", 13},
    {"LessOrEqual", 16},
    {"LinearAttention", 27},
    {"Log", 13},
    {"LogSoftmax", 13},
    {"LpNormalization", 22},
    {"LpPool", 22},
    {"MatMul", 13},
    {"Max", 13},
    {"MaxPool", 22},
    {"MaxRoiPool", 22},
    {"MaxUnpool", 22},
    {"Mean", 13},
    {"Min", 13},
    {"Mod", 13},
    {"Mul", 13},
    {"Neg", 13},
    {"NegativeLogLikelihoodLoss", 22},
    {"PRelu", 16},
    {"Pad", 13},
    {"Pow", 15},
    {"RMSNormalization", 23},
    {"RNN", 22},
    {"Reciprocal", 13},
    {"ReduceL1", 13},
    {"ReduceL2", 13},
    {"ReduceLogSum", 13},
    {"ReduceLogSumExp", 13},
    {"ReduceMax", 13},
    {"ReduceMean", 13},
    {"ReduceMin", 13},
    {"ReduceProd", 13},
    {"ReduceSum", 13},
    {"ReduceSumSquare", 13},
    {"Relu", 13},
    {"Reshape", 13},
    {"Resize", 13},
    {"RotaryEmbedding", 23},
    {"Round", 22},
    {"STFT", 17},
    {"ScatterElements", 13},
    {"ScatterND", 13},
    {"Selu", 22},
    {"Shape", 13},
    {"Sigmoid", 13},
    {"Sign", 13},
    {"Sin", 22},
    {"Sinh", 22},
    {"Size", 13},
    {"Slice", 13},
    {"Softmax", 13},
    {"SoftmaxCrossEntropyLoss", 22},
    {"Softplus", 22},
    {"Softsign", 22},
    {"SpaceToDepth", 13},
    {"Split", 13},
    {"Sqrt", 13},
    {"Squeeze", 13},
    {"Sub", 13},
    {"Sum", 13},
    {"SwiGLU", 28},
    {"Swish", 24},
    {"Tan", 22},
    {"Tanh", 13},
    {"TensorScatter", 24},
    {"ThresholdedRelu", 22},
    {"Tile", 13},
    {"TopK", 24},
    {"Transpose", 13},
    {"Trilu", 14},
    {"Unsqueeze", 13},
    {"Where", 16},
};

/* ---- Types ---- */

enum data_type value_element(const struct model *model, uint32_t value)
{
    const struct value *v = &model->values.items[value];
    struct tensor_header header;
    struct value_type type;

    if (v->initializer != INITIALIZER_NONE) {
        const struct initializer *initializer = &model->initializers.items[v->initializer];

        if (initializer->sparse || tensor_proto_read(initializer->message, &header, NULL) < 0)
            return DATA_UNDEFINED;
        return header.type;
    }
    value_info_decode(v->info, &type);
    return type.not_a_tensor == NULL ? type.element : DATA_UNDEFINED;
}

static bool node_types_are_known(const struct model *model, struct edge_range range)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value != VALUE_NONE && value_element(model, value) == DATA_UNDEFINED)
            return false;
    }
    return true;
}

/* ---- Nodes ---- */

static bool operator_takes_float16(const struct node *node)
{
    return !text_is_one_of(node->op_type, float32_operators, ARRAY_LEN(float32_operators));
}

int64_t node_bfloat16_opset(const struct node *node)
{
    for (size_t i = 0; i < ARRAY_LEN(bfloat16_operators); i++)
        if (node_is(node, bfloat16_operators[i].name))
            return bfloat16_operators[i].opset;
    return 0;
}

static bool operator_takes_bfloat16(const struct node *node, int64_t opset)
{
    int64_t since = node_bfloat16_opset(node);

    return since != 0 && opset >= since;
}

bool node_takes_half(const struct model *model, const struct node *node, enum data_type half)
{
    int64_t opset = model_opset(model);

    if (opset < HALF_OPSET || node->has_subgraphs || !domain_is_standard(node->domain) ||
        (node->has_tensors && !node_is(node, "ConstantOfShape")))
        return false;
    if (half == DATA_BFLOAT16 ? !operator_takes_bfloat16(node, opset) : !operator_takes_float16(node))
        return false;
    if (node_is(node, "LayerNormalization") && node->outputs.count > 1) /* the other outputs are always float32 */
        return false;
    return node_types_are_known(model, node->inputs) && node_types_are_known(model, node->outputs);
}

bool node_narrows_input(const struct node *node, size_t input)
{
    return input == 0 || (!node_is(node, "Resize") && !node_is(node, "Upsample"));
}

bool node_takes_any_type(const struct node *node)
{
    return node_is(node, "Shape") || node_is(node, "Size");
}

bool node_has_float32(const struct model *model, const struct node *node)
{
    for (size_t i = 0; i < node_read_count(node); i++) {
        uint32_t value = node_read(model, node, i);

        if (value != VALUE_NONE && !node_takes_any_type(node) && value_element(model, value) == DATA_FLOAT32)
            return true;
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);

        if (value != VALUE_NONE && value_element(model, value) == DATA_FLOAT32)
            return true;
    }
    return false;
}
