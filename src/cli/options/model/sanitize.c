/* cli/options/model/sanitize.c: what only `surgeon sanitize` has. */
#include "base/memory.h"
#include "cli/options/groups.h"

static const char *const partitionings[] = {"basic", "recursive", NULL};

static int finish_sanitize(struct parse *parse, void *given, struct error *err)
{
    static const char *const details[] = {"--num-passes", "--partitioning", "--no-fold-shapes",
                                          "--no-per-pass-shape-inference", "--fold-size-threshold"};
    struct sanitize_values *values = given;

    for (size_t i = 0; !values->fold_constants && i < ARRAY_LEN(details); i++)
        if (parse_given(parse, details[i]))
            log_message(parse_log(parse), LOG_WARNING, "%s has no effect without --fold-constants", details[i]);
    if (!parse_given(parse, "--num-passes"))
        values->passes = -1;
    else if (values->passes < 0)
        return error_set(err, ERR_INVALID, "%s: the number of passes cannot be negative",
                         parse_given(parse, "--num-passes"));
    values->has_partitioning = parse_given(parse, "--partitioning") != NULL;
    values->has_size_threshold = parse_given(parse, "--fold-size-threshold") != NULL;
    return 0;
}

static const struct option rows[] = {
    {
        .names = {"--cleanup"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct sanitize_values, cleanup),
        .help = "remove nodes that no output depends on",
    },
    {
        .names = {"--toposort"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct sanitize_values, toposort),
        .help = "put every node behind those that make what it reads",
    },
    {
        .names = {"--fold-constants"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct sanitize_values, fold_constants),
        .help = "compute what depends on constants alone, with ONNX Runtime",
    },
    {
        .names = {"--num-passes", "--num-const-fold-passes"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        OPTION_FIELD(struct sanitize_values, passes),
        .help = "the number of passes at most; otherwise until one changes nothing",
    },
    {
        .names = {"--partitioning"},
        .kind = OPTION_ONE,
        .type = OPTION_CHOICE,
        .choices = partitionings,
        OPTION_FIELD(struct sanitize_values, partitioning),
        .help = "what to do when the constants of a pass cannot be computed together: "
                "`basic` computes the two halves of the nodes apart, `recursive` goes on halving down to single nodes",
    },
    {
        .names = {"--no-fold-shapes"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct sanitize_values, no_fold_shapes),
        .help = "leave Shape nodes alone, although the shape is known",
    },
    {
        .names = {"--no-per-pass-shape-inference"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct sanitize_values, no_per_pass_shape_inference),
        .help = "do not infer shapes anew before each pass",
    },
    {
        .names = {"--fold-size-threshold"},
        .kind = OPTION_ONE,
        .value_name = "BYTES",
        .convert = convert_size,
        OPTION_FIELD(struct sanitize_values, size_threshold),
        .help = "leave tensors to be computed that are larger than this; K, M and G may follow the number",
    },
};

const struct option_group sanitize_options = {
    .title = "Sanitizing",
    .options = rows,
    .count = ARRAY_LEN(rows),
    .finish = finish_sanitize,
};
