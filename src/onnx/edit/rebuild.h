/* onnx/edit/rebuild.h: other nodes, and another order.
 *
 * The index changes, the file does not: what stays of it stays where it is, and what is new belongs to the model. A
 * change of the nodes renumbers them, so subgraphs have to be made after it. Values keep their numbers.
 */
#ifndef ONNX_EDIT_REBUILD_H
#define ONNX_EDIT_REBUILD_H

#include "onnx/model/model.h"

/* Makes these the nodes, in this order: NodeProtos with tag and length, `field` of nodes that the model has, and what
 * node_build() and node_rename() have made in the model's arena, in any mixture. Producers, edges and captures follow.
 * After an error (a made node is damaged) the model can only be freed. */
int model_set_nodes(struct model *model, const struct span_list *fields, struct error *err);

/* Puts every node behind those that make what it reads, its bodies included. Nodes that are in order stay as they are.
 * A cycle is ERR_CORRUPT, which names the nodes on it; the order is then as before. */
int model_sort_nodes(struct model *model, struct error *err);

/* That order, without changing anything: indices of nodes, malloc'd. After an error `ret` is as it was. */
int model_order_nodes(const struct model *model, struct value_list *ret, struct error *err);

/* Removes the nodes that no output of the model depends on. Inputs stay, used or not: they are the model's
 * interface. */
int model_remove_unneeded_nodes(struct model *model, struct error *err);

#endif
