/* engine/network/affine_folding.c: see affine_folding.h. */
#include "engine/network/affine_folding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/network/fusion.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/unused_names.h"
#include "onnx/external/tensor.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "tensor/values/elements.h"

/* A node, and the following nodes that scale and shift its result. */
struct affine_chain {
    uint32_t head;
    enum layer_kind kind;    /* of the head */
    struct value_list nodes; /* after the head */
    uint32_t result;         /* value: of the last one */
    size_t rank, channels;   /* of the result */
    size_t axis;             /* of the result, its channels */
    double *scale, *shift;   /* combined: y = x * scale + shift */
    struct tensor weight;    /* of the head */
    struct tensor bias;      /* of the head; no data: none */
    double bias_factor;      /* Gemm: its beta, by which the bias is multiplied; else 1 */
    size_t weight_axis;      /* of the weight, the channels of the result */
    size_t groups;           /* ConvTranspose: the first axis of the weight goes through the groups */
    uint32_t new_weight, new_bias;
};

struct folding_state {
    struct model *model;
    struct fusion fusion; /* uses of values, and kept values */
    struct unused_names names;
    struct node_labels *labels;
    struct network_decisions *decisions;
    struct span *fields; /* the new field of each node; size 0: removed */
    size_t folded;
    size_t *ret_prevented;
};

/* ---- Constants ---- */

static uint32_t node_input_of(const struct model *model, uint32_t node, size_t i)
{
    return node_input(model, &model->nodes.items[node], i);
}

/* The initializer of a float32 constant; NULL if `value` is none. */
static const struct initializer *find_constant_operand(const struct model *model, uint32_t value,
                                                       struct tensor_header *ret)
{
    const struct initializer *initializer = model_dense_initializer(model, value);

    if (initializer == NULL || model_producer(model, value) != NULL || initializer->narrowed.size > 0 ||
        tensor_proto_read(initializer->message, ret, NULL) < 0 || ret->type != DATA_FLOAT32)
        return NULL;
    return initializer;
}

static bool read_float_constant(const struct model *model, uint32_t value, struct tensor *ret)
{
    struct tensor_header header;
    const struct initializer *initializer = find_constant_operand(model, value, &header);

    return initializer != NULL && external_tensor_read(model, initializer->message, ret, NULL) == 0;
}

/* Reads a number for each channel: the constant has one for each, in dimension `axis` of a result of `rank`, or one for
 * all. */
static bool read_channels(const struct model *model, uint32_t value, const struct affine_chain *chain, size_t axis,
                          size_t rank, double *ret)
{
    struct tensor_header header;
    struct tensor tensor SCOPED(tensor_release) = {0};
    size_t count, offset;

    if (find_constant_operand(model, value, &header) == NULL || header.shape.rank > rank)
        return false;
    offset = rank - header.shape.rank;
    for (size_t i = 0; i < header.shape.rank; i++)
        if (header.shape.dims[i] != 1 && (i + offset != axis || header.shape.dims[i] != (int64_t)chain->channels))
            return false;
    if (!read_float_constant(model, value, &tensor))
        return false;
    count = tensor_elements(&tensor);
    for (size_t i = 0; i < count; i += ELEMENTS_RUN)
        elements_to_float64(&tensor, i, elements_in_run(count, i), ret + i);
    for (size_t i = count; i < chain->channels; i++)
        ret[i] = ret[0];
    return true;
}

/* ---- The head of a chain ---- */

static bool find_gemm_channels(const struct node *node, struct affine_chain *chain)
{
    const struct shape *shape = &chain->weight.shape;

    chain->weight_axis = node_attribute_integer(node->message, "transB", 0) != 0 ? 0 : 1;
    chain->bias_factor = (double)node_attribute_float(node->message, "beta", 1.0F);
    chain->rank = 2;
    if (!node_is(node, "Gemm") || shape->rank != 2 || chain->bias_factor == 0)
        return false;
    chain->channels = (size_t)shape->dims[chain->weight_axis];
    return true;
}

static bool find_deconvolution_channels(const struct node *node, struct affine_chain *chain)
{
    const struct shape *shape = &chain->weight.shape;
    int64_t groups = node_attribute_integer(node->message, "group", 1);

    chain->weight_axis = 1;
    chain->rank = shape->rank;
    if (shape->rank < 3 || groups <= 0 || shape->dims[0] % groups != 0)
        return false;
    chain->groups = (size_t)groups;
    chain->channels = (size_t)shape->dims[1] * (size_t)groups;
    return true;
}

