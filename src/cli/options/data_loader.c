/* cli/options/data_loader.c: where input data come from. */
#include "base/memory.h"
#include "cli/options/groups.h"

#define NO_SCRIPTS                                                                                                     \
    "scripts need Python; have one write its data to a file, for instance with safetensors.numpy.save_file({name: "    \
    "array}, 'in.safetensors'), and give that with --load-inputs"

static const char *const backends[] = {"numpy", "torch", NULL};

/* Generated data are of no use beside loaded ones. */
static void warn_about_ignored(struct parse *parse)
{
    static const char *const generating[] = {"--seed",      "--int-min",   "--int-max",   "--float-min",
                                             "--float-max", "--val-range", "--iterations"};
    const char *loading = parse_given(parse, "--load-inputs");

    for (size_t i = 0; loading && i < ARRAY_LEN(generating); i++) {
        const char *name = parse_given(parse, generating[i]);

        if (name)
            log_message(parse_log(parse), LOG_WARNING, "Argument: %s will be ignored, since inputs were given with %s",
                        name, loading);
    }
}

static int finish(struct parse *parse, struct error *err)
{
    struct data_loader_values *values = PARSE_VALUES(parse, struct data_loader_values);

    if (values->backend == DATA_LOADER_TORCH)
        return error_set(
            err, ERR_UNSUPPORTED,
            "--data-loader-backend-module: torch is for Python; leave the option out, or give data of your own with "
            "--load-inputs");
    if (values->seed < 0 || values->seed > UINT32_MAX)
        return error_set(err, ERR_INVALID, "--seed: %lld lies outside of 0 to 4294967295", (long long)values->seed);
    if (values->iterations < 0)
        return error_set(err, ERR_INVALID, "--iterations: %lld is less than 0", (long long)values->iterations);
    values->has_integer_range = parse_given(parse, "--int-min") || parse_given(parse, "--int-max");
    values->has_float_range = parse_given(parse, "--float-min") || parse_given(parse, "--float-max");
    if (values->has_integer_range && values->int_min > values->int_max)
        return error_set(err, ERR_INVALID, "--int-min: %lld is greater than --int-max, %lld",
                         (long long)values->int_min, (long long)values->int_max);
    if (values->has_float_range && !(values->float_min <= values->float_max))
        return error_set(err, ERR_INVALID, "--float-min: %g is greater than --float-max, %g", values->float_min,
                         values->float_max);
    warn_about_ignored(parse);
    return 0;
}

static const struct option options[] = {
    {
        .names = {"--seed"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "1",
        OPTION_FIELD(struct data_loader_values, seed),
        .help = "seed of the random input data; iteration i, counted from 0, uses N + i",
    },
    {
        .names = {"--val-range"},
        .kind = OPTION_MANY,
        .value_name = "[NAME:][MIN,MAX]",
        .convert = convert_ranges,
        OPTION_FIELD(struct data_loader_values, ranges),
        .help = "range of the random values, for all inputs or for the one that is named; [0,1] unless given",
    },
    {
        .names = {"--int-min"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "1",
        OPTION_FIELD(struct data_loader_values, int_min),
        .help = "least value for integer inputs; prefer --val-range. Counts when this or --int-max is given",
    },
    {
        .names = {"--int-max"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "25",
        OPTION_FIELD(struct data_loader_values, int_max),
        .help = "greatest value for integer inputs; see --int-min",
    },
    {
        .names = {"--float-min"},
        .kind = OPTION_ONE,
        .type = OPTION_FLOAT,
        .value_name = "X",
        .fallback = "-1",
        OPTION_FIELD(struct data_loader_values, float_min),
        .help = "least value for floating-point inputs; prefer --val-range. Counts when this or --float-max is given",
    },
    {
        .names = {"--float-max"},
        .kind = OPTION_ONE,
        .type = OPTION_FLOAT,
        .value_name = "X",
        .fallback = "1",
        OPTION_FIELD(struct data_loader_values, float_max),
        .help = "greatest value for floating-point inputs; see --float-min",
    },
    {
        .names = {"--iterations", "--iters"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "1",
        OPTION_FIELD(struct data_loader_values, iterations),
        .help = "how many sets of input data to generate",
    },
    {
        .names = {"--data-loader-backend-module"},
        .kind = OPTION_ONE,
        .type = OPTION_CHOICE,
        .choices = backends,
        .fallback = "numpy",
        OPTION_FIELD(struct data_loader_values, backend),
        .help = "whose random numbers to give; only numpy's are available",
    },
    {
        .names = {"--load-inputs", "--load-input-data"},
        .kind = OPTION_MANY,
        .value_name = "PATH",
        .exclusive = 1,
        .file = OPTION_READS,
        OPTION_FIELD(struct data_loader_values, load_inputs),
        .help =
            "take the input data from these files, as written by `run --save-inputs` or `data to-input`, in this order",
    },
    {
        .names = {"--data-loader-script"},
        .kind = OPTION_ONE,
        .exclusive = 1,
        .refusal = NO_SCRIPTS,
    },
    {
        .names = {"--data-loader-func-name"},
        .kind = OPTION_ONE,
        .refusal = NO_SCRIPTS,
    },
};

const struct option_group data_loader_options = {
    .title = "Input data",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish,
};
