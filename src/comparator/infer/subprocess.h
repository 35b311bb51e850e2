/* comparator/infer/subprocess.h: runs models in a separate process, so that a crash of the runtime does not affect this
 * one.
 */
#ifndef COMPARATOR_INFER_SUBPROCESS_H
#define COMPARATOR_INFER_SUBPROCESS_H

#include "format/polygraphy/run_results.h"

/* Does the work; fills `ret`, which is empty on entry. */
typedef int subprocess_work(void *data, struct run_results *ret, struct error *err);

/* Calls `work` in a forked copy of this process, and appends its results, passed through a temporary file, to `ret`.
 * `name` is the runner's name, for messages. ERR_BACKEND if the process dies, else the error of the work. Call it
 * before this process has loaded a runtime, whose threads a fork would not copy. */
int subprocess_run(const char *name, subprocess_work *work, void *data, struct run_results *ret, struct error *err);

#endif
