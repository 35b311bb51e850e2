/* engine/network/fusion.c: see fusion.h. */
#include "engine/network/fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"

/* The length of GELU, the longest operation. */
#define MAX_NODES 5

/* An operation that could be added to a layer. */
struct extension {
    struct fused_operation operation;
    uint32_t operand; /* a value; FUSED_ADD */
    uint32_t nodes[MAX_NODES];
    size_t node_count;
    uint32_t inner[MAX_NODES]; /* values that would become internal */
    size_t inner_count;
    uint32_t result;
};

/* ---- Uses of values ---- */

static void count_edge_uses(const struct model *model, struct edge_range range, uint32_t *counts)
{
    for (size_t i = 0; i < range.count; i++)
        if (model_edge(model, range, i) != VALUE_NONE)
            counts[model_edge(model, range, i)]++;
}

static void list_value_uses(struct fusion *fusion, struct edge_range range, uint32_t node, uint32_t *next)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(fusion->model, range, i);

        if (value != VALUE_NONE)
            fusion->users[next[value]++] = node;
    }
}

static void index_value_uses(struct fusion *fusion)
{
    const struct model *model = fusion->model;
    size_t count = model->values.count;
    uint32_t *next SCOPED_FREE = memory_alloc_zero(count + 1, sizeof(*next));
    uint32_t total = 0;

    fusion->first_use = memory_alloc_zero(count + 1, sizeof(*fusion->first_use));
    for (size_t i = 0; i < model->nodes.count; i++) {
        count_edge_uses(model, model->nodes.items[i].inputs, next);
        count_edge_uses(model, model->nodes.items[i].captures, next);
    }
    for (size_t i = 0; i <= count; i++) {
        uint32_t uses = next[i];

        fusion->first_use[i] = next[i] = total;
        total += uses;
    }
    fusion->users = memory_alloc_zero((size_t)total + 1, sizeof(*fusion->users));
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        list_value_uses(fusion, model->nodes.items[i].inputs, i, next);
        list_value_uses(fusion, model->nodes.items[i].captures, i, next);
    }
}

void fusion_init(struct fusion *fusion, const struct model *model, const struct bitset *own_outputs)
{
    *fusion = (struct fusion){.model = model};
    value_list_to_set(&model->outputs, model->values.count, &fusion->kept);
    bitset_init(&fusion->taken, model->nodes.count);
    bitset_init_copy(&fusion->marked, &fusion->kept);
    for (size_t i = 0; i < model->outputs.count; i++) {
        uint32_t value = model->outputs.items[i];

        if (own_outputs == NULL || (value < own_outputs->size && bitset_has(own_outputs, value)))
            bitset_remove(&fusion->marked, value);
    }
    index_value_uses(fusion);
}

void fusion_release(struct fusion *fusion)
{
    bitset_release(&fusion->kept);
    bitset_release(&fusion->marked);
    bitset_release(&fusion->taken);
    free(fusion->first_use);
    free(fusion->users);
    *fusion = (struct fusion){0};
}

static size_t find_value_uses(const struct fusion *fusion, uint32_t value)
{
    return fusion->first_use[value + 1] - fusion->first_use[value];
}

static uint32_t find_only_user(const struct fusion *fusion, uint32_t value, size_t i)
{
    return fusion->users[fusion->first_use[value] + i];
}

static const struct node *fusion_node_at(const struct fusion *fusion, uint32_t node)
{
    return &fusion->model->nodes.items[node];
}

static uint32_t fusion_node_input(const struct fusion *fusion, uint32_t node, size_t i)
{
    return node_input(fusion->model, fusion_node_at(fusion, node), i);
}

/* The only output of a node; VALUE_NONE if it has others. */
static uint32_t extension_result(const struct fusion *fusion, uint32_t node)
{
    const struct node *n = fusion_node_at(fusion, node);

    return n->outputs.count == 1 ? model_edge(fusion->model, n->outputs, 0) : VALUE_NONE;
}

static bool value_is_folded_constant(const struct model *model, uint32_t value)
{
    return model->values.items[value].initializer != INITIALIZER_NONE &&
           model->values.items[value].producer == NODE_NONE;
}

