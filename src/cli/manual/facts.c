/* cli/manual/facts.c: exit statuses, environment variables and files. */
#include "cli/manual/facts.h"

#include "base/memory.h"

/* docs/exit-codes.md has the same, with examples that the tests run. */
static const struct manual_fact exit_statuses[] = {
    {"0", NULL, NULL, "the command has done its work"},
    {"0", "run", NULL, "all outputs match and, with --validate, are numbers"},
    {"0", "check lint", NULL, "no mistake was found in the model; warnings do not count"},
    {"0", "debug accuracy", NULL, "a cause was proven, or nothing fails"},
    {"1", NULL, NULL,
     "an error: one line on standard error, which begins with `[!]`, says what and where. An unknown option is one, "
     "too"},
    {"1", "run", NULL, "outputs differ or, with --validate, are not numbers; or an error"},
    {"1", "check lint", NULL, "a mistake was found in the model; or an error"},
    {"1", "debug reduce", NULL, "there is no model to write with -o or --min-good; or an error"},
    {"1", "debug accuracy", NULL, "outputs differ, and no cause was proven; or an error"},
    {"2", NULL, NULL, "the command line makes no sense; a usage line and a sentence on standard error say why"},
    {"3", NULL, NULL,
     "only inside of a check of a debug tool: the runner refused the model or failed, or an engine could not be built"},
    {"4", NULL, "--exit-code",
     "only with --exit-code: an iteration failed (`debug build`, `debug repeat`), or nothing was found (`debug "
     "reduce`, "
     "`debug precision`, `debug tactics`, `debug passes`, `debug quantization`)"},
    {"125", NULL, NULL,
     "only inside of a check of a debug tool: nothing was found out, because the command line, a file or the data are "
     "at "
     "fault"},
    {"130", NULL, NULL, "as shells count: ended by Ctrl-C; in general 128 and the number of the signal"},
};

static const struct manual_fact variables[] = {
    {"COLUMNS", NULL, NULL, "how wide --help may be; as wide as the terminal unless set"},
    {"GOMP_SPINCOUNT", NULL, "--fp16", "how long threads of GNU's OpenMP spin before they sleep; 1000 unless set"},
    {"HOME", NULL, "--fp16", "`.cache` in this folder stands in for XDG_CACHE_HOME"},
    {"LD_LIBRARY_PATH", NULL, "--fp16", "trtexec is also looked for beside the folders of TensorRT's libraries"},
    {"NO_COLOR", NULL, NULL, "with any value: no colours, as with `--log-format no-colors`"},
    {"OMP_WAIT_POLICY", NULL, "--fp16",
     "how OpenMP's threads wait, which oneDNN computes with. Unless this or GOMP_SPINCOUNT is set, they do not spin "
     "for long"},
    {"ORT_DISABLE_TELEMETRY", NULL, "--onnxruntime-lib",
     "ONNX Runtime is told not to report how it is used, unless this is set"},
    {"ORT_DYLIB_PATH", NULL, "--onnxruntime-lib",
     "ONNX Runtime's shared library, where neither an option, POLYGRAPHY_ONNXRUNTIME nor the installation has one"},
    {"PATH", NULL, NULL, "where the programs of checks and of --runner, and trtexec, are looked for"},
    {"POLYGRAPHY_ARTIFACT", NULL, "--check", "set for checks: the path of the candidate"},
    {"POLYGRAPHY_DISABLED", NULL, "--onnxrt-disable-optimizers",
     "set for checks of `debug passes`: what a runner is to do without, with `;` in between, or @ and a file with one "
     "name a line. Commands that run a model obey it: ONNX Runtime names of optimizers, KEY=VALUE entries of the "
     "session configuration, and `threads`; other names are other runners'"},
    {"POLYGRAPHY_ENGINE", NULL, "--runner", "set for commands of --runner and --runner-build: the path of {engine}"},
    {"POLYGRAPHY_FAILURE", NULL, "--check",
     "set for checks: where commands of this program tell the debug tool why a model did not run"},
    {"POLYGRAPHY_INPUTS", NULL, "--runner", "set for commands of --runner: the path of {inputs}"},
    {"POLYGRAPHY_ITERATION", NULL, "--check",
     "set for checks: the number of the iteration. A command that finds it, or POLYGRAPHY_ARTIFACT, tells by its exit "
     "status what kind of failure there was (3 and 125)"},
    {"POLYGRAPHY_MODEL", NULL, "--runner", "set for commands of --runner and --runner-build: the path of {model}"},
    {"POLYGRAPHY_ONEDNN", NULL, "--fp16",
     "the shared library of oneDNN for the built-in engine; that of the system unless set"},
    {"POLYGRAPHY_ONNXRUNTIME", NULL, "--onnxruntime-lib",
     "ONNX Runtime's shared library, its folder, or the name of one of the system's libraries"},
    {"POLYGRAPHY_OUTPUTS", NULL, "--runner", "set for commands of --runner: the path of {outputs}"},
    {"POLYGRAPHY_TENSORRT", NULL, "--fp16",
     "the file or folder of TensorRT's library (libnvinfer.so.N, libtensorrt_rtx.so.1), looked for nowhere else"},
    {"POLYGRAPHY_TRT", NULL, "--fp16",
     "what --trt means: `tensorrt` is TensorRT's library, `trtexec` TensorRT through its program, `builtin` the "
     "built-in engine, `auto` (unless set) TensorRT where it is installed"},
    {"POLYGRAPHY_TRTEXEC", NULL, "--fp16", "the path of TensorRT's trtexec"},
    {"SOURCE_DATE_EPOCH", NULL, "--write-manuals", "the date of manuals, in seconds since 1970"},
    {"TERM", NULL, NULL, "`dumb`: neither colours nor a line of progress"},
    {"TMPDIR", NULL, NULL, "the folder for temporary files; `/tmp` unless set"},
    {"XDG_CACHE_HOME", NULL, "--fp16", "the folder that has `polygraphy`, the cache of what trtexec can do"},
};

static const struct manual_fact files[] = {
    {"polygraphy_debug.onnx, polygraphy_debug.engine", NULL, "--intermediate-artifact",
     "the candidate, in the working folder, unless --intermediate-artifact names another file"},
    {"polygraphy_debug.disabled", NULL, "--decisions", "the names that a check of `debug passes` is to do without"},
    {"polygraphy_debug_replay.json", NULL, "--check",
     "all verdicts so far, for --load-debug-replay; --save-debug-replay names another file"},
    {"polygraphy_artifacts", NULL, "--artifacts", "what --artifacts has sorted; --artifacts-dir names another folder"},
    {"~/.cache/polygraphy/trtexec-*", NULL, "--fp16", "what the installed trtexec said that it can do"},
};

const struct manual_facts manual_exit_statuses = {"EXIT STATUS", MANUAL_STATUS, exit_statuses,
                                                  ARRAY_LEN(exit_statuses)};
const struct manual_facts manual_variables = {"ENVIRONMENT", MANUAL_VARIABLE, variables, ARRAY_LEN(variables)};
const struct manual_facts manual_files = {"FILES", MANUAL_FILE, files, ARRAY_LEN(files)};
