/* backend/command/outputs.h: whether what a command has left are the outputs of the model. */
#ifndef BACKEND_COMMAND_OUTPUTS_H
#define BACKEND_COMMAND_OUTPUTS_H

#include "backend/backend.h"

/* Why a command has failed where neither an exit code nor a signal says it, as the foreign_code of an error: above all
 * exit codes. */
enum command_failure {
    COMMAND_TIMED_OUT = 124, /* what timeout(1) ends with */
    COMMAND_LEFT_NOTHING = 256,
    COMMAND_LEFT_UNREADABLE,
    COMMAND_LEFT_TOO_FEW,
    COMMAND_LEFT_STRANGERS,
    COMMAND_LEFT_WRONG_SHAPE,
};

/* The outputs of the model, as far as it tells what they are. */
struct command_outputs {
    const struct backend_io *items;
    size_t count;
};

/* Moves the tensors that are `wanted` from `come` to `ret`, which is empty on entry, in the order of the former.
 * ERR_BACKEND, which tells what came and what was expected, when one is missing, when there is one that is no output of
 * the model, and when a shape is not what the model says, where it says that. Values are not looked at. That a type is
 * another one is a warning to `log` (may be NULL). */
int command_outputs_take(const struct command_outputs *outputs, const struct words *wanted, struct tensor_list *come,
                         struct log *log, struct tensor_list *ret, struct error *err);

#endif
