/* convert.c: conversion of a model to ONNX, in float32 or float16, or to an engine. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/model_io.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/engine_file.h"
#include "cli/model_file.h"
#include "cli/model_trial.h"
#include "cli/options/groups.h"
#include "cli/result_file.h"
#include "cli/trt.h"
#include "engine/plan/layer_info.h"
#include "engine/plan/plan.h"
#include "onnx/write/model.h"

/* ---- Options ---- */

/* In the order of `targets`. */
enum convert_target { CONVERT_ONNX, CONVERT_TRT, CONVERT_ONNX_LIKE_TRT_NETWORK };

struct convert_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
    struct engine_values engine;

    /* its own */
    const char *output;
    enum convert_target target; /* ONNX or TRT */
};

static const char *const targets[] = {"onnx", "trt", "onnx-like-trt-network", NULL};

/* Formats of file name extensions other than ONNX's. */
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
                         "Cannot convert to model type: %s ('%s'); this program converts to ONNX and to engines; "
                         "see " FROM_POLYGRAPHY("other-models"),
                         other_types[i].type, path);
    }
    return error_set(err, ERR_INVALID,
                     "Could not automatically determine model type based on output path: %s; use the extension .onnx "
                     "or .engine, or pass --convert-to onnx or --convert-to trt",
                     path);
}

/* Options of engine builds, which an ONNX output does not accept, with the alternative if there is one. */
static int refuse_building(const struct parse *parse, const char *output, struct error *err)
{
    static const struct option_group *const of_engines[] = {&engine_config_options, &engine_network_options,
                                                            &engine_cache_options, &tensorrt_convert_options};
    SCOPED_STRING(idle);
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(of_engines); i++)
        parse_list_given_of_group(parse, of_engines[i], &idle);
    if (idle.size > 0)
        rc = error_set(
            err, ERR_INVALID,
            "%s is for engines, but the output '%s' is an ONNX model; use the extension .engine, or leave out the "
            "option%s%s",
            idle.data, output, parse_given(parse, "--fp16") ? "; --fp-to-fp16 converts an ONNX model to float16" : "",
            parse_given(parse, "--decide-branches")
                ? "; `polygraphy surgeon sanitize --fold-constants` replaces If nodes with constant conditions"
                : "");
    return rc;
}

static int finish_convert(struct parse *parse, void *given, struct error *err)
{
    struct convert_settings *values = given;
    const struct onnx_load_values *load = &values->file.load;

    if (load->keep_float32.count > 0 && !load->fp_to_fp16)
        log_message(parse_log(parse), LOG_WARNING, "--keep-float32 has no effect without --fp-to-fp16");
    if (!parse_given(parse, "--convert-to") && guess_target(values->output, &values->target, err) < 0)
        return err->code;
    if (values->target == CONVERT_ONNX_LIKE_TRT_NETWORK)
        return error_set(err, ERR_UNSUPPORTED,
                         "--convert-to %s is not supported: `polygraphy inspect model x.engine --show layers` shows "
                         "the layers of an engine; see " FROM_POLYGRAPHY("other-models"),
                         targets[values->target]);
    return values->target == CONVERT_ONNX ? refuse_building(parse, values->output, err) : 0;
}

#define ROW(member, ...) OPTION_ROW(struct convert_settings, member, __VA_ARGS__)

