/* cli/options/runners/onnxrt_bounds.c: what ONNX Runtime may have where it is given models in a process of its own. */
#include "base/memory.h"
#include "cli/options/groups.h"

static int finish(struct parse *parse, struct error *err)
{
    struct onnxrt_bounds_values *values = PARSE_VALUES(parse, struct onnxrt_bounds_values);

    values->has_seconds = parse_given(parse, "--onnxrt-timeout") != NULL;
    if (!(values->seconds >= 0))
        return error_set(err, ERR_INVALID, "--onnxrt-timeout: a number of seconds cannot be negative");
    return 0;
}

static const struct option options[] = {
    {
        .names = {"--onnxrt-timeout"},
        .kind = OPTION_ONE,
        .type = OPTION_FLOAT,
        .value_name = "SECONDS",
        OPTION_FIELD(struct onnxrt_bounds_values, seconds),
        .help =
            "how long it may take to load the model or a part of it, and a tenth of how long to run it; usually 60, "
            "and as many for each GB of the model. 0 is no bound",
    },
};

const struct option_group onnxrt_bounds_options = {
    .title = "ONNX Runtime's process",
    .description =
        "Here ONNX Runtime is at work in a process of its own, which is ended when it takes more time, or more "
        "memory than 4 GB and eight times the model's size (with --max-memory: that, 1 GB, and three times "
        "the model's size).",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish,
};