/* Finds the number of channels and the weight's channel axis. */
static bool find_channels(const struct model *model, struct affine_chain *chain)
{
    const struct node *node = &model->nodes.items[chain->head];
    const struct shape *shape = &chain->weight.shape;
    struct value_type type;

    chain->groups = 1;
    chain->bias_factor = 1;
    chain->axis = 1;
    if (chain->kind == LAYER_MATMUL)
        return find_gemm_channels(node, chain);
    if (chain->kind == LAYER_DECONVOLUTION)
        return find_deconvolution_channels(node, chain);
    chain->weight_axis = 0;
    chain->rank = shape->rank;
    if (chain->kind == LAYER_BATCH_NORMALIZATION) {
        value_info_decode(model->values.items[chain->result].info, &type);
        chain->rank = type.not_a_tensor == NULL && type.has_shape ? type.shape.rank : 0;
    }
    if (shape->rank != (chain->kind == LAYER_CONVOLUTION ? chain->rank : 1) || chain->rank < 2)
        return false;
    chain->channels = (size_t)shape->dims[0];
    return true;
}

/* Whether the bias has a number for each channel in its last dimension, or one for all. */
static bool bias_fits_channels(const struct affine_chain *chain)
{
    const struct shape *shape = &chain->bias.shape;
    size_t count = tensor_elements(&chain->bias);

    return count == 1 ||
           (count == chain->channels && shape->rank > 0 && shape->dims[shape->rank - 1] == (int64_t)count);
}

static bool read_chain_head(const struct model *model, struct affine_chain *chain)
{
    uint32_t bias = node_input_of(model, chain->head, 2);

    if (!read_float_constant(model, node_input_of(model, chain->head, 1), &chain->weight) ||
        !find_channels(model, chain) || chain->channels == 0 || tensor_elements(&chain->weight) == 0)
        return false;
    if (bias != VALUE_NONE && (!read_float_constant(model, bias, &chain->bias) || !bias_fits_channels(chain)))
        return false;
    chain->scale = memory_alloc_zero(chain->channels, sizeof(double));
    chain->shift = memory_alloc_zero(chain->channels, sizeof(double));
    for (size_t i = 0; i < chain->channels; i++)
        chain->scale[i] = 1;
    return true;
}

static bool node_is_chain_head(const struct model *model, uint32_t node, enum layer_kind *ret)
{
    const struct node *n = &model->nodes.items[node];
    struct layer layer;

    layer_classify(model, n, &layer);
    *ret = layer.kind;
    return (layer.kind == LAYER_CONVOLUTION || layer.kind == LAYER_DECONVOLUTION || layer.kind == LAYER_MATMUL ||
            layer.kind == LAYER_BATCH_NORMALIZATION) &&
           n->outputs.count > 0 && model_edge(model, n->outputs, 0) != VALUE_NONE;
}

static void chain_release(struct affine_chain *chain)
{
    free(chain->nodes.items);
    free(chain->scale);
    free(chain->shift);
    tensor_release(&chain->weight);
    tensor_release(&chain->bias);
}

/* ---- The following nodes ---- */

static bool read_batch_norm(const struct model *model, uint32_t node, const struct affine_chain *chain, double *scale,
                            double *shift)
{
    const struct node *norm = &model->nodes.items[node];
    double epsilon = (double)node_attribute_float(norm->message, "epsilon", 1e-5F);
    double *mean SCOPED_FREE = memory_alloc_zero(chain->channels, sizeof(*mean));
    double *variance SCOPED_FREE = memory_alloc_zero(chain->channels, sizeof(*variance));
    bool complete = node_input_of(model, node, 0) == chain->result;

    complete = complete && read_channels(model, node_input_of(model, node, 1), chain, 0, 1, scale) &&
               read_channels(model, node_input_of(model, node, 2), chain, 0, 1, shift) &&
               read_channels(model, node_input_of(model, node, 3), chain, 0, 1, mean) &&
               read_channels(model, node_input_of(model, node, 4), chain, 0, 1, variance);
    for (size_t i = 0; complete && i < chain->channels; i++) {
        scale[i] /= sqrt(variance[i] + epsilon);
        shift[i] -= mean[i] * scale[i];
    }
    return complete;
}

