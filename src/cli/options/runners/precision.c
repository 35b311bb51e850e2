/* cli/options/runners/precision.c: options of `debug precision`. */
#include <string.h>

#include "cli/options/groups.h"
#include "cli/options/runners/precision_rules.h"

static const char *const modes[] = {"bisect", "linear", "minimal", NULL};
static const char *const directions[] = {"forward", "reverse", NULL};
static const char *const precisions[] = {"float32", "float16", NULL};
static const char *const forms[] = {"engine", "onnx", NULL};

static const int precision_types[] = {DATA_FLOAT32, DATA_FLOAT16};

static int convert_direction(struct parse *parse, const char *spelling, struct words words, void *field,
                             struct error *err)
{
    (void)parse, (void)spelling, (void)err;
    *(bool *)field = strcmp(words.items[0], "reverse") == 0;
    return 0;
}

/* With --steps the check reads files with the data of all steps. */
static int check_steps(struct parse *parse, struct error *err)
{
    bool has_files = parse_given(parse, "--step-inputs") != NULL && parse_given(parse, "--step-golden") != NULL;

    if (parse_given(parse, "--steps") != NULL && !has_files)
        return error_set(
            err, ERR_INVALID,
            "--steps needs --step-inputs in.json and --step-golden golden.json, with --load-inputs in.json "
            "--load-outputs golden.json in the check, which compares all steps");
    if (parse_given(parse, "--steps") == NULL &&
        (parse_given(parse, "--step-inputs") != NULL || parse_given(parse, "--step-golden") != NULL))
        return error_set(err, ERR_INVALID, "--step-inputs and --step-golden have no effect without --steps N");
    return 0;
}

static int finish_precision(struct parse *parse, void *given, struct error *err)
{
    struct debug_precision_settings *values = given;
    const struct precision_settings *precision = &values->engine.request.builder.precision;
    int rc = jobs_check(parse, &values->debug.session, values->emit == PRECISION_EMIT_ENGINE, err);

    values->engine.varies_precision = true;
    if (rc == 0)
        rc = check_steps(parse, err);
    if (rc < 0)
        return rc;
    if (values->mode == PRECISION_MINIMAL && parse_given(parse, "--dir"))
        return error_set(err, ERR_INVALID,
                         "--dir is for --mode bisect and linear: minimal chooses layers anywhere in the network");
    if (precision->constraints == PRECISION_CONSTRAINTS_NONE)
        return error_set(err, ERR_INVALID,
                         "--precision-constraints none: layers would not get the precision that the search chooses; "
                         "use prefer or obey");
    if (values->emit == PRECISION_EMIT_ENGINE && values->output_onnx == NULL)
        return 0;
    if (values->high != DATA_FLOAT32 || precision->enabled[PRECISION_INT8] ||
        (precision->enabled[PRECISION_FLOAT16] && precision->enabled[PRECISION_BFLOAT16]))
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: an ONNX model can combine float32 with either float16 or bfloat16; leave out --int8, "
                         "--precision float16, and one of --fp16 and --bf16",
                         values->output_onnx != NULL ? "--output-onnx" : "--emit onnx");
    return 0;
}

#define ROW(member, ...) OPTION_ROW(struct debug_precision_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(mode, .names = {"--mode"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = modes, .fallback = "bisect",
        .help = "bisect and linear search for the number of layers, from one end of the network, that need the higher "
                "precision; minimal for a 1-minimal set of such layers anywhere in the network"),
    ROW(reverse, .names = {"--dir", "--direction"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = directions,
        .fallback = "forward", .convert = convert_direction,
        .help = "with bisect and linear: end of the network whose layers get the higher precision first: the beginning "
                "(forward) or the end (reverse)"),
    ROW(high, .names = {"-p", "--precision"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = precisions,
        .fallback = "float32", .choice_values = precision_types,
        .help = "higher precision; the lower one is the lowest that is allowed (--fp16, --bf16, --int8)"),
    ROW(emit, .names = {"--emit"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = forms, .fallback = "engine",
        .help = "what each iteration writes: an engine, or, for a check with any other runtime, an ONNX model with "
                "Cast nodes between precisions (to polygraphy_debug.onnx)"),
    JOBS_ROW(
        struct debug_precision_settings,
        "With engines, N > 1 needs builds without timing: --deterministic or --error-on-timing-cache-miss. ",
        ". With N > 1 each candidate has a separate file: in the check, {artifact}, or the usual path, stands for it"),
    ROW(output_onnx, .names = {"--output-onnx"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_WRITES,
        .extensions = "onnx",
        .help =
            "save the result as an ONNX model in float16 or bfloat16, with Cast nodes around layers that need float32"),
    ROW(step_inputs, .names = {"--step-inputs"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_WRITES_DATA,
        .help = "with --steps: write the inputs of all steps of the original in ONNX Runtime to this file, for "
                "--load-inputs in the check"),
    ROW(step_golden, .names = {"--step-golden"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_WRITES_DATA,
        .help = "with --steps: write the outputs of all steps to this file, for --load-outputs in the check"),
    ROW(no_verify, .names = {"--no-verify"}, .kind = OPTION_FLAG,
        .help = "skip the first two checks, with all layers in higher and all in lower precision"),
};

const struct option_group precision_options = {
    .title = "Precision",
    OPTION_ROWS(options),
    .finish = finish_precision,
};
