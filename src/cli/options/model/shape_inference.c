/* cli/options/model/shape_inference.c: whether and how the shapes of a model's tensors are inferred. */
#include "base/memory.h"
#include "cli/options/groups.h"

/* Only ONNX Runtime infers shapes, so disabling it disables shape inference. */
static bool is_allowed(const struct shape_inference_values *values, bool wanted, struct parse *parse)
{
    if (wanted && values->no_onnxruntime)
        log_message(
            parse_log(parse), LOG_WARNING,
            "--no-onnxruntime-shape-inference: shapes are not inferred, because only ONNX Runtime can infer them");
    return wanted && !values->no_onnxruntime;
}

static int finish_off_unless_asked_for(struct parse *parse, void *given, struct error *err)
{
    struct shape_inference_values *values = given;

    (void)err;
    values->enabled = is_allowed(values, values->shape_inference, parse);
    return 0;
}

static int finish_on_unless_refused(struct parse *parse, void *given, struct error *err)
{
    struct shape_inference_values *values = given;

    (void)err;
    values->enabled = is_allowed(values, !values->no_shape_inference && !values->force_fallback, parse);
    return 0;
}

/* clang-format off */
#define SHAPE_INFERENCE                                                                                                \
    {                                                                                                                  \
        .names = {"--shape-inference", "--do-shape-inference"}, .kind = OPTION_FLAG, .exclusive = 1,                   \
        OPTION_FIELD(struct shape_inference_values, shape_inference),                                                  \
        .help = "infer the shapes of all tensors",                                                                     \
    }

#define NO_SHAPE_INFERENCE                                                                                             \
    {                                                                                                                  \
        .names = {"--no-shape-inference"}, .kind = OPTION_FLAG, .exclusive = 1,                                        \
        OPTION_FIELD(struct shape_inference_values, no_shape_inference),                                               \
        .help = "do not infer the shapes of tensors",                                                                  \
    }

#define FORCE_FALLBACK                                                                                                 \
    {                                                                                                                  \
        .names = {"--force-fallback-shape-inference"}, .kind = OPTION_FLAG, .exclusive = 1,                            \
        OPTION_FIELD(struct shape_inference_values, force_fallback),                                                   \
        .help = "run the model once and use the shapes of the results; dynamic dimensions become static",              \
    }

#define NO_ONNXRUNTIME                                                                                                 \
    {                                                                                                                  \
        .names = {"--no-onnxruntime-shape-inference"}, .kind = OPTION_FLAG,                                            \
        OPTION_FIELD(struct shape_inference_values, no_onnxruntime),                                                   \
        .help = "do not use ONNX Runtime for shape inference",                                                         \
    }
/* clang-format on */

static const struct option plain_rows[] = {SHAPE_INFERENCE, NO_ONNXRUNTIME};
static const struct option default_rows[] = {NO_SHAPE_INFERENCE, FORCE_FALLBACK, NO_ONNXRUNTIME};
static const struct option fallback_rows[] = {SHAPE_INFERENCE, FORCE_FALLBACK, NO_ONNXRUNTIME};

#define INFERENCE_GROUP(rows, finisher)                                                                                \
    {                                                                                                                  \
        .title = "ONNX shape inference", .options = (rows), .count = ARRAY_LEN(rows), .finish = (finisher),            \
    }

const struct option_group shape_inference_options = INFERENCE_GROUP(plain_rows, finish_off_unless_asked_for);
const struct option_group shape_inference_default_options = INFERENCE_GROUP(default_rows, finish_on_unless_refused);
const struct option_group shape_inference_fallback_options =
    INFERENCE_GROUP(fallback_rows, finish_off_unless_asked_for);
