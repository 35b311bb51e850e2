/* cli/inspect/engine_text.c: see engine_text.h. */
#include "cli/inspect/engine_text.h"

#include "format/json/writer.h"
#include "onnx/model/graph_view.h"

/* ---- Text ---- */

static void add_tensor(struct string_builder *out, const struct network *network, uint32_t value)
{
    struct graph_view view = graph_view_of(network->model);
    struct value_type type;

    if (value == VALUE_NONE) {
        string_add(out, "''");
        return;
    }
    string_add(out, graph_view_describe(&view, value, &type) ? "Constant | " : "");
    string_add_text(out, network->model->values.items[value].name);
    if (type.element == DATA_UNDEFINED)
        return;
    string_add_format(out, " [dtype=%s", data_type_name(type.element));
    if (type.has_shape) {
        string_add(out, ", shape=");
        shape_to_text(&type.shape, out);
    }
    string_add_char(out, ']');
}

static void add_tensors(struct string_builder *out, const struct network *network, const struct value_list *values,
                        const char *separator)
{
    string_add_char(out, '{');
    for (size_t i = 0; i < values->count; i++) {
        if (i > 0)
            string_add_format(out, ",\n%s", separator);
        add_tensor(out, network, values->items[i]);
    }
    string_add_char(out, '}');
}

static void add_profiles(struct string_builder *out, const struct engine *engine)
{
    const struct network *network = engine->network;

    string_add_format(out, "\n---- %zu Profile(s) (%zu Input(s) Each) ----\n", engine->profiles.count,
                      network->inputs.count);
    for (size_t i = 0; i < engine->profiles.count; i++) {
        string_add_format(out, "- Profile: %zu\n", i);
        for (size_t k = 0; k < network->inputs.count; k++) {
            struct text name = network->model->values.items[network->inputs.items[k]].name;

            string_add_format(out, "    Tensor: " TEXT_FORMAT " | Shapes: min=", TEXT_ARGS(name));
            shape_to_text(&engine->profiles.items[i].minimum[k], out);
            string_add(out, ", opt=");
            shape_to_text(&engine->profiles.items[i].optimum[k], out);
            string_add(out, ", max=");
            shape_to_text(&engine->profiles.items[i].maximum[k], out);
            string_add_char(out, '\n');
        }
    }
}

static void add_layer(struct string_builder *out, const struct engine *engine, size_t i)
{
    const struct layer *layer = &engine->network->layers.items[i];
    const struct engine_layer *choice = &engine->layers[i];

    string_add_format(out, "Layer %-4zu | %s [Kind: %s, Precision: %s]\n    Tactic: %s:%s", i, layer->name,
                      layer_kind_name(layer->kind), precision_name(choice->precision.precision),
                      choice->tactic.provider->name, choice->tactic.name);
    if (choice->tactic_count > 0)
        string_add_format(out, ", of %zu", choice->tactic_count);
    if (choice->seconds > 0)
        string_add_format(out, ", %.4f ms", choice->seconds * 1000);
    string_add(out, "\n    Nodes: ");
    for (size_t k = 0; k < layer->nodes.count; k++)
        string_add_format(out, "%s%s", k > 0 ? ", " : "",
                          model_node_label(engine->network->model, layer->nodes.items[k]));
    string_add(out, "\n    ");
    add_tensors(out, engine->network, &layer->inputs, "     ");
    string_add(out, "\n     -> ");
    add_tensors(out, engine->network, &layer->outputs, "         ");
    string_add_char(out, '\n');
}

void engine_to_text(const struct engine *engine, bool layers, struct string_builder *ret)
{
    const struct network *network = engine->network;

    string_add_format(ret, "==== Built-in Engine ====\nName: " TEXT_FORMAT "\n\n---- %zu Engine Input(s) ----\n",
                      TEXT_ARGS(network->model->graph_name), network->inputs.count);
    add_tensors(ret, network, &network->inputs, " ");
    string_add_format(ret, "\n\n---- %zu Engine Output(s) ----\n", network->outputs.count);
    add_tensors(ret, network, &network->outputs, " ");
    string_add_char(ret, '\n');
    add_profiles(ret, engine);
    string_add_format(ret, "\n---- %zu Layer(s) ----\n", network->layers.count);
    for (size_t i = 0; layers && i < network->layers.count; i++)
        add_layer(ret, engine, i);
}

/* ---- JSON ---- */

