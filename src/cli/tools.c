/* cli/tools.c: the tools that are only names for their subtools. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"

static const struct command_group groups[] = {COMMAND_GROUP(struct common_settings, logging, logging_options)};

static const struct command *const check_tools[] = {
    &cmd_check_lint,
};

const struct command cmd_check = {
    .name = "check",
    .summary = "find mistakes in a model",
    .description = "Says what is wrong with a model, and at which node.",
    .example = "polygraphy check lint model.onnx -o report.json",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = check_tools,
    .subcommand_count = ARRAY_LEN(check_tools),
};

static const struct command *const data_tools[] = {
    &cmd_data_to_input,
};

const struct command cmd_data = {
    .name = "data",
    .summary = "work on files with inputs and outputs",
    .description = "Changes files that `run` has written into files that it reads.",
    .example = "# what a layer made is what a part of the model behind it is fed\n"
               "polygraphy data to-input inputs.json layerwise_outputs.json -o layerwise_inputs.json",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = data_tools,
    .subcommand_count = ARRAY_LEN(data_tools),
};

/* In early versions of Polygraphy diff-tactics was one of these, and documents still call it so. */

static const struct command *const debug_tools[] = {
    &cmd_debug_accuracy,     &cmd_debug_reduce, &cmd_debug_build,   &cmd_debug_passes,        &cmd_debug_precision,
    &cmd_debug_quantization, &cmd_debug_repeat, &cmd_debug_tactics, &cmd_inspect_diff_tactics};

const struct command cmd_debug = {
    .name = "debug",
    .summary = "find out what makes a model fail",
    .description = "Each of these tools makes candidates, and lets a command of yours, the check, "
                   "tell good ones from bad ones. "
                   "What the check and the tool leave behind can be sorted into good and bad.\n\n"
                   "The check is any program: exit code 0 means that the candidate is good, "
                   "125 that the check could not tell, anything else that it is bad. "
                   "When the check is a command of this program, 1 means that outputs differ or are no numbers, "
                   "3 that the runner refused the model or failed, and 125 that the question made no sense: "
                   "a mistyped option, a file that is not there, an input without data, nothing to compare.",
    .example = "# the smallest part of model.onnx on which a float16 engine and ONNX Runtime disagree\n"
               "polygraphy debug reduce model.onnx -o reduced.onnx --mode minimal \\\n"
               "    --iter-inputs in.json --iter-golden golden.json \\\n"
               "    --check polygraphy run polygraphy_debug.onnx --trt --fp16 \\\n"
               "    --load-inputs in.json --load-outputs golden.json --atol 0.5 --rtol 0.1",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = debug_tools,
    .subcommand_count = ARRAY_LEN(debug_tools),
};

static const struct command *const inspect_tools[] = {
    &cmd_inspect_model,   &cmd_inspect_data,         &cmd_inspect_capability,   &cmd_inspect_sparsity,
    &cmd_inspect_tactics, &cmd_inspect_diff_tactics, &cmd_inspect_diff_engines,
};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show what is in a file",
    .description = "Shows what models, engines, data and tactic replays hold, what two engines differ in, and "
                   "tells good tactics from bad ones.",
    .example = "# the layers of a model and what they are connected by\n"
               "polygraphy inspect model model.onnx --show layers attrs",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
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
    .description = "Each of these tools reads an ONNX model and writes another one. "
                   "What a tool does not have to touch is copied as it is, unknown fields included.",
    .example = "# the part of model.onnx between two tensors\n"
               "polygraphy surgeon extract model.onnx -o part.onnx --inputs x:auto:auto --outputs y:auto",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .settings_size = sizeof(struct common_settings),
    .subcommands = surgeon_tools,
    .subcommand_count = ARRAY_LEN(surgeon_tools),
};

/* ---- What Polygraphy has besides ---- */

const struct missing_command missing_tools[] = {
    {"template",
     "Python scripts are neither written nor run; what they would change of an engine is said with options of "
     "`polygraphy convert` and `polygraphy run --trt`, for instance --layer-precisions, and ONNX models are "
     "changed with `polygraphy surgeon`",
     "python-scripts"},
    {"plugin",
     "`polygraphy surgeon insert --inputs NAME ... --outputs NAME ... --op OPERATOR` puts a node of the plug-in's "
     "operator in the place of those between the inputs and the outputs",
     "plugin"},
    {"multi-device",
     "models are not split over several devices; `polygraphy surgeon extract` cuts parts out of a model, "
     "which can be run one by one",
     "multi-device"},
    {NULL, NULL, NULL},
};
