/* tests/programs/trtexec_stand_in/report.c: log lines, and what every run says of its options and its device. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "programs/trtexec_stand_in/stand_in.h"

void say(char level, const char *format, ...)
{
    FILE *to = level == 'V' || level == 'I' ? stdout : stderr;
    time_t now = time(NULL);
    char stamp[32];
    va_list args;

    if (level == 'V' && !given("verbose"))
        return;
    strftime(stamp, sizeof(stamp), "%m/%d/%Y-%H:%M:%S", localtime(&now));
    fprintf(to, "[%s] [%c] ", stamp, level);
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
    putc('\n', to);
}

void dimensions_add(struct string_builder *text, const struct shape *shape, char between)
{
    for (size_t i = 0; i < shape->rank; i++) {
        if (i > 0)
            string_add_char(text, between);
        string_add_integer(text, shape->dims[i]);
    }
}

static const char *enabled(bool is)
{
    return is ? "Enabled" : "Disabled";
}

static const char *text_or(const char *name, const char *otherwise)
{
    const char *value = option(name);

    return value != NULL ? value : otherwise;
}

static bool since(int versions)
{
    return (versions & (int)stand_in.version) != 0;
}

static void report_precision(void)
{
    static const char *const types[] = {"fp16", "bf16", "int8", "fp8", "int4"};
    static const char *const names[] = {"FP16", "BF16", "INT8", "FP8", "INT4"};
    struct string_builder text;

    string_init(&text);
    string_add(&text, since(SINCE_11) || given("stronglyTyped") ? "Strongly Typed" : "FP32");
    for (size_t i = 0; i < 5 && !since(SINCE_11) && !given("stronglyTyped"); i++)
        if (given(types[i]) || (given("best") && i != 3 && i != 4))
            string_add_format(&text, "+%s", names[i]);
    say('I', "Precision: %s", text.data);
    string_release(&text);
    if (since(UNTIL_10)) {
        struct pairs layers = option_pairs("layerPrecisions");

        string_init(&text);
        for (size_t i = 0; i < layers.count; i++)
            string_add_format(&text, "%s%s:%s", i > 0 ? "," : "", layers.items[i].name, layers.items[i].value);
        say('I', "LayerPrecisions: %s", text.data);
        string_release(&text);
    }
    say('I', "Layer Device Types: ");
    if (since(SINCE_10))
        say('I', "Decomposable Attentions: ");
    if (since(UNTIL_10))
        say('I', "Calibration: %s", given("int8") ? text_or("calib", "Dynamic") : "");
}

static void report_pools(void)
{
    struct pairs pools = option_pairs("memPoolSize");
    const char *workspace = pairs_find(&pools, "workspace");
    char size[64] = "default";

    if (workspace != NULL)
        snprintf(size, sizeof(size), "%g MiB", strtod(workspace, NULL));
    say('I', "Memory Pools: workspace: %s, dlaSRAM: default, dlaLocalDRAM: default, dlaGlobalDRAM: default%s", size,
        since(SINCE_10) ? ", tacticSharedMem: default" : "");
}

static void report_parser_flags(void)
{
    say('I', "Refit: %s", enabled(given("refit")));
    if (since(SINCE_10))
        say('I', "Strip weights: %s", enabled(given("stripWeights")));
    say('I', "Version Compatible: %s", enabled(given("versionCompatible")));
    say('I', "ONNX Plugin InstanceNorm: %s", enabled(given("pluginInstanceNorm")));
    if (since(SINCE_10)) {
        say('I', "ONNX kENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA flag: Disabled");
        say('I', "ONNX kREPORT_CAPABILITY_DLA flag: Disabled");
        say('I', "ONNX kADJUST_FOR_DLA flag: Disabled");
        say('I', "ONNX kENABLE_PLUGIN_OVERRIDE flag: Disabled");
    }
    say('I', "TensorRT runtime: full");
    say('I', "Lean DLL Path: ");
    say('I', "Tempfile Controls: { in_memory: allow, temporary: allow }");
    say('I', "Exclude Lean Runtime: %s", enabled(given("excludeLeanRuntime")));
    say('I', "Sparsity: %s", given("sparsity") ? "Enabled" : "Disabled");
    say('I', "Safe mode: Disabled");
    say('I', "Build DLA standalone loadable: Disabled");
    say('I', "Allow GPU fallback for DLA: Disabled");
    say('I', "DirectIO mode: Disabled");
    if (since(UNTIL_10))
        say('I', "Restricted mode: Disabled");
    say('I', "%s: %s", "Skip inference", enabled(given("skipInference") || given("buildOnly")));
}

/* names_only, none, detailed: the numbers of TensorRT's enumeration */
static int verbosity(void)
{
    const char *value = text_or("profilingVerbosity", "layer_names_only");

    return strcmp(value, "detailed") == 0 ? 2 : strcmp(value, "none") == 0 ? 1 : 0;
}

