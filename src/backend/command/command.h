/* backend/command/command.h: a command of the user's as a backend: whatever runs a model, wherever it is.
 *
 *   request.settings = &(struct runner_command){.name = "phone", .line = "./run.sh {model} {inputs} {outputs}"};
 *   command_backend.open(&request, &session, err);
 *
 * The command is given the model and the inputs as files and leaves the outputs as one. It runs in the user's folder,
 * with an empty standard input; files lie in a folder of their own, which is removed with the session. It has ended
 * well when it ends with exit code 0 and has left the outputs that the model has; anything else is ERR_BACKEND, with
 * how it ended in front and the last line that it wrote behind, and what it wrote goes to the log. A command that a
 * shell does not find is ERR_MISSING, one that cannot be executed ERR_IO, and so is the end with 125, by which a
 * command says that it could not run the model, whatever that is like.
 *
 * The module backend/command/ turns requests into lines of a shell and files into tensors: line.h knows the line,
 * files.h the formats, outputs.h what the model has promised. It may use base/process/, models and formats, and no
 * other backend.
 */
#ifndef BACKEND_COMMAND_COMMAND_H
#define BACKEND_COMMAND_COMMAND_H

#include "backend/backend.h"
#include "backend/command/line.h"

/* In the environment of a command: the paths that placeholders stand for. */
#define COMMAND_MODEL_VARIABLE "POLYGRAPHY_MODEL"
#define COMMAND_INPUTS_VARIABLE "POLYGRAPHY_INPUTS"
#define COMMAND_OUTPUTS_VARIABLE "POLYGRAPHY_OUTPUTS"
#define COMMAND_ENGINE_VARIABLE "POLYGRAPHY_ENGINE"

/* Its `settings` are a struct runner_command. */
extern const struct backend command_backend;

#endif
