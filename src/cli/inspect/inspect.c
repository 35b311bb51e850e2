/* cli/inspect/inspect.c: the tool whose subtools show what is in a file. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"

static const struct option_group *const groups[] = {&logging_options};

static const struct command *const subtools[] = {
    &cmd_inspect_model,    &cmd_inspect_data,    &cmd_inspect_capability,
    &cmd_inspect_sparsity, &cmd_inspect_tactics, &cmd_inspect_diff_tactics,
};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show what is in a file",
    .description = "Shows what models, data and tactic replays hold, and tells good tactics from bad ones.",
    .example = "# the layers of a model and what they are connected by\n"
               "polygraphy inspect model model.onnx --show layers attrs",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .subcommands = subtools,
    .subcommand_count = ARRAY_LEN(subtools),
};
