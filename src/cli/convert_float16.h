/* cli/convert_float16.h: --fp-to-fp16, as far as ONNX Runtime goes along with it.
 *
 * ONNX lets operators compute in float16 for which ONNX Runtime has no float16, and there are more of them the older
 * the operator set is. Which ones these are is found by loading the converted model.
 */
#ifndef CLI_CONVERT_FLOAT16_H
#define CLI_CONVERT_FLOAT16_H

#include "cli/model_trial.h"

/* `*model` is as model_file_load() gives it. If ONNX Runtime refuses it, but takes the one that is not converted, it is
 * replaced by one in which the operators that are refused compute in float32; a warning names them. */
int convert_float16_settle(const struct command_context *context, struct model **model, struct error *err);

#endif
