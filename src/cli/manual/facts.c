/* cli/manual/facts.c: exit statuses, environment variables and files. */
#include "cli/manual/facts.h"

#include "base/memory.h"

/* docs/exit-codes.md has the same, with examples that the tests run. */
static const struct manual_fact exit_statuses[] = {
    {"0", NULL, NULL, "the command completed"},
    {"0", "run", NULL, "all outputs match and, with --validate, are finite"},
    {"0", "check lint", NULL, "no error was found in the model; warnings do not count"},
    {"0", "debug accuracy", NULL, "a cause was proven, or the model passes"},
    {"1", NULL, NULL, "an error, also an unknown option: one line on standard error, which begins with `[!]`"},
    {"1", "run", NULL, "outputs differ or, with --validate, are not finite; or an error"},
    {"1", "check lint", NULL, "an error was found in the model; or the command failed"},
    {"1", "debug reduce", NULL, "no model could be written to -o or --min-good; or an error"},
    {"1", "debug accuracy", NULL, "outputs differ, and no cause was proven; or an error"},
    {"2", NULL, NULL, "the command line is invalid; the reason and a usage line are on standard error"},
    {"3", NULL, NULL,
     "only inside a check of a debug tool: the runner refused the model or failed, or an engine could not be built"},
    {"4", NULL, "--exit-code",
     "only with --exit-code: an iteration failed (`debug build`, `debug repeat`), or nothing was found (`debug "
     "reduce`, "
     "`debug precision`, `debug tactics`, `debug passes`, `debug quantization`)"},
    {"125", NULL, NULL,
     "only inside a check of a debug tool: inconclusive, because the command line, a file or the data are invalid, or "
     "a GPU is out of memory"},
    {"130", NULL, NULL, "in a shell: terminated by Ctrl-C; in general 128 plus the number of the signal"},
};

