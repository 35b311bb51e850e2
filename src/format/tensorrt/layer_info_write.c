/* format/tensorrt/layer_info_write.c: layer information as TensorRT's inspector lays it out. */
#include "format/tensorrt/layer_info.h"

#include <inttypes.h>

#include "format/json/writer.h"

/* A writer in memory at depth 0 puts nothing between what is added: the layout is this file's. */
struct layer_info_writer {
    struct json_writer json;
    enum layer_info_schema schema;
};

static void add_raw(struct layer_info_writer *writer, const char *text)
{
    string_add(&writer->json.text, text);
}

static void add_member(struct layer_info_writer *writer, const char *indent, const char *key, const char *value)
{
    string_add_format(&writer->json.text, ",\n%s\"%s\": ", indent, key);
    json_writer_string(&writer->json, value);
}

static void add_dims(struct layer_info_writer *writer, const char *indent, const struct layer_info_tensor *tensor)
{
    if (!tensor->has_dims)
        return;
    string_add_format(&writer->json.text, ",\n%s\"Dimensions\": [", indent);
    for (size_t i = 0; i < tensor->rank; i++)
        string_add_format(&writer->json.text, "%s%" PRId64, i > 0 ? "," : "", tensor->dims[i]);
    add_raw(writer, "]");
}

static void add_format(struct layer_info_writer *writer, const char *indent, const struct layer_info_tensor *tensor)
{
    const char *word = layer_info_type_word(tensor->type);

    if (writer->schema == LAYER_INFO_SCHEMA_8_TO_10) {
        add_member(writer, indent, "Format/Datatype", tensor->format[0] != '\0' ? tensor->format : word);
        return;
    }
    add_member(writer, indent, "Format", tensor->format);
    add_member(writer, indent, "Datatype", word);
}

static void write_layer_tensors(struct layer_info_writer *writer, const char *key,
                                const struct layer_info_tensors *tensors)
{
    string_add_format(&writer->json.text, ",\n  \"%s\": [", key);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct layer_info_tensor *tensor = &tensors->items[i];

        add_raw(writer, i > 0 ? ",\n  {\n    \"Name\": " : "\n  {\n    \"Name\": ");
        json_writer_string(&writer->json, tensor->name);
        if (tensor->location)
            add_member(writer, "    ", "Location", tensor->location);
        add_dims(writer, "    ", tensor);
        add_format(writer, "    ", tensor);
        add_raw(writer, "\n  }");
    }
    add_raw(writer, "]");
}

static void add_metadata(struct layer_info_writer *writer, const struct layer_info_layer *layer)
{
    SCOPED_STRING(metadata);

    if (!layer->nodes.told)
        return;
    string_add(&metadata, "");
    for (size_t i = 0; i < layer->nodes.count; i++)
        string_add_format(&metadata, "%s[ONNX Layer: %s]", i > 0 ? "\x1e" : "", layer->nodes.items[i]);
    add_member(writer, "  ", "Metadata", metadata.data);
}

static void write_info_layer(struct layer_info_writer *writer, const struct layer_info_layer *layer)
{
    if (!layer->type) {
        json_writer_string(&writer->json, layer->name);
        add_raw(writer, "\n");
        return;
    }
    add_raw(writer, "{\n  \"Name\": ");
    json_writer_string(&writer->json, layer->name);
    add_member(writer, "  ", "LayerType", layer->type);
    write_layer_tensors(writer, "Inputs", &layer->inputs);
    write_layer_tensors(writer, "Outputs", &layer->outputs);
    if (layer->tactic_name)
        add_member(writer, "  ", "TacticName", layer->tactic_name);
    if (layer->has_tactic)
        string_add_format(&writer->json.text, ",\n  \"TacticValue\": \"0x%016" PRIx64 "\"", (uint64_t)layer->tactic);
    if (layer->has_stream)
        string_add_format(&writer->json.text, ",\n  \"StreamId\": %" PRId64, layer->stream);
    add_metadata(writer, layer);
    add_raw(writer, "\n}");
}

static void add_binding_names(struct layer_info_writer *writer, const struct layer_info *info)
{
    add_raw(writer, "],\n\"Bindings\": [");
    for (size_t i = 0; i < info->bindings.count; i++) {
        add_raw(writer, i > 0 ? "\n," : "");
        json_writer_string(&writer->json, info->bindings.items[i].tensor.name);
    }
    add_raw(writer, info->bindings.count > 1 ? "\n]}" : "]}");
}

static void add_io_tensors(struct layer_info_writer *writer, const struct layer_info *info)
{
    static const char *const modes[] = {
        [LAYER_INFO_MODE_UNKNOWN] = NULL, [LAYER_INFO_INPUT] = "Input", [LAYER_INFO_OUTPUT] = "Output"};

    add_raw(writer, "],\n\"I/O Tensors\": [");
    for (size_t i = 0; i < info->bindings.count; i++) {
        const struct layer_info_binding *binding = &info->bindings.items[i];

        add_raw(writer, i > 0 ? ",\n{\n  \"Name\": " : "\n{\n  \"Name\": ");
        json_writer_string(&writer->json, binding->tensor.name);
        if (modes[binding->mode])
            add_member(writer, "  ", "IOMode", modes[binding->mode]);
        if (binding->tensor.type != DATA_UNDEFINED)
            add_member(writer, "  ", "DataType", layer_info_type_word(binding->tensor.type));
        add_dims(writer, "  ", &binding->tensor);
        if (binding->tensor.location)
            add_member(writer, "  ", "Location", binding->tensor.location);
        add_raw(writer, "\n}");
    }
    add_raw(writer, "]}");
}

void layer_info_write(const struct layer_info *info, enum layer_info_schema schema, struct string_builder *ret)
{
    struct layer_info_writer writer = {.schema = schema};

    json_writer_init(&writer.json);
    add_raw(&writer, "{\"Layers\": [");
    for (size_t i = 0; i < info->layers.count; i++) {
        add_raw(&writer, i > 0 ? "," : "");
        write_info_layer(&writer, &info->layers.items[i]);
    }
    if (schema == LAYER_INFO_SCHEMA_11)
        add_io_tensors(&writer, info);
    else
        add_binding_names(&writer, info);
    string_add_text(ret, (struct text){writer.json.text.data, writer.json.text.size});
    json_writer_release(&writer.json);
}
