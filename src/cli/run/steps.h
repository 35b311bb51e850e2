/* cli/run/steps.h: `run --steps`: a decoder as it is used, a prefill and then one token in each step; finds the first
 * step that fails, and the step in which the difference enters.
 */
#ifndef CLI_RUN_STEPS_H
#define CLI_RUN_STEPS_H

#include "cli/run/model.h"
#include "cli/run/step_outcome.h"

/* ERR_INVALID for --steps with options that it excludes, and for its options without it. */
int run_steps_check(const struct command_context *context, const struct run_settings *settings, struct error *err);

/* Finds the roles of the inputs, and makes `file` generate representative data of a prefill: empty caches. */
int run_steps_prepare(const struct command_context *context, const struct run_settings *settings,
                      struct model_file_settings *file, struct step_outcome *ret, struct error *err);

/* Runs all steps, and reports them. With --first-divergence the comparisons are not reported: those of the tensors
 * inside the model follow. */
int run_steps(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
              struct step_outcome *ret, bool *ret_passed, struct error *err);

/* Writes the inputs of a step for --load-inputs. `feed` NULL: no step fails; a file of an earlier run is removed. */
int step_inputs_save(const char *path, const struct tensor_list *feed, size_t step, struct log *log, struct error *err);

#endif
