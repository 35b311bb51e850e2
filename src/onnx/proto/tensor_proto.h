/* onnx/proto/tensor_proto.h: the TensorProto message: weights and constants inside a model. */
#ifndef ONNX_PROTO_TENSOR_PROTO_H
#define ONNX_PROTO_TENSOR_PROTO_H

#include "base/text/text.h"
#include "tensor/values/tensor.h"

/* The location of a tensor's bytes outside the model file. */
struct external_location {
    struct text location; /* relative path */
    uint64_t offset;
    uint64_t length; /* 0 with !has_length: to the end of the file */
    bool has_length;
};

/* A decoded TensorProto without its data. */
struct tensor_header {
    struct text name;
    enum data_type type;
    struct shape shape;
    bool external;
    struct external_location place; /* when external */
    struct span raw;                /* raw_data; empty when the data are in typed fields or external */
    bool has_raw;
};

/* Decodes everything except typed data. ERR_CORRUPT names the tensor. */
int tensor_proto_read(struct span message, struct tensor_header *ret, struct error *err);

/* Decodes a tensor: raw data are borrowed from the message, typed data are copied. ERR_UNSUPPORTED for external data:
 * see onnx/external/tensor.h. */
int tensor_proto_decode(struct span message, struct tensor *ret, struct error *err);

/* Appends the fields of a TensorProto for `tensor` without raw data (strings: with their data), to be followed by
 * TENSOR_RAW_DATA. */
void tensor_proto_write_header(struct string_builder *out, struct text name, const struct tensor *tensor);

/* Appends the complete TensorProto, data included. For large tensors see model_set_tensor() in
 * onnx/edit/constants.h. */
void tensor_proto_write(struct string_builder *out, struct text name, const struct tensor *tensor);

#endif
