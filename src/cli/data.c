/* cli/data.c: the tool whose subtools work on files with arrays. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"

static const struct option_group *const groups[] = {&logging_options};

static const struct command *const subtools[] = {
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
    .subcommands = subtools,
    .subcommand_count = ARRAY_LEN(subtools),
};