static const struct manual_fact variables[] = {
    {"COLUMNS", NULL, NULL, "width of --help in columns (default: that of the terminal)"},
    {"CONDA_PREFIX", NULL, NULL, "see VIRTUAL_ENV"},
    {"DISPLAY", NULL, "--visual", "`inspect model --visual` opens a browser only where this or WAYLAND_DISPLAY is set"},
    {"GOMP_SPINCOUNT", NULL, "--fp16", "how long threads of GNU OpenMP spin before they sleep (default: 1000)"},
    {"HOME", NULL, NULL, "the folder that the completion of words reads for `~`, and that has the cache `.cache`"},
    {"LD_LIBRARY_PATH", NULL, "--fp16", "folders in which the system's loader finds TensorRT's libraries"},
    {"NO_COLOR", NULL, NULL, "with any value: no colors, as with `--log-format no-colors`"},
    {"OMP_WAIT_POLICY", NULL, "--fp16",
     "how the OpenMP threads of oneDNN wait. Unless this or GOMP_SPINCOUNT is set, they spin only briefly"},
    {"ORT_DISABLE_TELEMETRY", NULL, "--onnxrt-library",
     "telemetry of ONNX Runtime, which is disabled unless this is set"},
    {"ORT_DYLIB_PATH", NULL, "--onnxrt-library",
     "ONNX Runtime's shared library, if neither an option, POLYGRAPHY_ONNXRUNTIME nor the installation provides one"},
    {"PATH", NULL, NULL, "search path for the programs of checks and of --runner"},
    {"POLYGRAPHY_ARTIFACT", NULL, "--check", "set for checks: the path of the candidate"},
    {"POLYGRAPHY_DISABLED", NULL, "--onnxrt-disable-optimizers",
     "set for checks of `debug passes`: names of disabled optimizations, separated by `;`, or @FILE with one name per "
     "line. Commands that run a model apply it: for ONNX Runtime names of optimizers, KEY=VALUE entries of the session "
     "configuration, and `threads`; other names are for other runners"},
    {"POLYGRAPHY_ENGINE", NULL, "--runner", "set for commands of --runner and --runner-build: the path of {engine}"},
    {"POLYGRAPHY_FAILURE", NULL, "--check",
     "set for checks: where commands of this program report to the debug tool why a model did not run"},
    {"POLYGRAPHY_INPUTS", NULL, "--runner", "set for commands of --runner: the path of {inputs}"},
    {"POLYGRAPHY_ITERATION", NULL, "--check",
     "set for checks: the number of the iteration. With this or POLYGRAPHY_ARTIFACT, the exit status of a command "
     "distinguishes failures (3 and 125)"},
    {"POLYGRAPHY_MODEL", NULL, "--runner", "set for commands of --runner and --runner-build: the path of {model}"},
    {"POLYGRAPHY_ONEDNN", NULL, "--fp16", "oneDNN's shared library for the built-in engine (default: the system's)"},
    {"POLYGRAPHY_ONNXRUNTIME", NULL, "--onnxrt-library",
     "ONNX Runtime's shared library, its folder, or the name of one of the system's libraries"},
    {"POLYGRAPHY_OUTPUTS", NULL, "--runner", "set for commands of --runner: the path of {outputs}"},
    {"POLYGRAPHY_RUNNER_HOST", NULL, "--runner",
     "set for checks where a --runner stays: the socket by which they find its process"},
    {"POLYGRAPHY_TENSORRT", NULL, "--fp16",
     "the file or folder of TensorRT's library (libnvinfer.so.N, libtensorrt_rtx.so.1), looked for nowhere else"},
    {"POLYGRAPHY_TRT", NULL, "--fp16",
     "what --trt means: `tensorrt` is TensorRT's library, `builtin` the built-in engine, `auto` (unless set) "
     "TensorRT's "
     "library where it is installed"},
    {"SOURCE_DATE_EPOCH", NULL, "--write-manuals", "the date of manuals, in seconds since 1970"},
    {"TERM", NULL, NULL, "`dumb`: neither colors nor a progress line"},
    {"TMPDIR", NULL, NULL, "the folder for temporary files (default: `/tmp`)"},
    {"VIRTUAL_ENV", NULL, NULL,
     "the Python environment whose packages are searched for the libraries of ONNX Runtime, TensorRT and oneDNN"},
    {"WAYLAND_DISPLAY", NULL, "--visual", "see DISPLAY"},
    {"XDG_CACHE_HOME", NULL, "--onnxrt-library",
     "the cache: polygraphy/onnxruntime-VERSION in it has fetched releases of ONNX Runtime (default: ~/.cache)"},
};

static const struct manual_fact files[] = {
    {"polygraphy_debug.onnx, polygraphy_debug.engine", NULL, "--intermediate-artifact",
     "the candidate, in the working folder; --intermediate-artifact names another file"},
    {"polygraphy_debug.disabled", NULL, "--decisions",
     "the names of the optimizations that a check of `debug passes` disables"},
    {"polygraphy_debug_replay.json", NULL, "--check",
     "all verdicts of the session, for --load-debug-replay; --save-debug-replay names another file"},
    {"polygraphy_artifacts", NULL, "--artifacts",
     "the files that --artifacts has sorted; --artifacts-dir names another folder"},
    {"~/.cache/polygraphy/onnxruntime-VERSION/libonnxruntime.so.1", NULL, "--onnxrt-library",
     "a release of ONNX Runtime that --onnxrt-library has fetched"},
};

const struct manual_facts manual_exit_statuses = {"EXIT STATUS", MANUAL_STATUS, exit_statuses,
                                                  ARRAY_LEN(exit_statuses)};
const struct manual_facts manual_variables = {"ENVIRONMENT", MANUAL_VARIABLE, variables, ARRAY_LEN(variables)};
const struct manual_facts manual_files = {"FILES", MANUAL_FILE, files, ARRAY_LEN(files)};