static bool read_value_shape(const struct model *model, uint32_t value, struct value_type *ret)
{
    struct tensor_header header;

    if (value_is_folded_constant(model, value)) {
        const struct initializer *initializer = &model->initializers.items[model->values.items[value].initializer];

        if (initializer->sparse || tensor_proto_read(initializer->message, &header, NULL) < 0)
            return false;
        *ret = (struct value_type){.element = header.type, .has_shape = true, .shape = header.shape};
        return true;
    }
    value_info_decode(model->values.items[value].info, ret);
    return ret->not_a_tensor == NULL && ret->has_shape;
}

/* ---- Operations ---- */

static void append_extension_node(struct extension *extension, uint32_t node)
{
    extension->nodes[extension->node_count++] = node;
}

static void mark_inner_value(struct extension *extension, uint32_t value)
{
    extension->inner[extension->inner_count++] = value;
}

static bool dimensions_agree(const struct value_type *a, const struct value_type *b, size_t i)
{
    if (a->shape.dims[i] >= 0 || b->shape.dims[i] >= 0)
        return a->shape.dims[i] == b->shape.dims[i];
    return a->symbols[i].size > 0 && text_equal(a->symbols[i], b->symbols[i]);
}

/* Whether two tensors are known to have the same shape. */
static bool shapes_agree(const struct model *model, uint32_t a, uint32_t b)
{
    struct value_type types[2];

    if (!read_value_shape(model, a, &types[0]) || !read_value_shape(model, b, &types[1]) ||
        types[0].element != types[1].element || types[0].shape.rank != types[1].shape.rank)
        return false;
    for (size_t i = 0; i < types[0].shape.rank; i++)
        if (!dimensions_agree(&types[0], &types[1], i))
            return false;
    return true;
}

/* Whether `constant` has one element for each output channel of `result`, or a single one. */
static bool value_is_bias(const struct fusion *fusion, const struct layer *layer, uint32_t constant, uint32_t result)
{
    struct value_type type, of_result;
    size_t channel, offset;

    if (!read_value_shape(fusion->model, constant, &type) || !read_value_shape(fusion->model, result, &of_result) ||
        type.element != DATA_FLOAT32 || type.shape.rank > of_result.shape.rank || of_result.shape.rank == 0)
        return false;
    channel = layer->kind == LAYER_MATMUL ? of_result.shape.rank - 1 : 1;
    offset = of_result.shape.rank - type.shape.rank;
    for (size_t i = 0; i < type.shape.rank; i++)
        if (type.shape.dims[i] != 1 && (i + offset != channel || type.shape.dims[i] != of_result.shape.dims[channel]))
            return false;
    return true;
}

static bool layer_has_bias(const struct fusion *fusion, const struct layer *layer)
{
    return fusion_node_input(fusion, layer->nodes.items[0], 2) != VALUE_NONE;
}

static bool may_add_tensor(const struct fusion *fusion, const struct layer *layer, uint32_t result, uint32_t other,
                           bool any_order)
{
    uint32_t producer = fusion->model->values.items[other].producer;

    for (size_t i = 0; i < layer->fused.count; i++)
        if (!value_is_folded_constant(fusion->model, layer->inputs.items[layer->fused.items[i].operand]))
            return false;
    return (layer->kind == LAYER_CONVOLUTION || layer->kind == LAYER_MATMUL) &&
           (any_order || producer == NODE_NONE || producer < layer->nodes.items[layer->nodes.count - 1]) &&
           shapes_agree(fusion->model, result, other);
}

/* Matches an Add of a bias, if the layer has none yet, or of a tensor from another layer. */
static bool match_add(const struct fusion *fusion, const struct layer *layer, uint32_t value, bool any_order,
                      struct extension *ret)
{
    uint32_t node = find_only_user(fusion, value, 0), other;
    const struct node *n = fusion_node_at(fusion, node);

    if (find_value_uses(fusion, value) != 1 || !node_is(n, "Add") || n->inputs.count != 2 ||
        node_attribute_integer(n->message, "broadcast", 0) != 0 || extension_result(fusion, node) == VALUE_NONE)
        return false; /* before operator set 7 there were different broadcasting rules */
    other = fusion_node_input(fusion, node, 0) == value ? fusion_node_input(fusion, node, 1)
                                                        : fusion_node_input(fusion, node, 0);
    if (other == VALUE_NONE || other == value)
        return false;
    if (value_is_folded_constant(fusion->model, other) && layer->kind != LAYER_BATCH_NORMALIZATION &&
        layer->kind != LAYER_BINARY) {
        if (layer->fused.count > 0 || layer_has_bias(fusion, layer) || !value_is_bias(fusion, layer, other, value))
            return false;
    } else if (!may_add_tensor(fusion, layer, value, other, any_order)) {
        return false;
    }
    ret->operation = (struct fused_operation){.kind = FUSED_ADD};
    ret->operand = other;
    append_extension_node(ret, node);
    mark_inner_value(ret, value);
    ret->result = extension_result(fusion, node);
    return true;
}

