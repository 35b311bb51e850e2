/* engine/network/network.c: see network.h. */
#include "engine/network/network.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/external/tensor.h"
#include "onnx/proto/node_attribute.h"
#include "tensor/values/elements.h"

const char *layer_kind_name(enum layer_kind kind)
{
    static const char *const names[] = {
        [LAYER_OTHER] = "other",
        [LAYER_CONVOLUTION] = "convolution",
        [LAYER_DECONVOLUTION] = "deconvolution",
        [LAYER_MATMUL] = "matmul",
        [LAYER_POOLING] = "pooling",
        [LAYER_ACTIVATION] = "activation",
        [LAYER_BINARY] = "binary",
        [LAYER_CONCATENATION] = "concatenation",
        [LAYER_SOFTMAX] = "softmax",
        [LAYER_BATCH_NORMALIZATION] = "batch_normalization",
        [LAYER_LAYER_NORMALIZATION] = "layer_normalization",
        [LAYER_LRN] = "lrn",
        [LAYER_REDUCTION] = "reduction",
        [LAYER_RESIZE] = "resize",
    };

    return kind < LAYER_KIND_COUNT ? names[kind] : "unknown";
}

void layer_release(struct layer *layer)
{
    free(layer->name);
    free(layer->nodes.items);
    free(layer->inputs.items);
    free(layer->outputs.items);
    free(layer->fused.items);
    *layer = (struct layer){0};
}

void network_free(struct network *network)
{
    if (network == NULL)
        return;
    for (size_t i = 0; i < network->layers.count; i++)
        layer_release(&network->layers.items[i]);
    free(network->layers.items);
    free(network->inputs.items);
    free(network->outputs.items);
    network_decisions_release(&network->decisions);
    model_free(network->model);
    free(network);
}

enum data_type network_type(const struct network *network, uint32_t value)
{
    return value_element(network->model, value);
}

/* Adds the parts of a layer's name, for example of "conv1 + bn1"; these include names of folded nodes. */
static void add_name_parts(struct name_map *map, const char *name, uint32_t layer)
{
    struct text rest = text_of(name);

    while (rest.size > 0) {
        size_t end = 0, skipped;

        while (end < rest.size && !(rest.size - end >= 3 && text_equal((struct text){rest.data + end, 3}, TEXT(" + "))))
            end++;
        name_map_add(map, (struct text){rest.data, end}, layer);
        skipped = end + (rest.size - end >= 3 ? 3 : rest.size - end);
        rest = (struct text){rest.data + skipped, rest.size - skipped};
    }
}

void layer_names_init(struct layer_names *names, const struct network *network)
{
    const struct node *nodes = network->model->nodes.items;

    names->network = network;
    name_map_init(&names->layers);
    for (size_t i = 0; i < network->layers.count; i++)
        name_map_add(&names->layers, text_of(network->layers.items[i].name), (uint32_t)i);
    for (size_t i = 0; i < network->layers.count; i++)
        for (size_t k = 0; k < network->layers.items[i].nodes.count; k++)
            name_map_add(&names->layers, nodes[network->layers.items[i].nodes.items[k]].name, (uint32_t)i);
    for (size_t i = 0; i < network->layers.count; i++)
        add_name_parts(&names->layers, network->layers.items[i].name, (uint32_t)i);
}

void layer_names_release(struct layer_names *names)
{
    name_map_release(&names->layers);
}

const struct layer *layer_names_find(const struct layer_names *names, struct text name)
{
    uint32_t found = name.size > 0 ? name_map_find(&names->layers, name) : NAME_MAP_NONE;

    return found != NAME_MAP_NONE ? &names->network->layers.items[found] : NULL;
}

/* ---- Kinds ---- */

