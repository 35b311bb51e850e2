/* engine/network/network.h: a network: the layers of a model, input of the builder.
 *
 * The module engine/network/ compiles a model to a network of layers (compile.h): it folds constants and batch
 * normalizations and fuses nodes. It depends on onnx/ and backend/ (to compute constants), not on how layers are
 * computed.
 *
 * A layer is one node, or several that are computed together: a convolution, matrix product, batch normalization or
 * addition with bias and activation. The network is an index over a model (its tensors are the model's values, its
 * constants the model's initializers) in which constants and constant scales of channels (batch normalizations) were
 * folded. A plan file embeds that model, and lists the nodes of each layer.
 */
#ifndef ENGINE_NETWORK_NETWORK_H
#define ENGINE_NETWORK_NETWORK_H

#include "base/container/name_map.h"
#include "engine/network/decisions.h"
#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

enum layer_kind {
    LAYER_OTHER, /* any ONNX operator */
    LAYER_CONVOLUTION,
    LAYER_DECONVOLUTION,
    LAYER_MATMUL, /* MatMul and Gemm */
    LAYER_POOLING,
    LAYER_ACTIVATION, /* one input, element by element */
    LAYER_BINARY,     /* Add (a Sum of two is made one), Sub, Mul, Div, Min, Max with broadcasting */
    LAYER_CONCATENATION,
    LAYER_SOFTMAX,
    LAYER_BATCH_NORMALIZATION,
    LAYER_LAYER_NORMALIZATION,
    LAYER_LRN,
    LAYER_REDUCTION,
    LAYER_RESIZE,
    LAYER_KIND_COUNT,
};

const char *layer_kind_name(enum layer_kind kind); /* "convolution", ...; for JSON and the log */

enum activation {
    ACTIVATION_NONE,
    ACTIVATION_RELU,
    ACTIVATION_LEAKY_RELU, /* alpha */
    ACTIVATION_CLIP,       /* alpha: minimum, beta: maximum; infinities if unbounded */
    ACTIVATION_SIGMOID,
    ACTIVATION_TANH,
    ACTIVATION_ELU,   /* alpha */
    ACTIVATION_SWISH, /* x * sigmoid(alpha * x): a Sigmoid and a Mul */
    ACTIVATION_HARD_SWISH,
    ACTIVATION_GELU_ERF,
    ACTIVATION_EXP,
    ACTIVATION_LOG,
    ACTIVATION_ABS,
    ACTIVATION_SQRT,
    ACTIVATION_SOFTPLUS,
};

/* An operation on the result of a layer's first node before it is stored. */
struct fused_operation {
    enum { FUSED_ACTIVATION, FUSED_ADD } kind;
    enum activation activation;
    float alpha, beta;
    /* FUSED_ADD: index of the addend among the layer's inputs (numpy broadcasting to the result's shape). */
    size_t operand;
};

struct layer {
    char *name; /* of its nodes, in order: "conv1 + relu1"; unique, UTF-8. A nameless node is "node_of_<output>" */
    enum layer_kind kind;
    struct { /* of the model, in order; `kind` refers to the first one */
        uint32_t *items;
        size_t count, capacity;
    } nodes;
    /* Of the first node, VALUE_NONE where omitted; then captures of bodies; then operands of fused operations.
     * Constants of a fused Clip or GELU are not included: they are in alpha and beta. For nodes that exchange
     * sequences: all values that they read, each once. */
    struct value_list inputs;
    /* of the last node; VALUE_NONE where omitted. For nodes that exchange sequences: values used by other nodes */
    struct value_list outputs;
    VECTOR(struct fused_operation) fused;
    enum activation activation; /* LAYER_ACTIVATION: which; else NONE */
    float alpha, beta;
    /* Only moves data: Identity, Reshape, Transpose, Concat, Slice, Gather, ... It has no precision. */
    bool moves_data;
};

struct network {
    struct model *model;                /* owned */
    VECTOR(struct layer) layers;        /* in execution order */
    struct value_list inputs;           /* to feed */
    struct value_list outputs;          /* of the model; may include constants and inputs */
    struct network_decisions decisions; /* of the compilation; empty for a network from a plan file */
};

void layer_release(struct layer *layer);
void network_free(struct network *network); /* NULL is fine */

/* Maps names to layers: names of layers, and of their ONNX nodes, folded nodes included. The network must outlive
 * it. */
struct layer_names {
    const struct network *network;
    struct name_map layers;
};

void layer_names_init(struct layer_names *names, const struct network *network);
void layer_names_release(struct layer_names *names);
const struct layer *layer_names_find(const struct layer_names *names, struct text name); /* NULL: there is none */

/* The element type of a value from the model's type; for constants from their data. */
enum data_type network_type(const struct network *network, uint32_t value);

/* ---- Kinds of layers. */

/* Sets kind, activation, alpha, beta and moves_data of a layer by its first node. A node with the operator of a kind,
 * but in a form that the kind does not support (a Clip whose bounds are computed, a BatchNormalization that trains, a
 * Max of three) is LAYER_OTHER. */
void layer_classify(const struct model *model, const struct node *node, struct layer *ret);

/* Reads a constant of one float32 element, whatever its rank. False if `value` is something else. */
bool constant_scalar(const struct model *model, uint32_t value, float *ret, struct shape *ret_shape);

#endif
