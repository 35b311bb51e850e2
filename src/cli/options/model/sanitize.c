/* cli/options/model/sanitize.c: options of `surgeon sanitize`. */
#include "base/memory.h"
#include "cli/options/groups.h"

static const char *const partitionings[] = {"basic", "recursive", NULL};

static int finish_sanitize(struct parse *parse, void *given, struct error *err)
{
    static const char *const details[] = {"--num-passes", "--partitioning", "--no-fold-shapes",
                                          "--no-per-pass-shape-inference", "--fold-size-threshold"};
    struct sanitize_values *values = given;

    values->fold_constants |= values->simplify;
    values->cleanup |= values->simplify;
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

#define ROW(member, ...) OPTION_ROW(struct sanitize_values, member, __VA_ARGS__)

static const struct option rows[] = {
    ROW(cleanup, .names = {"--cleanup"}, .kind = OPTION_FLAG, .help = "remove nodes that no output depends on"),
    ROW(toposort, .names = {"--toposort"}, .kind = OPTION_FLAG,
        .help = "sort nodes topologically: each node after the producers of its inputs"),
    ROW(inline_bodies, .names = {"--inline-bodies"}, .kind = OPTION_FLAG,
        .help = "replace If by the branch that the input data take, and Loop and Scan by copies of their bodies"),
    ROW(fold_constants, .names = {"--fold-constants"}, .kind = OPTION_FLAG,
        .help = "compute tensors that depend only on constants, with ONNX Runtime"),
    ROW(simplify, .names = {"--simplify"}, .kind = OPTION_FLAG, .yields = true,
        .help =
            "remove all nodes that are not needed for the same outputs: those that return an input unchanged, those "
            "that repeat another one, and arithmetic on sizes; implies --fold-constants and --cleanup"),
    ROW(passes, .names = {"--num-passes", "--num-const-fold-passes"}, .kind = OPTION_ONE, .type = OPTION_INTEGER,
        .help = "maximum number of passes (default: until a pass changes nothing)"),
    ROW(partitioning, .names = {"--partitioning"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = partitionings,
        .help = "strategy if the constants of a pass cannot be computed together: `basic` computes each half of the "
                "nodes separately, `recursive` halves down to single nodes"),
    ROW(no_fold_shapes, .names = {"--no-fold-shapes"}, .kind = OPTION_FLAG, .help = "do not fold Shape nodes"),
    ROW(no_per_pass_shape_inference, .names = {"--no-per-pass-shape-inference"}, .kind = OPTION_FLAG,
        .help = "do not repeat shape inference before each pass"),
    ROW(size_threshold, .names = {"--fold-size-threshold"}, .kind = OPTION_ONE, .value_name = "BYTES",
        .convert = convert_size, .help = "do not fold tensors larger than this; accepts K, M and G"),
};

const struct option_group sanitize_options = {
    .title = "Sanitizing",
    OPTION_ROWS(rows),
    .finish = finish_sanitize,
};
