/* cli/options/convert.c: what only `convert` has. */
#include <string.h>

#include "base/memory.h"
#include "cli/options/groups.h"
#include "cli/options/runners/engine.h"
#include "cli/parse/parser.h"

static const char *const targets[] = {"onnx", "trt", "onnx-like-trt-network", NULL};

/* What extensions say, other than ONNX's. */
static const struct {
    const char *extension, *type;
} other_types[] = {
    {".engine", "engine"}, {".plan", "engine"}, {".py", "trt-network-script"}, {".graphdef", "frozen"},
    {".hdf5", "keras"},    {".uff", "uff"},     {".prototxt", "caffe"},
};

static int guess_target(const char *path, enum convert_target *ret, struct error *err)
{
    const char *extension = file_extension(path);

    *ret = CONVERT_ONNX;
    if (strcmp(extension, ".onnx") == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(other_types); i++) {
        if (strcmp(extension, other_types[i].extension) != 0)
            continue;
        *ret = CONVERT_TRT;
        if (strcmp(other_types[i].type, "engine") == 0)
            return 0;
        return error_set(err, ERR_UNSUPPORTED,
                         "Cannot convert to model type: %s ('%s'); this program converts to ONNX and to engines",
                         other_types[i].type, path);
    }
    return error_set(err, ERR_INVALID,
                     "Could not automatically determine model type based on output path: %s; end it in .onnx or "
                     ".engine, or say --convert-to onnx or --convert-to trt",
                     path);
}

/* An ONNX model is not built: options that say how, with what to say instead where there is something. */
static int refuse_building(const struct parse *parse, const char *output, struct error *err)
{
    static const struct option_group *const of_engines[] = {&engine_config_options, &engine_network_options,
                                                            &engine_cache_options, &engine_ignored_convert_options};
    struct string_builder idle;
    int rc = 0;

    string_init(&idle);
    for (size_t i = 0; i < ARRAY_LEN(of_engines); i++)
        parse_list_given_of_group(parse, of_engines[i], &idle);
    if (idle.size > 0)
        rc = error_set(
            err, ERR_INVALID,
            "%s: only engines are built like that, and '%s' becomes an ONNX model; end the output in .engine, "
            "or leave it out%s%s",
            idle.data, output, parse_given(parse, "--fp16") ? "; a model in float16 is made with --fp-to-fp16" : "",
            parse_given(parse, "--decide-branches")
                ? "; `polygraphy surgeon sanitize --fold-constants` decides branches that constants decide"
                : "");
    string_release(&idle);
    return rc;
}

static int finish(struct parse *parse, struct error *err)
{
    struct convert_values *values = PARSE_VALUES(parse, struct convert_values);
    const struct onnx_load_values *load = PARSE_VALUES(parse, struct onnx_load_values);

    if (values->keep_float32.count > 0 && !load->fp_to_fp16)
        log_message(parse_log(parse), LOG_WARNING, "--keep-float32 has no effect without --fp-to-fp16");
    if (!parse_given(parse, "--convert-to") && guess_target(values->output, &values->target, err) < 0)
        return err->code;
    if (values->target == CONVERT_ONNX_LIKE_TRT_NETWORK)
        return error_set(
            err, ERR_UNSUPPORTED,
            "--convert-to %s: the layers of an engine are shown by `polygraphy inspect model x.engine --show "
            "layers`; as ONNX they are the model itself",
            targets[values->target]);
    return values->target == CONVERT_ONNX ? refuse_building(parse, values->output, err) : 0;
}

static const struct option rows[] = {
    {
        .names = {"-o", "--output"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .required = true,
        .file = OPTION_WRITES,
        .shares = "model_file",
        OPTION_FIELD(struct convert_values, output),
        .help = "where to save the converted model",
    },
    {
        .names = {"--convert-to"},
        .kind = OPTION_ONE,
        .type = OPTION_CHOICE,
        .choices = targets,
        OPTION_FIELD(struct convert_values, target),
        .help = "what to convert to: an ONNX model or an engine; otherwise the extension of the output tells",
    },
    {
        .names = {"--keep-float32"},
        .kind = OPTION_MANY,
        .value_name = "NODE|PATTERN|OPERATOR",
        .append = true,
        OPTION_FIELD(struct convert_values, keep_float32),
        .help = "with --fp-to-fp16: nodes that go on computing in float32, by name (conv_1), by a pattern of names "
                "('head/*'), or by operator (Softmax)",
    },
};

const struct option_group convert_options = {
    .title = "Conversion",
    .options = rows,
    .count = ARRAY_LEN(rows),
    .finish = finish,
};
