/* onnx/model/subgraph.h: a part of a model: which nodes remain, what is fed, what comes out, what is frozen to a
 * constant.
 *
 * A value: it can be copied, compared and hashed, and refers to its model without changing it. Nodes keep the model's
 * order.
 */
#ifndef ONNX_MODEL_SUBGRAPH_H
#define ONNX_MODEL_SUBGRAPH_H

#include "base/container/bitset.h"
#include "base/hash.h"
#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* A value that has become a constant. The tensor belongs to whoever recorded it. */
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
    const struct known_types *known; /* of the model's tensors, beside what it says itself; NULL: nothing */
    struct bitset nodes;
    struct value_list inputs, outputs; /* each value once */
    struct frozen_list frozen;
    /* tensors inside of it are described as far as the model's file does, whatever else is known of them */
    bool only_stated;
};

void subgraph_init_whole(struct subgraph *subgraph, const struct model *model);
void subgraph_init_copy(struct subgraph *subgraph, const struct subgraph *from);
void subgraph_release(struct subgraph *subgraph);

/* What is known of a value of its model. */
void subgraph_type(const struct subgraph *subgraph, uint32_t value, struct value_type *ret);

/* Whether all sizes of the value are stated; what is no tensor has none. */
bool subgraph_is_static(const struct subgraph *subgraph, uint32_t value);

/* Equal for equal node sets, inputs, outputs and frozen values of one model. */
struct hash subgraph_identity(const struct subgraph *subgraph);

/* Adds to `ret` (values) what the nodes read and write, what their subgraphs capture, the outputs, and what
 * quantization annotations of these name. */
void subgraph_used_values(const struct subgraph *subgraph, struct bitset *ret);

/* The part of `whole` that consists of these nodes: what they read of others (captures included) becomes an input, in
 * the order in which it is met; outputs of `whole` stay outputs, and what only other nodes read becomes one. */
void subgraph_init_nodes(struct subgraph *subgraph, const struct subgraph *whole, const struct bitset *nodes);

/* The same for one node after the other: what takes a walk through the whole is done once. */
struct node_cutter {
    struct subgraph part;  /* consists of the node that was cut out last */
    struct bitset wanted;  /* values that other nodes of the whole may read, and its outputs */
    struct bitset touched; /* values; empty between two cuts */
};

void node_cutter_init(struct node_cutter *cutter, const struct subgraph *whole);
const struct subgraph *node_cutter_cut(struct node_cutter *cutter, uint32_t node); /* valid until the next call */
void node_cutter_release(struct node_cutter *cutter);

/* Makes the outputs of `node` the only outputs. Omitted ones are no tensors. */
void subgraph_mark_outputs(struct subgraph *subgraph, uint32_t node);

/* Makes what `node` computes with the only inputs: each tensor once, those that its subgraphs capture included;
 * constants are left as they are. Outputs made by the producers of these inputs stop being outputs (else the
 * producers would stay, cut off from what they read), unless none would be left. */
void subgraph_mark_inputs(struct subgraph *subgraph, uint32_t node);

/* Drops nodes that no output depends on, and inputs that nothing uses. A walk from the outputs stops at inputs and
 * at members of `constants` (values; NULL: none). Appends to `ret_constants` (may be NULL) the constants it met, and
 * to `ret_missing` the values that are needed but that nothing in the subgraph makes. */
void subgraph_clean(struct subgraph *subgraph, const struct bitset *constants, struct value_list *ret_constants,
                    struct value_list *ret_missing);

/* Adds to `constants` (values to be frozen) everything that the subgraph computes from them and from other constants
 * alone. Random operators, quantisation, and nodes that make anything but tensors are never folded. */
void subgraph_fold(const struct subgraph *subgraph, struct bitset *constants);

bool value_list_has(const struct value_list *list, uint32_t value);
void value_list_add(struct value_list *list, uint32_t value);

/* The same as a set, for who looks up many: values of a model with `value_count` of them. */
void value_list_to_set(const struct value_list *list, size_t value_count, struct bitset *ret);
void value_list_assign(struct value_list *list, const struct value_list *from);

#endif
