/* format/json/tensor.h: tensors in the tools' JSON files. */
#ifndef FORMAT_JSON_TENSOR_H
#define FORMAT_JSON_TENSOR_H

#include "format/json/writer.h"
#include "onnx/proto/value_info.h"
#include "tensor/values/tensor.h"

/* Adds the members "dtype" and "shape" to the current object. */
void tensor_json_type(struct json_writer *writer, const struct tensor *tensor);

/* The same for a tensor's type in a model: null if unknown. A dynamic dimension is its name, or null. */
void tensor_json_value_type(struct json_writer *writer, const struct value_type *type);

/* Adds the member "values": the elements as one flat list. */
void tensor_json_values(struct json_writer *writer, const struct tensor *tensor);

#endif
