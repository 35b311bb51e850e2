/* cli/options/runners/tensorrt.c: what only TensorRT can do: the built-in engine ignores it, and says so once. */
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
        .file = OPTION_READS, .help = "run the engine, which is version compatible, with this lean runtime library"),
    TRT_ROW(OPTION_ONE, OPTION_INTEGER, optimization_profile, "--optimization-profile",
            "the number of the profile that the engine runs with, from 0 on"),
    ROW(tensorrt.allocation_strategy, .names = {"--allocation-strategy"}, .kind = OPTION_ONE,
        .choices = (const char *const[]){"static", "profile", "runtime", NULL},
        .help = "what device memory is allocated for: any profile, the one that is used, or its shapes"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, weight_streaming_budget, "--weight-streaming-budget",
            "how much device memory weights may take, in bytes or percent"),
    /* for all tools that build engines */
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, sparse_weights, "--sparse-weights",
            "use tactics for sparse weights where they are"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, version_compatible, "--version-compatible",
            "the engine runs on later versions, too"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, exclude_lean_runtime, "--exclude-lean-runtime",
            "do not put the lean runtime into the engine"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, disable_compilation_cache, "--disable-compilation-cache",
            "do not keep compiled code in the timing cache"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, safety_restricted, "--trt-safety-restricted",
            "only what is allowed where safety counts"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, refittable, "--refittable", "the engine's weights can be replaced"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, strip_plan, "--strip-plan",
            "leave weights out that can be refitted: it gives zeros until they are"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, use_dla, "--use-dla", "run layers on a DLA core"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, allow_gpu_fallback, "--allow-gpu-fallback",
            "layers that the DLA has not run on the GPU"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, weight_streaming, "--weight-streaming", "weights may stay in host memory"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, plugin_instance_norm, "--plugin-instancenorm",
            "take a plug-in for InstanceNormalization"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, mark_unfused, "--mark-unfused-tensors-as-debug-tensors",
            "give out all tensors that are left between layers, too, without changing what is fused"),
    ROW(tensorrt.pool_limits, .names = {"--pool-limit", "--memory-pool-limit"}, .kind = OPTION_MANY,
        .value_name = "POOL:SIZE", .help = "how large memory pools may be, in bytes or with K, M or G: workspace:1G"),
    TRT_ROW(OPTION_ANY, OPTION_TEXT, preview_features, "--preview-features", "features to enable, by name"),
    TRT_ROW(OPTION_ANY, OPTION_TEXT, quantization_flags, "--quantization-flags", "not there with trtexec"),
    TRT_ROW(OPTION_MANY, OPTION_TEXT, onnx_flags, "--onnx-flags", "flags of its ONNX parser, by name"),
    TRT_ROW(OPTION_MANY, OPTION_TEXT, mark_debug, "--mark-debug",
            "give these tensors out, too; nothing is fused across them"),
    TRT_ROW(OPTION_ONE, OPTION_FLOAT, regression_cutoff, "--regression-cutoff", "not there with trtexec"),
    TRT_ROW(OPTION_ONE, OPTION_INTEGER, max_aux_streams, "--max-aux-streams", "how many more CUDA streams it may use"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, hardware_compatibility_level, "--hardware-compatibility-level",
            "devices that the engine runs on: none, ampere_plus, same_compute_capability"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, profiling_verbosity, "--profiling-verbosity",
            "what the engine tells of its layers: detailed unless given, layer_names_only, none"),
    ROW(tensorrt.build_route, .names = {"--build-route"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "KNOB=VALUE", .append = true,
        .help =
            "how its compiler goes about the network, from 11.1 on: conv_lowering=off kgen:tiling=0. "
            "`trtexec --helpBuildRoute` lists the knobs; `debug passes --trt` finds those that make the difference"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, runtime_platform, "--runtime-platform", "the system that it is built for"),
    TRT_ROW(OPTION_ONE, OPTION_TEXT, tiling_optimization_level, "--tiling-optimization-level",
            "how much is tried with tiles: none, fast, moderate, full"),
    /* only for `convert` */
    TRT_ROW(OPTION_ONE, OPTION_TEXT, engine_capability, "--engine-capability", "standard, safety or dla_standalone"),
    TRT_ROW(OPTION_FLAG, OPTION_TEXT, direct_io, "--direct-io", "no reformatting of inputs and outputs"),
    TRT_ROW(OPTION_MANY, OPTION_TEXT, tensor_formats, "--tensor-formats",
            "memory formats of inputs and outputs: NAME:[linear,chw4]"),
};

#define RUN_ONLY 4
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

/* ---- Models of TensorFlow: all of it is refused, with the way out ---- */

#define WAY_OUT                                                                                                        \
    "models of TensorFlow are neither run nor converted here; make an ONNX model of it, for instance with tf2onnx, "   \
    "and give that; results of TensorFlow, as safetensors, are compared with --load-outputs"

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
