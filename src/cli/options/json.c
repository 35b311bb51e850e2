/* cli/options/json.c: the result of a tool for other programs to read. */
#include "base/memory.h"
#include "cli/options/groups.h"

static const struct option options[] = {
    {
        .names = {"--json"},
        .kind = OPTION_ONE,
        .value_name = "FILE",
        .file = OPTION_WRITES,
        OPTION_FIELD(struct json_values, path),
        .help = "write the result to this file, too, as JSON",
    },
};

const struct option_group json_options = {
    .title = "Result",
    .options = options,
    .count = ARRAY_LEN(options),
};
