/* cli/options/inference.c: how `run` runs models, and which data it saves. */
#include "cli/options/groups.h"
#include "cli/options/runners/lines.h"
#include "comparator/infer/driver.h"
#include "format/data/writer.h"

static int finish_inference(struct parse *parse, void *given, struct error *err)
{
    struct driver_settings *settings = given;

    (void)parse;
    if (settings->warm_up < 0)
        return error_set(err, ERR_INVALID, "--warm-up: %lld is less than 0", (long long)settings->warm_up);
    if (settings->save.outputs != NULL && data_file_holds_arrays_only(settings->save.outputs))
        return error_set(
            err, ERR_INVALID,
            "--save-outputs: the format of '%s' cannot store runners and iterations: choose a name that "
            "ends in .json or .safetensors, or one without extension for a folder; `data merge` converts that "
            "to the other formats",
            settings->save.outputs);
    if (settings->memory == 0)
        settings->memory = UINT64_MAX;
    if (settings->save.input_blobs != NULL && settings->save.input_blobs[0] == '\0')
        settings->save.input_blobs = ".";
    return 0;
}

static const struct option options[] = {
    OPTION_ROW(struct driver_settings, warm_up, .names = {"--warm-up"}, .kind = OPTION_ONE, .type = OPTION_INTEGER,
               .value_name = "N", .fallback = "0",
               .help = "number of inferences on the first input data before time is measured"),
    OPTION_ROW(struct driver_settings, sequential, .names = {"--sequential-runners"}, .yields = true,
               .kind = OPTION_FLAG,
               .help = "run all iterations with one runner before the next one, and compare at the end, with all "
                       "results in memory. Default: all runners run an iteration, which is compared and dropped"),
    OPTION_ROW(struct driver_settings, use_subprocess, .names = {"--use-subprocess"}, .kind = OPTION_FLAG,
               .help = "run each runner in a separate process"),
    OPTION_ROW(struct driver_settings, save.inputs, .names = {"--save-inputs", "--save-input-data"}, .kind = OPTION_ONE,
               .value_name = "PATH", .file = OPTION_WRITES_ITERATIONS,
               .help =
                   "write the input data here, for --load-inputs. The extension selects the format: .npz, .npy for a "
                   "single array, .safetensors, '/' for a folder of .npy, none for a folder with a JSON file for "
                   "each iteration, otherwise Polygraphy's JSON"),
    OPTION_ROW(struct driver_settings, save.outputs, .names = {"--save-outputs", "--save-results"}, .kind = OPTION_ONE,
               .value_name = "PATH", .file = OPTION_WRITES_ITERATIONS, .extensions = "json",
               .help = "write the outputs of all runners here, for --load-outputs: to a .json or .safetensors file, or "
                       "without extension to a folder with a JSON file for each iteration"),
    OPTION_ROW(struct driver_settings, save.input_blobs, .names = {"--save-input-blob"}, .yields = true,
               .kind = OPTION_MAYBE, .value_name = "DIR", .file = OPTION_WRITES_FOLDER,
               .help = "write the bytes of each input to DIR/0000000000/INPUT.bin, one folder for each iteration, as "
                       "trtexec --loadInputs reads them (default: the current folder)"),
    OPTION_ROW(struct driver_settings, memory, .names = {"--output-memory"}, .kind = OPTION_ONE, .value_name = "SIZE",
               .fallback = "256M", .convert = convert_size,
               .help = "with '--onnx-outputs mark all': approximate memory limit of the outputs, which are computed, "
                       "compared and written in groups. 0 is no limit"),
};

const struct option_group inference_options = {
    .title = "Inference",
    OPTION_ROWS(options),
    .finish = finish_inference,
};

static const struct option runner_rows[] = {
    OPTION_ROW(struct runner_values, names, .names = {"--tf"}, .kind = OPTION_ORDERED,
               .refusal =
                   "the TensorFlow runner is not supported; convert the model to ONNX, for instance with tf2onnx, and "
                   "run it with --onnxrt, or compare TensorFlow's results, saved as safetensors, with --load-outputs",
               .topic = "tensorflow"),
    OPTION_ROW(struct runner_values, names, .names = {"--pluginref"}, .kind = OPTION_ORDERED,
               .refusal = "reference implementations of TensorRT's plug-ins are not supported; run the model with "
                          "--onnxrt and --onnxrt-custom-ops LIBRARY, or pass results to compare with to --load-outputs",
               .topic = "references-of-plug-ins"),
    OPTION_ROW(struct runner_values, names, .names = {"--onnxrt"}, .kind = OPTION_ORDERED, .help = "ONNX Runtime"),
    OPTION_ROW(struct runner_values, names, .names = {"--trt"}, .kind = OPTION_ORDERED,
               .help = "an engine: the model file if it is one, otherwise one built from the model. Without TensorRT "
                       "the built-in CPU engine is used"),
    OPTION_ROW(
        struct runner_values, commands, .names = {"--runner"}, .yields = true, .kind = OPTION_ONE,
        .value_name = "[NAME=]COMMAND", .append = true, .ordered = true, .convert = convert_runner_lines,
        .file = OPTION_RUNS,
        .help = "any other engine: a shell command that reads the files {model} and {inputs} and writes the file "
                "{outputs}. Tensors are safetensors; {inputs:npz} is NumPy's .npz, :json Polygraphy's JSON, :npy a "
                "folder of .npy files; the same for {outputs}. A failing command is an error, never a difference. One "
                "with {requests} and {answers} instead is started once and stays"),
    OPTION_ROW(
        struct runner_values, builds, .names = {"--runner-build"}, .yields = true, .kind = OPTION_ONE,
        .value_name = "[NAME=]COMMAND", .append = true, .convert = convert_runner_lines, .file = OPTION_RUNS,
        .help = "a shell command that compiles {model} to {engine}, a file or a folder, once for each model; --runner "
                "then reads {engine}. Without NAME it applies to each --runner without a --runner-build of its name"),
    OPTION_ROW(struct runner_values, timeout, .names = {"--runner-timeout"}, .yields = true, .kind = OPTION_ONE,
               .type = OPTION_FLOAT, .value_name = "SECONDS",
               .help = "time limit of a command of --runner or --runner-build, or of a request to one that stays, "
                       "after which it and all processes that it started are killed"),
};

const struct option_group runner_options = {
    .title = "Runners",
    .description = "The runners that run the model, in the order of the command line, which is also the order of "
                   "comparison. Each may be repeated.",
    OPTION_ROWS(runner_rows),
    .finish = finish_runner_lines,
};

/* Polygraphy has an option at this place; it is refused. */
static const struct option run_rows[] = {
    OPTION_WITHOUT_FIELD(.names = {"--gen", "--gen-script"}, .kind = OPTION_ONE,
                         .refusal = "Python scripts are not generated; save the command line instead",
                         .topic = "python-scripts"),
};

const struct option_group run_options = {
    .title = "Run",
    OPTION_ROWS(run_rows),
};
