/* backend/failing_operator.h: which operator ONNX Runtime or TensorRT complains of. */
#ifndef BACKEND_FAILING_OPERATOR_H
#define BACKEND_FAILING_OPERATOR_H

#include <stdbool.h>

#include "base/text/text.h"

/* Finds the type of the node that an error message of the runtime names, whatever stands around that message. What the
 * runtime has fused goes by the name of the first operator ("Gemm" for FusedGemm). `ret` lies in `message`. False when
 * it names none. */
bool failing_operator(const char *message, struct text *ret);

/* The functions of the model around the node that TensorRT's parser refuses: "inner of outer". */
bool failing_functions(const char *message, struct text *ret);

#endif
