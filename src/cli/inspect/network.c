/* cli/inspect/network.c: see network.h. */
#include "cli/inspect/network.h"

#include <stdlib.h>

#include "backend/model_io.h"
#include "cli/engine_file.h"
#include "cli/inspect/trt_network.h"
#include "cli/trt.h"
#include "engine/network/compile.h"
#include "format/json/writer.h"

static int build_network(const struct command_context *context, const struct model_file_settings *file,
                         struct model *model, struct network **ret, struct error *err)
{
    struct network_settings how = {0};

    if (engine_file_network(context, file, model, &how, err) < 0) {
        model_free(model);
        return err->code;
    }
    return network_build(model, &how, ret, err);
}

/* ---- Text ---- */

static int show_network(const struct command_context *context, const struct network *network,
                        const struct graph_text_settings *settings, struct error *err)
{
    SCOPED_STRING(text);
    int rc;

    if (!log_shows(context->log, LOG_INFO))
        return 0;
    string_add(&text, "==== Network of the Built-in Engine ====\n");
    rc = network_to_text(network, settings, &text, err);
    if (rc == 0)
        log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    return rc;
}

/* ---- JSON ---- */

void network_write_values(struct json_writer *writer, const char *key, const struct network *network,
                          const struct value_list *values)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < values->count; i++)
        json_writer_text(writer, values->items[i] == VALUE_NONE ? TEXT("")
                                                                : network->model->values.items[values->items[i]].name);
    json_writer_end_array(writer);
}

void network_write_layer_members(struct json_writer *writer, const struct network *network, const struct layer *layer)
{
    json_writer_begin_array_member(writer, "nodes");
    for (size_t k = 0; k < layer->nodes.count; k++)
        json_writer_string(writer, model_node_label(network->model, layer->nodes.items[k]));
    json_writer_end_array(writer);
    network_write_values(writer, "inputs", network, &layer->inputs);
    network_write_values(writer, "outputs", network, &layer->outputs);
}

static void write_network_layer(struct json_writer *writer, const struct network *network, const struct layer *layer)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", layer->name);
    json_writer_add_string(writer, "kind", layer_kind_name(layer->kind));
    network_write_layer_members(writer, network, layer);
    json_writer_end_object(writer);
}

static int save_json(const struct network *network, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "engine", "builtin");
    network_write_values(&writer, "inputs", network, &network->inputs);
    network_write_values(&writer, "outputs", network, &network->outputs);
    json_writer_begin_array_member(&writer, "layers");
    for (size_t i = 0; i < network->layers.count; i++)
        write_network_layer(&writer, network, &network->layers.items[i]);
    json_writer_end_array(&writer);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}

/* ---- TensorRT's library ---- */

static int ask_library(struct log *log, const struct model *model, struct arena *arena,
                       struct tensorrt_network_view *ret, struct error *err)
{
    const struct tensorrt_settings settings = {.log = log};
    struct backend_model source = {0};
    char *bytes = NULL;
    int rc = model_io_write(model, &bytes, &source, err);

    if (rc == 0)
        rc = tensorrt_view_network(&settings, &source, arena, ret, err);
    free(bytes);
    return rc;
}

static int inspect_trt_network(const struct command_context *context, const struct json_values *json,
                               const struct model *model, const struct graph_text_settings *settings, struct error *err)
{
    struct tensorrt_network_view view;
    SCOPED_ARENA(arena);
    SCOPED_STRING(text);
    int rc = ask_library(context->log, model, &arena, &view, err);

    if (rc < 0)
        return rc;
    trt_network_to_text(&view, settings, &text);
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    return json->path != NULL ? trt_network_save(&view, json->path, err) : 0;
}

int inspect_network(const struct command_context *context, const struct model_file_settings *file,
                    const struct json_values *json, struct model *model, const struct graph_text_settings *settings,
                    struct error *err)
{
    struct network *network = NULL;
    const struct tensorrt_description *library;
    int rc = trt_choose(context->log, NULL, TRT_PARSES, &library, err);

    if (rc < 0 || library != NULL) {
        rc = rc < 0 ? rc : inspect_trt_network(context, json, model, settings, err);
        model_free(model);
        return rc;
    }
    rc = build_network(context, file, model, &network, err);
    if (rc < 0)
        return rc;
    rc = show_network(context, network, settings, err);
    if (rc == 0 && json->path != NULL)
        rc = save_json(network, json->path, err);
    network_free(network);
    return rc;
}
