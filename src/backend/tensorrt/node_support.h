/* backend/tensorrt/node_support.h: which nodes of a model TensorRT's parser supports. It needs no GPU. */
#ifndef BACKEND_TENSORRT_NODE_SUPPORT_H
#define BACKEND_TENSORRT_NODE_SUPPORT_H

#include "backend/node_support.h"

/* Fills `ret`, which is empty and the caller's to release, with all nodes of the main graph and why the parser refuses
 * them. Types of tensors that the model describes help with parts of it. From TensorRT 10.8 on the parser is asked of
 * the model, then of the groups of nodes that it seems to support, until it does; before, node by node
 * (node_support_find()). Errors are those of tensorrt_build(). */
int tensorrt_node_support_find(struct model *model, struct node_support_list *ret, struct error *err);

#endif
