/* cli/inspect/tensor_json.h: tensors in the JSON files that tools write about them. */
#ifndef CLI_INSPECT_TENSOR_JSON_H
#define CLI_INSPECT_TENSOR_JSON_H

#include "format/json/writer.h"
#include "tensor/values/tensor.h"

/* Adds the members "dtype" and "shape" to the object that is open. */
void tensor_json_type(struct json_writer *writer, const struct tensor *tensor);

/* Adds the member "values": the elements in one list, whatever the shape. */
void tensor_json_values(struct json_writer *writer, const struct tensor *tensor);

#endif
