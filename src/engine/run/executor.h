/* engine/run/executor.h: runs an engine.
 *
 * The module engine/run/ runs engines: a feed comes in, outputs go out. The executor keeps a variant for each set of
 * input shapes, which has a step for each layer, and the memory that they share. It uses engine/plan/ and what that
 * uses; the builder uses its steps.
 *
 * The first run with a set of input shapes makes the kernels (they pack their weights), and then plans memory: tensors
 * whose lifetimes do not overlap share it. Kernels and plans for a few sets of shapes are kept.
 */
#ifndef ENGINE_RUN_EXECUTOR_H
#define ENGINE_RUN_EXECUTOR_H

#include "engine/plan/engine.h"

struct executor;

int executor_new(const struct engine *engine, struct log *log, struct executor **ret, struct error *err);
void executor_free(struct executor *executor);

/* As struct backend's run(). ERR_INVALID when a shape is outside of every profile. */
int executor_run(struct executor *executor, const struct tensor_list *feed, const struct words *wanted,
                 struct tensor_list *ret, double *seconds, struct error *err);

/* Seconds that each layer (network->layers.count) has taken in all runs so far, when that was switched on. */
void executor_set_profiling(struct executor *executor, bool on);
const double *executor_layer_seconds(const struct executor *executor, size_t *ret_runs);

/* Bytes of the memory plan, and what they would be without reuse. */
size_t executor_memory(const struct executor *executor, size_t *ret_without_reuse);

/* Both for people (--profile), as one table: milliseconds of a run, share, precision, tactic and name of each layer,
 * the longest first. Nothing before a run was profiled. */
void executor_log_profile(const struct executor *executor, const struct engine *engine, struct log *log);

#endif
