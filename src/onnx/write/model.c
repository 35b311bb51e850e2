/* onnx/write/model.c: see model.h. */
#include "onnx/write/model.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/unused_names.h"
#include "onnx/external/data.h"
#include "onnx/external/save.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "onnx/proto/pieces.h"

/* The limit of protobuf is 2^31 - 1; this leaves room for data that readers add. */
#define LARGEST_FILE ((uint64_t)2000000000)

/* State of encoding the graph. */
struct graph_writer {
    const struct subgraph *subgraph;
    const struct model *model;
    const struct initializer_writer *initializers; /* NULL: written unchanged */
    struct piece_list *out;
    struct bitset written;            /* values that need no (further) type description */
    struct bitset used;               /* see subgraph_used_values() */
    struct bitset replaced;           /* inputs and frozen values: their producers no longer count */
    struct bitset replaced_producers; /* nodes */
    struct bitset constants;          /* initializers that are used and not replaced */
};

static void find_replaced_value(struct graph_writer *writer, uint32_t value)
{
    uint32_t producer = writer->model->values.items[value].producer;

    bitset_add(&writer->replaced, value);
    if (producer != NODE_NONE)
        bitset_add(&writer->replaced_producers, producer);
}

/* A node with several outputs may stay although one of them is now an input or frozen. A tensor must have one source,
 * so that output of the node is renamed. */
static void write_replaced_node(struct graph_writer *writer, const struct node *node)
{
    struct wire_reader reader = wire_reader_of(node->message);
    struct wire_field field;
    struct unused_names names SCOPED(unused_names_release) = {0};
    SCOPED_STRING(message);

    unused_names_init(&names, writer->model, &writer->out->arena);
    while (wire_next(&reader, &field)) {
        struct text name = span_text(field.bytes);
        bool is_output = field.number == NODE_OUTPUT && name.size > 0;

        if (is_output && bitset_has(&writer->replaced, model_find_value(writer->model, name)))
            wire_write_text(&message, NODE_OUTPUT, unused_names_make(&names, name, "_unused"));
        else
            string_add_bytes(&message, field.whole.data, field.whole.size);
    }
    pieces_add_header(writer->out, GRAPH_NODE, message.size);
    pieces_add_copy(writer->out, message.data, message.size);
}

static void write_graph_nodes(struct graph_writer *writer)
{
    const struct bitset *nodes = &writer->subgraph->nodes;

    BITSET_EACH (i, nodes) {
        const struct node *node = &writer->model->nodes.items[i];

        if (bitset_has(&writer->replaced_producers, i))
            write_replaced_node(writer, node);
        else
            pieces_add(writer->out, node->field);
    }
}

/* The data are converted during writing. */
static void write_narrowed_tensor(struct graph_writer *writer, const struct initializer *initializer)
{
    SCOPED_STRING(header);
    uint64_t size = initializer->narrowed.size / 2;

    wire_write_text(&header, TENSOR_NAME, writer->model->values.items[initializer->value].name);
    wire_write_tag(&header, TENSOR_RAW_DATA, WIRE_BYTES);
    wire_write_varint(&header, size);
    pieces_add_header(writer->out, GRAPH_INITIALIZER, initializer->message.size + header.size + size);
    pieces_add(writer->out, initializer->message);
    pieces_add_copy(writer->out, header.data, header.size);
    pieces_add_narrowed(writer->out, initializer->narrowed, initializer->narrowed_type);
}

static void write_one_initializer(struct graph_writer *writer, const struct initializer *initializer)
{
    SCOPED_STRING(name);

    if (initializer->narrowed.size > 0) {
        write_narrowed_tensor(writer, initializer);
        return;
    }
    if (!initializer->renamed) {
        pieces_add(writer->out, initializer->field);
        return;
    }
    /* The last occurrence of a singular field counts: a name after the tensor overrides its name. */
    wire_write_text(&name, TENSOR_NAME, writer->model->values.items[initializer->value].name);
    pieces_add_header(writer->out, GRAPH_INITIALIZER, initializer->message.size + name.size);
    pieces_add(writer->out, initializer->message);
    pieces_add_copy(writer->out, name.data, name.size);
}