/* Standard ONNX operators that belong to a kind in (nearly) all of their forms: see axes_are_covered(). */
static const struct {
    const char *op_type;
    enum layer_kind kind;
    enum activation activation;
} kinds[] = {
    {"Abs", LAYER_ACTIVATION, ACTIVATION_ABS},
    {"Add", LAYER_BINARY, ACTIVATION_NONE},
    {"AveragePool", LAYER_POOLING, ACTIVATION_NONE},
    {"BatchNormalization", LAYER_BATCH_NORMALIZATION, ACTIVATION_NONE},
    {"Clip", LAYER_ACTIVATION, ACTIVATION_CLIP},
    {"Concat", LAYER_CONCATENATION, ACTIVATION_NONE},
    {"Conv", LAYER_CONVOLUTION, ACTIVATION_NONE},
    {"ConvTranspose", LAYER_DECONVOLUTION, ACTIVATION_NONE},
    {"Div", LAYER_BINARY, ACTIVATION_NONE},
    {"Elu", LAYER_ACTIVATION, ACTIVATION_ELU},
    {"Exp", LAYER_ACTIVATION, ACTIVATION_EXP},
    {"Gelu", LAYER_ACTIVATION, ACTIVATION_GELU_ERF},
    {"Gemm", LAYER_MATMUL, ACTIVATION_NONE},
    {"GlobalAveragePool", LAYER_POOLING, ACTIVATION_NONE},
    {"GlobalMaxPool", LAYER_POOLING, ACTIVATION_NONE},
    {"HardSwish", LAYER_ACTIVATION, ACTIVATION_HARD_SWISH},
    {"LRN", LAYER_LRN, ACTIVATION_NONE},
    {"LayerNormalization", LAYER_LAYER_NORMALIZATION, ACTIVATION_NONE},
    {"LeakyRelu", LAYER_ACTIVATION, ACTIVATION_LEAKY_RELU},
    {"Log", LAYER_ACTIVATION, ACTIVATION_LOG},
    {"LogSoftmax", LAYER_SOFTMAX, ACTIVATION_NONE},
    {"MatMul", LAYER_MATMUL, ACTIVATION_NONE},
    {"Max", LAYER_BINARY, ACTIVATION_NONE},
    {"MaxPool", LAYER_POOLING, ACTIVATION_NONE},
    {"Min", LAYER_BINARY, ACTIVATION_NONE},
    {"Mul", LAYER_BINARY, ACTIVATION_NONE},
    {"ReduceL1", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceL2", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceLogSum", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceLogSumExp", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceMax", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceMean", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceMin", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceProd", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceSum", LAYER_REDUCTION, ACTIVATION_NONE},
    {"ReduceSumSquare", LAYER_REDUCTION, ACTIVATION_NONE},
    {"Relu", LAYER_ACTIVATION, ACTIVATION_RELU},
    {"Resize", LAYER_RESIZE, ACTIVATION_NONE},
    {"Sigmoid", LAYER_ACTIVATION, ACTIVATION_SIGMOID},
    {"Softmax", LAYER_SOFTMAX, ACTIVATION_NONE},
    {"Softplus", LAYER_ACTIVATION, ACTIVATION_SOFTPLUS},
    {"Sqrt", LAYER_ACTIVATION, ACTIVATION_SQRT},
    {"Sub", LAYER_BINARY, ACTIVATION_NONE},
    {"Swish", LAYER_ACTIVATION, ACTIVATION_SWISH},
    {"Tanh", LAYER_ACTIVATION, ACTIVATION_TANH},
    {"Upsample", LAYER_RESIZE, ACTIVATION_NONE},
};

/* Operators whose output elements are elements of the input, constants, or derived only from shapes or positions. */
static const char *const movers[] = {
    "CenterCropPad", "Compress",  "Concat",          "ConstantOfShape", "DepthToSpace", "Expand",  "EyeLike",
    "Flatten",       "Gather",    "GatherElements",  "GatherND",        "Identity",     "NonZero", "OneHot",
    "Pad",           "Reshape",   "ReverseSequence", "ScatterElements", "ScatterND",    "Scatter", "Shape",
    "Size",          "Slice",     "SpaceToDepth",    "Split",           "Squeeze",      "Tile",    "Transpose",
    "Trilu",         "Unsqueeze", "Where",
};

bool constant_scalar(const struct model *model, uint32_t value, float *ret, struct shape *ret_shape)
{
    const struct initializer *initializer = model_dense_initializer(model, value);
    struct tensor tensor SCOPED(tensor_release) = {0};
    bool is_scalar;

    if (initializer == NULL || model_producer(model, value) != NULL || value_element(model, value) != DATA_FLOAT32 ||
        external_tensor_read_constant(model, initializer, &tensor, NULL) < 0)
        return false;
    is_scalar = tensor_elements(&tensor) == 1;
    if (is_scalar) {
        elements_to_float32(&tensor, 0, 1, ret);
        *ret_shape = tensor.shape;
    }
    return is_scalar;
}

