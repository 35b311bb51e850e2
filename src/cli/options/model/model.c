/* cli/options/model/model.c: the path and type of a tool's model, and the shapes of its inputs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/options/groups.h"
#include "engine/plan/plan.h"

static const char *const types[] = {"frozen", "keras", "ckpt", "onnx", "engine", "uff", "trt-network-script",
                                    "caffe",  NULL};

static const struct {
    const char *extension;
    enum model_type type;
} extensions[] = {
    {".onnx", MODEL_ONNX},       {".engine", MODEL_ENGINE}, {".plan", MODEL_ENGINE}, {".py", MODEL_TRT_NETWORK_SCRIPT},
    {".graphdef", MODEL_FROZEN}, {".hdf5", MODEL_KERAS},    {".uff", MODEL_UFF},     {".prototxt", MODEL_CAFFE},
};

/* Returns the absolute path of an existing file. Links are not resolved: external data are next to the link, not next
 * to its target. */
static const char *make_model_path_absolute(struct parse *parse, const char *path)
{
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);

    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (folder)
        path = arena_printf(parse_arena(parse), "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);
    free(folder);
    return path;
}

/* A colon separates a script's path from a function's name, as in Polygraphy, or is part of the file's name. */
static void find_model_file(struct parse *parse, struct model_values *values)
{
    const char *colon = strrchr(values->path, ':');

    if (!file_exists(values->path) && colon)
        values->path = arena_text(parse_arena(parse), (struct text){values->path, (size_t)(colon - values->path)});
    if (file_exists(values->path))
        values->path = make_model_path_absolute(parse, values->path);
    else
        log_message(parse_log(parse), LOG_WARNING, "Model path does not exist: %s", values->path);
}

/* Recognises an engine by its first bytes, with any file name. */
static bool is_engine_file(const char *path)
{
    return plan_is(path) || plan_is_tensorrt(path);
}

/* Recognises an ONNX model by its content, with any file name. */
static int finish_onnx_model(struct parse *parse, void *given, struct error *err)
{
    struct model_values *values = given;

    values->type = MODEL_ONNX;
    find_model_file(parse, values);
    if (is_engine_file(values->path))
        return error_set(err, ERR_INVALID, "'%s' is an engine: pass the ONNX model from which it was built",
                         values->path);
    return 0;
}

static int finish_optional_model(struct parse *parse, void *given, struct error *err)
{
    struct model_values *values = given;

    values->type = MODEL_ONNX;
    return values->path != NULL ? finish_onnx_model(parse, values, err) : 0;
}

