/* cli/model_trial.h: loads an output model once in ONNX Runtime before it is written.
 *
 * The runtime loads it in a worker process (backend/onnxrt/apart/backend.h), without the values of its weights, so that
 * a crash or the model's size does not affect the command.
 */
#ifndef CLI_MODEL_TRIAL_H
#define CLI_MODEL_TRIAL_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "onnx/model/subgraph.h"

/* Fails with ERR_BACKEND and the runtime's reason if it refuses `subgraph`, which will be written to `path`, but
 * accepts the model that the command has read. Warns if it refuses both (operators may be missing, or the model may be
 * damaged and under repair), or if only the kernel of an operator is missing; logs a line if the model was not tested.
 * A model without nodes is not tested. Other errors: ERR_INTERRUPTED. */
int model_trial_run(const struct command_context *context, const struct model_file_settings *file,
                    const struct subgraph *subgraph, const char *path, struct error *err);

/* Whether the runtime accepts `subgraph`; true if that cannot be tested. Fails with ERR_INTERRUPTED. */
int model_trial_takes(const struct command_context *context, const struct model_file_settings *file,
                      const struct subgraph *subgraph, bool *ret, struct error *err);

#endif
