/* comparator/infer/subprocess.h: work on models in a process of its own, so that a runtime that crashes takes only
 * itself along.
 */
#ifndef COMPARATOR_INFER_SUBPROCESS_H
#define COMPARATOR_INFER_SUBPROCESS_H

#include "format/polygraphy/run_results.h"

/* Fills `ret`, which is empty on entry. */
typedef int subprocess_work(void *data, struct run_results *ret, struct error *err);

/* Has `work` done in a copy of this process, on `data` as they are now, and appends its results to `ret`; they come
 * back through a temporary file. `name` is whose process it is, for messages. ERR_BACKEND when the process dies, else
 * the error of the work. To be called before this process itself has loaded a runtime, whose threads a copy would not
 * have. */
int subprocess_run(const char *name, subprocess_work *work, void *data, struct run_results *ret, struct error *err);

#endif