static void report_shapes(void)
{
    struct pairs least = option_pairs("minShapes"), best = option_pairs("optShapes"), most = option_pairs("maxShapes");

    if (least.count == 0)
        say('I', "Input build shapes: model");
    for (size_t i = 0; i < least.count; i++)
        say('I', "Input build shape (profile 0): %s=%s+%s+%s", least.items[i].name, least.items[i].value,
            pairs_find(&best, least.items[i].name), pairs_find(&most, least.items[i].name));
    if (since(UNTIL_10))
        say('I', "Input calibration shapes: model");
}

static void report_tuning(void)
{
    say('I', "Save engine: %s", text_or("saveEngine", ""));
    say('I', "Load engine: %s", text_or("loadEngine", ""));
    say('I', "Profiling verbosity: %d", verbosity());
    say('I', "Tactic sources: Using default tactic sources");
    say('I', "timingCacheMode: %s",
        given("noBuilderCache")    ? "disable"
        : given("timingCacheFile") ? "global"
                                   : "local");
    say('I', "timingCacheFile: %s", text_or("timingCacheFile", ""));
    if (since(SINCE_10)) {
        say('I', "Enable Compilation Cache: %s", enabled(!given("noCompilationCache")));
        say('I', "Enable Monitor Memory: Disabled");
        say('I', "CPU Only Mode: Disabled");
        say('I', "errorOnTimingCacheMiss: %s", enabled(given("errorOnTimingCacheMiss")));
    } else {
        say('I', "Heuristic: %s", enabled(given("heuristic")));
    }
    say('I', "Preview Features: Use default preview flags.");
    say('I', "MaxAuxStreams: -1");
    say('I', "BuilderOptimizationLevel: %ld", option_number("builderOptimizationLevel", -1));
    if (since(SINCE_10))
        say('I', "MaxTactics: -1");
    if (since(V10))
        say('I', "Calibration Profile Index: 0");
    if (since(SINCE_10)) {
        say('I', "Weight Streaming: Disabled");
        say('I', "Runtime Platform: Same As Build");
        say('I', "Debug Tensors: %s", text_or("markDebug", ""));
        say('I', "Distributive Independence: Disabled");
        say('I', "Mark Unfused Tensors As Debug Tensors: %s", enabled(given("markUnfusedTensorsAsDebugTensors")));
    }
    say('I', "Input(s)s format: %s", since(SINCE_11) ? "CHW" : "fp32:CHW");
    say('I', "Output(s)s format: %s", since(SINCE_11) ? "CHW" : "fp32:CHW");
    report_shapes();
}

