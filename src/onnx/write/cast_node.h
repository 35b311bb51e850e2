/* onnx/write/cast_node.h: a Cast between two tensors. */
#ifndef ONNX_WRITE_CAST_NODE_H
#define ONNX_WRITE_CAST_NODE_H

#include "base/container/arena.h"
#include "onnx/edit/unused_names.h"
#include "tensor/values/data_type.h"

/* A node that makes `to`, in this type, of `from`; its name is made of `to`. A NodeProto with tag and length, made in
 * `arena`. */
struct span cast_node_build(struct arena *arena, struct unused_names *names, struct text from, struct text to,
                            enum data_type type);

#endif
