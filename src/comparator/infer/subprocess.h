/* comparator/infer/subprocess.h: a runner in a process of its own, so that a runtime that crashes takes only itself
 * along. */
#ifndef COMPARATOR_INFER_SUBPROCESS_H
#define COMPARATOR_INFER_SUBPROCESS_H

#include "comparator/infer/runner.h"

/* Like runner_run(). The results come back through a temporary file. ERR_BACKEND when the process dies. To be called
 * before this process itself has loaded a runtime, whose threads a new process would not have. */
int runner_run_apart(const struct runner *runner, struct data_loader *loader, const struct runner_settings *settings,
                     struct run_results *ret, struct error *err);

#endif