/* Reads scale and shift for each channel if `node` applies these to the chain's result. */
static bool read_affine_node(const struct model *model, uint32_t node, const struct affine_chain *chain, double *scale,
                             double *shift)
{
    const struct node *n = &model->nodes.items[node];
    struct layer layer;
    bool multiplies;
    uint32_t other;

    layer_classify(model, n, &layer);
    if (layer.kind == LAYER_BATCH_NORMALIZATION)
        return read_batch_norm(model, node, chain, scale, shift);
    multiplies = node_is(n, "Mul");
    if (layer.kind != LAYER_BINARY || (!multiplies && !node_is(n, "Add")))
        return false;
    other = node_input_of(model, node, node_input_of(model, node, 0) == chain->result ? 1 : 0);
    for (size_t i = 0; i < chain->channels; i++) {
        scale[i] = 1;
        shift[i] = 0;
    }
    return read_channels(model, other, chain, chain->axis, chain->rank, multiplies ? scale : shift);
}

/* Adds the next node to the chain, if there is one. */
static bool extend_chain(const struct folding_state *state, struct affine_chain *chain, double *scale, double *shift)
{
    const struct model *model = state->model;
    const struct fusion *fusion = &state->fusion;
    uint32_t value = chain->result, next, result;
    bool possible;

    if (fusion->first_use[value + 1] - fusion->first_use[value] != 1)
        return false;
    next = fusion->users[fusion->first_use[value]];
    result = model->nodes.items[next].outputs.count > 0 ? model_edge(model, model->nodes.items[next].outputs, 0)
                                                        : VALUE_NONE;
    if (result == VALUE_NONE || !read_affine_node(model, next, chain, scale, shift))
        return false;
    possible = !bitset_has(&fusion->kept, value);
    for (size_t i = 0; possible && i < chain->channels; i++)
        possible = isfinite(chain->scale[i] * scale[i]) && isfinite(chain->shift[i] * scale[i] + shift[i]);
    if (!possible) {
        *state->ret_prevented += bitset_has(&fusion->marked, value);
        return false;
    }
    if (!network_decisions_allow(state->decisions, FOLDING_OF_AFFINE_NODES, state->labels->items[next]))
        return false;
    for (size_t i = 0; i < chain->channels; i++) {
        chain->scale[i] *= scale[i];
        chain->shift[i] = chain->shift[i] * scale[i] + shift[i];
    }
    value_list_add(&chain->nodes, next);
    chain->result = result;
    return true;
}

/* ---- The new constants ---- */

/* The channel of the result to which an element of the weight contributes. */
static size_t channel_of_element(const struct affine_chain *chain, size_t element, size_t inner)
{
    const int64_t *dims = chain->weight.shape.dims;
    size_t length = (size_t)dims[chain->weight_axis], channel = element / inner % length;

    if (chain->groups > 1)
        channel += element / inner / length / ((size_t)dims[0] / chain->groups) * length;
    return channel;
}

static void scale_weight(const struct affine_chain *chain, void *ret)
{
    size_t count = tensor_elements(&chain->weight), inner = 1;

    for (size_t i = chain->weight_axis + 1; i < chain->weight.shape.rank; i++)
        inner *= (size_t)chain->weight.shape.dims[i];
    for (size_t first = 0; first < count; first += inner) {
        double scale = chain->scale[channel_of_element(chain, first, inner)];

        for (size_t i = first; i < first + inner; i++) {
            float weight;

            memcpy(&weight, (const char *)chain->weight.data + i * sizeof(weight), sizeof(weight));
            weight = (float)((double)weight * scale);
            memcpy((char *)ret + i * sizeof(weight), &weight, sizeof(weight));
        }
    }
}

static void shift_bias(const struct affine_chain *chain, void *ret)
{
    size_t count = chain->bias.data != NULL ? tensor_elements(&chain->bias) : 0;

    for (size_t i = 0; i < chain->channels; i++) {
        double bias = 0;
        float result;

        if (count > 0)
            elements_to_float64(&chain->bias, count == 1 ? 0 : i, 1, &bias);
        result = (float)((bias * chain->bias_factor * chain->scale[i] + chain->shift[i]) / chain->bias_factor);
        memcpy((char *)ret + i * sizeof(result), &result, sizeof(result));
    }
}

static int make_folded_constants(struct folding_state *state, struct affine_chain *chain, struct text label,
                                 struct error *err)
{
    struct model *model = state->model;
    struct shape channels = {.rank = 1, .dims = {(int64_t)chain->channels}};
    void *data;
    int rc;

    chain->new_weight = model_add_value(model, unused_names_make(&state->names, label, ".weight"));
    rc = model_new_tensor(model, chain->new_weight, DATA_FLOAT32, &chain->weight.shape, &data, err);
    if (rc < 0)
        return rc;
    scale_weight(chain, data);
    chain->new_bias = model_add_value(model, unused_names_make(&state->names, label, ".bias"));
    rc = model_new_tensor(model, chain->new_bias, DATA_FLOAT32, &channels, &data, err);
    if (rc == 0)
        shift_bias(chain, data);
    return rc;
}

