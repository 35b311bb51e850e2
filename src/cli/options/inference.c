/* cli/options/inference.c: how `run` runs models, and what it keeps of that. */
#include "base/memory.h"
#include "cli/options/groups.h"
#include "cli/options/runners/lines.h"
#include "comparator/infer/driver.h"
#include "format/data/file.h"

static int finish_inference(struct parse *parse, void *given, struct error *err)
{
    struct driver_settings *settings = given;

    (void)parse;
    if (settings->warm_up < 0)
        return error_set(err, ERR_INVALID, "--warm-up: %lld is less than 0", (long long)settings->warm_up);
    if (settings->save_outputs != NULL && data_file_holds_arrays_only(settings->save_outputs))
        return error_set(err, ERR_INVALID,
                         "--save-outputs: '%s' would have no place for runners and iterations: choose a name that ends "
                         "in .json or .safetensors; `data to-input` makes the other formats of that",
                         settings->save_outputs);
    if (settings->memory == 0)
        settings->memory = UINT64_MAX;
    return 0;
}

static const struct option options[] = {
    OPTION_ROW(struct driver_settings, warm_up, .names = {"--warm-up"}, .kind = OPTION_ONE, .type = OPTION_INTEGER,
               .value_name = "N", .fallback = "0",
               .help = "run each model this often on the first input data before time is taken"),
    OPTION_ROW(struct driver_settings, use_subprocess, .names = {"--use-subprocess"}, .kind = OPTION_FLAG,
               .help = "give each runner a process of its own"),
    OPTION_ROW(struct driver_settings, save_inputs, .names = {"--save-inputs", "--save-input-data"}, .kind = OPTION_ONE,
               .value_name = "PATH", .file = OPTION_WRITES_DATA,
               .help =
                   "write the input data to this file, for --load-inputs. Its end chooses the format: .npz, .npy for a "
                   "single array, .safetensors, '/' for a folder of .npy, else Polygraphy's JSON"),
    OPTION_ROW(
        struct driver_settings, save_outputs, .names = {"--save-outputs", "--save-results"}, .kind = OPTION_ONE,
        .value_name = "PATH", .file = OPTION_WRITES, .extensions = "json",
        .help =
            "write the outputs of all runners to this file, for --load-outputs. "
            "With --save-inputs, too, a name that ends in .safetensors makes a file that is mapped when it is read"),
    OPTION_ROW(struct driver_settings, memory, .names = {"--output-memory"}, .kind = OPTION_ONE, .value_name = "SIZE",
               .fallback = "256M", .convert = convert_size,
               .help = "with '--onnx-outputs mark all': about how much memory outputs may take at a time. "
                       "They are computed, compared and written in groups; 0 is no bound"),
};

const struct option_group inference_options = {
    .title = "Inference",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish_inference,
};

static const struct option runner_rows[] = {
    OPTION_ROW(
        struct runner_values, names, .names = {"--tf"}, .kind = OPTION_ORDERED,
        .refusal =
            "TensorFlow is not a runner here; make an ONNX model of its model, for instance with tf2onnx, and run "
            "that with --onnxrt; results of TensorFlow, as safetensors, are compared with --load-outputs",
        .topic = "tensorflow"),
    OPTION_ROW(struct runner_values, names, .names = {"--pluginref"}, .kind = OPTION_ORDERED,
               .refusal =
                   "reference implementations of TensorRT's plug-ins are not here; run the model with --onnxrt and "
                   "--onnxrt-custom-ops LIBRARY, or give results to compare with as --load-outputs",
               .topic = "references-of-plug-ins"),
    OPTION_ROW(struct runner_values, names, .names = {"--onnxrt"}, .kind = OPTION_ORDERED, .help = "ONNX Runtime"),
    OPTION_ROW(struct runner_values, names, .names = {"--trt"}, .kind = OPTION_ORDERED,
               .help = "an engine: that in the model file, or one built of the model. "
                       "Where TensorRT is not installed, the built-in CPU engine takes its place"),
    OPTION_ROW(
        struct runner_values, commands, .names = {"--runner"}, .yields = true, .kind = OPTION_ONE,
        .value_name = "[NAME=]COMMAND", .append = true, .ordered = true, .convert = convert_runner_lines,
        .file = OPTION_RUNS,
        .help = "any other engine: a line of the shell that reads {model} and {inputs} and writes {outputs}, which "
                "stand for files. Tensors are safetensors; {inputs:npz} is NumPy's .npz, :json Polygraphy's JSON, :npy "
                "a folder of .npy files, and outputs alike. "
                "That it fails is an error, never a difference"),
    OPTION_ROW(
        struct runner_values, builds, .names = {"--runner-build"}, .yields = true, .kind = OPTION_ONE,
        .value_name = "[NAME=]COMMAND", .append = true, .convert = convert_runner_lines, .file = OPTION_RUNS,
        .help = "a line of the shell that compiles {model} to {engine}, a file or a folder, once for each model that "
                "is run; --runner then reads {engine}. Without NAME it is for those of --runner that have none of "
                "their own"),
    OPTION_ROW(struct runner_values, timeout, .names = {"--runner-timeout"}, .yields = true, .kind = OPTION_ONE,
               .type = OPTION_FLOAT, .value_name = "SECONDS",
               .help = "end a command of --runner or --runner-build after this time, with all that it has started"),
};

const struct option_group runner_options = {
    .title = "Runners",
    .description =
        "What runs the model. They run and are compared in the order of the command line; each may be repeated.",
    .options = runner_rows,
    .count = ARRAY_LEN(runner_rows),
    .finish = finish_runner_lines,
};

/* Polygraphy has an option here, too; it is refused. */
static const struct option run_rows[] = {
    OPTION_WITHOUT_FIELD(.names = {"--gen", "--gen-script"}, .kind = OPTION_ONE,
                         .refusal = "Python scripts are not generated; keep the command line itself",
                         .topic = "python-scripts"),
};

const struct option_group run_options = {
    .title = "Run",
    .options = run_rows,
    .count = ARRAY_LEN(run_rows),
};
