/* extract.c: extract a subgraph of an ONNX model. */
#include <stdlib.h>

#include "backend/type_inference.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/model_trial.h"
#include "cli/surgeon/edit.h"
#include "debug/cut/candidate.h"
#include "onnx/edit/model.h"
#include "onnx/model/text.h"
#include "onnx/proto/tensor_proto.h"

struct surgeon_extract_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
    struct extract_values extract;
};

/* ---- Tensors as specified by the user ---- */

static int find_values(const struct model *model, const struct tensor_metadata_list *list, struct value_list *ret,
                       struct error *err)
{
    if (list->count == 0) /* not given: as in the model */
        return 0;
    ret->count = 0;
    for (size_t i = 0; i < list->count; i++) {
        uint32_t value = model_find_tensor(model, text_of(list->items[i].name));

        if (value == VALUE_NONE)
            return tensor_refuse_unknown(model, text_of(list->items[i].name), err);
        value_list_add(ret, value);
    }
    return 0;
}

/* Shape and type in the model, overridden by the user's. */
static void overrule_type(const struct tensor_metadata *metadata, struct value_type *ret)
{
    if (metadata->type != DATA_UNDEFINED)
        ret->element = metadata->type;
    if (!metadata->has_shape)
        return;
    ret->has_shape = true;
    ret->shape = metadata->shape;
    for (size_t i = 0; i < metadata->shape.rank; i++)
        ret->symbols[i] = text_of(metadata->symbols[i]);
}

static int set_given_type(struct model *model, const struct tensor_metadata *metadata, struct error *err)
{
    uint32_t value = model_find_tensor(model, text_of(metadata->name));
    struct value_type type;

    if (metadata->type == DATA_UNDEFINED && !metadata->has_shape)
        return 0;
    value_info_decode(model->values.items[value].info, &type);
    if (type.not_a_tensor != NULL)
        return error_set(err, ERR_INVALID, "'%s' has no tensor type (%s): write auto for its shape and type",
                         metadata->name, type.not_a_tensor);
    if (metadata->type != DATA_UNDEFINED && type.element != DATA_UNDEFINED && metadata->type != type.element)
        return error_set(
            err, ERR_INVALID,
            "'%s' is %s in the model, not %s: no runtime would load that subgraph; write auto for the type",
            metadata->name, data_type_name(type.element), data_type_name(metadata->type));
    overrule_type(metadata, &type);
    model_set_type(model, value, &type);
    return 0;
}

static int set_given_types(struct model *model, const struct extract_values *values, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < values->inputs.count; i++)
        rc = set_given_type(model, &values->inputs.items[i], err);
    for (size_t i = 0; rc == 0 && i < values->outputs.count; i++)
        rc = set_given_type(model, &values->outputs.items[i], err);
    return rc;
}

/* Whether the user's shape of an input differs from the model's: then the model's shapes downstream may be wrong,
 * too. */
static bool contradicts_shapes(const struct model *model, const struct extract_values *values)
{
    VECTOR_EACH (const struct tensor_metadata, metadata, values->inputs) {
        struct value_type type;

        value_info_decode(model->values.items[model_find_tensor(model, text_of(metadata->name))].info, &type);
        if (metadata->has_shape && type.has_shape && !shape_equal(&metadata->shape, &type.shape))
            return true;
    }
    return false;
}

/* ---- The cut ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* In the order of the model. */
static int refuse_missing(const struct model *model, struct value_list *missing, struct error *err)
{
    SCOPED_STRING(others);
    struct text first;

    qsort(missing->items, missing->count, sizeof(*missing->items), by_number);
    first = model->values.items[missing->items[0]].name;
    for (size_t i = 1; i < missing->count; i++)
        string_add_format(&others, "%s" TEXT_FORMAT,
                          i > 1                ? ", "
                          : missing->count > 2 ? " (nor are "
                                               : " (nor is ",
                          TEXT_ARGS(model->values.items[missing->items[i]].name));
    error_set(err, ERR_INVALID,
              "Tensor: " TEXT_FORMAT
              " is not produced by a node or marked as a graph input%s%s, but the outputs depend on "
              "it; add it to --inputs as NAME:auto:auto",
              TEXT_ARGS(first), others.size > 0 ? others.data : "", others.size > 0 ? ")" : "");
    return ERR_INVALID;
}