/* The bounds of a Clip: attributes before operator set 11, inputs since. */
static bool read_clip_bounds(const struct model *model, const struct node *node, float *minimum, float *maximum)
{
    struct shape shape;

    *minimum = node_attribute_float(node->message, "min", -INFINITY);
    *maximum = node_attribute_float(node->message, "max", INFINITY);
    return (node_input(model, node, 1) == VALUE_NONE ||
            constant_scalar(model, node_input(model, node, 1), minimum, &shape)) &&
           (node_input(model, node, 2) == VALUE_NONE ||
            constant_scalar(model, node_input(model, node, 2), maximum, &shape));
}

static bool read_activation(const struct model *model, const struct node *node, enum activation activation,
                            float *alpha, float *beta)
{
    *alpha = *beta = 0;
    switch (activation) {
    case ACTIVATION_CLIP:
        return read_clip_bounds(model, node, alpha, beta);
    case ACTIVATION_LEAKY_RELU:
        *alpha = node_attribute_float(node->message, "alpha", 0.01F);
        return true;
    case ACTIVATION_ELU:
    case ACTIVATION_SWISH:
        *alpha = node_attribute_float(node->message, "alpha", 1.0F);
        return true;
    case ACTIVATION_GELU_ERF:
        return text_equal_string(node_attribute_text_or(node->message, "approximate", "none"), "none");
    default:
        return true;
    }
}

/* In operator sets 7 to 13 a second output means training mode, since then an attribute. */
static bool normalizes_for_inference(const struct model *model, const struct node *node)
{
    size_t outputs = 0;

    for (size_t i = 0; i < node->outputs.count; i++)
        outputs += model_edge(model, node->outputs, i) != VALUE_NONE;
    return outputs == 1 && node->inputs.count == 5 && node_attribute_integer(node->message, "training_mode", 0) == 0 &&
           node_attribute_integer(node->message, "spatial", 1) == 1;
}

static bool axes_are_covered(const struct model *model, const struct node *node, struct layer *layer)
{
    if (layer->kind == LAYER_ACTIVATION)
        return read_activation(model, node, layer->activation, &layer->alpha, &layer->beta);
    if (layer->kind == LAYER_BINARY) /* before operator set 7 there were different broadcasting rules */
        return node->inputs.count == 2 && node_attribute_integer(node->message, "broadcast", 0) == 0;
    if (layer->kind == LAYER_BATCH_NORMALIZATION)
        return normalizes_for_inference(model, node);
    return true;
}

static bool value_is_false_constant(const struct model *model, uint32_t value)
{
    const struct value *v = &model->values.items[value];
    struct tensor tensor SCOPED(tensor_release) = {0};

    if (v->initializer == INITIALIZER_NONE || v->producer != NODE_NONE || value_element(model, value) != DATA_BOOL ||
        external_tensor_read_constant(model, &model->initializers.items[v->initializer], &tensor, NULL) < 0)
        return false;
    return tensor.size == 1 && *(const unsigned char *)tensor.data == 0;
}

static bool node_moves_data(const struct model *model, const struct node *node)
{
    if (node_is(node, "Dropout")) /* random in training mode; else it does nothing */
        return node_input(model, node, 2) == VALUE_NONE || value_is_false_constant(model, node_input(model, node, 2));
    if ((node_is(node, "ScatterElements") || node_is(node, "ScatterND")) &&
        !text_equal_string(node_attribute_text_or(node->message, "reduction", "none"), "none"))
        return false;
    return text_is_one_of(node->op_type, movers, ARRAY_LEN(movers));
}

void layer_classify(const struct model *model, const struct node *node, struct layer *ret)
{
    ret->kind = LAYER_OTHER;
    ret->activation = ACTIVATION_NONE;
    ret->alpha = ret->beta = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (node_is(node, kinds[i].op_type)) {
            ret->kind = kinds[i].kind;
            ret->activation = kinds[i].activation;
        }
    if (ret->kind != LAYER_OTHER && !axes_are_covered(model, node, ret)) {
        ret->kind = LAYER_OTHER;
        ret->activation = ACTIVATION_NONE;
        ret->alpha = ret->beta = 0;
    }
    ret->moves_data = node_moves_data(model, node);
}
