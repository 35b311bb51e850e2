/* cli/check.c: the tool whose subtools find mistakes. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"

static const struct option_group *const groups[] = {&logging_options};

static const struct command *const subtools[] = {
    &cmd_check_lint,
};

const struct command cmd_check = {
    .name = "check",
    .summary = "find mistakes in a model",
    .description = "Says what is wrong with a model, and at which node.",
    .example = "polygraphy check lint model.onnx -o report.json",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .subcommands = subtools,
    .subcommand_count = ARRAY_LEN(subtools),
};