static void warn_of_unused(const struct subgraph *part, const struct value_list *inputs, struct log *log)
{
    SCOPED_BITSET(used);

    value_list_to_set(&part->inputs, part->model->values.count, &used);
    for (size_t i = 0; i < inputs->count; i++)
        if (!bitset_has(&used, inputs->items[i]))
            log_message(log, LOG_WARNING, "No output depends on the input '" TEXT_FORMAT "'",
                        TEXT_ARGS(part->model->values.items[inputs->items[i]].name));
}

/* An output that is also an input is passed through. If all outputs are, the subgraph is empty. */
static int check_ends(const struct subgraph *part, const struct extract_values *values, struct log *log,
                      struct error *err)
{
    const struct model *model = part->model;
    size_t passed_through = 0;
    SCOPED_BITSET(inputs);
    int rc = 0;

    value_list_to_set(&part->inputs, model->values.count, &inputs);
    for (size_t i = 0; i < part->outputs.count; i++)
        passed_through += bitset_has(&inputs, part->outputs.items[i]);
    if (passed_through > 0 && passed_through == part->outputs.count &&
        (values->inputs.count > 0 || values->outputs.count > 0))
        rc = error_set(
            err, ERR_INVALID,
            "'" TEXT_FORMAT
            "' is an input and%s output, so there is no node between them; name a tensor downstream with --outputs",
            TEXT_ARGS(model->values.items[part->outputs.items[0]].name),
            passed_through == 1 ? " the only" : ", like all others, an");
    for (size_t i = 0; rc == 0 && passed_through > 0 && i < part->outputs.count; i++)
        if (bitset_has(&inputs, part->outputs.items[i]))
            log_message(log, LOG_WARNING,
                        "The output '" TEXT_FORMAT "' is also an input: no node of the subgraph produces it",
                        TEXT_ARGS(model->values.items[part->outputs.items[i]].name));
    return rc;
}

/* Fills `part` with the subgraph between the inputs and outputs. */
static int cut_part(struct model *model, const struct extract_values *values, struct log *log, struct subgraph *part,
                    struct error *err)
{
    struct value_list inputs SCOPED_ITEMS = {0};
    struct value_list missing SCOPED_ITEMS = {0};
    int rc = find_values(model, &values->inputs, &part->inputs, err);

    if (rc < 0)
        return rc;
    if (values->has_no_inputs)
        part->inputs.count = 0;
    rc = find_values(model, &values->outputs, &part->outputs, err);
    if (rc < 0)
        return rc;
    rc = check_ends(part, values, log, err);
    if (rc < 0)
        return rc;
    value_list_assign(&inputs, &part->inputs);
    subgraph_clean(part, NULL, NULL, &missing);
    if (missing.count > 0)
        rc = refuse_missing(model, &missing, err);
    else
        warn_of_unused(part, &inputs, log);
    value_list_assign(&part->inputs, &inputs);
    return rc;
}

/* ---- Types and shapes ---- */

/* A constant's type and shape come from its value, also where the model lists none. */
static int describe_constants(struct model *model, const struct value_list *values, struct error *err)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct value *value = &model->values.items[values->items[i]];
        struct value_type type = {.has_shape = true};
        struct tensor_header header;
        int rc;

        if (value->initializer == INITIALIZER_NONE || value->info.size > 0 ||
            model->initializers.items[value->initializer].sparse)
            continue;
        rc = tensor_proto_read(model->initializers.items[value->initializer].message, &header, err);
        if (rc < 0)
            return error_context(err, "%s", model->display_name);
        type.element = header.type;
        type.shape = header.shape;
        model_set_type(model, values->items[i], &type);
    }
    return 0;
}

