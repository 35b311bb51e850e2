/* onnx/model/model.c: parses an ONNX file once and builds its index. See model.h. */
#include "onnx/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/bitset.h"
#include "base/memory.h"
#include "onnx/model/captures.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

/* Pages that were read are released each time the parser has advanced by this many bytes. */
#define FORGET_STEP ((size_t)16 << 20)

uint32_t model_find_value(const struct model *model, struct text name)
{
    return name_map_find(&model->value_by_name, name);
}

uint32_t model_find_tensor(const struct model *model, struct text name)
{
    uint32_t id = model_find_value(model, name);
    const struct value *value = id != VALUE_NONE ? &model->values.items[id] : NULL;

    if (value == NULL || value->producer != NODE_NONE || value->initializer != INITIALIZER_NONE)
        return id;
    if (value->input < model->inputs.count && model->inputs.items[value->input] == id)
        return id;
    for (size_t i = 0; i < model->inputs.count; i++)
        if (model->inputs.items[i] == id)
            return id;
    return VALUE_NONE;
}

uint32_t model_add_value(struct model *model, struct text name)
{
    uint32_t id = (uint32_t)model->values.count;
    uint32_t known = name_map_add(&model->value_by_name, name, id);

    if (known == id)
        *VECTOR_APPEND(&model->values) =
            (struct value){.name = name, .producer = NODE_NONE, .initializer = INITIALIZER_NONE};
    return known;
}

void model_set_type(struct model *model, uint32_t value, const struct value_type *type)
{
    struct value *v = &model->values.items[value];

    v->info = value_info_make(&model->arena, v->name, type);
    v->info_prefix = 0;
}

static void add_model_edge(struct model *model, struct edge_range *range, struct text name)
{
    uint32_t value = name.size > 0 ? model_add_value(model, name) : VALUE_NONE;

    *VECTOR_APPEND(&model->edges) = value;
    range->count++;
}

static void read_node_attribute(struct node *node, struct span attribute)
{
    struct wire_reader reader = wire_reader_of(attribute);
    struct wire_field field;

    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == ATTRIBUTE_GRAPH || field.number == ATTRIBUTE_GRAPHS)
            node->has_subgraphs = true;
        else if (field.number == ATTRIBUTE_TENSOR)
            node->has_tensors = true;
    }
}

/* Reads all fields except outputs: inputs and outputs must each be consecutive edges, but the fields may be
 * interleaved. */
static void read_node_field(struct model *model, struct node *node, const struct wire_field *field)
{
    switch (field->number) {
    case NODE_INPUT:
        add_model_edge(model, &node->inputs, span_text(field->bytes));
        break;
    case NODE_NAME:
        node->name = span_text(field->bytes);
        break;
    case NODE_OP_TYPE:
        node->op_type = span_text(field->bytes);
        break;
    case NODE_DOMAIN:
        node->domain = span_text(field->bytes);
        break;
    case NODE_ATTRIBUTE:
        read_node_attribute(node, field->bytes);
        break;
    default:
        break;
    }
}

/* Reads the next `count` outputs. */
static void read_node_outputs(struct model *model, struct node *node, struct wire_reader reader, uint32_t count)
{
    struct wire_field field;

    node->outputs.first = (uint32_t)model->edges.count;
    while (node->outputs.count < count && wire_next(&reader, &field))
        if (field.number == NODE_OUTPUT && field.type == WIRE_BYTES)
            add_model_edge(model, &node->outputs, span_text(field.bytes));
}

struct node_captures {
    struct model *model;
    struct edge_range *range;
};

static void add_captured_edge(void *data, struct text name)
{
    struct node_captures *captures = data;

    add_model_edge(captures->model, captures->range, name);
}