static void write_node_name(const struct model *model, struct string_builder *out, uint32_t field, uint32_t value)
{
    wire_write_text(out, field, value != VALUE_NONE ? model->values.items[value].name : TEXT(""));
}

/* Rewrites the head with the new constants and the chain's result. */
static struct span rewrite_chain_head(struct model *model, const struct affine_chain *chain)
{
    const struct node *node = &model->nodes.items[chain->head];
    struct wire_reader reader = wire_reader_of(node->message);
    struct wire_field part;
    SCOPED_STRING(message);

    write_node_name(model, &message, NODE_INPUT, node_input_of(model, chain->head, 0));
    write_node_name(model, &message, NODE_INPUT, chain->new_weight);
    write_node_name(model, &message, NODE_INPUT, chain->new_bias);
    for (size_t i = 3; i < node->inputs.count; i++)
        write_node_name(model, &message, NODE_INPUT, node_input_of(model, chain->head, i));
    write_node_name(model, &message, NODE_OUTPUT, chain->result);
    while (wire_next(&reader, &part))
        if (part.number != NODE_INPUT && part.number != NODE_OUTPUT)
            string_add_bytes(&message, part.whole.data, part.whole.size);
    return wire_make_field(&model->arena, GRAPH_NODE, &message);
}

static struct text join_chain_labels(struct folding_state *state, const struct affine_chain *chain)
{
    struct text label = state->labels->items[chain->head];

    for (size_t i = 0; i < chain->nodes.count; i++)
        label = text_of(arena_printf(&state->model->arena, TEXT_FORMAT " + " TEXT_FORMAT, TEXT_ARGS(label),
                                     TEXT_ARGS(state->labels->items[chain->nodes.items[i]])));
    return label;
}

/* ---- All chains ---- */

static int fold_chain(struct folding_state *state, struct affine_chain *chain, struct error *err)
{
    double *scale, *shift;
    int rc;

    if (!read_chain_head(state->model, chain))
        return 0;
    scale = memory_alloc_zero(chain->channels, sizeof(*scale));
    shift = memory_alloc_zero(chain->channels, sizeof(*shift));
    while (extend_chain(state, chain, scale, shift))
        ;
    free(scale);
    free(shift);
    if (chain->nodes.count == 0)
        return 0;
    state->labels->items[chain->head] = join_chain_labels(state, chain);
    rc = make_folded_constants(state, chain, state->labels->items[chain->head], err);
    if (rc < 0)
        return rc;
    state->fields[chain->head] = rewrite_chain_head(state->model, chain);
    for (size_t i = 0; i < chain->nodes.count; i++)
        state->fields[chain->nodes.items[i]].size = 0;
    state->folded++;
    return 0;
}

static int fold_all_chains(struct folding_state *state, struct error *err)
{
    struct model *model = state->model;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        struct affine_chain chain = {.head = i};

        if (state->fields[i].size == 0 || !node_is_chain_head(model, i, &chain.kind))
            continue;
        chain.result = model_edge(model, model->nodes.items[i].outputs, 0);
        rc = fold_chain(state, &chain, err);
        chain_release(&chain);
    }
    return rc;
}

static int apply_foldings(struct folding_state *state, struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};
    size_t kept = 0;

    for (size_t i = 0; i < state->model->nodes.count; i++) {
        if (state->fields[i].size == 0)
            continue;
        *VECTOR_APPEND(&fields) = state->fields[i];
        state->labels->items[kept++] = state->labels->items[i];
    }
    state->labels->count = kept;
    return model_set_nodes(state->model, &fields, err);
}

int affine_nodes_fold(struct model *model, const struct bitset *own_outputs, struct node_labels *labels,
                      struct network_decisions *decisions, size_t *ret_prevented, struct error *err)
{
    struct folding_state state = {
        .model = model, .labels = labels, .decisions = decisions, .ret_prevented = ret_prevented};
    int rc;

    fusion_init(&state.fusion, model, own_outputs);
    unused_names_init(&state.names, model, &model->arena);
    state.fields = memory_alloc_zero(model->nodes.count + 1, sizeof(*state.fields));
    for (size_t i = 0; i < model->nodes.count; i++)
        state.fields[i] = model->nodes.items[i].field;
    rc = fold_all_chains(&state, err);
    if (rc == 0 && state.folded > 0)
        rc = apply_foldings(&state, err);
    fusion_release(&state.fusion);
    unused_names_release(&state.names);
    free(state.fields);
    return rc;
}
