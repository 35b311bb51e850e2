/* onnx/proto/value_info.h: ValueInfoProto, the type and shape of a tensor: decoding and encoding. */
#ifndef ONNX_PROTO_VALUE_INFO_H
#define ONNX_PROTO_VALUE_INFO_H

#include "base/container/arena.h"
#include "base/text/text.h"
#include "tensor/values/tensor.h"

struct value_type {
    const char *not_a_tensor; /* "sequence", "map", "optional", "sparse tensor", "opaque"; NULL for a tensor */
    enum data_type element;   /* of a tensor; DATA_UNDEFINED if unknown */
    bool has_shape;
    struct shape shape;                   /* -1: a dynamic dimension */
    struct text symbols[TENSOR_MAX_RANK]; /* names of dynamic dimensions; size 0: unnamed */
};

/* Decodes a ValueInfoProto. Damage, and more than TENSOR_MAX_RANK dimensions, make the shape (or type) unknown: the
 * runtime that loads the model reports them. */
void value_info_decode(struct span info, struct value_type *ret);

/* Whether the type is sufficient for a graph input: a tensor with element type and shape, or not a tensor. */
bool value_type_is_complete(const struct value_type *type);

/* The size of the tensor in bytes; 0 if unknown, and for strings and other types than tensors. */
size_t value_info_bytes(struct span info);

/* Encodes a ValueInfoProto for `name`, allocated in `arena`; without a type if `type` is NULL. */
struct span value_info_make(struct arena *arena, struct text name, const struct value_type *type);

/* A copy of a ValueInfoProto with another name. */
struct span value_info_rename(struct arena *arena, struct span info, struct text name);

#endif
