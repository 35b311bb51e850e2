/* cli/debug/check_data.h: whether the data that a check compares with can be had for the parts of a model.
 *
 * `debug reduce` cuts a model anywhere, so that a check like `polygraphy run polygraphy_debug.onnx --load-inputs
 * in.json --load-outputs golden.json` needs data of tensors that the original has inside. What is missing would be
 * found out one candidate at a time, each of which says nothing; here it is said before the first.
 */
#ifndef CLI_DEBUG_CHECK_DATA_H
#define CLI_DEBUG_CHECK_DATA_H

#include "cli/options/reduce.h"
#include "cli/parse/command.h"
#include "onnx/model/model.h"

/* Looks into the files that the check of `debug reduce` names, when it is `polygraphy run` (words, or a plain line in
 * quotes); of any other check nothing is said. One warning tells which tensors are missing and which option gives them.
 * ERR_INVALID when nothing could be judged: no output of the model is in the file, or parts would be fed with data made
 * up on the spot and compared with values of others. `*ret_keep_inputs`: inputs must not be cut, for that reason. */
int check_data_look(const struct command_context *context, const struct debug_reduce_settings *settings,
                    struct model *model, bool *ret_keep_inputs, struct error *err);

#endif