static bool layer_is_fusable(enum activation activation)
{
    switch (activation) {
    case ACTIVATION_RELU:
    case ACTIVATION_LEAKY_RELU:
    case ACTIVATION_CLIP:
    case ACTIVATION_SIGMOID:
    case ACTIVATION_TANH:
    case ACTIVATION_ELU:
    case ACTIVATION_SWISH:
    case ACTIVATION_HARD_SWISH:
    case ACTIVATION_GELU_ERF:
        return true;
    default:
        return false;
    }
}

static bool match_activation(const struct fusion *fusion, uint32_t value, struct extension *ret)
{
    uint32_t node = find_only_user(fusion, value, 0);
    struct layer layer;

    if (find_value_uses(fusion, value) != 1 || fusion_node_input(fusion, node, 0) != value ||
        extension_result(fusion, node) == VALUE_NONE)
        return false;
    layer_classify(fusion->model, fusion_node_at(fusion, node), &layer);
    if (layer.kind != LAYER_ACTIVATION || !layer_is_fusable(layer.activation))
        return false;
    ret->operation = (struct fused_operation){
        .kind = FUSED_ACTIVATION, .activation = layer.activation, .alpha = layer.alpha, .beta = layer.beta};
    append_extension_node(ret, node);
    mark_inner_value(ret, value);
    ret->result = extension_result(fusion, node);
    return true;
}

/* Whether `node` applies `op_type` to these two tensors, in any order. */
static bool node_combines_values(const struct fusion *fusion, uint32_t node, const char *op_type, uint32_t a,
                                 uint32_t b)
{
    const struct node *n = fusion_node_at(fusion, node);

    return node_is(n, op_type) && n->inputs.count == 2 && extension_result(fusion, node) != VALUE_NONE &&
           ((fusion_node_input(fusion, node, 0) == a && fusion_node_input(fusion, node, 1) == b) ||
            (fusion_node_input(fusion, node, 0) == b && fusion_node_input(fusion, node, 1) == a));
}

static bool number_is_near(float a, double b)
{
    return fabs((double)a - b) <= 1e-6 * fabs(b);
}

/* x * sigmoid(x), or x * hardsigmoid(x). */
static bool match_gate(const struct fusion *fusion, uint32_t value, size_t gate_use, struct extension *ret)
{
    uint32_t gate = find_only_user(fusion, value, gate_use), product = find_only_user(fusion, value, 1 - gate_use);
    const struct node *n = fusion_node_at(fusion, gate);
    enum activation activation = ACTIVATION_NONE;
    uint32_t gated = extension_result(fusion, gate);

    if (node_is(n, "Sigmoid"))
        activation = ACTIVATION_SWISH;
    else if (node_is(n, "HardSigmoid") && number_is_near(node_attribute_float(n->message, "alpha", 0.2F), 1.0 / 6) &&
             number_is_near(node_attribute_float(n->message, "beta", 0.5F), 0.5))
        activation = ACTIVATION_HARD_SWISH;
    if (activation == ACTIVATION_NONE || gated == VALUE_NONE || find_value_uses(fusion, gated) != 1 ||
        !node_combines_values(fusion, product, "Mul", value, gated))
        return false;
    ret->operation = (struct fused_operation){.kind = FUSED_ACTIVATION, .activation = activation, .alpha = 1};
    if (activation == ACTIVATION_HARD_SWISH)
        ret->operation.alpha = 0;
    append_extension_node(ret, gate);
    append_extension_node(ret, product);
    mark_inner_value(ret, value);
    mark_inner_value(ret, gated);
    ret->result = extension_result(fusion, product);
    return true;
}

/* Whether `node` applies `op_type` to `value` and a constant close to `expected`; a divisor must be the second
 * operand. */
