/* backend/tensorrt/settings.h: how a TensorRT engine is built and run: the options on engines, as data. */
#ifndef BACKEND_TENSORRT_SETTINGS_H
#define BACKEND_TENSORRT_SETTINGS_H

#include "backend/build_effort.h"
#include "base/log.h"
#include "onnx/model/mark_outputs.h"
#include "tensor/values/tensor.h"

/* The shapes of one input in one profile; static. Of a shape tensor: its values. */
struct tensorrt_shapes {
    const char *name;
    struct shape minimum, optimum, maximum;
};

struct tensorrt_profile {
    const struct tensorrt_shapes *items;
    size_t count;
};

struct tensorrt_profiles {
    const struct tensorrt_profile *items;
    size_t count;
};

struct tensorrt_named_type {
    const char *name; /* of a layer, or of a tensor */
    enum data_type type;
};

struct tensorrt_named_types {
    const struct tensorrt_named_type *items;
    size_t count;
};

/* nvinfer1::CalibrationAlgoType. */
enum tensorrt_calibration_algorithm {
    TENSORRT_LEGACY_CALIBRATION,
    TENSORRT_ENTROPY_CALIBRATION,
    TENSORRT_ENTROPY_CALIBRATION_2,
    TENSORRT_MINMAX_CALIBRATION,
};

/* Data for calibration. */
struct tensorrt_samples {
    struct tensor_list tensors; /* of the first sample, then of the second, ...: the same number in each */
    size_t count;
    bool are_generated;
};

enum tensorrt_constraints { TENSORRT_CONSTRAINTS_NONE, TENSORRT_CONSTRAINTS_PREFER, TENSORRT_CONSTRAINTS_OBEY };

/* Zeroed: TensorRT's defaults, but without TF32. Text and lists belong to others and outlive it. */
struct tensorrt_settings {
    struct log *log; /* what TensorRT warns of, and where it fails; may be NULL */

    /* Called while an engine is built: step `done` of `all` of a phase; with NULL at the end. NULL: not called. */
    void (*progress)(void *context, const char *phase, size_t done, size_t all);
    void *progress_context;

    /* what layers compute in */
    bool tf32, fp16, bf16, int8, fp8, strongly_typed;
    enum tensorrt_constraints constraints;
    struct tensorrt_named_types layer_precisions;    /* by names of ONNX nodes */
    struct tensorrt_named_types optional_precisions; /* the same, of nodes of which TensorRT may make no layer */
    struct tensorrt_named_types tensor_types;
    struct words tensor_formats;     /* "NAME:format[,format]" */
    struct words all_tensor_formats; /* of all inputs and outputs; in place of those */
    const char *all_tensor_type;     /* the same for `tensor_types`; NULL: not given */
    const char *calibration_cache;   /* that TensorRT has written; NULL: `samples` */
    enum tensorrt_calibration_algorithm calibration_algorithm;
    double calibration_quantile, regression_cutoff; /* of IInt8LegacyCalibrator */
    const struct tensorrt_samples *samples;         /* for int8 without a cache and QuantizeLinear nodes; may be NULL */

    /* the network */
    struct tensorrt_profiles profiles;      /* an input of unknown size that none names gets that of `default_shapes` */
    struct tensorrt_profile default_shapes; /* of inputs that profiles do not name; only `optimum` is read */
    struct output_names outputs;            /* --trt-outputs; no names: the model's own */
    struct words output_types;              /* --trt-outputs-by-type: types of layers */
    struct words excluded_outputs;
    struct words barriers; /* tensors that are outputs as well, so that nothing is fused across them */
    struct words onnx_flags;
    bool plugin_instance_norm;
    struct words plugins;

    /* how it is built */
    const char *tactics;           /* a tactic replay, as JSON, that the build has to follow (up to TensorRT 10) */
    bool frees_other_layers;       /* TensorRT chooses for layers that `tactics` lacks; else they are an error */
    bool reports_tactics;          /* the tactics that the build chooses are wanted (up to TensorRT 10) */
    const char *load_timing_cache; /* never changed; NULL: none */
    struct build_effort effort;
    bool without_timing_cache; /* tactics are timed anew, also those that this build has timed already */
    bool has_tactic_sources;
    struct words tactic_sources; /* only these, by TensorRT's names */
    struct words build_route;    /* knobs of TensorRT's compiler: "conv_lowering=off", with or without a '-' in front */
    struct words pool_limits;    /* "workspace:1G" */
    struct words preview_features, quantization_flags;
    bool sparse_weights, version_compatible, exclude_lean_runtime, disable_compilation_cache, safety_restricted,
        refittable, strip_plan, use_dla, allow_gpu_fallback, weight_streaming, direct_io, decomposable_attentions;
    int64_t max_aux_streams;
    bool has_max_aux_streams;
    const char *hardware_compatibility_level, *profiling_verbosity, *runtime_platform, *tiling_optimization_level,
        *engine_capability;
    struct words compute_capabilities; /* of the GPUs that TensorRT-RTX builds for: "8.6" */
    bool use_gpu;                      /* it builds for the GPU of this machine */

    /* tensors inside of the engine, which a run gives out besides its outputs, and of which a build knows */
    bool mark_unfused;
    struct words mark_debug;

    /* how it is run */
    int64_t optimization_profile;
    const char *allocation_strategy, *weight_streaming_budget, *lean_runtime;
    const char *refit_from; /* an ONNX model, whose weights the engine is given; NULL: its own */
    int64_t device;         /* CUDA's number of the GPU, for builds, too */
    bool profile;           /* times of layers go to the log when the session is closed */
};

#endif
