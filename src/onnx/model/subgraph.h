/* onnx/model/subgraph.h: a part of a model: its nodes, inputs, outputs, and values frozen to constants.
 *
 * It can be copied, compared and hashed, and refers to its model without changing it. Nodes keep the model's order.
 */
#ifndef ONNX_MODEL_SUBGRAPH_H
#define ONNX_MODEL_SUBGRAPH_H

#include "base/container/bitset.h"
#include "base/hash.h"
#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* A value replaced by a constant. The tensor is borrowed. */
struct frozen_value {
    uint32_t value;
    const struct tensor *tensor;
};

struct frozen_list {
    struct frozen_value *items;
    size_t count, capacity;
};

struct subgraph {
    const struct model *model;
    const struct known_types *known; /* inferred types, in addition to the model's; NULL: none */
    struct bitset nodes;
    struct value_list inputs, outputs; /* each value once */
    struct frozen_list frozen;
    /* write only the type descriptions of the model's file for inner tensors, not inferred ones */
    bool only_stated;
};

void subgraph_init_whole(struct subgraph *subgraph, const struct model *model);
void subgraph_init_copy(struct subgraph *subgraph, const struct subgraph *from);
void subgraph_release(struct subgraph *subgraph);

/* The known type of a value of its model. */
void subgraph_type(const struct subgraph *subgraph, uint32_t value, struct value_type *ret);

/* Whether the shape of the value is static; false for values that are not tensors. */
bool subgraph_is_static(const struct subgraph *subgraph, uint32_t value);

/* Equal for equal node sets, inputs, outputs and frozen values of one edition of one model. */
struct hash subgraph_identity(const struct subgraph *subgraph);

/* Adds to `ret` (values) the inputs, outputs and captures of the nodes, the subgraph's outputs, and the parameters in
 * quantization annotations of these. */
void subgraph_used_values(const struct subgraph *subgraph, struct bitset *ret);

/* Initializes the part of `whole` that consists of these nodes. Tensors that they read from other nodes (captures
 * included) become inputs, in order of first use; outputs of `whole` stay outputs, and tensors that other nodes read
 * become outputs. */
void subgraph_init_nodes(struct subgraph *subgraph, const struct subgraph *whole, const struct bitset *nodes);

/* Like subgraph_init_nodes() for single nodes, one after the other: the walk through the whole graph is done once. */
struct node_cutter {
    struct subgraph part;  /* the node that was extracted last */
    struct bitset wanted;  /* values that other nodes may read, and outputs of the whole */
    struct bitset touched; /* values; empty between calls */
};

void node_cutter_init(struct node_cutter *cutter, const struct subgraph *whole);
const struct subgraph *node_cutter_cut(struct node_cutter *cutter, uint32_t node); /* valid until the next call */
void node_cutter_release(struct node_cutter *cutter);

/* Makes the outputs of `node` the only outputs, except omitted ones. */
void subgraph_mark_outputs(struct subgraph *subgraph, uint32_t node);

/* Makes the inputs and captures of `node` the only inputs, each tensor once; constants stay constants. Outputs of the
 * producers of these inputs are no longer outputs (otherwise the producers would stay without their inputs), unless no
 * output would be left. */
void subgraph_mark_inputs(struct subgraph *subgraph, uint32_t node);

/* Drops nodes that no output depends on, and unused inputs. The walk from the outputs stops at inputs and at members of
 * `constants` (values; NULL: none). Appends to `ret_constants` (may be NULL) the constants reached, and to
 * `ret_missing` the required values that have no source in the subgraph. */
void subgraph_clean(struct subgraph *subgraph, const struct bitset *constants, struct value_list *ret_constants,
                    struct value_list *ret_missing);

/* Adds to `constants` (values to be frozen) all values that the subgraph computes only from these and other constants.
 * Random operators, quantization, and nodes that produce values other than tensors are never folded. */
void subgraph_fold(const struct subgraph *subgraph, struct bitset *constants);

/* The place of a value in a list; SIZE_MAX: it is not there. */
size_t value_list_place(const struct value_list *list, uint32_t value);
bool value_list_has(const struct value_list *list, uint32_t value);
void value_list_add(struct value_list *list, uint32_t value);

/* Appends the values of `range` that are not in `taken`, each once, and adds them to `taken`. */
void value_list_add_edges(const struct model *model, struct edge_range range, struct bitset *taken,
                          struct value_list *list);

/* Converts a list to a set, for many lookups; the model has `value_count` values. */
void value_list_to_set(const struct value_list *list, size_t value_count, struct bitset *ret);
void value_list_assign(struct value_list *list, const struct value_list *from);

#endif
