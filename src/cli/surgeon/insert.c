/* insert.c: insert a node into an ONNX model. */

#include "backend/type_inference.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/surgeon/edit.h"
#include "onnx/edit/insert.h"
#include "onnx/edit/model.h"

struct surgeon_insert_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
    struct insert_values insert;
};

/* Removes the types of tensors from the model, and keeps them in `ret`. */
struct descriptions {
    struct model *model;
    struct bitset values;
    struct span *infos; /* by value */
    uint8_t *prefixes;
};

static void remove_types(struct descriptions *descriptions, struct model *model, uint32_t node)
{
    struct arena *arena = &model->arena;

    *descriptions = (struct descriptions){.model = model};
    descriptions->infos = arena_alloc_zero(arena, model->values.count + 1, sizeof(struct span));
    descriptions->prefixes = arena_alloc_zero(arena, model->values.count + 1, 1);
    bitset_init(&descriptions->values, model->values.count);
    model_add_descendants(model, node, &descriptions->values);
    BITSET_EACH (i, &descriptions->values) {
        struct value *value = &model->values.items[i];

        descriptions->infos[i] = value->info;
        descriptions->prefixes[i] = value->info_prefix;
        value->info = (struct span){NULL, 0};
        value->info_prefix = 0;
    }
}

/* Whether a type is no more specific than another one. */
static bool is_no_more_specific(struct span info, struct span other)
{
    struct value_type type, other_type;

    value_info_decode(info, &type);
    value_info_decode(other, &other_type);
    return info.size == 0 || (!type.has_shape && type.element == other_type.element);
}

/* Restores the old types of tensors for which inference gave none or a less specific one: most shapes do not change. */
static void restore_types(struct descriptions *descriptions)
{
    BITSET_EACH (i, &descriptions->values) {
        struct value *value = &descriptions->model->values.items[i];

        if (!is_no_more_specific(value->info, descriptions->infos[i]))
            continue;
        value->info = descriptions->infos[i];
        value->info_prefix = descriptions->prefixes[i];
    }
    bitset_release(&descriptions->values);
}

/* The new node may change the type or shape of the tensor and of everything downstream, so types are inferred again. If
 * ONNX Runtime does not know the operator, they stay unchanged. */
static void infer_types_downstream(const struct command_context *context,
                                   const struct surgeon_insert_settings *settings, struct model *model, uint32_t node)
{
    struct backend_request request = model_file_request_for(context, &settings->file, model);
    struct descriptions descriptions;
    struct error why = {0};

    remove_types(&descriptions, model, node);
    if (types_infer(model, NULL, model_file_runtime(&settings->file), &request, NULL, &why) < 0)
        log_message(context->log, LOG_WARNING, "Types downstream of the new node are unchanged: %s", why.message);
    restore_types(&descriptions);
}

static void add_tensor_names(struct json_writer *json, const char *key, const struct text *names, size_t count)
{
    json_writer_begin_array_member(json, key);
    for (size_t i = 0; i < count; i++)
        json_writer_text(json, names[i]);
    json_writer_end_array(json);
}

static void add_inserted_node(struct result_file *result, const struct node_recipe *node)
{
    json_writer_begin_object_member(&result->json, "inserted");
    json_writer_add_text(&result->json, "name", node->name);
    json_writer_add_text(&result->json, "op", node->op_type);
    add_tensor_names(&result->json, "inputs", node->inputs, node->input_count);
    add_tensor_names(&result->json, "outputs", node->outputs, node->output_count);
    json_writer_end_object(&result->json);
}

static int insert_node(const struct command_context *context, const struct surgeon_insert_settings *settings,
                       struct model *model, struct result_file *result, struct error *err)
{
    const struct insert_values *values = &settings->insert;
    struct arena *arena = &model->arena;
    struct text *inputs = arena_alloc_zero(arena, values->inputs.count, sizeof(*inputs));
    struct text *outputs = arena_alloc_zero(arena, values->outputs.count, sizeof(*outputs));
    struct node_recipe recipe = {
        .op_type = text_of(values->op),
        .name = text_of(values->name),
        .inputs = inputs,
        .input_count = values->inputs.count,
        .outputs = outputs,
        .output_count = values->outputs.count,
        .attributes = values->attributes.items,
        .attribute_count = values->attributes.count,
    };
    uint32_t node;
    int64_t version;
    int rc;

    for (size_t i = 0; i < recipe.input_count; i++)
        inputs[i] = text_of(values->inputs.items[i]);
    for (size_t i = 0; i < recipe.output_count; i++)
        outputs[i] = text_of(values->outputs.items[i]);
    rc = model_insert_node(model, &recipe, &node, err);
    if (rc < 0)
        return rc;
    add_inserted_node(result, &recipe);
    version = model_import_operators(model);
    if (version > 0)
        log_message(context->log, LOG_INFO,
                    "The model imports no version of ONNX's standard operators, which the new node needs: version %lld "
                    "is added",
                    (long long)version);
    infer_types_downstream(context, settings, model, node);
    return 0;
}

/* Removes nodes that no output depends on; the model keeps its inputs. */
static int insert_and_save(const struct surgeon_job *job, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = insert_node(job->context, job->settings, job->model, job->result, err);

    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, job->model);
    subgraph_clean(&whole, NULL, NULL, NULL);
    value_list_assign(&whole.inputs, &job->model->inputs);
    return model_file_save_new(job->context, job->file, &whole, err);
}

DEFINE_SURGEON_RUN(surgeon_insert_run, struct surgeon_insert_settings, insert_and_save)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct surgeon_insert_settings, insert, insert_options),
    COMMAND_GROUP(struct surgeon_insert_settings, common.logging, logging_options),
    COMMAND_GROUP(struct surgeon_insert_settings, file.model, onnx_model_options),
    COMMAND_GROUP(struct surgeon_insert_settings, file.inference, shape_inference_options),
    COMMAND_GROUP(struct surgeon_insert_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct surgeon_insert_settings, file.save, onnx_save_required_options),
    COMMAND_GROUP(struct surgeon_insert_settings, file.onnxrt, onnxrt_library_options),
    COMMAND_GROUP(struct surgeon_insert_settings, file.bounds, onnxrt_bounds_options),
    COMMAND_GROUP(struct surgeon_insert_settings, json, json_options),
};

const struct command cmd_surgeon_insert = {
    .name = "insert",
    .summary = "insert a node into an ONNX model",
    .description =
        "The node reads and produces tensors of the model. A tensor that is both an input and an output of the node is "
        "split in two: the node reads the old tensor, and its previous consumers read the new one. Previous producers "
        "of other outputs lose these outputs; nodes without remaining consumers are removed.\n\nThe name of the new "
        "tensor is the old one with the suffix _polygraphy_surgeon_insert_output. If the old tensor is an output of "
        "the model, the old tensor gets the suffix instead, so that the model's outputs keep their names.\n\nThe "
        "operator is one of ONNX's standard operators. A model that imports no version of these gets that of its "
        "functions, else the newest for its IR version.",
    .example = "# a Cast between the producer of t and its consumers\npolygraphy surgeon insert model.onnx -o out.onnx "
               "--inputs t --outputs t --op Cast --attrs to=10",
    COMMAND_GROUPS(groups),
    .essential = "-o --inputs --outputs --op --name --attrs --save-external-data --json -v",
    COMMAND_RUN(surgeon_insert_run),
};