static const struct option rows[] = {
    ROW(output, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "PATH", .required = true,
        .file = OPTION_WRITES, .shares = "model_file", .extensions = "onnx engine",
        .help = "where to save the converted model"),
    ROW(target, .names = {"--convert-to"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = targets,
        .help = "output type: an ONNX model or an engine (default: from the extension of the output)"),
    ROW(file.load.keep_float32, .names = {"--keep-float32"}, .kind = OPTION_MANY, .value_name = "NODE|PATTERN|OPERATOR",
        .append = true, .naming = OPTION_NODE_NAMES,
        .help = "with --fp-to-fp16: nodes that stay in float32, by name (conv_1), pattern ('head/*'), or operator "
                "(Softmax)"),
};

static const struct option_group convert_options = {
    .title = "Conversion",
    OPTION_ROWS(rows),
    .finish = finish_convert,
};

/* ---- Float16 for operators that ONNX Runtime supports ----
 *
 * ONNX allows float16 for some operators that ONNX Runtime does not support in float16, more of them in older operator
 * sets. Loading the converted model finds these. */

/* The search for refused operators. */
struct settling {
    const struct command_context *context;
    const struct model_file_settings *file;
    struct float16_outcome outcome; /* float16 conversion float16 conversion of the model that is kept */
    const char **operators;         /* operators of the main graph, each once, owned */
    bool *refused;
    size_t count;
};

static void list_operators(struct settling *settling, const struct model *model)
{
    settling->operators = memory_alloc_zero(model->nodes.count + 1, sizeof(*settling->operators));
    settling->refused = memory_alloc_zero(model->nodes.count + 1, sizeof(*settling->refused));
    for (size_t i = 0; i < model->nodes.count; i++) {
        struct text name = model->nodes.items[i].op_type;
        bool known = false;

        for (size_t k = 0; !known && k < settling->count; k++)
            known = text_equal_string(name, settling->operators[k]);
        if (!known)
            settling->operators[settling->count++] = memory_copy(name.data, name.size);
    }
}

/* Whether ONNX Runtime accepts the model with these operators in float32. */
static int try_in_float32(struct settling *settling, const struct words *keep, bool *ret, struct error *err)
{
    struct log *log = settling->context->log;
    bool muted = log->muted;
    struct subgraph whole;
    struct model *model = NULL;
    int rc;

    log->muted = true;
    rc = model_file_load_keeping(settling->context, settling->file, keep, NULL, &model, err);
    if (rc == 0) {
        subgraph_init_whole(&whole, model);
        rc = model_trial_takes(settling->context, settling->file, &whole, ret, err);
        subgraph_release(&whole);
    }
    model_free(model);
    log->muted = muted;
    return rc;
}

/* Finds the operators in operators[first .. first+count-1] that are refused in float16 by bisection, because few
 * are. */
static int find_refused(struct settling *settling, size_t first, size_t count, struct error *err)
{
    const char **others = memory_alloc_zero(settling->count + 1, sizeof(*others));
    struct words keep = {.items = others};
    bool taken = false;
    int rc;

    for (size_t i = 0; i < settling->count; i++)
        if (i < first || i >= first + count)
            others[keep.count++] = settling->operators[i];
    rc = try_in_float32(settling, &keep, &taken, err);
    free(others);
    if (rc < 0 || taken)
        return rc;
    settling->refused[first] = count == 1;
    if (count > 1)
        rc = find_refused(settling, first, count / 2, err);
    if (rc == 0 && count > 1)
        rc = find_refused(settling, first + count / 2, count - count / 2, err);
    return rc;
}

/* Converts the model with the refused operators in float32, or all operators if that is not sufficient. */
static int replace_by_settled(struct settling *settling, struct model **model, struct error *err)
{
    static const char *const everything[] = {"*"};
    const char **refused = memory_alloc_zero(settling->count + 1, sizeof(*refused));
    struct words keep = {.items = refused}, all = {.items = everything, .count = 1};
    struct float16_outcome outcome;
    SCOPED_STRING(names);
    struct model *settled;
    bool taken;
    int rc;

    for (size_t i = 0; i < settling->count; i++)
        if (settling->refused[i]) {
            string_add_format(&names, "%s%s", keep.count > 0 ? ", " : "", settling->operators[i]);
            refused[keep.count++] = settling->operators[i];
        }
    rc = try_in_float32(settling, &keep, &taken, err);
    if (rc == 0)
        rc = model_file_load_keeping(settling->context, settling->file, taken ? &keep : &all, &outcome, &settled, err);
    if (rc == 0) {
        log_message(settling->context->log, LOG_WARNING,
                    "ONNX Runtime does not support these operators in float16, so they stay float32: %s",
                    taken ? names.data : "all nodes");
        model_free(*model);
        *model = settled;
        float16_outcome_release(&settling->outcome);
        settling->outcome = outcome;
    }
    free(refused);
    return rc;
}

/* `*model` is the result of model_file_load_keeping(). If ONNX Runtime refuses it, but accepts the unconverted model,
 * it is replaced by one with the refused operators in float32; a warning lists them. */
static int settle_float16(struct settling *settling, struct model **model, struct error *err)
{
    static const char *const everything[] = {"*"};
    const struct words all = {.items = everything, .count = 1};
    const struct command_context *context = settling->context;
    struct model *original;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    bool taken;
    int rc;

    subgraph_init_whole(&whole, *model);
    rc = model_trial_takes(context, settling->file, &whole, &taken, err);
    if (rc < 0 || taken)
        return rc;
    rc = try_in_float32(settling, &all, &taken, err);
    if (rc < 0 || !taken) /* the conversion is not the cause */
        return rc;
    rc = model_file_open(context, settling->file, &original, err);
    if (rc < 0)
        return rc;
    list_operators(settling, original);
    model_free(original);
    rc = find_refused(settling, 0, settling->count, err);
    return rc == 0 ? replace_by_settled(settling, model, err) : rc;
}

static void settling_release(struct settling *settling)
{
    for (size_t i = 0; i < settling->count; i++)
        free((char *)settling->operators[i]);
    free(settling->operators);
    free(settling->refused);
    float16_outcome_release(&settling->outcome);
}

static void add_float16(struct result_file *result, const struct settling *settling)
{
    static const char *const reasons[] = {
        [FLOAT16_LISTED] = "kept", [FLOAT16_OF_INTEGERS] = "integers", [FLOAT16_NOT_TAKEN] = "operator"};
    struct json_writer *json = &result->json;

    json_writer_begin_object(json);
    json_writer_add_count(&result->json, "converted", settling->outcome.converted);
    json_writer_begin_array_member(json, "float32");
    for (size_t i = 0; i < settling->outcome.kept.count; i++) {
        json_writer_begin_object(json);
        json_writer_add_string(&result->json, "node", settling->outcome.kept.items[i].name);
        json_writer_add_string(&result->json, "reason", reasons[settling->outcome.kept.items[i].reason]);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_begin_array_member(json, "refused");
    for (size_t i = 0; i < settling->count; i++)
        if (settling->refused[i])
            json_writer_string(json, settling->operators[i]);
    json_writer_end_array(json);
    json_writer_add_count(&result->json, "function_calls", settling->outcome.functions);
    json_writer_end_object(json);
}

/* ---- The work ---- */

/* Whether options change the model, apart from where its weights are. */
static bool is_changed(const struct convert_settings *settings)
{
    const struct onnx_load_values *load = &settings->file.load;

    return load->outputs.mark_all || load->outputs.names.count > 0 || load->exclude_outputs.count > 0 ||
           load->output_operators.count > 0 || load->external_data_dir != NULL || load->fp_to_fp16;
}

static int convert_to_onnx(const struct command_context *context, const struct convert_settings *settings,
                           struct result_file *result, struct error *err)
{
    const char *output = settings->output;
    struct settling settling = {.context = context, .file = &settings->file};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model;
    int rc = model_file_load_keeping(context, &settings->file, NULL, &settling.outcome, &model, err);

    if (rc < 0)
        return rc;
    json_writer_key(&result->json, "float16");
    if (settings->file.load.fp_to_fp16) {
        rc = settle_float16(&settling, &model, err);
        add_float16(result, &settling);
    } else {
        json_writer_null(&result->json);
    }
    subgraph_init_whole(&whole, model);
    if (rc == 0 && is_changed(settings))
        rc = model_trial_run(context, &settings->file, &whole, output, err);
    if (rc < 0)
        goto done;
    log_message(context->log, LOG_INFO, "Saving ONNX model to: %s", output);
    rc = model_save(&whole, output, &settings->file.save.external, settings->file.load.ignore_external_data, err);
    if (rc == 0)
        rc = result_file_save(result, output, err);
done:
    settling_release(&settling);
    model_free(model);
    return rc;
}

static void add_built_layers(struct result_file *result, const struct layer_info *info)
{
    struct json_writer *json = &result->json;

    json_writer_begin_array_member(json, "layers");
    VECTOR_EACH (const struct layer_info_layer, layer, info->layers) {
        json_writer_begin_object(json);
        json_writer_add_string(&result->json, "name", layer->name);
        json_writer_add_string(&result->json, "type", layer->type);
        json_writer_add_string(&result->json, "precision", layer_info_precision(layer, NULL));
        json_writer_add_string(&result->json, "tactic", layer->tactic_name);
        json_writer_add_strings(json, "nodes", layer->nodes.items, layer->nodes.count);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

/* Saves the by-products of an engine build. */
static int save_engine_result(const struct convert_settings *settings, struct result_file *result, const char *builder,
                              const struct layer_info *info, struct error *err)
{
    const struct engine_values *files = &settings->engine;
    struct json_writer *json = &result->json;

    json_writer_add_string(&result->json, "builder", builder);
    add_built_layers(result, info);
    json_writer_begin_object_member(json, "written");
    result_file_add_path(result, settings->output);
    json_writer_add_string(&result->json, "tactics", files->save_tactics);
    json_writer_add_string(&result->json, "layer_info", files->save_layer_info);
    json_writer_add_string(&result->json, "timing_cache", files->save_timing_cache);
    json_writer_end_object(json);
    return result_file_save(result, NULL, err);
}

/* Without a GPU, the layers are not known. */
static int save_products(const struct convert_settings *settings, const struct trt_request *request,
                         const struct tensorrt_products *products, struct result_file *result, struct error *err)
{
    struct layer_info info SCOPED(layer_info_release) = {0};
    int rc = trt_save_products(request, products, settings->output, err);

    if (rc < 0 || !result->wanted)
        return rc;
    if (products->layers.size > 0)
        rc = layer_info_parse(&info, products->layers.data, products->layers.size, "the layer information", err);
    else
        log_message(request->context->log, LOG_WARNING, "--json: \"layers\" is empty: %s", products->no_layers);
    if (rc == 0)
        rc = save_engine_result(settings, result, "TensorRT", &info, err);
    return rc;
}

static int build_by_library(const struct convert_settings *settings, const struct trt_request *request,
                            const struct backend_model *source, struct result_file *result, struct error *err)
{
    bool wants_layers = result->wanted || request->request.wants_layers;
    struct tensorrt_products products SCOPED(tensorrt_products_release) = {0};
    int rc = tensorrt_build(&request->request.settings, source, wants_layers, &products, err);

    if (rc < 0)
        return rc;
    return save_products(settings, request, &products, result, err);
}

/* The model after the changes of options; TensorRT needs a file if there is one. */
static int convert_by_tensorrt(const struct command_context *context, const struct convert_settings *settings,
                               struct result_file *result, struct error *err)
{
    struct backend_model source = {0};
    struct trt_request request SCOPED(trt_request_release) = {0};
    struct model *model SCOPED(model_free_pointed) = NULL;
    char *bytes SCOPED_FREE = NULL;
    int rc = trt_request_init(&request, context, &settings->engine, &settings->file, err);

    if (rc < 0)
        return rc;
    if (is_changed(settings)) {
        rc = model_file_load(context, &settings->file, &model, err);
        if (rc < 0)
            return rc;
        rc = model_io_write(model, &bytes, &source, err);
    } else {
        source.path = settings->file.model.path;
    }
    if (rc == 0)
        rc = build_by_library(settings, &request, &source, result, err);
    return rc;
}

static int convert_to_engine(const struct command_context *context, const struct convert_settings *settings,
                             struct result_file *result, struct error *err)
{
    const char *output = settings->output;
    struct network *network = NULL;
    struct engine *engine = NULL;
    struct layer_info info SCOPED(layer_info_release) = {0};
    struct engine_file file;
    struct model *model;
    int rc = model_file_load(context, &settings->file, &model, err);

    if (rc < 0)
        return rc;
    rc = engine_file_init(&file, context, &settings->engine, &settings->file, err);
    if (rc < 0) {
        model_free(model);
        return rc;
    }
    rc = network_build(model, &file.request.network, &network, err);
    if (rc == 0)
        rc = engine_settings_build(&file.request, network, &engine, err);
    if (rc < 0)
        goto done;
    log_message(context->log, LOG_INFO, "Saving engine to %s", output);
    rc = plan_save(engine, output, err);
    if (rc == 0)
        rc = engine_file_save_byproducts(&file, engine, err);
    if (rc < 0)
        goto done;
    engine_layer_info_make(engine, &info);
    rc = save_engine_result(settings, result, "built-in", &info, err);
done:
    engine_free(engine);
    network_free(network);
    engine_file_release(&file);
    return rc;
}

/* -o may overwrite the model with an ONNX model, but not with an engine, from which the model cannot be restored. */
static int keep_model(const char *model_path, const char *output, struct error *err)
{
    struct stat model, there;

    if (stat(model_path, &model) != 0 || stat(output, &there) != 0 || model.st_dev != there.st_dev ||
        model.st_ino != there.st_ino)
        return 0;
    return error_set(err, ERR_EXISTS,
                     "-o: '%s' is the model itself, which the engine would replace: choose another path", output);
}

static int convert_model(const struct command_context *context, const struct convert_settings *wish,
                         struct result_file *result, struct error *err)
{
    const struct model_values *values = &wish->file.model;
    const struct tensorrt_description *library;
    int rc;

    if (values->type != MODEL_ONNX)
        return error_set(err, ERR_UNSUPPORTED, "'%s' is an engine, which cannot be converted: pass the ONNX model",
                         values->path);
    if (wish->target != CONVERT_TRT)
        return convert_to_onnx(context, wish, result, err);
    rc = keep_model(values->path, wish->output, err);
    if (rc < 0)
        return rc;
    rc = trt_choose(context->log, values->path, TRT_BUILDS, &library, err);
    if (rc < 0)
        return rc;
    return library != NULL ? convert_by_tensorrt(context, wish, result, err)
                           : convert_to_engine(context, wish, result, err);
}

static int convert_run(const struct command_context *context, const struct convert_settings *settings,
                       struct error *err)
{
    struct result_file result SCOPED(result_file_close) = {0};
    int rc = result_file_open(&result, context, &settings->json, &settings->file, err);

    return rc < 0 ? rc : convert_model(context, settings, &result, err);
}

DEFINE_COMMAND_RUN(convert_run, struct convert_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct convert_settings, common.logging, logging_options),
    COMMAND_GROUP(struct convert_settings, file.model, convert_model_options),
    COMMAND_GROUP(struct convert_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct convert_settings, file.onnxrt, onnxrt_library_options),
    COMMAND_GROUP(struct convert_settings, file.bounds, onnxrt_bounds_options),
    COMMAND_GROUP(struct convert_settings, file.inference, shape_inference_options),
    COMMAND_GROUP(struct convert_settings, file.load, onnx_load_outputs_options),
    COMMAND_GROUP(struct convert_settings, file.save, convert_save_options),
    {&convert_options, 0},
    COMMAND_GROUP(struct convert_settings, engine, engine_config_options),
    COMMAND_GROUP(struct convert_settings, engine, engine_network_options),
    COMMAND_GROUP(struct convert_settings, engine, engine_cache_options),
    COMMAND_GROUP(struct convert_settings, engine, tensorrt_convert_options),
    {&tensorflow_convert_options, 0},
    COMMAND_GROUP(struct convert_settings, json, json_options),
};

const struct command cmd_convert = {
    .name = "convert",
    .summary = "convert a model to float16, or compile it to an engine",
    .description =
        "Loads a model, changes it, and saves it.\n\n--fp-to-fp16 converts it to float16; its inputs and outputs keep "
        "their types. Operators without float16 support and those of --keep-float32 stay float32, with Cast nodes "
        "between the two types. Weights with values beyond the range of float16 are listed. ONNX Runtime loads the "
        "result once, without its weights: operators that it refuses in float16 stay float32, too, and are "
        "listed.\n\nIf the output has the extension .engine or .plan, the model is compiled to an engine: see "
        "`polygraphy inspect model x.engine --show layers` and `polygraphy run x.engine --trt`.",
    .example =
        "# float16, except for one operator and the nodes of one subgraph\npolygraphy convert model.onnx -o half.onnx "
        "--fp-to-fp16 --keep-float32 Softmax 'head/*'\n# an engine whose layers store float16, with the tactic of each "
        "layer\npolygraphy convert model.onnx -o model.engine --fp16 --save-tactics replay.json",
    COMMAND_GROUPS(groups),
    .essential = "-o --convert-to --fp-to-fp16 --keep-float32 --fp16 --int8 --calibration-cache --load-inputs "
                 "--layer-precisions --precision-constraints --save-tactics --load-tactics --save-timing-cache "
                 "--onnx-outputs --save-external-data --json -v",
    .framed = true,
    COMMAND_RUN(convert_run),
};
