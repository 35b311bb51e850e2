/* cli/debug/failing_step.h: `--steps` of a debug tool: `polygraphy run --steps` in a process of its own finds the step
 * of a decoder in which a difference enters, whose inputs become the tool's input data.
 */
#ifndef CLI_DEBUG_FAILING_STEP_H
#define CLI_DEBUG_FAILING_STEP_H

#include "cli/parse/command.h"
#include "cli/run/settings.h"

/* ERR_INVALID if the options lack the file for the inputs. */
int failing_step_check(const struct step_values *values, struct error *err);

/* Runs `run` with these words, of the model, two runners, data and tolerances, and the given options of steps. Logs
 * what it finds. `ret_fails`: whether a step fails; its inputs are then in the file of --save-step-inputs. ERR_BACKEND
 * if the steps cannot be run. */
int failing_step_find(const struct command_context *context, const struct word_list *words,
                      const struct step_values *values, bool *ret_fails, struct error *err);

#endif