static int guess_model_type(struct model_values *values, struct error *err)
{
    const char *extension = file_extension(values->path);

    if (file_is_folder(values->path)) {
        values->type = MODEL_CKPT;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
        if (strcmp(extension, extensions[i].extension) == 0) {
            values->type = extensions[i].type;
            return 0;
        }
    return error_set(err, ERR_INVALID,
                     "Could not automatically determine model type for: %s; specify it with --model-type, for instance "
                     "--model-type onnx",
                     values->path);
}

static int finish_any_model(struct parse *parse, void *given, struct error *err)
{
    struct model_values *values = given;
    int rc = 0;

    if (!values->path)
        return 0;
    find_model_file(parse, values);
    if (is_engine_file(values->path))
        values->type = MODEL_ENGINE;
    else if (!parse_given(parse, "--model-type"))
        rc = guess_model_type(values, err);
    if (rc < 0)
        return rc;
    if (values->type != MODEL_ONNX && values->type != MODEL_ENGINE)
        return error_set(
            err, ERR_UNSUPPORTED,
            "'%s': models of type '%s' are not supported; convert the model to ONNX first; see " FROM_POLYGRAPHY(
                "other-models"),
            values->path, types[values->type]);
    return 0;
}

/* A model never has this extension; the file is layer information of an engine. */
static int finish_inspected_model(struct parse *parse, void *given, struct error *err)
{
    struct model_values *values = given;

    if (parse_given(parse, "--model-type") || strcmp(file_extension(values->path), ".json") != 0)
        return finish_any_model(parse, values, err);
    find_model_file(parse, values);
    values->type = MODEL_LAYER_INFO;
    return 0;
}

/* clang-format off */
#define MODEL_FILE(how_many, endings, text)                                                                            \
    {                                                                                                                  \
        .names = {"model_file"}, .kind = how_many, .file = OPTION_READS_MODEL, .extensions = endings,                  \
        OPTION_FIELD(struct model_values, path), .help = text,                                                         \
    }

#define MODEL_TYPE                                                                                                     \
    {                                                                                                                  \
        .names = {"--model-type"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = types,                        \
        OPTION_FIELD(struct model_values, type),                                                                       \
        .help = "type of the model file; by default its extension decides. Only onnx and engine are supported",        \
    }

#define SHAPES(name, other_name, text)                                                                                 \
    {                                                                                                                  \
        .names = {name, other_name}, .kind = OPTION_MANY, .value_name = "NAME:SHAPE", .naming = OPTION_INPUT_NAMES,    \
        .convert = convert_shapes,                                                                                     \
        OPTION_FIELD(struct model_values, shapes), .help = text " Write image:[1,3,224,224] ids:[1,128] s:[]",         \
    }
/* clang-format on */

static const struct option run_rows[] = {
    MODEL_FILE(OPTION_MAYBE, "onnx engine plan", "path of the model"),
    MODEL_TYPE,
    SHAPES("--input-shapes", "--inputs", "shapes of the generated input data."),
};

/* All of them for `convert`, the first two for `inspect`. */
static const struct option inspect_rows[] = {
    MODEL_FILE(OPTION_ONE, "onnx engine plan", "path of the model"),
    MODEL_TYPE,
    SHAPES("--input-shapes", "--inputs", "shapes of the generated input data."),
};

static const struct option lint_rows[] = {
    MODEL_FILE(OPTION_ONE, "onnx", "path of the ONNX model"),
    SHAPES("--input-shapes", "--inputs", "shapes of the generated input data."),
};

static const struct option capability_rows[] = {
    MODEL_FILE(OPTION_MAYBE, "onnx", "path of the ONNX model; not needed with --providers"),
};

static const struct option reduce_rows[] = {
    MODEL_FILE(OPTION_ONE, "onnx", "path of the ONNX model"),
    SHAPES("--model-input-shapes", "--model-inputs",
           "override the shapes of the model's inputs first; makes dynamic shapes static."),
};

static const struct option sanitize_rows[] = {
    MODEL_FILE(OPTION_ONE, "onnx", "path of the ONNX model"),
    SHAPES("--override-input-shapes", "--override-inputs", "input shapes to write into the model."),
};

#define MODEL_GROUP(rows, row_count, finisher)                                                                         \
    {                                                                                                                  \
        .title = "Model", .options = (rows), .count = (row_count), .finish = (finisher),                               \
    }

const struct option_group run_model_options = MODEL_GROUP(run_rows, ARRAY_LEN(run_rows), finish_any_model);
const struct option_group inspect_model_options = MODEL_GROUP(inspect_rows, 2, finish_inspected_model);
const struct option_group convert_model_options = MODEL_GROUP(inspect_rows, ARRAY_LEN(inspect_rows), finish_any_model);
const struct option_group lint_model_options = MODEL_GROUP(lint_rows, ARRAY_LEN(lint_rows), finish_onnx_model);
const struct option_group reduce_model_options = MODEL_GROUP(reduce_rows, ARRAY_LEN(reduce_rows), finish_onnx_model);
const struct option_group sanitize_model_options =
    MODEL_GROUP(sanitize_rows, ARRAY_LEN(sanitize_rows), finish_onnx_model);
const struct option_group capability_model_options =
    MODEL_GROUP(capability_rows, ARRAY_LEN(capability_rows), finish_optional_model);
const struct option_group onnx_model_options = MODEL_GROUP(lint_rows, 1, finish_onnx_model);