int model_add_node(struct model *model, struct span whole, struct error *err)
{
    struct node node = {.message = wire_content(whole), .field = whole};
    struct wire_reader reader = wire_reader_of(node.message);
    struct wire_reader at_outputs = reader;
    struct wire_field field;
    uint32_t index = (uint32_t)model->nodes.count;
    uint32_t outputs = 0;

    node.inputs.first = (uint32_t)model->edges.count;
    while (wire_next(&reader, &field)) {
        if (field.type == WIRE_BYTES)
            read_node_field(model, &node, &field);
        outputs += field.type == WIRE_BYTES && field.number == NODE_OUTPUT;
        if (outputs == 0)
            at_outputs = reader;
    }
    if (reader.damaged)
        return wire_damage(&reader, model->file, "a node", err);
    read_node_outputs(model, &node, at_outputs, outputs);
    node.captures.first = (uint32_t)model->edges.count;
    if (node.has_subgraphs) {
        struct node_captures captures = {model, &node.captures};
        int rc = captures_visit(node.message, model->file, add_captured_edge, &captures, err);

        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < node.outputs.count; i++) {
        uint32_t value = model_edge(model, node.outputs, i);

        if (value != VALUE_NONE && model->values.items[value].producer == NODE_NONE)
            model->values.items[value].producer = index;
    }
    *VECTOR_APPEND(&model->nodes) = node;
    return 0;
}

/* The name of a ValueInfoProto or another message: the last occurrence counts, as protobuf specifies for singular
 * fields. */
static int read_field_name(const struct model *model, struct span message, uint32_t number, const char *what,
                           struct text *ret, struct error *err)
{
    struct wire_reader reader = wire_reader_of(message);
    struct span bytes;

    *ret = (struct text){"", 0};
    while (wire_next_bytes(&reader, number, &bytes))
        *ret = span_text(bytes);
    return reader.damaged ? wire_damage(&reader, model->file, what, err) : 0;
}

static int read_initializer_header(const struct model *model, struct span message, struct text *ret_name,
                                   bool *ret_inside, struct error *err)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    *ret_name = (struct text){"", 0};
    *ret_inside = true;
    while (wire_next(&reader, &field)) {
        if (field.number == TENSOR_NAME && field.type == WIRE_BYTES)
            *ret_name = span_text(field.bytes);
        else if (field.number == TENSOR_DATA_LOCATION)
            *ret_inside = false;
    }
    return reader.damaged ? wire_damage(&reader, model->file, "an initializer", err) : 0;
}

static int add_initializer_field(struct model *model, const struct wire_field *from, bool sparse, struct error *err)
{
    struct initializer initializer = {.message = from->bytes, .field = from->whole, .sparse = sparse};
    struct span tensor = from->bytes;
    struct text name;
    uint32_t value;
    int rc;

    if (sparse) { /* a sparse initializer has the name of its values tensor */
        struct wire_reader reader = wire_reader_of(from->bytes);
        struct wire_field field;

        tensor.size = 0;
        while (wire_next(&reader, &field))
            if (field.number == SPARSE_TENSOR_VALUES && field.type == WIRE_BYTES)
                tensor = field.bytes;
        if (reader.damaged)
            return wire_damage(&reader, model->file, "a sparse initializer", err);
    }
    rc = read_initializer_header(model, tensor, &name, &initializer.inside, err);
    if (rc < 0)
        return rc;
    value = model_add_value(model, name);
    initializer.value = value;
    if (model->values.items[value].initializer == INITIALIZER_NONE) {
        model->values.items[value].initializer = (uint32_t)model->initializers.count;
        *VECTOR_APPEND(&model->initializers) = initializer;
    } else { /* of duplicates ONNX Runtime uses the last */
        model->initializers.items[model->values.items[value].initializer] = initializer;
    }
    return 0;
}

static int add_value_info_field(struct model *model, const struct wire_field *from, struct error *err)
{
    struct text name;
    uint32_t value;
    int rc = read_field_name(model, from->bytes, VALUE_INFO_NAME, "a value description", &name, err);

    if (rc < 0)
        return rc;
    if (name.size == 0)
        return 0;
    value = model_add_value(model, name);
    /* For an input that is also an output, the input's type is used: it is often more complete. */
    if (model->values.items[value].info.size == 0 || from->number == GRAPH_INPUT ||
        (from->number == GRAPH_OUTPUT && !model->values.items[value].info_of_input)) {
        model->values.items[value].info = from->bytes;
        model->values.items[value].info_of_input = from->number == GRAPH_INPUT;
        model->values.items[value].info_prefix =
            from->number == GRAPH_VALUE_INFO ? (uint8_t)(from->bytes.data - from->whole.data) : 0;
    }
    if (from->number == GRAPH_INPUT)
        *VECTOR_APPEND(&model->inputs) = value;
    else if (from->number == GRAPH_OUTPUT)
        *VECTOR_APPEND(&model->outputs) = value;
    return 0;
}

