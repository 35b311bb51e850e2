/* onnx/edit/rebuild.h: other nodes, another order, other constants.
 *
 * The index changes, the file does not: what stays of it stays where it is, and what is new belongs to the model. A
 * change of the nodes renumbers them, so subgraphs have to be made after it. Values keep their numbers.
 */
#ifndef ONNX_EDIT_REBUILD_H
#define ONNX_EDIT_REBUILD_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* Makes these the nodes, in this order: NodeProtos with tag and length, `field` of nodes that the model has, and what
 * node_build() and node_rename() have made in the model's arena, in any mixture. Producers, edges and captures follow.
 * After an error (a made node is damaged) the model can only be freed. */
int model_set_nodes(struct model *model, const struct span_list *fields, struct error *err);

/* Puts every node behind those that make what it reads, its bodies included. Nodes that are in order stay as they are.
 * A cycle is ERR_CORRUPT, which names the nodes on it; the order is then as before. */
int model_sort_nodes(struct model *model, struct error *err);

/* That order, without changing anything: indices of nodes, malloc'd. After an error `ret` is as it was. */
int model_order_nodes(const struct model *model, struct value_list *ret, struct error *err);

/* Makes `value` a constant, or another constant: a TensorProto, of whatever name, whose bytes have to outlive the
 * model. A node that makes the value has to go. */
void model_set_initializer(struct model *model, uint32_t value, struct span tensor);

/* The same with a copy of `tensor`. ERR_MEMORY when there is no room for it. */
int model_set_tensor(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err);

/* The same with a tensor of this type (not strings) and shape, whose data, tensor_bytes() of them, the caller fills
 * in. */
int model_new_tensor(struct model *model, uint32_t value, enum data_type type, const struct shape *shape, void **ret,
                     struct error *err);

/* Memory that is freed with the model, for what is too large for its arena. NULL when it cannot be had. */
void *model_allocate(struct model *model, size_t size);

/* These values (a set) are constants no longer. To be done for what a node makes from now on; constants that nothing
 * uses are never written anyway. */
void model_remove_initializers(struct model *model, const struct bitset *values);

#endif
