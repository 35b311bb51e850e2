/* onnx/edit/rebuild.h: replaces, sorts and removes the nodes of a model.
 *
 * Only the index changes: existing nodes stay in the file, new ones belong to the model. Nodes are renumbered, so
 * create subgraphs afterwards. Values keep their numbers.
 */
#ifndef ONNX_EDIT_REBUILD_H
#define ONNX_EDIT_REBUILD_H

#include "onnx/model/model.h"

/* Replaces all nodes by these, in this order: NodeProtos with tag and length, either `field` of the model's nodes or
 * results of node_build() and node_rename() in the model's arena. Updates producers, edges and captures. After an error
 * (a damaged new node) the model can only be freed. */
int model_set_nodes(struct model *model, const struct span_list *fields, struct error *err);

/* Sorts the nodes topologically (captures of bodies count as inputs). Sorted nodes keep their order. ERR_CORRUPT for a
 * cycle, with the names of its nodes; the order is then unchanged. */
int model_sort_nodes(struct model *model, struct error *err);

/* Returns the order of model_sort_nodes() without changing the model: indices of nodes, malloc'd. After an error `ret`
 * is unchanged. */
int model_order_nodes(const struct model *model, struct value_list *ret, struct error *err);

/* Removes the nodes that no output of the model depends on. Unused inputs stay: they are part of the model's
 * interface. */
int model_remove_unneeded_nodes(struct model *model, struct error *err);

#endif
