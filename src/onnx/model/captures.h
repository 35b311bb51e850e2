/* onnx/model/captures.h: the tensors of the main graph that a node's subgraphs (bodies of If, Loop, Scan, ...) use.
 *
 * They are inputs of the node in every sense but the listing: cut one off and the body refers to nothing.
 */
#ifndef ONNX_MODEL_CAPTURES_H
#define ONNX_MODEL_CAPTURES_H

#include "onnx/model/model.h"

bool captures_attribute_has_graph(struct span attribute);

/* Appends the captured values of the NodeProto `node` to model->edges and counts them in `ret`, each once. */
int captures_collect(struct model *model, struct span node, struct edge_range *ret, struct error *err);

#endif
