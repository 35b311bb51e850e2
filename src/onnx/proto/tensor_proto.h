/* onnx/proto/tensor_proto.h: the TensorProto message: weights and constants inside a model. */
#ifndef ONNX_PROTO_TENSOR_PROTO_H
#define ONNX_PROTO_TENSOR_PROTO_H

#include "base/text/text.h"
#include "tensor/values/tensor.h"

/* Where a tensor's bytes lie when they are not in the model file. */
struct external_location {
    struct text location; /* relative path */
    uint64_t offset;
    uint64_t length; /* 0 with !has_length: to the end of the file */
    bool has_length;
};

/* A TensorProto, decoded as far as possible without touching its data. */
struct tensor_header {
    struct text name;
    enum data_type type;
    struct shape shape;
    bool external;
    struct external_location place; /* when external */
    struct span raw;                /* raw_data; empty when the data are in typed fields or external */
    bool has_raw;
};

/* Reads everything but typed data. ERR_CORRUPT names the tensor. */
int tensor_proto_read(struct span message, struct tensor_header *ret, struct error *err);

/* The tensor itself: borrowed from the message where it holds raw data, else decoded into memory of its own. External
 * data are an error here: see onnx/external/data.h. */
int tensor_proto_decode(struct span message, struct tensor *ret, struct error *err);

/* The fields of a TensorProto for `tensor` but for its raw data (strings: with their data), to be followed by
 * TENSOR_RAW_DATA. `out` is appended to. */
void tensor_proto_write_header(struct string_builder *out, struct text name, const struct tensor *tensor);

/* The whole TensorProto, data included. For tensors that may be large, see model_set_tensor() in
 * onnx/edit/rebuild.h. */
void tensor_proto_write(struct string_builder *out, struct text name, const struct tensor *tensor);

#endif
