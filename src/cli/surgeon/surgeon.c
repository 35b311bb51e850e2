/* surgeon.c: the tool whose subtools change ONNX models. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"

static const struct option_group *const groups[] = {&logging_options};

static const struct command *const subtools[] = {
    &cmd_surgeon_extract, &cmd_surgeon_insert,       &cmd_surgeon_sanitize,
    &cmd_surgeon_prune,   &cmd_surgeon_weight_strip, &cmd_surgeon_weight_reconstruct,
};

const struct command cmd_surgeon = {
    .name = "surgeon",
    .summary = "change an ONNX model",
    .description =
        "Each of these tools reads an ONNX model and writes another one. What a tool does not have to touch is "
        "copied as it is, unknown fields included.",
    .example = "# the part of model.onnx between two tensors\n"
               "polygraphy surgeon extract model.onnx -o part.onnx --inputs x:auto:auto --outputs y:auto",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .subcommands = subtools,
    .subcommand_count = ARRAY_LEN(subtools),
};