static void write_frozen_constants(struct graph_writer *writer, const struct frozen_value *frozen)
{
    const struct tensor *tensor = frozen->tensor;
    SCOPED_STRING(header);

    tensor_proto_write_header(&header, writer->model->values.items[frozen->value].name, tensor);
    if (tensor->type != DATA_STRING) {
        wire_write_tag(&header, TENSOR_RAW_DATA, WIRE_BYTES);
        wire_write_varint(&header, tensor->size);
    }
    pieces_add_header(writer->out, GRAPH_INITIALIZER, header.size + (tensor->type != DATA_STRING ? tensor->size : 0));
    pieces_add_copy(writer->out, header.data, header.size);
    if (tensor->type != DATA_STRING)
        pieces_add(writer->out, (struct span){tensor->data, tensor->size});
}

/* For a small part of a model with many constants, visits only the constants that it uses. */
static void find_constants(struct graph_writer *writer)
{
    BITSET_EACH (i, &writer->used)
        if (writer->model->values.items[i].initializer != INITIALIZER_NONE && !bitset_has(&writer->replaced, i))
            bitset_add(&writer->constants, writer->model->values.items[i].initializer);
}

static int write_graph_initializers(struct graph_writer *writer, struct error *err)
{
    const struct bitset *constants = &writer->constants;

    BITSET_EACH (i, constants) {
        const struct initializer *initializer = &writer->model->initializers.items[i];
        int saved = 0;

        if (writer->initializers != NULL && !initializer->sparse)
            saved = writer->initializers->write(writer->initializers->data, initializer, writer->out, err);
        if (saved < 0)
            return saved;
        if (saved == 0)
            write_one_initializer(writer, initializer);
    }
    for (size_t i = 0; i < writer->subgraph->frozen.count; i++)
        write_frozen_constants(writer, &writer->subgraph->frozen.items[i]);
    return 0;
}

/* A ValueInfoProto for `value`, without a type if it is unknown. */
static struct span describe_written_value(struct graph_writer *writer, uint32_t value)
{
    struct span info = known_types_info(writer->subgraph->known, writer->model, value);

    return info.size > 0 ? info : value_info_make(&writer->out->arena, writer->model->values.items[value].name, NULL);
}

static void write_graph_interface(struct graph_writer *writer, uint32_t field, const struct value_list *values)
{
    for (size_t i = 0; i < values->count; i++) {
        pieces_add_field(writer->out, field, describe_written_value(writer, values->items[i]));
        bitset_add(&writer->written, values->items[i]);
    }
}

/* IR versions below 4 require every initializer to be a graph input. */
static void write_initializer_input(struct graph_writer *writer, uint32_t value, enum data_type element,
                                    const struct shape *shape)
{
    struct value_type type = {.element = element, .has_shape = true, .shape = *shape}, known;
    struct span info = known_types_info(writer->subgraph->known, writer->model, value);

    value_info_decode(info, &known);
    if (known.element != element) /* unknown type, or replaced by a constant of another type */
        info = value_info_make(&writer->out->arena, writer->model->values.items[value].name, &type);
    pieces_add_field(writer->out, GRAPH_INPUT, info);
    bitset_add(&writer->written, value);
}

static int write_initializer_inputs(struct graph_writer *writer, struct error *err)
{
    const struct bitset *constants = &writer->constants;
    struct tensor_header header;

    if (writer->model->ir_version >= 4)
        return 0;
    BITSET_EACH (i, constants) {
        const struct initializer *initializer = &writer->model->initializers.items[i];
        int rc;

        if (initializer->sparse)
            continue;
        rc = tensor_proto_read(initializer->message, &header, err);
        if (rc < 0)
            return rc;
        write_initializer_input(writer, initializer->value, header.type, &header.shape);
    }
    VECTOR_EACH (const struct frozen_value, frozen, writer->subgraph->frozen)
        write_initializer_input(writer, frozen->value, frozen->tensor->type, &frozen->tensor->shape);
    return 0;
}