static int read_annotation_parameter(struct model *model, struct span entry, struct annotation *annotation,
                                     struct error *err)
{
    struct text name;
    int rc = read_field_name(model, entry, ENTRY_VALUE, "a quantization annotation", &name, err);

    if (rc == 0)
        add_model_edge(model, &annotation->parameters, name);
    return rc;
}

static int add_annotation_field(struct model *model, const struct wire_field *from, struct error *err)
{
    struct annotation annotation = {.field = from->whole, .parameters = {(uint32_t)model->edges.count, 0}};
    struct wire_reader reader = wire_reader_of(from->bytes);
    struct wire_field field;
    struct text name;
    int rc = read_field_name(model, from->bytes, ANNOTATION_TENSOR_NAME, "a quantization annotation", &name, err);

    while (rc == 0 && wire_next(&reader, &field))
        if (field.number == ANNOTATION_PARAMETER && field.type == WIRE_BYTES)
            rc = read_annotation_parameter(model, field.bytes, &annotation, err);
    if (rc < 0)
        return rc;
    annotation.value = model_add_value(model, name);
    *VECTOR_APPEND(&model->annotations) = annotation;
    return 0;
}

static int read_graph_field(struct model *model, const struct wire_field *field, struct error *err)
{
    if (field->type == WIRE_BYTES)
        switch (field->number) {
        case GRAPH_NODE:
            return model_add_node(model, field->whole, err);
        case GRAPH_INITIALIZER:
        case GRAPH_SPARSE_INITIALIZER:
            return add_initializer_field(model, field, field->number == GRAPH_SPARSE_INITIALIZER, err);
        case GRAPH_INPUT:
        case GRAPH_OUTPUT:
        case GRAPH_VALUE_INFO:
            return add_value_info_field(model, field, err);
        case GRAPH_QUANTIZATION_ANNOTATION:
            return add_annotation_field(model, field, err);
        case GRAPH_NAME:
            model->graph_name = span_text(field->bytes);
            break;
        default:
            break;
        }
    *VECTOR_APPEND(&model->other_graph_fields) = field->whole;
    return 0;
}

/* Drops duplicates; appends them to `ret_repeated`, unless that is NULL. */
static void keep_inputs_once(const struct model *model, struct value_list *list, struct value_list *ret_repeated)
{
    SCOPED_BITSET(seen);
    size_t kept = 0;

    bitset_init(&seen, model->values.count);
    for (size_t i = 0; i < list->count; i++) {
        if (bitset_has(&seen, list->items[i])) {
            if (ret_repeated != NULL)
                *VECTOR_APPEND(ret_repeated) = list->items[i];
            continue;
        }
        bitset_add(&seen, list->items[i]);
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static void drop_default_inputs(struct model *model)
{
    size_t kept = 0;

    for (size_t i = 0; i < model->inputs.count; i++) {
        uint32_t value = model->inputs.items[i];

        if (model->values.items[value].initializer != INITIALIZER_NONE) {
            *VECTOR_APPEND(&model->default_inputs) = value;
            continue;
        }
        model->values.items[value].input = (uint32_t)kept;
        model->inputs.items[kept++] = value;
    }
    model->inputs.count = kept;
}

static int read_graph_fields(struct model *model, struct span message, struct error *err)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    size_t forgotten = 0;

    while (wire_next(&reader, &field)) {
        size_t at = (size_t)(reader.next - model->file.data);
        int rc = read_graph_field(model, &field, err);

        if (rc < 0)
            return rc;
        if (at - forgotten > FORGET_STEP) {
            file_map_forget(&model->map, forgotten, at);
            forgotten = at;
        }
    }
    if (reader.damaged)
        return wire_damage(&reader, model->file, "the graph", err);
    keep_inputs_once(model, &model->inputs, &model->repeated_inputs);
    keep_inputs_once(model, &model->outputs, NULL);
    drop_default_inputs(model);
    return 0;
}

static int read_opset_import(struct model *model, struct span message, struct error *err)
{
    struct opset_import import = {{"", 0}, 0};
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field)) {
        if (field.number == OPSET_DOMAIN && field.type == WIRE_BYTES)
            import.domain = span_text(field.bytes);
        else if (field.number == OPSET_VERSION && field.type == WIRE_VARINT)
            import.version = (int64_t)field.value;
    }
    if (reader.damaged)
        return wire_damage(&reader, model->file, "an opset import", err);
    *VECTOR_APPEND(&model->opsets) = import;
    return 0;
}

