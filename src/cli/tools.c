/* cli/tools.c: the tools that consist of subtools. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"

static const struct command_group groups[] = {COMMAND_GROUP(struct common_settings, logging, logging_options)};

static const struct command *const check_tools[] = {
    &cmd_check_lint,
    &cmd_check_accuracy,
};

const struct command cmd_check = {
    .name = "check",
    .summary = "find errors in a model, or judge saved metrics again",
    .description = "Finds errors in a model and the nodes that cause them, or judges the metrics of a comparison with "
                   "other thresholds.",
    .example = "polygraphy check lint model.onnx -o report.json",
    COMMAND_GROUPS(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = check_tools,
    .subcommand_count = ARRAY_LEN(check_tools),
};

static const struct command *const data_tools[] = {
    &cmd_data_generate,
    &cmd_data_merge,
    &cmd_data_concat,
    &cmd_data_to_input,
};

const struct command cmd_data = {
    .name = "data",
    .summary = "generate and convert files with inputs and outputs",
    .description = "Generates data for a model, and converts files that `run` has written into files that it reads.",
    .example = "# outputs of layers become inputs of a subgraph\npolygraphy data merge inputs.json "
               "layerwise_outputs.json -o layerwise_inputs.json",
    COMMAND_GROUPS(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = data_tools,
    .subcommand_count = ARRAY_LEN(data_tools),
};

/* diff-tactics was a tool of `debug` in early versions of Polygraphy, and documents still use that name. */

static const struct command *const debug_tools[] = {
    &cmd_debug_accuracy,     &cmd_debug_reduce, &cmd_debug_build,    &cmd_debug_kernels,
    &cmd_debug_models,       &cmd_debug_passes, &cmd_debug_releases, &cmd_debug_precision,
    &cmd_debug_quantization, &cmd_debug_repeat, &cmd_debug_tactics,  &cmd_inspect_diff_tactics,
};

const struct command cmd_debug = {
    .name = "debug",
    .summary = "find the cause of a failing model",
    .description = "Each of these tools generates candidates, and runs a command of yours, the check, which decides "
                   "whether a candidate passes. Files of the check and the tool can be sorted into good and "
                   "bad.\n\nThe check is any program: exit code 0 is a pass, 125 is inconclusive, any other code is a "
                   "failure. If the check is a command of this program, 1 means that outputs differ or are not finite, "
                   "3 that the runner refused the model or failed, and 125 that the check is invalid: a misspelled "
                   "option, a missing file, an input without data, nothing to compare.",
    .example = "# the smallest subgraph of model.onnx on which a float16 engine and ONNX Runtime disagree\npolygraphy "
               "debug reduce model.onnx -o reduced.onnx --mode minimal \\\n    --iter-inputs in.json --iter-golden "
               "golden.json \\\n    --check polygraphy run polygraphy_debug.onnx --trt --fp16 \\\n    --load-inputs "
               "in.json --load-outputs golden.json --atol 0.5 --rtol 0.1",
    COMMAND_GROUPS(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = debug_tools,
    .subcommand_count = ARRAY_LEN(debug_tools),
};

static const struct command *const inspect_tools[] = {
    &cmd_inspect_model,   &cmd_inspect_data,         &cmd_inspect_capability,   &cmd_inspect_sparsity,
    &cmd_inspect_tactics, &cmd_inspect_diff_tactics, &cmd_inspect_diff_engines, &cmd_inspect_diff_models,
};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show the contents of a file",
    .description = "Shows the contents of models, engines, data and tactic replays, the differences between two "
                   "engines, and the tactics that may cause failures.",
    .example = "# the layers of a model, with their tensors and attributes\npolygraphy inspect model model.onnx --show "
               "layers attrs",
    COMMAND_GROUPS(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = inspect_tools,
    .subcommand_count = ARRAY_LEN(inspect_tools),
};

static const struct command *const surgeon_tools[] = {
    &cmd_surgeon_extract, &cmd_surgeon_insert,       &cmd_surgeon_sanitize,
    &cmd_surgeon_prune,   &cmd_surgeon_weight_strip, &cmd_surgeon_weight_reconstruct,
};

const struct command cmd_surgeon = {
    .name = "surgeon",
    .summary = "change an ONNX model",
    .description = "Each of these tools reads an ONNX model and writes another one. Unaffected parts are copied "
                   "unchanged, including unknown fields.",
    .example = "# the subgraph of model.onnx between two tensors\npolygraphy surgeon extract model.onnx -o part.onnx "
               "--inputs x:auto:auto --outputs y:auto",
    COMMAND_GROUPS(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = surgeon_tools,
    .subcommand_count = ARRAY_LEN(surgeon_tools),
};

/* ---- Tools of Polygraphy that are not supported ---- */

const struct missing_command missing_tools[] = {
    {"template",
     "Python scripts are neither written nor run; change engines with options of `polygraphy convert` and `polygraphy "
     "run --trt`, for instance --layer-precisions, and ONNX models with `polygraphy surgeon`",
     "python-scripts"},
    {"plugin",
     "`polygraphy surgeon insert --inputs NAME ... --outputs NAME ... --op OPERATOR` replaces the nodes between the "
     "inputs and the outputs by a node of the plug-in's operator",
     "plugin"},
    {"multi-device",
     "models are not split over several devices; `polygraphy surgeon extract` extracts subgraphs, which can be run one "
     "by one",
     "multi-device"},
    {NULL, NULL, NULL},
};