static void report_inference(void)
{
    struct pairs shapes = option_pairs("shapes"), inputs = option_pairs("loadInputs");

    say('I', "=== Inference Options ===");
    say('I', "Batch: Explicit");
    if (shapes.count == 0)
        say('I', "Input inference shapes: model");
    for (size_t i = 0; i < shapes.count; i++)
        say('I', "Input inference shape : %s=%s", shapes.items[i].name, shapes.items[i].value);
    say('I', "Iterations: %ld", option_number("iterations", 10));
    say('I', "Duration: %lds (+ %ldms warm up)", option_number("duration", 3), option_number("warmUp", 200));
    say('I', "Sleep time: 0ms");
    say('I', "Idle time: 0ms");
    say('I', "Inference Streams: 1");
    say('I', "ExposeDMA: Disabled");
    say('I', "Data transfers: %s",
        enabled(since(SINCE_11) ? given("includeDataTransfers") : !given("noDataTransfers")));
    say('I', "Spin-wait: %s", enabled(since(SINCE_11) ? !given("noSpinWait") : given("useSpinWait")));
    say('I', "Multithreading: Disabled");
    say('I', "CUDA Graph: %s", enabled(since(SINCE_11) ? !given("noCudaGraph") : given("useCudaGraph")));
    if (since(UNTIL_10))
        say('I', "Separate profiling: %s", enabled(given("separateProfileRun")));
    say('I', "Time Deserialize: Disabled");
    say('I', "Time Refit: Disabled");
    say('I', "NVTX verbosity: %d", verbosity());
    say('I', "Persistent Cache Ratio: 0");
    if (since(SINCE_10)) {
        say('I', "Optimization Profile Index: %ld", option_number("useProfile", 0));
        say('I', "Weight Streaming Budget: 100.000000%%");
    }
    if (since(V111)) {
        say('I', "Accuracy Algorithm: L0");
        say('I', "Absolute Tolerance (atol): 1e-05");
        say('I', "Relative Tolerance (rtol): 1e-05");
    }
    say('I', "Inputs:");
    for (size_t i = 0; i < inputs.count; i++)
        say('I', "%s<-%s", inputs.items[i].name, inputs.items[i].value);
    if (since(SINCE_10)) {
        say('I', "Debug Tensor Save Destinations:");
        say('I', "Dump All Debug Tensor in Formats: %s", text_or("saveAllDebugTensors", ""));
    }
}

void report_options(void)
{
    say('I', "=== Model Options ===");
    say('I', "Format: %s", given("onnx") ? "ONNX" : "*");
    say('I', "Model: %s", text_or("onnx", ""));
    say('I', "Output:");
    say('I', "=== Build Options ===");
    report_pools();
    say('I', "avgTiming: %ld", option_number("avgTiming", 8));
    report_precision();
    report_parser_flags();
    report_tuning();
    say('I', "=== System Options ===");
    say('I', "Device: 0");
    say('I', "DLACore: ");
    say('I', "Loaded static plugins:");
    say('I', "setPluginsToSerialize:");
    say('I', "dynamicPlugins:");
    say('I', "ignoreParsedPluginLibs: 0");
    say('I', "%s", "");
    report_inference();
    say('I', "=== Reporting Options ===");
    say('I', "Verbose: %s", enabled(given("verbose")));
    say('I', "Averages: 10 inferences");
    say('I', "Percentiles: 90,95,99");
    say('I', "Dump refittable layers:Disabled");
    say('I', "Dump output: %s", enabled(given("dumpOutput")));
    say('I', "Profile: %s", enabled(given("dumpProfile")));
    say('I', "Export timing to JSON file: %s", text_or("exportTimes", ""));
    say('I', "Export output to JSON file: %s", text_or("exportOutput", ""));
    say('I', "Export profile to JSON file: %s", text_or("exportProfile", ""));
    say('I', "%s", "");
}

void report_device(void)
{
    static const char *const lines[] = {
        "=== Device Information ===",
        "Available Devices: ",
        "  Device 0: \"Stub GPU\" UUID: GPU-00000000-0000-0000-0000-000000000000",
        "Selected Device: Stub GPU",
        "Selected Device ID: 0",
        "Selected Device UUID: GPU-00000000-0000-0000-0000-000000000000",
        "Compute Capability: 9.0",
        "SMs: 1",
        "Device Global Memory: 16384 MiB",
        "Shared Memory per SM: 0 KiB",
        "Memory Bus Width: 0 bits (ECC disabled)",
        "Application Compute Clock Rate: 1e-06 GHz",
        "Application Memory Clock Rate: 1e-06 GHz",
        "",
        "Note: The application clock rates do not reflect the actual clock rates that the GPU is currently running at.",
        "",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        say('I', "%s", lines[i]);
    say('I', "TensorRT version: %s", stand_in.library);
    say('I', "Loading standard plugins");
}
