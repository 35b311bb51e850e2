/* cli/tensor_json.h: tensors in the JSON files that tools write about them. */
#ifndef CLI_TENSOR_JSON_H
#define CLI_TENSOR_JSON_H

#include "format/json/writer.h"
#include "onnx/proto/value_info.h"
#include "tensor/values/tensor.h"

/* Adds the members "dtype" and "shape" to the object that is open. */
void tensor_json_type(struct json_writer *writer, const struct tensor *tensor);

/* The same of what a model says of a tensor: null for what it does not. A dynamic dimension is its name, or null. */
void tensor_json_value_type(struct json_writer *writer, const struct value_type *type);

/* Adds the member "values": the elements in one list, whatever the shape. */
void tensor_json_values(struct json_writer *writer, const struct tensor *tensor);

#endif
