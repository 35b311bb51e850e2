/* debug/accuracy/inputs.h: all that an answer depends on beside the words of the command line: the model and its
 * external data, input data, runtimes and programs of runners, the processor and the environment.
 */
#ifndef DEBUG_ACCURACY_INPUTS_H
#define DEBUG_ACCURACY_INPUTS_H

#include "debug/accuracy/study.h"
#include "debug/candidate/watched_files.h"

/* Adds the files, as they are now. Errors are those of reading the model. */
int accuracy_inputs_find(const struct accuracy_settings *settings, struct watched_files *ret, struct error *err);

/* The library of ONNX Runtime that the words of a runner name; NULL: none. */
const char *accuracy_library_of(struct words words);

/* Of these files, the processor and the environment. */
struct hash accuracy_inputs_hash(const struct watched_files *files);

#endif
