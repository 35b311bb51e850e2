/* onnx/model/standard_operators.h: the operators of ONNX itself. */
#ifndef ONNX_MODEL_STANDARD_OPERATORS_H
#define ONNX_MODEL_STANDARD_OPERATORS_H

#include <stdbool.h>

#include "base/text/text.h"

/* Whether any version of ONNX's own operator set, up to 26, has an operator of this name. */
bool operator_is_standard(struct text op_type);

#endif
