/* backend/tensorrt/engine.h: an engine of TensorRT on the GPU: loaded, described, run. In the worker process. */
#ifndef BACKEND_TENSORRT_ENGINE_H
#define BACKEND_TENSORRT_ENGINE_H

#include "backend/backend.h"
#include "backend/tensorrt/interfaces.h"
#include "backend/tensorrt/settings.h"

/* An input or output of the engine, or a tensor inside of it that is marked. */
struct tensorrt_tensor {
    struct backend_io io; /* its names and symbols belong to the engine's arena */
    bool is_host;         /* TensorRT has it in host memory: a shape tensor */
    bool is_debug;
    struct tensorrt_output_memory device; /* of inputs and outputs that are not in host memory */
    struct tensor host;                   /* of a shape tensor, and of an input in another type than given */
};

struct tensorrt_tensors {
    struct tensorrt_tensor *items;
    size_t count;
};

struct tensorrt_engine {
    const struct tensorrt_settings *settings;
    const struct tensorrt *trt;
    struct span plan; /* while it is loaded, as is the next */
    const struct backend_model *weights;
    void *runtime, *lean_runtime, *engine, *context, *stream;
    struct tensor_list *seen; /* gets debug tensors of a run; NULL: the run has a list of its own */
    void *workspace;          /* device memory of --allocation-strategy runtime */
    struct tensorrt_tensors inputs, outputs;
    struct tensorrt_layer_times times; /* of the last run, with settings->profile */
    struct arena arena;
};

/* Loads a plan, which may be released afterwards, and gives it the weights of the model `weights` (NULL: it keeps its
 * own); the settings outlive the engine. ERR_MISSING: no GPU answers. Errors of tensorrt_refit().
 * ERR_BACKEND: TensorRT does not load it. ERR_DEVICE_MEMORY: the GPU has too little memory. */
int tensorrt_engine_load(const struct tensorrt *trt, const struct tensorrt_settings *settings, struct span plan,
                         const struct backend_model *weights, struct tensorrt_engine *ret, struct error *err);
void tensorrt_engine_release(struct tensorrt_engine *engine); /* harmless on a zeroed struct */

/* As struct backend, run(). */
int tensorrt_engine_run(struct tensorrt_engine *engine, const struct tensor_list *feed, const struct words *wanted,
                        struct tensor_list *ret, double *seconds, struct error *err);

/* Appends what TensorRT's inspector says of the engine's layers, as JSON. */
int tensorrt_engine_layers(const struct tensorrt_engine *engine, struct string_builder *ret, struct error *err);

/* Logs the times of layers of the last run, with settings->profile. */
void tensorrt_engine_log_times(struct tensorrt_engine *engine);

#endif
