/* engine/run/executor.h: runs an engine.
 *
 * The first run with a set of input shapes makes the kernels (they pack their weights), and then plans memory: tensors
 * whose lifetimes do not overlap share it. Kernels and plans for a few sets of shapes are kept.
 */
#ifndef ENGINE_RUN_EXECUTOR_H
#define ENGINE_RUN_EXECUTOR_H

#include "engine/engine.h"

struct executor;

int executor_new(const struct engine *engine, struct log *log, struct executor **ret, struct error *err);
void executor_free(struct executor *executor);

/* As struct backend's run(). ERR_INVALID when a shape is outside of every profile. */
int executor_run(struct executor *executor, const struct tensor_list *feed, const char *const *wanted,
                 size_t wanted_count, struct tensor_list *ret, double *seconds, struct error *err);

/* Seconds that each layer (network->layers.count) has taken in all runs so far, when that was switched on. */
void executor_set_profiling(struct executor *executor, bool on);
const double *executor_layer_seconds(const struct executor *executor, size_t *ret_runs);

/* Bytes of the memory plan, and what they would be without reuse. */
size_t executor_memory(const struct executor *executor, size_t *ret_without_reuse);

/* ---- for the builder: one layer at a time ---- */

struct layer_step;        /* a kernel, reorders of its inputs, roundings; for one layer and one set of input shapes */
struct layer_values {     /* of a tensor while the engine runs */
    struct tensor tensor; /* physical: size is that of its layout */
    struct layout layout;
    bool exists;
};

/* `values`: of every value of the model (model->values.count). The inputs of the layer exist there. */
int layer_step_new(const struct engine *engine, const struct layer *layer, const struct engine_layer *choice,
                   const struct layer_values *values, struct layer_step **ret, struct error *err);
void layer_step_free(struct layer_step *step);

/* Reorders and rounds inputs as needed, runs the kernel, rounds outputs. Output tensors that do not exist in `values`
 * are allocated there. */
int layer_step_run(struct layer_step *step, struct layer_values *values, struct error *err);

#endif