static int read_model_fields(struct model *model, struct error *err)
{
    struct wire_reader reader = wire_reader_of(model->file);
    struct wire_field field;
    struct span graph = {NULL, 0};
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field)) {
        if (field.number == MODEL_GRAPH && field.type == WIRE_BYTES) {
            if (graph.data != NULL)
                return error_set(err, ERR_CORRUPT, "the file contains two graphs (the second at byte %zu)",
                                 (size_t)(field.whole.data - model->file.data));
            graph = field.bytes;
            continue;
        }
        *VECTOR_APPEND(graph.data == NULL ? &model->fields_before_graph : &model->fields_after_graph) = field.whole;
        if (field.number == MODEL_IR_VERSION && field.type == WIRE_VARINT)
            model->ir_version = (int64_t)field.value;
        else if (field.number == MODEL_OPSET_IMPORT && field.type == WIRE_BYTES)
            rc = read_opset_import(model, field.bytes, err);
        else if (field.number == MODEL_FUNCTIONS)
            model->function_count++;
    }
    if (rc < 0)
        return rc;
    if (reader.damaged)
        return wire_damage(&reader, model->file, "the model", err);
    if (graph.data == NULL)
        return error_set(err, ERR_CORRUPT, "contains no graph: not an ONNX model");
    if (model->file.size / 2 >= UINT32_MAX) /* every index counts items of at least two bytes */
        return error_set(err, ERR_UNSUPPORTED, "is larger than 8 GiB: store the weights as external data");
    return read_graph_fields(model, graph, err);
}

static int read_whole_model(struct model *model, struct model **ret, struct error *err)
{
    int rc;

    name_map_init(&model->value_by_name);
    rc = read_model_fields(model, err);
    if (rc < 0) {
        error_context(err, "%s", model->display_name);
        model_free(model);
        return rc;
    }
    *ret = model;
    return 0;
}

int model_open(const char *path, const char *external_folder, struct model **ret, struct error *err)
{
    struct model *model = memory_alloc_zero(1, sizeof(*model));
    int rc = file_map_open(path, &model->map, err);

    if (rc < 0) {
        free(model);
        return rc;
    }
    arena_init(&model->arena);
    model->file = (struct span){model->map.data, model->map.size};
    model->folder = external_folder != NULL ? memory_strdup(external_folder) : file_folder(path);
    model->display_name = memory_strdup(path);
    return read_whole_model(model, ret, err);
}

int model_parse(struct span bytes, const char *display_name, struct model **ret, struct error *err)
{
    struct model *model = memory_alloc_zero(1, sizeof(*model));

    model->map.fd = -1;
    arena_init(&model->arena);
    model->file = bytes;
    model->folder = memory_strdup(".");
    model->display_name = memory_strdup(display_name);
    return read_whole_model(model, ret, err);
}

int model_parse_graph(const struct model *outer, struct span graph, struct model **ret, struct error *err)
{
    struct model *model = memory_alloc_zero(1, sizeof(*model));
    int rc;

    model->map.fd = -1;
    arena_init(&model->arena);
    model->file = outer->file;
    model->folder = memory_strdup(outer->folder);
    model->display_name = memory_strdup(outer->display_name);
    name_map_init(&model->value_by_name);
    rc = read_graph_fields(model, graph, err);
    if (rc < 0) {
        error_context(err, "%s", model->display_name);
        model_free(model);
        return rc;
    }
    *ret = model;
    return 0;
}

void model_free(struct model *model)
{
    if (model == NULL)
        return;
    free(model->opsets.items);
    free(model->fields_before_graph.items);
    free(model->fields_after_graph.items);
    free(model->nodes.items);
    free(model->values.items);
    free(model->edges.items);
    free(model->initializers.items);
    free(model->inputs.items);
    free(model->outputs.items);
    free(model->default_inputs.items);
    free(model->repeated_inputs.items);
    free(model->annotations.items);
    free(model->other_graph_fields.items);
    name_map_release(&model->value_by_name);
    arena_release(&model->arena);
    for (size_t i = 0; i < model->buffers.count; i++)
        free(model->buffers.items[i]);
    free(model->buffers.items);
    for (size_t i = 0; i < model->external_files.count; i++) {
        file_map_release(model->external_files.items[i].map);
        free(model->external_files.items[i].map);
    }
    free(model->external_files.items);
    if (model->map.fd >= 0 && !model->borrows_map)
        file_map_release(&model->map);
    free(model->folder);
    free(model->display_name);
    free(model);
}

