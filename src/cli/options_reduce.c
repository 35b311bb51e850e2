/* cli/options_reduce.c: what only `debug reduce` has. */
#include <string.h>

#include "base/memory.h"
#include "cli/option_groups.h"
#include "cli/option_parser.h"

static const char *const modes[] = {"bisect", "linear", NULL};

static int finish(void *data, struct parse *parse, struct error *err)
{
    const struct onnx_save_values *save = parse_values(parse, &onnx_save_options);
    const struct reduce_values *values = data;

    if (!values->min_good && !parse_given(parse, "--output"))
        return error_set(
            err, ERR_INVALID,
            "neither --output nor --min-good was given, so the result would go nowhere; add -o reduced.onnx");
    if (values->min_good && save->path && strcmp(values->min_good, save->path) == 0)
        return error_set(err, ERR_INVALID, "--output and --min-good are both '%s': give each a file of its own",
                         save->path);
    return 0;
}

static const struct option options[] = {
    {
        .names = {"--min-good", "--minimal-good"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .offset = offsetof(struct reduce_values, min_good),
        .help = "where to save a model of similar size that passes, if one was seen",
    },
    {
        .names = {"--no-reduce-inputs"},
        .kind = OPTION_FLAG,
        .exclusive = 1,
        .offset = offsetof(struct reduce_values, no_reduce_inputs),
        .help = "only look for the earliest outputs that fail; the beginning of the model stays",
    },
    {
        .names = {"--no-reduce-outputs"},
        .kind = OPTION_FLAG,
        .exclusive = 1,
        .offset = offsetof(struct reduce_values, no_reduce_outputs),
        .help = "only look for the latest inputs that fail; the end of the model stays",
    },
    {
        .names = {"--mode"},
        .kind = OPTION_ONE,
        .type = OPTION_CHOICE,
        .choices = modes,
        .fallback = "bisect",
        .offset = offsetof(struct reduce_values, mode),
        .help = "bisect needs few checks, linear tries every node and may find a smaller model",
    },
    {
        .names = {"--no-verify"},
        .kind = OPTION_FLAG,
        .offset = offsetof(struct reduce_values, no_verify),
        .help = "do not check the original model first, nor results whose exact content was not checked on the way",
    },
};

const struct option_group reduce_options = {
    .title = "Reduction",
    .options = options,
    .count = ARRAY_LEN(options),
    .values_size = sizeof(struct reduce_values),
    .finish = finish,
};
