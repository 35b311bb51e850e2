/* cli/result_file.c: see result_file.h. */
#include "cli/result_file.h"

#include <sys/stat.h>

#include "format/json/tensor.h"
#include "onnx/external/data.h"

/* ---- Members ---- */

/* null where there is no such file. */
static void add_bytes(struct result_file *result, const char *path)
{
    struct stat status;

    if (json_writer_key_or_null(&result->json, "bytes",
                                path != NULL && stat(path, &status) == 0 && S_ISREG(status.st_mode)))
        json_writer_integer(&result->json, status.st_size);
}

void result_file_add_path(struct result_file *result, const char *path)
{
    json_writer_add_string(&result->json, "path", path);
    add_bytes(result, path);
}

/* ---- A model ---- */

static void add_external_data(struct result_file *result, struct model *model)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};

    json_writer_begin_array_member(&result->json, "external_data");
    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *path SCOPED_FREE = NULL;

            json_writer_begin_object(&result->json);
            json_writer_add_text(&result->json, "location", locations.items[i]);
            external_data_path(model, locations.items[i], &path, NULL);
            add_bytes(result, path);
            json_writer_end_object(&result->json);
        }
    json_writer_end_array(&result->json);
}

static void add_tensor_types(struct result_file *result, const char *key, const struct model *model,
                             const struct value_list *values)
{
    json_writer_begin_array_member(&result->json, key);
    for (size_t i = 0; i < values->count; i++) {
        const struct value *value = &model->values.items[values->items[i]];
        struct value_type type;

        value_info_decode(value->info, &type);
        json_writer_begin_object(&result->json);
        json_writer_add_text(&result->json, "name", value->name);
        tensor_json_value_type(&result->json, &type);
        json_writer_end_object(&result->json);
    }
    json_writer_end_array(&result->json);
}

static void add_description(struct result_file *result, const char *key, struct model *model)
{
    json_writer_begin_object_member(&result->json, key);
    json_writer_add_string(&result->json, "path", model->display_name);
    json_writer_add_count(&result->json, "bytes", model->map.size);
    add_external_data(result, model);
    json_writer_add_count(&result->json, "ir_version", (uint64_t)model->ir_version);
    json_writer_add_count(&result->json, "opset", (uint64_t)model_opset(model));
    add_tensor_types(result, "inputs", model, &model->inputs);
    add_tensor_types(result, "outputs", model, &model->outputs);
    json_writer_add_count(&result->json, "nodes", model->nodes.count);
    json_writer_add_count(&result->json, "initializers", model->initializers.count);
    json_writer_end_object(&result->json);
}

/* ---- How two models differ ----
 *
 * A node is the same when the first tensor that it makes is: names of nodes are neither unique nor always there. */

static bool same_bytes(struct span a, struct span b)
{
    return text_equal(span_text(a), span_text(b));
}

static uint32_t first_output(const struct model *model, const struct node *node)
{
    uint32_t value = VALUE_NONE;

    for (size_t i = 0; value == VALUE_NONE && i < node->outputs.count; i++)
        value = model_edge(model, node->outputs, i);
    return value;
}

/* What is the same node in `model` as `node` in another one; NULL: there is none. */
static const struct node *same_node(const struct model *model, const struct model *other, const struct node *node)
{
    uint32_t value = first_output(other, node), producer;

    value = value != VALUE_NONE ? model_find_value(model, other->values.items[value].name) : VALUE_NONE;
    producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;
    if (producer == NODE_NONE || first_output(model, &model->nodes.items[producer]) != value)
        return NULL;
    return &model->nodes.items[producer];
}

/* Lists the nodes of `model` that `other` has in no form, or with `rewritten` in another one. */
static void list_nodes(struct result_file *result, const char *key, struct model *model, const struct model *other,
                       bool rewritten)
{
    json_writer_begin_array_member(&result->json, key);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i], *same = same_node(other, model, node);

        if (rewritten ? same == NULL || same_bytes(node->message, same->message) : same != NULL)
            continue;
        json_writer_begin_object(&result->json);
        json_writer_add_string(&result->json, "name", model_node_label(model, i));
        json_writer_add_text(&result->json, "op", node->op_type);
        json_writer_end_object(&result->json);
    }
    json_writer_end_array(&result->json);
}

