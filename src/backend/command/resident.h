/* backend/command/resident.h: a command of the user's that stays, and is asked by lines of JSON.
 *
 * docs/your-own-engine.md describes the protocol: a greeting with the version, then requests, each of which is answered
 * by a line with its number. The process is that of a host (base/process/staying.h), which outlives this session, so
 * the next one finds it started. One that has ended between two requests is started again, and builds the model again.
 */
#ifndef BACKEND_COMMAND_RESIDENT_H
#define BACKEND_COMMAND_RESIDENT_H

#include "backend/command/line.h"
#include "base/log.h"
#include "base/process/staying.h"

struct command_resident;

/* Starts the host that runners need which stay, if one of the words (of a command line) is the line of such a runner:
 * before threads exist. Else, and where there is a host, `*ret` is NULL. Stop it by staying_host_stop(). */
int command_host_start(struct words words, struct staying_host **ret, struct error *err);

/* Has the command build the model at `model`, which has to stay there, as `command` has to. Errors as in command.h. */
int command_resident_open(const struct runner_command *command, struct log *log, const char *model,
                          struct command_resident **ret, struct error *err);
void command_resident_close(struct command_resident *resident); /* accepts NULL */

/* Has the command read `inputs` and write `outputs`. `ret` has the time of the inference, as the command says it or
 * measured from here, and what the command has written. */
int command_resident_infer(struct command_resident *resident, const char *inputs, const char *outputs,
                           struct process_result *ret, struct error *err);

#endif
