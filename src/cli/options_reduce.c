/* cli/options_reduce.c: what only `debug reduce` has. */
#include <string.h>

#include "base/memory.h"
#include "cli/option_groups.h"
#include "cli/option_parser.h"

static const char *const modes[] = {"bisect", "linear", "minimal", NULL};

static int finish(void *data, struct parse *parse, struct error *err)
{
    const struct onnx_save_values *save = parse_values(parse, &onnx_save_options);
    const struct reduce_values *values = data;

    if (!values->min_good && !parse_given(parse, "--output"))
        return error_set(
            err, ERR_INVALID,
            "neither --output nor --min-good was given, so the result would go nowhere; add -o reduced.onnx");
    if (values->max_checks < 0 || !(values->deadline >= 0))
        return error_set(err, ERR_INVALID, "--max-checks and --deadline are at least 0");
    if (values->mode != REDUCE_MINIMAL && (values->iteration_inputs || values->iteration_golden))
        return error_set(err, ERR_INVALID, "--iter-inputs and --iter-golden need --mode minimal");
    if (values->mode == REDUCE_MINIMAL && (values->no_reduce_inputs || values->no_reduce_outputs))
        return error_set(
            err, ERR_INVALID,
            "--mode minimal leaves out whatever it can: --no-reduce-inputs and --no-reduce-outputs are for "
            "the other modes");
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
        .help =
            "bisect needs few checks, linear tries every node and may find a smaller model; minimal finds a model that "
            "no single node can be left out of",
    },
    {
        .names = {"--max-checks"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "0",
        .offset = offsetof(struct reduce_values, max_checks),
        .help = "end after so many checks, with the smallest model that was seen to fail by then; 0 is no limit",
    },
    {
        .names = {"--deadline"},
        .kind = OPTION_ONE,
        .type = OPTION_FLOAT,
        .value_name = "SECONDS",
        .fallback = "0",
        .offset = offsetof(struct reduce_values, deadline),
        .help = "the same for time: no check begins later than this",
    },
    {
        .names = {"--iter-inputs"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .offset = offsetof(struct reduce_values, iteration_inputs),
        .help = "with --mode minimal: write what the candidate's inputs hold in the original model to this file, for "
                "--load-inputs in the check",
    },
    {
        .names = {"--iter-golden"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .offset = offsetof(struct reduce_values, iteration_golden),
        .help =
            "with --mode minimal: write what the candidate's outputs hold in the original model, run by ONNX Runtime, "
            "to this file, for --load-outputs in the check",
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
