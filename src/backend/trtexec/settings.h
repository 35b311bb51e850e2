/* backend/trtexec/settings.h: what an engine of TensorRT's is asked to be: what the options on engines say, as data. */
#ifndef BACKEND_TRTEXEC_SETTINGS_H
#define BACKEND_TRTEXEC_SETTINGS_H

#include "backend/build_effort.h"
#include "backend/trtexec/program.h"
#include "base/log.h"
#include "onnx/model/mark_outputs.h"
#include "tensor/values/tensor.h"

/* The shapes of one input in one profile; static. */
struct trtexec_shapes {
    const char *name;
    struct shape minimum, optimum, maximum;
};

struct trtexec_profile {
    const struct trtexec_shapes *items;
    size_t count;
};

struct trtexec_named_type {
    const char *name; /* of a layer, or of a tensor */
    enum data_type type;
};

struct trtexec_named_types {
    const struct trtexec_named_type *items;
    size_t count;
};

enum trtexec_constraints { TRTEXEC_CONSTRAINTS_NONE, TRTEXEC_CONSTRAINTS_PREFER, TRTEXEC_CONSTRAINTS_OBEY };

/* Zeroed: TensorRT's defaults, but without TF32. Text and lists belong to others and outlive it. */
struct trtexec_settings {
    const struct trtexec *program;
    struct log *log; /* what TensorRT warns of, and where it fails; may be NULL */

    /* what layers compute in */
    bool tf32, fp16, bf16, int8, fp8, strongly_typed;
    enum trtexec_constraints constraints;
    struct trtexec_named_types layer_precisions;    /* by names of ONNX nodes */
    struct trtexec_named_types optional_precisions; /* the same, of nodes of which TensorRT may make no layer */
    struct trtexec_named_types tensor_types;
    struct words tensor_formats;   /* "NAME:format[,format]" */
    const char *calibration_cache; /* read only */

    /* the network */
    const struct trtexec_profile *profiles; /* an input of unknown size that none names gets that of `default_shapes` */
    size_t profile_count;
    struct trtexec_profile default_shapes; /* of inputs that profiles do not name; only `optimum` is read */
    struct output_names outputs;           /* --trt-outputs; no names: the model's own */
    struct words excluded_outputs;
    struct words barriers; /* tensors that are outputs as well, so that nothing is fused across them */
    struct words onnx_flags;
    bool plugin_instance_norm;
    struct words plugins;

    /* how it is built */
    const char *load_timing_cache; /* never changed; NULL: none */
    struct build_effort effort;
    bool without_timing_cache; /* tactics are timed anew, also those that this build has timed already */
    bool has_tactic_sources;
    struct words tactic_sources; /* only these, by TensorRT's names */
    struct words build_route;    /* knobs of TensorRT's compiler: "conv_lowering=off", with or without a '-' in front */
    struct words pool_limits;    /* "workspace:1G" */
    struct words preview_features, quantization_flags;
    bool sparse_weights, version_compatible, exclude_lean_runtime, disable_compilation_cache, safety_restricted,
        refittable, strip_plan, use_dla, allow_gpu_fallback, weight_streaming, direct_io;
    double regression_cutoff;
    int64_t max_aux_streams;
    bool has_max_aux_streams;
    const char *hardware_compatibility_level, *profiling_verbosity, *runtime_platform, *tiling_optimization_level,
        *engine_capability;

    /* tensors inside of the engine, which a run gives out besides its outputs, and of which a build knows */
    bool mark_unfused;
    struct words mark_debug;

    /* how it is run */
    int64_t optimization_profile;
    const char *allocation_strategy, *weight_streaming_budget, *lean_runtime;
    bool profile; /* times of layers go to the log when the session is closed */
};

#endif
