/* onnx/model/function_call.h: the function that a node calls, as a separate model. */
#ifndef ONNX_MODEL_FUNCTION_CALL_H
#define ONNX_MODEL_FUNCTION_CALL_H

#include "base/text/string_builder.h"
#include "onnx/model/model.h"

/* The FunctionProto that `node` calls. False if its operator is not a function of the model. */
bool function_call_find(const struct model *model, uint32_t node, struct span *ret);

/* Builds a model from the body of the function that `node` calls: the function's operator sets, the model's other
 * functions, inputs with the caller's types, attributes with the caller's values. Inputs that the caller omits are
 * omitted. The bytes are in the arena of `model`, which must outlive `ret`. ERR_INVALID if the node calls no
 * function. */
int function_call_open(struct model *model, uint32_t node, struct model **ret, struct error *err);

/* Builds a model from the body of `function`, a FunctionProto of `model`: the function's operator sets, the model's
 * other functions, inputs without types, attributes that refer to the caller's. The bytes are appended to `bytes`,
 * which is empty and must outlive `ret`, as `model` must. */
int function_open(const struct model *model, struct span function, struct string_builder *bytes, struct model **ret,
                  struct error *err);

#endif
