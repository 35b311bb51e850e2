/* onnx/model/function_call.h: what a node computes that calls one of the model's own functions, as a model of its
 * own. */
#ifndef ONNX_MODEL_FUNCTION_CALL_H
#define ONNX_MODEL_FUNCTION_CALL_H

#include "onnx/model/model.h"

/* The FunctionProto that `node` calls. False when its operator is none of the model's own functions. */
bool function_call_find(const struct model *model, uint32_t node, struct span *ret);

/* Makes the body of the function that `node` calls a model: the function's operator sets, the model's other functions,
 * inputs of the types that the caller's have, attributes with the caller's values. What the caller leaves out is left
 * out. The bytes live in the arena of `model`, which `ret` must not outlive. ERR_INVALID when the node calls no
 * function. */
int function_call_open(struct model *model, uint32_t node, struct model **ret, struct error *err);

#endif