static bool applies_constant(const struct fusion *fusion, uint32_t node, const char *op_type, uint32_t value,
                             double expected)
{
    const struct node *n = fusion_node_at(fusion, node);
    struct value_type type;
    struct shape shape;
    uint32_t other;
    float number;

    if (!node_is(n, op_type) || n->inputs.count != 2 || extension_result(fusion, node) == VALUE_NONE)
        return false;
    other = fusion_node_input(fusion, node, 0) == value ? fusion_node_input(fusion, node, 1)
                                                        : fusion_node_input(fusion, node, 0);
    return (fusion_node_input(fusion, node, 0) == value ||
            (fusion_node_input(fusion, node, 1) == value && strcmp(op_type, "Div") != 0)) &&
           constant_scalar(fusion->model, other, &number, &shape) && number_is_near(number, expected) &&
           (shape.rank == 0 || (read_value_shape(fusion->model, value, &type) && shape.rank <= type.shape.rank));
}

/* The only consumer of the result of the extension's last node; NODE_NONE if there are others. The result becomes an
 * inner value. */
static uint32_t follow_only_user(const struct fusion *fusion, struct extension *extension)
{
    uint32_t value = extension_result(fusion, extension->nodes[extension->node_count - 1]);

    if (value == VALUE_NONE || find_value_uses(fusion, value) != 1)
        return NODE_NONE;
    mark_inner_value(extension, value);
    extension->result = value;
    return find_only_user(fusion, value, 0);
}

/* x / sqrt(2) -> Erf -> + 1 -> * x -> * 0.5, as exported by frameworks without a Gelu operator. */
static bool match_gelu(const struct fusion *fusion, uint32_t value, size_t first_use, struct extension *ret)
{
    uint32_t node = find_only_user(fusion, value, first_use), product = find_only_user(fusion, value, 1 - first_use);

    if (!applies_constant(fusion, node, "Div", value, 1.4142135623730951) &&
        !applies_constant(fusion, node, "Mul", value, 0.7071067811865476))
        return false;
    mark_inner_value(ret, value);
    append_extension_node(ret, node);
    node = follow_only_user(fusion, ret);
    if (node == NODE_NONE || !node_is(fusion_node_at(fusion, node), "Erf"))
        return false;
    append_extension_node(ret, node);
    node = follow_only_user(fusion, ret);
    if (node == NODE_NONE || !applies_constant(fusion, node, "Add", ret->result, 1))
        return false;
    append_extension_node(ret, node);
    node = follow_only_user(fusion, ret);
    if (node == NODE_NONE || node != product || !node_combines_values(fusion, node, "Mul", value, ret->result))
        return false;
    append_extension_node(ret, node);
    node = follow_only_user(fusion, ret);
    if (node == NODE_NONE || !applies_constant(fusion, node, "Mul", ret->result, 0.5))
        return false;
    append_extension_node(ret, node);
    ret->result = extension_result(fusion, node);
    ret->operation = (struct fused_operation){.kind = FUSED_ACTIVATION, .activation = ACTIVATION_GELU_ERF};
    return true;
}

static bool match_extension_way(const struct fusion *fusion, const struct layer *layer, uint32_t value, size_t way,
                                bool any_order, struct extension *ret)
{
    *ret = (struct extension){0};
    switch (way) {
    case 0:
        return match_add(fusion, layer, value, any_order, ret);
    case 1:
        return match_activation(fusion, value, ret);
    case 2:
    case 3:
        return find_value_uses(fusion, value) == 2 && match_gate(fusion, value, way - 2, ret);
    default:
        return find_value_uses(fusion, value) == 2 && match_gelu(fusion, value, way - 4, ret);
    }
}

static bool match_extension(const struct fusion *fusion, const struct layer *layer, uint32_t value, bool any_order,
                            struct extension *ret)
{
    for (size_t way = 0; find_value_uses(fusion, value) > 0 && way < 6; way++)
        if (match_extension_way(fusion, layer, value, way, any_order, ret))
            return true;
    return false;
}

/* ---- Layers ---- */

static void append_edge_range(const struct model *model, struct edge_range range, struct value_list *ret)
{
    for (size_t i = 0; i < range.count; i++)
        value_list_add(ret, model_edge(model, range, i));
}