/* The same for initializers, by name. */
static void list_initializers(struct result_file *result, const char *key, const struct model *model,
                              const struct model *other, bool rewritten)
{
    json_writer_begin_array_member(&result->json, key);
    VECTOR_EACH (const struct initializer, initializer, model->initializers) {
        struct text name = model->values.items[initializer->value].name;
        uint32_t value = model_find_value(other, name);
        uint32_t same = value != VALUE_NONE ? other->values.items[value].initializer : INITIALIZER_NONE;

        if (rewritten
                ? same != INITIALIZER_NONE && !same_bytes(initializer->message, other->initializers.items[same].message)
                : same == INITIALIZER_NONE)
            json_writer_text(&result->json, name);
    }
    json_writer_end_array(&result->json);
}

/* Whether a model says of a value how large it is in every dimension. */
static bool has_fixed_shape(const struct model *model, uint32_t value)
{
    struct value_type type;

    if (value == VALUE_NONE || model->values.items[value].info.size == 0)
        return false;
    value_info_decode(model->values.items[value].info, &type);
    for (size_t i = 0; type.has_shape && i < type.shape.rank; i++)
        if (type.shape.dims[i] < 0)
            return false;
    return type.has_shape;
}

static void list_fixed_shapes(struct result_file *result, const struct model *written)
{
    json_writer_begin_array_member(&result->json, "shapes_fixed");
    for (uint32_t i = 0; i < written->values.count; i++) {
        const struct value *value = &written->values.items[i];

        if (value->initializer == INITIALIZER_NONE && has_fixed_shape(written, i) &&
            !has_fixed_shape(result->read, model_find_value(result->read, value->name)))
            json_writer_text(&result->json, value->name);
    }
    json_writer_end_array(&result->json);
}

static void add_changes(struct result_file *result, struct model *written)
{
    json_writer_begin_object_member(&result->json, "changes");
    list_nodes(result, "nodes_removed", result->read, written, false);
    list_nodes(result, "nodes_added", written, result->read, false);
    list_nodes(result, "nodes_rewritten", written, result->read, true);
    list_initializers(result, "initializers_removed", result->read, written, false);
    list_initializers(result, "initializers_added", written, result->read, false);
    list_initializers(result, "initializers_rewritten", written, result->read, true);
    list_fixed_shapes(result, written);
    json_writer_end_object(&result->json);
}

/* ---- The file ---- */

int result_file_open(struct result_file *result, const struct command_context *context, const struct json_values *json,
                     const struct model_file_settings *file, struct error *err)
{
    const char *path = json->path;
    int rc;

    *result = (struct result_file){.wanted = path != NULL};
    json_writer_init(&result->json);
    if (path != NULL) {
        rc = json_writer_open(&result->json, path, err);
        if (rc < 0)
            return error_context(err, "--json");
    }
    json_writer_begin_object(&result->json);
    json_writer_begin_array_member(&result->json, "command");
    for (size_t i = 0; context->command_line[i] != NULL; i++)
        json_writer_string(&result->json, context->command_line[i]);
    json_writer_end_array(&result->json);
    if (path == NULL || file == NULL || file->model.type != MODEL_ONNX)
        return 0;
    rc = model_open(file->model.path, file->load.external_data_dir, &result->read, err);
    if (rc < 0)
        result_file_close(result);
    else
        add_description(result, "read", result->read);
    return rc;
}

static int add_written(struct result_file *result, const char *path, struct error *err)
{
    struct model *written;
    int rc = model_open(path, NULL, &written, err);

    if (rc < 0)
        return rc;
    add_description(result, "written", written);
    add_changes(result, written);
    model_free(written);
    return 0;
}

int result_file_save(struct result_file *result, const char *path, struct error *err)
{
    int rc = 0;

    if (!result->wanted)
        return 0;
    if (path != NULL)
        rc = add_written(result, path, err);
    if (rc < 0)
        return rc;
    json_writer_end_object(&result->json);
    return json_writer_commit(&result->json, FILE_DURABLE, err);
}

void result_file_close(struct result_file *result)
{
    json_writer_release(&result->json);
    model_free(result->read);
    result->read = NULL;
}