/* The tensors without a type, or for inputs a shape, that the user has left open. */
static void list_open_values(const struct value_list *values, const struct tensor_metadata_list *list, bool needs_shape,
                             struct value_list *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < values->count; i++)
        if (list->count == 0 || list->items[i].type == DATA_UNDEFINED || (needs_shape && !list->items[i].has_shape))
            value_list_add(ret, values->items[i]);
}

/* Whether the model contains all types and shapes that were left open. */
static bool has_all_types(const struct subgraph *open)
{
    struct value_type type;

    for (size_t i = 0; i < open->inputs.count; i++) {
        subgraph_type(open, open->inputs.items[i], &type);
        if (type.not_a_tensor == NULL && (type.element == DATA_UNDEFINED || !type.has_shape))
            return false;
    }
    for (size_t i = 0; i < open->outputs.count; i++) {
        subgraph_type(open, open->outputs.items[i], &type);
        if (type.not_a_tensor == NULL && type.element == DATA_UNDEFINED)
            return false;
    }
    return true;
}

/* Completes open types and shapes from the whole model: its own, those that ONNX Runtime infers, or else those of a
 * run. */
static int complete_open_types(struct candidate_maker *maker, const struct subgraph *part,
                               const struct extract_values *values, bool is_forced, struct error *err)
{
    struct subgraph open SCOPED(subgraph_release) = {0};
    uint32_t not_a_tensor;
    int rc;

    subgraph_init_copy(&open, part);
    open.known = &maker->known.types;
    list_open_values(&part->inputs, &values->inputs, true, &open.inputs);
    list_open_values(&part->outputs, &values->outputs, false, &open.outputs);
    if (!is_forced && maker->settings->static_inference && !has_all_types(&open))
        log_message(maker->log, LOG_INFO,
                    "Running shape inference to derive shapes and/or data types for `auto` arguments.\n"
                    "To avoid this, you can specify the shapes and data types explicitly.");
    rc = candidate_complete(maker, &open, &not_a_tensor, err);
    if (rc == 0 && not_a_tensor != VALUE_NONE)
        rc = error_set(err, ERR_UNSUPPORTED,
                       "'" TEXT_FORMAT "' is a sequence, map or optional, not a tensor: cut the model elsewhere",
                       TEXT_ARGS(part->model->values.items[not_a_tensor].name));
    return rc;
}

/* With changed input shapes ONNX Runtime infers the shapes again; if it cannot, the subgraph is written without
 * them. */
static void infer_anew(const struct command_context *context, const struct surgeon_extract_settings *settings,
                       struct model *model, const struct subgraph *part)
{
    struct backend_request request = model_file_request_for(context, &settings->file, model);

    value_list_assign(&model->inputs, &part->inputs);
    model_forget_shapes(model);
    if (!settings->file.inference.no_onnxruntime)
        (void)types_infer(model, part, model_file_runtime(&settings->file), &request, NULL, NULL);
}

/* Adds the inferred types and shapes to the model. */
static int complete_types(const struct command_context *context, const struct surgeon_extract_settings *settings,
                          struct model *model, struct candidate_maker *maker, const struct subgraph *part,
                          struct error *err)
{
    const struct extract_values *values = &settings->extract;
    bool is_forced = settings->file.inference.force_fallback;
    bool contradicted;
    int rc = is_forced ? candidate_maker_force_shapes(maker, err) : 0;

    if (rc < 0)
        return rc;
    rc = describe_constants(model, &part->inputs, err);
    if (rc < 0)
        return rc;
    rc = describe_constants(model, &part->outputs, err);
    if (rc < 0)
        return rc;
    rc = complete_open_types(maker, part, values, is_forced, err);
    if (rc < 0)
        return rc;
    known_types_state(&maker->known.types, model);
    contradicted = contradicts_shapes(model, values);
    rc = set_given_types(model, values, err);
    if (rc == 0 && contradicted)
        infer_anew(context, settings, model, part);
    return rc;
}

