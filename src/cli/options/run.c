/* cli/options/run.c: what only `run` has: nothing that is supported. */
#include "base/memory.h"
#include "cli/options/groups.h"

static const struct option options[] = {
    {
        .names = {"--gen", "--gen-script"},
        .kind = OPTION_ONE,
        .refusal = "Python scripts are not generated; keep the command line itself",
    },
};

const struct option_group run_options = {
    .title = "Run",
    .options = options,
    .count = ARRAY_LEN(options),
};
