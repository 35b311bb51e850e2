/* engine/run/executor.h: runs an engine.
 *
 * The module engine/run/ runs engines. The executor keeps a variant for each set of input shapes, with a step for each
 * layer and their shared memory. It depends on engine/plan/ and its dependencies; the builder uses its steps.
 *
 * The first run with a set of input shapes creates the kernels (which pack their weights) and plans memory: tensors
 * whose lifetimes do not overlap share memory. Kernels and plans of a few sets of shapes are kept.
 */
#ifndef ENGINE_RUN_EXECUTOR_H
#define ENGINE_RUN_EXECUTOR_H

#include "engine/plan/engine.h"

struct executor;

int executor_new(const struct engine *engine, struct log *log, struct executor **ret, struct error *err);
void executor_free(struct executor *executor);

/* Like run() of struct backend. ERR_INVALID if a shape is outside of all profiles. */
int executor_run(struct executor *executor, const struct tensor_list *feed, const struct words *wanted,
                 struct tensor_list *ret, double *seconds, struct error *err);

/* Total seconds of each layer (network->layers.count) in all profiled runs. */
void executor_set_profiling(struct executor *executor, bool on);
const double *executor_layer_seconds(const struct executor *executor, size_t *ret_runs);

/* Bytes of the memory plan, with and without reuse. */
size_t executor_memory(const struct executor *executor, size_t *ret_without_reuse);

/* Logs both as a table (--profile): milliseconds per run, share, precision, tactic and name of each layer, the slowest
 * first. Logs nothing before a run was profiled. */
void executor_log_profile(const struct executor *executor, const struct engine *engine, struct log *log);

#endif