static void write_value_infos(struct graph_writer *writer)
{
    const struct known_types *known = writer->subgraph->known;

    BITSET_EACH (i, &writer->used) {
        const struct value *v = &writer->model->values.items[i];
        struct span info = known_types_info(known, writer->model, (uint32_t)i);
        uint8_t prefix = known_types_has(known, (uint32_t)i) ? 0 : v->info_prefix;
        bool is_constant = v->initializer != INITIALIZER_NONE || bitset_has(&writer->replaced, i);

        /* Constants need no type description; an entry in the file is kept anyway. */
        if (info.size == 0 || bitset_has(&writer->written, i) ||
            ((is_constant || writer->subgraph->only_stated) && prefix == 0))
            continue;
        if (prefix > 0)
            pieces_add(writer->out, (struct span){info.data - prefix, info.size + prefix});
        else
            pieces_add_field(writer->out, GRAPH_VALUE_INFO, info);
    }
}

/* Quantization annotations are kept for tensors that are kept. */
static void write_graph_annotations(struct graph_writer *writer)
{
    for (size_t i = 0; i < writer->model->annotations.count; i++)
        if (bitset_has(&writer->used, writer->model->annotations.items[i].value))
            pieces_add(writer->out, writer->model->annotations.items[i].field);
}

static int write_graph_message(struct graph_writer *writer, struct error *err)
{
    int rc;

    bitset_init(&writer->used, writer->model->values.count);
    bitset_init(&writer->written, writer->model->values.count);
    bitset_init(&writer->replaced, writer->model->values.count);
    bitset_init(&writer->replaced_producers, writer->model->nodes.count);
    bitset_init(&writer->constants, writer->model->initializers.count);
    for (size_t i = 0; i < writer->subgraph->inputs.count; i++)
        find_replaced_value(writer, writer->subgraph->inputs.items[i]);
    for (size_t i = 0; i < writer->subgraph->frozen.count; i++)
        find_replaced_value(writer, writer->subgraph->frozen.items[i].value);
    subgraph_used_values(writer->subgraph, &writer->used);
    find_constants(writer);
    for (size_t i = 0; i < writer->model->other_graph_fields.count; i++)
        pieces_add(writer->out, writer->model->other_graph_fields.items[i]);
    write_graph_nodes(writer);
    rc = write_graph_initializers(writer, err);
    if (rc < 0)
        goto done;
    write_graph_interface(writer, GRAPH_INPUT, &writer->subgraph->inputs);
    rc = write_initializer_inputs(writer, err);
    if (rc < 0)
        goto done;
    write_graph_interface(writer, GRAPH_OUTPUT, &writer->subgraph->outputs);
    write_value_infos(writer);
    write_graph_annotations(writer);
done:
    bitset_release(&writer->used);
    bitset_release(&writer->written);
    bitset_release(&writer->replaced);
    bitset_release(&writer->replaced_producers);
    bitset_release(&writer->constants);
    return rc;
}

static void add_span_pieces(struct piece_list *out, const struct span_list *spans)
{
    for (size_t i = 0; i < spans->count; i++)
        pieces_add(out, spans->items[i]);
}

/* The whole file: fields before the graph, the graph, fields after it. */
int model_write_pieces(const struct subgraph *subgraph, const struct initializer_writer *initializers,
                       struct piece_list *graph, struct piece_list *ret, struct error *err)
{
    struct graph_writer writer = {
        .subgraph = subgraph, .model = subgraph->model, .initializers = initializers, .out = graph};
    int rc = write_graph_message(&writer, err);