struct engine_json {
    struct json_writer writer;
    struct string_builder scratch; /* for texts that need a NUL behind them */
};

static void write_text(struct engine_json *json, struct text text)
{
    string_clear(&json->scratch);
    string_add_text(&json->scratch, text);
    json_writer_string(&json->writer, text.size > 0 ? json->scratch.data : "");
}

static void write_values(struct engine_json *json, const char *key, const struct network *network,
                         const struct value_list *values)
{
    json_writer_key(&json->writer, key);
    json_writer_begin_array(&json->writer);
    for (size_t i = 0; i < values->count; i++)
        write_text(json,
                   values->items[i] == VALUE_NONE ? TEXT("") : network->model->values.items[values->items[i]].name);
    json_writer_end_array(&json->writer);
}

static void write_shape(struct engine_json *json, const char *key, const struct shape *shape)
{
    json_writer_key(&json->writer, key);
    json_writer_begin_array(&json->writer);
    for (size_t i = 0; i < shape->rank; i++)
        json_writer_integer(&json->writer, shape->dims[i]);
    json_writer_end_array(&json->writer);
}

static void write_profiles(struct engine_json *json, const struct engine *engine)
{
    const struct network *network = engine->network;

    json_writer_key(&json->writer, "profiles");
    json_writer_begin_array(&json->writer);
    for (size_t i = 0; i < engine->profiles.count; i++) {
        json_writer_begin_object(&json->writer);
        for (size_t k = 0; k < network->inputs.count; k++) {
            string_clear(&json->scratch);
            string_add_text(&json->scratch, network->model->values.items[network->inputs.items[k]].name);
            json_writer_key(&json->writer, json->scratch.size > 0 ? json->scratch.data : "");
            json_writer_begin_object(&json->writer);
            write_shape(json, "min", &engine->profiles.items[i].minimum[k]);
            write_shape(json, "opt", &engine->profiles.items[i].optimum[k]);
            write_shape(json, "max", &engine->profiles.items[i].maximum[k]);
            json_writer_end_object(&json->writer);
        }
        json_writer_end_object(&json->writer);
    }
    json_writer_end_array(&json->writer);
}

static void write_member(struct engine_json *json, const char *key, const char *value)
{
    json_writer_key(&json->writer, key);
    json_writer_string(&json->writer, value);
}

static void write_layer(struct engine_json *json, const struct engine *engine, size_t i)
{
    const struct layer *layer = &engine->network->layers.items[i];
    const struct engine_layer *choice = &engine->layers[i];

    json_writer_begin_object(&json->writer);
    write_member(json, "name", layer->name);
    write_member(json, "kind", layer_kind_name(layer->kind));
    write_member(json, "precision", precision_name(choice->precision.precision));
    write_member(json, "provider", choice->tactic.provider->name);
    write_member(json, "tactic", choice->tactic.name);
    json_writer_key(&json->writer, "seconds");
    json_writer_number(&json->writer, choice->seconds);
    json_writer_key(&json->writer, "tactics");
    json_writer_integer(&json->writer, (int64_t)choice->tactic_count);
    json_writer_key(&json->writer, "nodes");
    json_writer_begin_array(&json->writer);
    for (size_t k = 0; k < layer->nodes.count; k++)
        json_writer_string(&json->writer, model_node_label(engine->network->model, layer->nodes.items[k]));
    json_writer_end_array(&json->writer);
    write_values(json, "inputs", engine->network, &layer->inputs);
    write_values(json, "outputs", engine->network, &layer->outputs);
    json_writer_end_object(&json->writer);
}

int engine_save_json(const struct engine *engine, const char *path, struct error *err)
{
    struct engine_json json;
    int rc = json_writer_open(&json.writer, path, err);

    if (rc < 0)
        return rc;
    string_init(&json.scratch);
    json_writer_begin_object(&json.writer);
    write_values(&json, "inputs", engine->network, &engine->network->inputs);
    write_values(&json, "outputs", engine->network, &engine->network->outputs);
    write_profiles(&json, engine);
    json_writer_key(&json.writer, "layers");
    json_writer_begin_array(&json.writer);
    for (size_t i = 0; i < engine->network->layers.count; i++)
        write_layer(&json, engine, i);
    json_writer_end_array(&json.writer);
    json_writer_end_object(&json.writer);
    rc = json_writer_commit(&json.writer, FILE_DURABLE, err);
    json_writer_release(&json.writer);
    string_release(&json.scratch);
    return rc;
}
