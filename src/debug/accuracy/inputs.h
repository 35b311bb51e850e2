/* debug/accuracy/inputs.h: all that an answer depends on beside the words of the command line: the model and its
 * external data, input data, runtimes and programs of runners, the processor and the environment.
 */
#ifndef DEBUG_ACCURACY_INPUTS_H
#define DEBUG_ACCURACY_INPUTS_H

#include "debug/accuracy/study.h"
#include "debug/candidate/watched_files.h"

/* Adds the files, as they are now. Errors are those of reading the model. */
int accuracy_inputs_find(const struct accuracy_settings *settings, struct watched_files *ret, struct error *err);

/* Of these files, the processor and the environment. */
struct hash accuracy_inputs_hash(const struct watched_files *files);

#endif