    if (rc < 0)
        return rc;
    add_span_pieces(ret, &subgraph->model->fields_before_graph);
    pieces_add_header(ret, MODEL_GRAPH, graph->size);
    pieces_add_all(ret, graph);
    add_span_pieces(ret, &subgraph->model->fields_after_graph);
    return 0;
}

static int write_outer_fields(void *data, const struct initializer *initializer, struct piece_list *graph,
                              struct error *err)
{
    return external_save_initializer(data, initializer, graph, err);
}

/* Returns 1 if the file would be too large without external data. */
static int write_model_once(const struct subgraph *subgraph, const char *path, const struct external_settings *settings,
                            enum file_durability durability, struct hash *ret_hash, struct error *err)
{
    struct piece_list graph SCOPED(pieces_release) = {0};
    struct piece_list file SCOPED(pieces_release) = {0};
    struct external_save *external = NULL;
    struct initializer_writer outside = {.write = write_outer_fields};
    struct file_writer writer = {.fd = -1};
    int rc = 0;

    if (settings != NULL && settings->save)
        rc = external_save_open(subgraph, path, settings, durability, &external, err);
    if (rc < 0)
        goto done;
    outside.data = external;
    rc = model_write_pieces(subgraph, external != NULL ? &outside : NULL, &graph, &file, err);
    if (rc < 0)
        goto done;
    if (file.size > LARGEST_FILE) {
        rc = external == NULL
                 ? 1
                 : error_set(err, ERR_UNSUPPORTED, "%s: the model is larger than 2 GB even without its weights", path);
        goto done;
    }
    rc = file_writer_open(&writer, path, err);
    if (rc < 0)
        goto done;
    rc = pieces_write(&file, &subgraph->model->map, &writer, err);
    if (rc < 0)
        goto done;
    if (external != NULL) /* commit data and model file one right after the other */
        rc = external_save_finish(external, err);
    if (rc < 0)
        goto done;
    rc = file_writer_commit(&writer, durability, err);
    if (ret_hash != NULL)
        *ret_hash = pieces_hash(&file, &subgraph->model->map);
done:
    file_writer_release(&writer);
    external_save_free(external, rc == 0);
    return rc;
}

int model_write(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
                enum file_durability durability, struct hash *ret_hash, struct error *err)
{
    static const struct external_settings forced = {.save = true, .threshold = 1024};
    int rc = write_model_once(subgraph, path, external, durability, ret_hash, err);

    return rc == 1 ? write_model_once(subgraph, path, &forced, durability, ret_hash, err) : rc;
}

int model_write_memory(const struct subgraph *subgraph, char **ret, size_t *ret_size, struct error *err)
{
    struct piece_list graph SCOPED(pieces_release) = {0};
    struct piece_list file SCOPED(pieces_release) = {0};
    int rc = model_write_pieces(subgraph, NULL, &graph, &file, err);

    if (rc == 0) {
        *ret = malloc(file.size + 1);
        if (*ret == NULL)
            rc = error_set(err, ERR_MEMORY, "not enough memory for a model of %llu bytes",
                           (unsigned long long)file.size);
    }
    if (rc == 0) {
        pieces_copy(&file, (uint8_t *)*ret);
        *ret_size = file.size;
    }
    return rc;
}

static int provide_subgraph_data(const struct subgraph *subgraph, const char *path, struct path_list *ret_made,
                                 struct error *err)
{
    char *folder SCOPED_FREE = file_folder(path);

    return external_data_provide(subgraph, folder, EXTERNAL_COPY, ret_made, err);
}

int model_save(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
               bool ignore_external_data, struct error *err)
{
    struct path_list made SCOPED(path_list_release) = {0};
    int rc = 0;

    file_remove_leftovers(path);
    if (!ignore_external_data)
        rc = provide_subgraph_data(subgraph, path, &made, err);
    if (rc == 0)
        rc = model_write(subgraph, path, external, FILE_DURABLE, NULL, err);
    if (rc < 0)
        path_list_remove(&made);
    return rc;
}
