/* cli/options/runners/tensorrt.c: options that only TensorRT supports; the built-in engine ignores them with one
 * warning. */
#include "backend/tensorrt/settings.h"
#include "base/memory.h"
#include "cli/options/runners/engine.h"

#define TRT_ROW(how_many, what, field, name, text)                                                                     \
    {                                                                                                                  \
        .names = {name}, .kind = how_many, .type = what, OPTION_FIELD(struct engine_values, tensorrt.field),           \
        .help = text,                                                                                                  \
    }

#define ROW(member, ...) OPTION_ROW(struct engine_values, member, __VA_ARGS__)

static const struct option rows[] = {
    /* only for `run` */
    ROW(tensorrt.lean_runtime, .names = {"--load-runtime"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_READS, .help = "run a version-compatible engine with this lean runtime library"),
    TRT_ROW(OPTION_ONE, OPTION_INTEGER, optimization_profile, "--optimization-profile",
            "index of the optimization profile to run with, from 0"),
    ROW(tensorrt.allocation_strategy, .names = {"--allocation-strategy"}, .kind = OPTION_ONE,
        .choices = (const char *const[]){"static", "profile", "runtime", NULL},
        .help = "size of the allocated device memory: for all profiles (static), the selected profile (profile), or "
                "its actual shapes (runtime)"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, weight_streaming_budget, "--weight-streaming-budget",
            "device memory limit of weights, in bytes or percent"),
    ROW(tensorrt.refit_from, .names = {"--refit-from-onnx"}, .yields = true, .kind = OPTION_ONE, .value_name = "MODEL",
        .file = OPTION_READS,
        .help = "give a refittable or stripped engine the weights of this ONNX model, from TensorRT 10.0 on; a model "
                "that is built with --strip-plan gives its own"),
    /* for all tools that build engines */
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, sparse_weights, "--sparse-weights", "allow tactics for sparse weights"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, version_compatible, "--version-compatible",
            "build an engine that also runs on later versions"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, exclude_lean_runtime, "--exclude-lean-runtime",
            "do not include the lean runtime in the engine"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, disable_compilation_cache, "--disable-compilation-cache",
            "do not store compiled code in the timing cache"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, safety_restricted, "--trt-safety-restricted",
            "restrict the engine to the safety scope"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, refittable, "--refittable", "build an engine whose weights can be replaced"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, strip_plan, "--strip-plan",
            "leave out refittable weights; `run --refit-from-onnx` gives them to the engine"),
    ROW(tensorrt.device, .names = {"--device"}, .yields = true, .kind = OPTION_ONE, .type = OPTION_INTEGER,
        .value_name = "N", .help = "number of the GPU, from 0, that builds and runs engines"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, use_dla, "--use-dla", "run layers on a DLA core"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, allow_gpu_fallback, "--allow-gpu-fallback",
            "run layers that the DLA does not support on the GPU"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, weight_streaming, "--weight-streaming", "allow weights to stay in host memory"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, plugin_instance_norm, "--plugin-instancenorm",
            "use a plug-in for InstanceNormalization"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, mark_unfused, "--mark-unfused-tensors-as-debug-tensors",
            "also output all tensors between fused layers, without changing the fusions"),
    ROW(tensorrt.pool_limits, .names = {"--pool-limit", "--memory-pool-limit"}, .kind = OPTION_MANY,
        .value_name = "POOL:SIZE", .help = "size limits of memory pools, in bytes or with K, M or G: workspace:1G"),
    TRT_ROW(OPTION_ANY, OPTION_TEXT, preview_features, "--preview-features", "features to enable, by name"),
    TRT_ROW(OPTION_ANY, OPTION_TEXT, quantization_flags, "--quantization-flags",
            "quantization flags to set, by name (up to TensorRT 10)"),
    TRT_ROW(OPTION_MANY, OPTION_TEXT, onnx_flags, "--onnx-flags", "flags of its ONNX parser, by name"),
    TRT_ROW(OPTION_MANY, OPTION_TEXT, mark_debug, "--mark-debug", "also output these tensors; no fusion crosses them"),
    TRT_ROW(OPTION_ONE, OPTION_FLOAT, regression_cutoff, "--regression-cutoff",
            "with IInt8LegacyCalibrator on TensorRT: regression cutoff (default: 0.5)"),
    TRT_ROW(OPTION_ONE, OPTION_INTEGER, max_aux_streams, "--max-aux-streams",
            "maximum number of auxiliary CUDA streams"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, hardware_compatibility_level, "--hardware-compatibility-level",
            "devices that the engine runs on: none, ampere_plus, same_compute_capability"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, profiling_verbosity, "--profiling-verbosity",
            "layer information in the engine: detailed (default), layer_names_only, none"),
    ROW(tensorrt.build_route, .names = {"--build-route"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "KNOB=VALUE", .append = true,
        .help = "knobs of the compiler, from 11.1 on: conv_lowering=off kgen:tiling=0; `debug passes --trt` finds "
                "those that cause a difference"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, runtime_platform, "--runtime-platform", "target system of the engine"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, tiling_optimization_level, "--tiling-optimization-level",
            "tiling optimization level: none, fast, moderate, full"),
    ROW(tensorrt.direct_io, .names = {"--direct-io"}, .yields = true, .kind = OPTION_FLAG,
        .help = "no reformatting of inputs and outputs"),
    ROW(tensorrt.tensor_formats, .names = {"--tensor-formats"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "NAME:[FORMAT,...]", .help = "memory formats of inputs and outputs: x:[linear,chw4]"),
    ROW(tensorrt.all_tensor_formats, .names = {"--all-tensor-formats"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "FORMAT", .help = "memory formats of all inputs and outputs, in place of --tensor-formats"),
    ROW(tensorrt.all_tensor_type, .names = {"--all-tensor-dtypes", "--all-tensor-datatypes"}, .yields = true,
        .kind = OPTION_ONE, .value_name = "TYPE",
        .help = "data type of all inputs and outputs, in place of --tensor-dtypes (up to TensorRT 10)"),
    ROW(tensorrt.output_types, .names = {"--trt-outputs-by-type"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "TYPE",
        .help = "make the outputs of all layers of these types of TensorRT's the only outputs: CONVOLUTION ACTIVATION"),
    ROW(uint8_dla, .names = {"--enable-uint8-asymmetric-quantization-dla"}, .yields = true, .kind = OPTION_FLAG,
        .help = "the same as --onnx-flags ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA"),
    ROW(tensorrt.decomposable_attentions, .names = {"--decomposable-attentions"}, .yields = true, .kind = OPTION_FLAG,
        .help = "let TensorRT compute attentions without a fused kernel, where there is none (from TensorRT 10.14 on)"),
    OPTION_WITHOUT_FIELD(.names = {"--dla-workspace-allocation-strategy"}, .yields = true, .kind = OPTION_ONE,
                         .refusal = "it needs TensorRT 11.3, which is not supported; leave it out",
                         .topic = "parts-of-tensorrt"),
    /* only for `convert` */
    TRT_ROW(OPTION_ONE, OPTION_TEXT, engine_capability, "--engine-capability", "standard, safety or dla_standalone"),
    ROW(tensorrt.compute_capabilities, .names = {"--compute-capabilities"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "MAJOR.MINOR",
        .help = "compute capabilities of the GPUs that the engine is built for: 8.6 8.9 (TensorRT-RTX)"),
    ROW(tensorrt.use_gpu, .names = {"--use-gpu"}, .yields = true, .kind = OPTION_FLAG,
        .help = "build the engine for the GPU of this machine (TensorRT-RTX)"),
};

#define RUN_ONLY 5
#define CONVERT_ONLY 3

#define TENSORRT_GROUP(first, end)                                                                                     \
    {                                                                                                                  \
        .title = "TensorRT only",                                                                                      \
        .description = "Where it is not installed, these have no effect, and one warning lists them.",                 \
        .options = rows + (first), .count = (end) - (first),                                                           \
    }

const struct option_group tensorrt_run_options = TENSORRT_GROUP(0, ARRAY_LEN(rows) - CONVERT_ONLY);
const struct option_group tensorrt_options = TENSORRT_GROUP(RUN_ONLY, ARRAY_LEN(rows) - CONVERT_ONLY);
const struct option_group tensorrt_convert_options = TENSORRT_GROUP(RUN_ONLY, ARRAY_LEN(rows));

void tensorrt_options_given(const struct parse *parse, struct string_builder *ret)
{
    static const struct option_group all = TENSORRT_GROUP(0, ARRAY_LEN(rows));

    parse_list_given_of_group(parse, &all, ret);
}

/* ---- Options for models of TensorFlow: refused, with the alternative ---- */

#define WAY_OUT                                                                                                        \
    "TensorFlow models are not supported; convert the model to ONNX, for instance with tf2onnx, "                      \
    "or compare TensorFlow's results, saved as safetensors, with --load-outputs"

#define REFUSED(how_many, ...)                                                                                         \
    {                                                                                                                  \
        .names = {__VA_ARGS__}, .kind = how_many, .refusal = WAY_OUT, .topic = "tensorflow",                           \
    }

static const struct option tensorflow_rows[] = {
    /* only for `run` */
    REFUSED(OPTION_FLAG, "--tftrt", "--use-tftrt"),
    REFUSED(OPTION_ONE, "--minimum-segment-size"),
    REFUSED(OPTION_FLAG, "--dynamic-op"),
    REFUSED(OPTION_ONE, "--save-pb"),
    REFUSED(OPTION_ONE, "--save-tensorboard"),
    REFUSED(OPTION_ONE, "--gpu-memory-fraction"),
    REFUSED(OPTION_FLAG, "--allow-growth"),
    REFUSED(OPTION_FLAG, "--xla"),
    REFUSED(OPTION_ONE, "--save-timeline"),
    /* for `convert`, too */
    REFUSED(OPTION_MANY, "--tf-outputs"),
    REFUSED(OPTION_ONE, "--opset"),
    /* and for `inspect model` */
    REFUSED(OPTION_ONE, "--ckpt"),
    REFUSED(OPTION_FLAG, "--freeze-graph"),
};

#define TENSORFLOW_RUN_ONLY 9
#define TENSORFLOW_NOT_INSPECT 11

#define TENSORFLOW_GROUP(first)                                                                                        \
    {                                                                                                                  \
        .title = "TensorFlow", .options = tensorflow_rows + (first), .count = ARRAY_LEN(tensorflow_rows) - (first),    \
    }

const struct option_group tensorflow_run_options = TENSORFLOW_GROUP(0);
const struct option_group tensorflow_convert_options = TENSORFLOW_GROUP(TENSORFLOW_RUN_ONLY);
const struct option_group tensorflow_inspect_options = TENSORFLOW_GROUP(TENSORFLOW_NOT_INSPECT);
