/* cli/model_trial.h: a model that a command writes for the user to keep is loaded once by ONNX Runtime before it is
 * written.
 *
 * The runtime loads it in a process of its own (backend/onnxrt/apart/backend.h), without the numbers of its weights, so
 * that neither a crash nor the size of the model does harm.
 */
#ifndef CLI_MODEL_TRIAL_H
#define CLI_MODEL_TRIAL_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "onnx/model/subgraph.h"

/* ERR_BACKEND with the runtime's reason when it refuses `subgraph`, which is to be written to `path`, but takes the
 * model that the command has read. A warning when it refuses that one as well (it may need operators that are not here,
 * or be damaged and under repair), or when only the kernel of an operator is missing here; a line when the model was
 * not tried. A model without nodes needs no trial. Other errors: ERR_INTERRUPTED. */
int model_trial_run(const struct command_context *context, const struct model_file_settings *file,
                    const struct subgraph *subgraph, const char *path, struct error *err);

/* Whether the runtime takes `subgraph`; true where that cannot be tried. Errors: ERR_INTERRUPTED. */
int model_trial_takes(const struct command_context *context, const struct model_file_settings *file,
                      const struct subgraph *subgraph, bool *ret, struct error *err);

#endif