void fusion_begin(struct fusion *fusion, uint32_t node, struct layer *ret)
{
    const struct node *n = fusion_node_at(fusion, node);

    *ret = (struct layer){0};
    layer_classify(fusion->model, n, ret);
    *VECTOR_APPEND(&ret->nodes) = node;
    append_edge_range(fusion->model, n->inputs, &ret->inputs);
    append_edge_range(fusion->model, n->captures, &ret->inputs);
    append_edge_range(fusion->model, n->outputs, &ret->outputs);
    bitset_add(&fusion->taken, node);
}

static bool layer_is_extensible(const struct fusion *fusion, const struct layer *layer)
{
    const struct node *first = fusion_node_at(fusion, layer->nodes.items[0]);
    bool kind_is = layer->kind == LAYER_CONVOLUTION || layer->kind == LAYER_DECONVOLUTION ||
                   layer->kind == LAYER_MATMUL || layer->kind == LAYER_BATCH_NORMALIZATION ||
                   (layer->kind == LAYER_BINARY && node_is(first, "Add"));

    return kind_is && layer->outputs.count == 1 && layer->outputs.items[0] != VALUE_NONE &&
           value_element(fusion->model, layer->outputs.items[0]) == DATA_FLOAT32 &&
           (layer->fused.count == 0 || layer->fused.items[layer->fused.count - 1].kind != FUSED_ACTIVATION);
}

/* Whether the extension is possible: no node is in another layer, and no inner value is an output. */
static bool extension_is_free(struct fusion *fusion, const struct extension *extension, bool counts)
{
    bool hidden = true, marked_only = true;

    for (size_t i = 0; i < extension->node_count; i++)
        if (bitset_has(&fusion->taken, extension->nodes[i]))
            return false;
    for (size_t i = 0; i < extension->inner_count; i++)
        if (bitset_has(&fusion->kept, extension->inner[i])) {
            hidden = false;
            marked_only &= bitset_has(&fusion->marked, extension->inner[i]);
        }
    fusion->prevented += !hidden && marked_only && counts;
    return hidden;
}

/* "fusion:bias" and so on. */
static const char *name_fusion_kind(const struct fusion *fusion, const struct extension *extension)
{
    static const char *const activations[] = {
        [ACTIVATION_RELU] = "fusion:relu",    [ACTIVATION_LEAKY_RELU] = "fusion:leaky_relu",
        [ACTIVATION_CLIP] = "fusion:clip",    [ACTIVATION_SIGMOID] = "fusion:sigmoid",
        [ACTIVATION_TANH] = "fusion:tanh",    [ACTIVATION_ELU] = "fusion:elu",
        [ACTIVATION_SWISH] = "fusion:swish",  [ACTIVATION_HARD_SWISH] = "fusion:hard_swish",
        [ACTIVATION_GELU_ERF] = "fusion:gelu"};

    if (extension->operation.kind == FUSED_ADD)
        return value_is_folded_constant(fusion->model, extension->operand) ? "fusion:bias" : "fusion:sum";
    return activations[extension->operation.activation];
}

/* Identified by the last of its nodes, whose result becomes that of the layer. */
static bool fusion_is_allowed(struct fusion *fusion, const struct extension *extension)
{
    uint32_t last = extension->nodes[extension->node_count - 1];

    return fusion->decisions == NULL ||
           network_decisions_allow(fusion->decisions, name_fusion_kind(fusion, extension), fusion->labels->items[last]);
}

static int compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

bool fusion_extend(struct fusion *fusion, struct layer *layer, bool any_order)
{
    struct extension extension;

    if (!layer_is_extensible(fusion, layer) ||
        !match_extension(fusion, layer, layer->outputs.items[0], any_order, &extension) ||
        !extension_is_free(fusion, &extension, any_order) || !fusion_is_allowed(fusion, &extension))
        return false;
    if (extension.operation.kind == FUSED_ADD) {
        extension.operation.operand = layer->inputs.count;
        value_list_add(&layer->inputs, extension.operand);
    }
    *VECTOR_APPEND(&layer->fused) = extension.operation;
    for (size_t i = 0; i < extension.node_count; i++) {
        *VECTOR_APPEND(&layer->nodes) = extension.nodes[i];
        bitset_add(&fusion->taken, extension.nodes[i]);
    }
    qsort(layer->nodes.items, layer->nodes.count, sizeof(*layer->nodes.items), compare_nodes);
    layer->outputs.items[0] = extension.result;
    return true;
}
