/* cli/inspect/trt_network.c: see trt_network.h. */
#include "cli/inspect/trt_network.h"

#include "format/json/writer.h"

/* ---- Text ---- */

static void add_tensor(const struct tensorrt_network_tensor *tensor, struct string_builder *ret)
{
    string_add_format(ret, "%s [dtype=%s", tensor->name, data_type_name(tensor->type));
    if (tensor->has_shape) {
        string_add(ret, ", shape=");
        shape_to_text(&tensor->shape, ret);
    }
    string_add_char(ret, ']');
}

static void add_tensors(const struct tensorrt_network_tensors *tensors, const char *separator,
                        struct string_builder *ret)
{
    string_add_char(ret, '{');
    for (size_t i = 0; i < tensors->count; i++) {
        string_add(ret, i > 0 ? separator : "");
        add_tensor(&tensors->items[i], ret);
    }
    string_add_char(ret, '}');
}

void trt_network_to_text(const struct tensorrt_network_view *view, const struct graph_text_settings *settings,
                         struct string_builder *ret)
{
    string_add_format(ret, "==== TensorRT Network ====\n---- %zu Network Input(s) ----\n", view->inputs.count);
    add_tensors(&view->inputs, ",\n ", ret);
    string_add_format(ret, "\n\n---- %zu Network Output(s) ----\n", view->outputs.count);
    add_tensors(&view->outputs, ",\n ", ret);
    string_add_format(ret, "\n\n---- %zu Layer(s) ----", view->layers.count);
    for (size_t i = 0; settings->layers && i < view->layers.count; i++) {
        const struct tensorrt_network_layer *layer = &view->layers.items[i];

        string_add_format(ret, "%sLayer %-4zu | %s [Op: LayerType.%s]\n    ", i > 0 ? "\n\n" : "\n", i, layer->name,
                          layer->type);
        add_tensors(&layer->inputs, ",\n     ", ret);
        string_add(ret, "\n     -> ");
        add_tensors(&layer->outputs, ",\n         ", ret);
    }
}

/* ---- JSON ---- */

static void write_tensors(struct json_writer *writer, const char *key, const struct tensorrt_network_tensors *tensors)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < tensors->count; i++)
        json_writer_string(writer, tensors->items[i].name);
    json_writer_end_array(writer);
}

int trt_network_save(const struct tensorrt_network_view *view, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "engine", "tensorrt");
    write_tensors(&writer, "inputs", &view->inputs);
    write_tensors(&writer, "outputs", &view->outputs);
    json_writer_begin_array_member(&writer, "layers");
    VECTOR_EACH (const struct tensorrt_network_layer, layer, view->layers) {
        json_writer_begin_object(&writer);
        json_writer_add_string(&writer, "name", layer->name);
        json_writer_add_string(&writer, "type", layer->type);
        json_writer_add_string(&writer, "metadata", layer->nodes); /* null: TensorRT has none */
        write_tensors(&writer, "inputs", &layer->inputs);
        write_tensors(&writer, "outputs", &layer->outputs);
        json_writer_end_object(&writer);
    }
    json_writer_end_array(&writer);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}
