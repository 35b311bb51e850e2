/* cli/debug/check_data.h: tests whether a check has the data that subgraphs of the model need.
 *
 * `debug reduce` cuts a model anywhere, so a check like `polygraphy run polygraphy_debug.onnx --load-inputs in.json
 * --load-outputs golden.json` needs data of inner tensors of the original. Missing data would make the check of each
 * such candidate inconclusive; this reports them before the first.
 */
#ifndef CLI_DEBUG_CHECK_DATA_H
#define CLI_DEBUG_CHECK_DATA_H

#include "cli/options/reduce.h"
#include "cli/parse/command.h"
#include "onnx/model/model.h"

/* Examines the files that the check of `debug reduce` names, if it is `polygraphy run` (words, or a plain quoted line);
 * other checks are not examined. A warning names missing tensors and the options that save them. ERR_INVALID if nothing
 * could be judged: the file has no output of the model, or generated data would be compared with outputs for other
 * data. `*ret_keep_inputs`: inputs must not be cut, for that reason. */
int check_data_look(const struct command_context *context, const struct debug_reduce_settings *settings,
                    struct model *model, bool *ret_keep_inputs, struct error *err);

#endif
