/* engine/network/network.h: what the builder compiles: the layers of a model.
 *
 * The module engine/network/ makes layers of a model's nodes: compile.h takes a model and gives a network, in which
 * constants and batch normalizations are folded and what belongs together is one layer. It uses onnx/ and backend/,
 * which computes constants, and knows nothing of how layers are computed.
 *
 * A layer is one node, or several that are computed as one: a convolution, matrix product, batch normalization or
 * addition with the bias and the activation behind it. The network is an index over a model (its tensors are the
 * model's values, its constants the model's initializers); making one folds constants and what scales channels by
 * constants (batch normalizations) in that model first. A plan file embeds the model as it is then, and says which
 * nodes form which layer. Networks are made by compile.h.
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

const char *layer_kind_name(enum layer_kind kind); /* "convolution", ...; as JSON and the log have it */

enum activation {
    ACTIVATION_NONE,
    ACTIVATION_RELU,
    ACTIVATION_LEAKY_RELU, /* alpha */
    ACTIVATION_CLIP,       /* alpha: minimum, beta: maximum; infinities where there is none */
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

/* Something that is done to the result of a layer's first node before it is stored. */
struct fused_operation {
    enum { FUSED_ACTIVATION, FUSED_ADD } kind;
    enum activation activation;
    float alpha, beta;
    /* FUSED_ADD: position in the layer's inputs of what is added (numpy broadcasting to the result's shape). */
    size_t operand;
};

struct layer {
    char *name; /* of its nodes, in order: "conv1 + relu1"; unique, UTF-8. A nameless node is "node_of_<output>" */
    enum layer_kind kind;
    struct { /* of the model, in order; the first one is what `kind` is about */
        uint32_t *items;
        size_t count, capacity;
    } nodes;
    /* Of the first node, VALUE_NONE where omitted; then captures of bodies; then operands of fused operations. The
     * constants of a fused Clip or GELU are none of them: they are in alpha and beta, and in the model. Of nodes that
     * exchange sequences: all that they read, each value once. */
    struct value_list inputs;
    /* of the last node; VALUE_NONE where omitted. Of nodes that exchange sequences: what others use */
    struct value_list outputs;
    struct {
        struct fused_operation *items;
        size_t count, capacity;
    } fused;
    enum activation activation; /* LAYER_ACTIVATION: which; else NONE */
    float alpha, beta;
    /* Stores what it was given, in another order or not at all: Identity, Reshape, Transpose, Concat, Slice, Gather,
     * ... No precision of its own. */
    bool moves_data;
};

struct network {
    struct model *model; /* owned */
    struct {
        struct layer *items;
        size_t count, capacity;
    } layers;                           /* in an order in which they can run */
    struct value_list inputs;           /* to feed */
    struct value_list outputs;          /* of the model, too; some may be constants, or inputs, that no layer makes */
    struct network_decisions decisions; /* by which it was made; none of a network out of a plan file */
};

void layer_release(struct layer *layer);
void network_free(struct network *network); /* NULL is fine */

/* From names to layers: a layer's own name, else that of one of its ONNX nodes, those included that were folded into
 * it. The network has to outlive it. */
struct layer_names {
    const struct network *network;
    struct name_map layers;
};

void layer_names_init(struct layer_names *names, const struct network *network);
void layer_names_release(struct layer_names *names);
const struct layer *layer_names_find(const struct layer_names *names, struct text name); /* NULL: there is none */

/* The element type of a value as far as the model tells; constants from their data. */
enum data_type network_type(const struct network *network, uint32_t value);

/* ---- Kinds: what a node is to the engine. */

/* Sets kind, activation, alpha, beta and moves_data of a layer by its first node. A node that has the name of a kind
 * but a form that the kind does not cover (a Clip whose bounds are computed, a BatchNormalization that trains, a Max
 * of three) is LAYER_OTHER. */
void layer_classify(const struct model *model, const struct node *node, struct layer *ret);

/* Reads a constant of one float32 element, whatever its rank. False when `value` is none. */
bool constant_scalar(const struct model *model, uint32_t value, float *ret, struct shape *ret_shape);

#endif
