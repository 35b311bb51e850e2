/* debug/models/differences.h: what differs between paired nodes: weights, attributes, inputs. Nothing is run. */
#ifndef DEBUG_MODELS_DIFFERENCES_H
#define DEBUG_MODELS_DIFFERENCES_H

#include "base/container/arena.h"
#include "debug/models/attributes.h"
#include "debug/models/pairing.h"
#include "debug/models/weights.h"

enum model_difference_kind {
    DIFFERENT_WEIGHT, /* both inputs are constants */
    DIFFERENT_ATTRIBUTE,
    DIFFERENT_INPUT,    /* other inputs */
    DIFFERENT_OPERATOR, /* nodes that produce a paired tensor */
};

const char *model_difference_kind_name(enum model_difference_kind kind); /* "weight" */

struct model_difference {
    enum model_difference_kind kind;
    uint32_t node_a, node_b;
    size_t input_a, input_b;               /* DIFFERENT_WEIGHT and DIFFERENT_INPUT */
    uint32_t value_a, value_b;             /* the inputs, or outputs of DIFFERENT_OPERATOR; VALUE_NONE: omitted */
    struct attribute_difference attribute; /* DIFFERENT_ATTRIBUTE */
    struct weight_relation weight;         /* DIFFERENT_WEIGHT */
    bool is_swapped;                       /* DIFFERENT_INPUT: inputs 0 and 1 of B's node are exchanged */
    bool is_harmless;                      /* equal elements, in another shape or type */
    const char *sentence;                  /* "epsilon 0.5, not 1e-12, in 'norm' (LayerNormalization)" */
};

struct model_differences {
    struct model_difference *items;
    size_t count, capacity;
    struct arena arena;
};

void model_differences_release(struct model_differences *differences);

/* Appends the differences of a node of B and its partner. `same` (may be NULL) decides whether two computed inputs are
 * the same tensor; by default they are if they are paired. */
typedef bool same_tensor(void *data, uint32_t value_a, uint32_t value_b);
void model_differences_of_node(const struct model_pairing *pairing, uint32_t node_b, same_tensor *same, void *data,
                               struct model_differences *ret);

/* Appends those of all paired nodes, in the order of B's nodes. */
void model_differences_find(const struct model_pairing *pairing, struct model_differences *ret);

/* Appends the tensor `value_b` with the nodes that produce it in place of A's. */
void model_differences_add_operator(const struct model_pairing *pairing, uint32_t value_a, uint32_t value_b,
                                    struct model_differences *ret);

/* Appends "'name' (Operator)". */
void node_describe(const struct model *model, uint32_t node, struct string_builder *ret);

#endif
