/* onnx/edit/insert.h: putting a node into the middle of a model. */
#ifndef ONNX_EDIT_INSERT_H
#define ONNX_EDIT_INSERT_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"
#include "onnx/edit/node.h"

/* Inserts a node that reads and makes tensors of the model; an empty name stands for an omitted one.
 *
 * An output that is an input, too, becomes a new tensor: what read the old one reads the new one. When the old one is
 * an output of the model, the new one takes its name, and the old one is called
 * "<name>_polygraphy_surgeon_insert_output"; else the new one is called so. What made any other output before does so
 * no longer.
 *
 * The node stands behind the last producer of its inputs. Where that is behind a reader of its outputs, it moves in
 * front of that, together with what it needs. `ret_node` is its number; its outputs are described as the tensors were
 * before. ERR_INVALID for a tensor that the model does not have, and for an output that is named twice. After
 * ERR_CORRUPT, for a cycle, the model can only be freed. */
int model_insert_node(struct model *model, const struct node_recipe *recipe, uint32_t *ret_node, struct error *err);

/* Adds to `ret` (values) everything that `node` makes, directly or through other nodes. */
void model_add_descendants(const struct model *model, uint32_t node, struct bitset *ret);

#endif
