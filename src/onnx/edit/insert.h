/* onnx/edit/insert.h: inserts a node into a model. */
#ifndef ONNX_EDIT_INSERT_H
#define ONNX_EDIT_INSERT_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"
#include "onnx/edit/node.h"

/* Inserts a node that reads and produces tensors of the model; an empty name means an omitted one.
 *
 * An output that is also an input becomes a new tensor, which the consumers of the old one read. If the old one is an
 * output of the model, the new one gets its name, and the old one becomes "<name>_polygraphy_surgeon_insert_output";
 * else the new one gets that name. Other outputs lose their former producers.
 *
 * The node is placed after the last producer of its inputs. If a consumer of its outputs comes earlier, the node and
 * its dependencies are moved before that consumer. `ret_node` gets its index; its outputs keep the types of the old
 * tensors. ERR_INVALID for an unknown tensor and for a repeated output. After ERR_CORRUPT (a cycle) the model can only
 * be freed. */
int model_insert_node(struct model *model, const struct node_recipe *recipe, uint32_t *ret_node, struct error *err);

/* Adds to `ret` (values) all outputs of `node` and of its descendants. */
void model_add_descendants(const struct model *model, uint32_t node, struct bitset *ret);

#endif
