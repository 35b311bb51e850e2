/* cli/options/runners/ignored.c: what only TensorRT can do, and what changes no result here. */
#include "base/memory.h"
#include "cli/options/runners/engine.h"

#define HELP "TensorRT's; without effect on the built-in engine"

/* Nobody reads the values. */
struct ignored_values {
    bool flag;
    const char *word;
    int64_t integer;
    double number;
    struct words words;
};

#define ROW(how_many, what, field, name)                                                                               \
    {                                                                                                                  \
        .names = {name}, .kind = how_many, .type = what, OPTION_FIELD(struct ignored_values, field), .help = HELP,     \
    }

static const struct option rows[] = {
    /* only for `run` */
    ROW(OPTION_ONE, OPTION_TEXT, word, "--load-runtime"),
    ROW(OPTION_ONE, OPTION_INTEGER, integer, "--optimization-profile"),
    {
        .names = {"--allocation-strategy"},
        .kind = OPTION_ONE,
        .choices = (const char *const[]){"static", "profile", "runtime", NULL},
        OPTION_FIELD(struct ignored_values, word),
        .help = HELP,
    },
    ROW(OPTION_ONE, OPTION_TEXT, word, "--weight-streaming-budget"),
    /* for all tools that build engines */
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--sparse-weights"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--version-compatible"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--exclude-lean-runtime"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--disable-compilation-cache"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--trt-safety-restricted"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--refittable"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--strip-plan"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--use-dla"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--allow-gpu-fallback"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--weight-streaming"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--plugin-instancenorm"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--mark-unfused-tensors-as-debug-tensors"),
    {
        .names = {"--pool-limit", "--memory-pool-limit"},
        .kind = OPTION_MANY,
        .value_name = "POOL:SIZE",
        OPTION_FIELD(struct ignored_values, words),
        .help = HELP,
    },
    ROW(OPTION_ANY, OPTION_TEXT, words, "--preview-features"),
    ROW(OPTION_ANY, OPTION_TEXT, words, "--quantization-flags"),
    ROW(OPTION_MANY, OPTION_TEXT, words, "--onnx-flags"),
    ROW(OPTION_MANY, OPTION_TEXT, words, "--mark-debug"),
    ROW(OPTION_ONE, OPTION_FLOAT, number, "--regression-cutoff"),
    ROW(OPTION_ONE, OPTION_INTEGER, integer, "--max-aux-streams"),
    ROW(OPTION_ONE, OPTION_TEXT, word, "--hardware-compatibility-level"),
    ROW(OPTION_ONE, OPTION_TEXT, word, "--profiling-verbosity"),
    ROW(OPTION_ONE, OPTION_TEXT, word, "--runtime-platform"),
    ROW(OPTION_ONE, OPTION_TEXT, word, "--tiling-optimization-level"),
    /* only for `convert` */
    ROW(OPTION_ONE, OPTION_TEXT, word, "--engine-capability"),
    ROW(OPTION_FLAG, OPTION_TEXT, flag, "--direct-io"),
    ROW(OPTION_MANY, OPTION_TEXT, words, "--tensor-formats"),
};

#define RUN_ONLY 4
#define CONVERT_ONLY 3

#define IGNORED_GROUP(first, end)                                                                                      \
    {                                                                                                                  \
        .title = "TensorRT only", .options = rows + (first), .count = (end) - (first),                                 \
    }

const struct option_group engine_ignored_run_options = IGNORED_GROUP(0, ARRAY_LEN(rows) - CONVERT_ONLY);
const struct option_group engine_ignored_options = IGNORED_GROUP(RUN_ONLY, ARRAY_LEN(rows) - CONVERT_ONLY);
const struct option_group engine_ignored_convert_options = IGNORED_GROUP(RUN_ONLY, ARRAY_LEN(rows));

void engine_options_ignored(const struct parse *parse, struct string_builder *ret)
{
    static const struct option_group all = IGNORED_GROUP(0, ARRAY_LEN(rows));

    parse_list_given_of_group(parse, &all, ret);
}

/* ---- Models of TensorFlow: all of it is refused, with the way out ---- */

#define WAY_OUT                                                                                                        \
    "models of TensorFlow are neither run nor converted here; make an ONNX model of it, for instance with tf2onnx, "   \
    "and give that; results of TensorFlow, as safetensors, are compared with --load-outputs"

#define REFUSED(how_many, ...)                                                                                         \
    {                                                                                                                  \
        .names = {__VA_ARGS__}, .kind = how_many, .refusal = WAY_OUT,                                                  \
    }

static const struct option tensorflow_rows[] = {
    /* only for `run` */
    REFUSED(OPTION_FLAG, "--tftrt", "--use-tftrt"),
    REFUSED(OPTION_ONE, "--minimum-segment-size"),
    REFUSED(OPTION_FLAG, "--dynamic-op"),
    REFUSED(OPTION_ONE, "--save-pb"),
    REFUSED(OPTION_ONE, "--save-tensorboard"),
    REFUSED(OPTION_ONE, "--gpu-memory-fraction"),
    REFUSED(OPTION_FLAG, "--allow-growth"),
    REFUSED(OPTION_FLAG, "--xla"),
    REFUSED(OPTION_ONE, "--save-timeline"),
    /* for `convert`, too */
    REFUSED(OPTION_MANY, "--tf-outputs"),
    REFUSED(OPTION_ONE, "--opset"),
    /* and for `inspect model` */
    REFUSED(OPTION_ONE, "--ckpt"),
    REFUSED(OPTION_FLAG, "--freeze-graph"),
};

#define TENSORFLOW_RUN_ONLY 9
#define TENSORFLOW_NOT_INSPECT 11

#define TENSORFLOW_GROUP(first)                                                                                        \
    {                                                                                                                  \
        .title = "TensorFlow", .options = tensorflow_rows + (first), .count = ARRAY_LEN(tensorflow_rows) - (first),    \
    }

const struct option_group tensorflow_run_options = TENSORFLOW_GROUP(0);
const struct option_group tensorflow_convert_options = TENSORFLOW_GROUP(TENSORFLOW_RUN_ONLY);
const struct option_group tensorflow_inspect_options = TENSORFLOW_GROUP(TENSORFLOW_NOT_INSPECT);
