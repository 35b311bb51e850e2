/* cli/options/runners/precision.c: what only `debug precision` has. */
#include <string.h>

#include "base/memory.h"
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

static int finish_precision(struct parse *parse, void *given, struct error *err)
{
    struct debug_precision_settings *values = given;
    const struct precision_settings *precision = &values->engine.request.builder.precision;
    int rc = jobs_check(parse, &values->debug.session, values->emit == PRECISION_EMIT_ENGINE, err);

    values->engine.varies_precision = true;
    if (rc < 0)
        return rc;
    if (values->mode == PRECISION_MINIMAL && parse_given(parse, "--dir"))
        return error_set(err, ERR_INVALID, "--dir is for --mode bisect and linear: minimal takes layers from anywhere");
    if (precision->constraints == PRECISION_CONSTRAINTS_NONE)
        return error_set(err, ERR_INVALID,
                         "--precision-constraints none: layers would not get the precision that is chosen for them; "
                         "take prefer or obey");
    if (values->emit == PRECISION_EMIT_ENGINE && values->output_onnx == NULL)
        return 0;
    if (values->high != DATA_FLOAT32 || precision->enabled[PRECISION_INT8] ||
        (precision->enabled[PRECISION_FLOAT16] && precision->enabled[PRECISION_BFLOAT16]))
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: an ONNX model gets either float16 or bfloat16 beside float32; leave out --int8, "
                         "--precision float16, and one of --fp16 and --bf16",
                         values->output_onnx != NULL ? "--output-onnx" : "--emit onnx");
    return 0;
}

#define ROW(member, ...) OPTION_ROW(struct debug_precision_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(mode, .names = {"--mode"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = modes, .fallback = "bisect",
        .help = "bisect and linear look for how many layers, from one end of the network, "
                "have to be in higher precision; minimal for the layers themselves, wherever they are, "
                "without any that is not needed"),
    ROW(reverse, .names = {"--dir", "--direction"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = directions,
        .fallback = "forward", .convert = convert_direction,
        .help = "with bisect and linear: which end is first in higher precision, the beginning (forward) or the end"),
    ROW(high, .names = {"-p", "--precision"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = precisions,
        .fallback = "float32", .choice_values = precision_types,
        .help = "the higher precision; the lower one is the lowest that is allowed (--fp16, --bf16, --int8)"),
    ROW(emit, .names = {"--emit"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = forms, .fallback = "engine",
        .help = "what each iteration writes: an engine, "
                "or an ONNX model whose Cast nodes say which precision is where, for a check with any other runtime "
                "(to polygraphy_debug.onnx then)"),
    JOBS_ROW(struct debug_precision_settings,
             "With engines, only where no kernel is timed: with --deterministic or --error-on-timing-cache-miss. ",
             ". Each candidate has a file of its own then, which the check names {artifact}, or by its usual path"),
    ROW(output_onnx, .names = {"--output-onnx"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_WRITES,
        .extensions = "onnx",
        .help =
            "save the result as an ONNX model: float16, or bfloat16, with Cast nodes around what has to be float32"),
    ROW(no_verify, .names = {"--no-verify"}, .kind = OPTION_FLAG,
        .help = "do not check all layers in higher and all layers in lower precision first"),
};

const struct option_group precision_options = {
    .title = "Precision",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish_precision,
};