/* ---- The command ---- */

static int extract_part(const struct command_context *context, const struct surgeon_extract_settings *options,
                        struct model *model, struct data_loader *loader, struct error *err)
{
    const struct shape_inference_values *inference = &options->file.inference;
    const struct candidate_settings settings = {
        .static_inference = !inference->no_onnxruntime,
        .backend = model_file_runtime(&options->file),
        .request = model_file_request_for(context, &options->file, model),
        .loader = loader,
    };
    struct candidate_maker maker SCOPED(candidate_maker_release) = {0};
    struct subgraph part SCOPED(subgraph_release) = {0};
    int rc;

    candidate_maker_init(&maker, model, &settings, context->log);
    subgraph_init_whole(&part, model);
    rc = cut_part(model, &options->extract, context->log, &part, err);
    if (rc < 0)
        return rc;
    rc = complete_types(context, options, model, &maker, &part, err);
    if (rc < 0)
        return rc;
    rc = model_trial_run(context, &options->file, &part, options->file.save.path, err);
    if (rc < 0)
        return rc;
    return model_file_save_new(context, &options->file, &part, err);
}

static int extract_with_data(const struct surgeon_job *job, struct error *err)
{
    struct data_loader *loader = NULL;
    int rc = data_loader_from_options(job->context, job->file, job->model, &loader, err);

    if (rc == 0)
        rc = extract_part(job->context, job->settings, job->model, loader, err);
    data_loader_free(loader);
    return rc;
}

DEFINE_SURGEON_RUN(surgeon_extract_run, struct surgeon_extract_settings, extract_with_data)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct surgeon_extract_settings, extract, extract_options),
    COMMAND_GROUP(struct surgeon_extract_settings, common.logging, logging_options),
    COMMAND_GROUP(struct surgeon_extract_settings, file.model, reduce_model_options),
    COMMAND_GROUP(struct surgeon_extract_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct surgeon_extract_settings, file.inference, shape_inference_fallback_options),
    COMMAND_GROUP(struct surgeon_extract_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct surgeon_extract_settings, file.save, onnx_save_required_options),
    COMMAND_GROUP(struct surgeon_extract_settings, file.onnxrt, onnxrt_library_options),
    COMMAND_GROUP(struct surgeon_extract_settings, file.bounds, onnxrt_bounds_options),
    COMMAND_GROUP(struct surgeon_extract_settings, json, json_options),
};

const struct command cmd_surgeon_extract = {
    .name = "extract",
    .summary = "extract a subgraph of an ONNX model",
    .description =
        "Writes the nodes between the given inputs and outputs as a separate model. List all inputs of the subgraph: "
        "if an output depends on a tensor that is not listed, the error names it, and nothing is written.\n\nWith "
        "`auto`, shapes and types come from the model, else from ONNX Runtime's inference, else from one run of the "
        "whole model: dynamic dimensions then become those of the input data, which --model-input-shapes and "
        "--load-inputs control.\n\nONNX Runtime loads the subgraph once, without its weights. A subgraph that it "
        "refuses is not written, unless it also refuses the whole model.",
    .example =
        "polygraphy surgeon extract model.onnx -o part.onnx --inputs x:[1,3,224,224]:float32 --outputs y:float32\n"
        "polygraphy surgeon extract model.onnx -o head.onnx --outputs features:auto",
    COMMAND_GROUPS(groups),
    .essential = "-o --inputs --outputs --model-input-shapes --load-inputs --force-fallback-shape-inference "
                 "--save-external-data --json -v",
    .framed = true,
    COMMAND_RUN(surgeon_extract_run),
};