void model_free_pointed(struct model **model)
{
    model_free(*model);
}

bool model_next_function(const struct model *model, size_t *place, struct span *ret)
{
    size_t before = model->fields_before_graph.count;

    while (*place < before + model->fields_after_graph.count) {
        size_t i = (*place)++;
        struct span whole =
            i < before ? model->fields_before_graph.items[i] : model->fields_after_graph.items[i - before];
        struct wire_reader reader = wire_reader_of(whole);

        if (wire_next_bytes(&reader, MODEL_FUNCTIONS, ret))
            return true;
    }
    return false;
}

void model_add_edges_to(const struct model *model, struct edge_range range, struct bitset *ret)
{
    for (size_t i = 0; i < range.count; i++)
        if (model_edge(model, range, i) != VALUE_NONE)
            bitset_add(ret, model_edge(model, range, i));
}

void model_add_node_label(const struct model *model, uint32_t node, struct string_builder *out)
{
    const struct node *n = &model->nodes.items[node];

    if (n->name.size > 0)
        string_add_text(out, n->name);
    else
        string_add_format(out, TEXT_FORMAT " #%u", TEXT_ARGS(n->op_type), node);
}

const char *model_node_label(struct model *model, uint32_t node)
{
    SCOPED_STRING(label);

    model_add_node_label(model, node, &label);
    return arena_strdup(&model->arena, label.data);
}

bool domain_is_standard(struct text domain)
{
    return domain.size == 0 || text_equal_string(domain, "ai.onnx");
}

bool node_is(const struct node *node, const char *op_type)
{
    return text_equal_string(node->op_type, op_type) && domain_is_standard(node->domain);
}

int64_t model_opset(const struct model *model)
{
    for (size_t i = 0; i < model->opsets.count; i++)
        if (domain_is_standard(model->opsets.items[i].domain))
            return model->opsets.items[i].version;
    return 0;
}

/* ---- Readers ---- */

/* Counts, then fills in: `first` of each value advances to its end, which is the start of the next value. */
void value_readers_init(struct value_readers *readers, const struct model *model, const uint32_t *as)
{
    uint32_t *first = memory_alloc_zero(model->values.count + 2, sizeof(*first));
    uint32_t *next = first + 1;

    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE)
                next[(as != NULL ? as[value] : value) + 1]++;
        }
    for (size_t value = 0; value < model->values.count; value++)
        next[value + 1] += next[value];
    readers->reads = memory_alloc_zero(next[model->values.count] + (size_t)1, sizeof(*readers->reads));
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE)
                readers->reads[next[as != NULL ? as[value] : value]++] = (struct value_read){i, (uint32_t)k};
        }
    readers->first = first;
}

void value_readers_release(struct value_readers *readers)
{
    free(readers->first);
    free(readers->reads);
    *readers = (struct value_readers){0};
}

/* ---- Known types ---- */

void known_types_init(struct known_types *known, const struct model *model, struct arena *arena)
{
    *known = (struct known_types){.model = model, .arena = arena};
}

void known_types_init_copy(struct known_types *known, const struct known_types *from)
{
    size_t size = from->model->values.count * sizeof(*from->infos);

    *known = *from;
    if (from->infos == NULL)
        return;
    known->infos = memory_alloc(size);
    memcpy(known->infos, from->infos, size);
}

void known_types_release(struct known_types *known)
{
    free(known->infos);
    known->infos = NULL;
}

void known_types_set(struct known_types *known, uint32_t value, const struct value_type *type)
{
    known_types_set_info(known, value, value_info_make(known->arena, known->model->values.items[value].name, type));
}

void known_types_set_info(struct known_types *known, uint32_t value, struct span info)
{
    if (known->infos == NULL)
        known->infos = memory_alloc_zero(known->model->values.count, sizeof(*known->infos));
    known->infos[value] = info;
}

void known_types_state(const struct known_types *known, struct model *model)
{
    for (uint32_t i = 0; known->infos != NULL && i < known->model->values.count; i++)
        if (known->infos[i].size > 0) {
            model->values.items[i].info = known->infos[i];
            model->values.items[i].info_prefix = 0;
        }
}
