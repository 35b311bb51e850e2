/* engine/plan/write.c: writes an engine to a plan file. See plan.h. */
#include <string.h>

#include "base/memory.h"
#include "engine/plan/layout.h"
#include "engine/plan/plan.h"
#include "format/json/writer.h"
#include "onnx/external/data.h"
#include "onnx/external/tensor.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "onnx/write/model.h"

/* --- the description --- */

static void write_json_text(struct json_writer *json, struct text text)
{
    char *copy SCOPED_FREE = memory_copy(text.data, text.size);

    json_writer_string(json, copy);
}

static void write_json_shapes(struct json_writer *json, const char *key, const struct shape *shapes, size_t count)
{
    if (shapes == NULL)
        return;
    json_writer_begin_array_member(json, key);
    for (size_t i = 0; i < count; i++)
        json_writer_integers(json, shapes[i].dims, shapes[i].rank);
    json_writer_end_array(json);
}

static void write_plan_providers(struct json_writer *json, const struct engine *engine)
{
    json_writer_begin_array_member(json, "providers");
    for (size_t i = 0; i < engine->providers.count; i++) {
        const struct tactic_provider *provider = engine->providers.items[i];

        json_writer_begin_object(json);
        json_writer_add_string(json, "name", provider->name);
        json_writer_add_string(json, "version", provider->version);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_plan_profiles(struct json_writer *json, const struct engine *engine)
{
    size_t inputs = engine->network->inputs.count;

    json_writer_begin_array_member(json, "profiles");
    VECTOR_EACH (const struct engine_profile, profile, engine->profiles) {
        json_writer_begin_object(json);
        write_json_shapes(json, "minimum", profile->minimum, inputs);
        write_json_shapes(json, "optimum", profile->optimum, inputs);
        write_json_shapes(json, "maximum", profile->maximum, inputs);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_plan_layouts(struct json_writer *json, const char *key, const struct layout *layouts, size_t count)
{
    json_writer_begin_array_member(json, key);
    for (size_t i = 0; i < count; i++)
        json_writer_string(json, layouts != NULL ? layouts[i].text : "");
    json_writer_end_array(json);
}

static void write_plan_tactic(struct json_writer *json, const struct layer *layer, const struct tactic *tactic)
{
    json_writer_add_string(json, "provider", tactic->provider->name);
    json_writer_add_string(json, "tactic", tactic->name);
    json_writer_add_integer(json, "implementation", tactic->implementation);
    json_writer_add_integer(json, "number", tactic->number);
    write_plan_layouts(json, "input_layouts", tactic->input_layouts, layer->inputs.count);
    write_plan_layouts(json, "output_layouts", tactic->output_layouts, layer->outputs.count);
}

static void write_plan_precision(struct json_writer *json, const struct layer *layer, const struct engine_layer *choice)
{
    json_writer_add_string(json, "precision", precision_name(choice->precision.precision));
    json_writer_add_boolean(json, "constrained", choice->precision.constrained);
    json_writer_begin_array_member(json, "output_precisions");
    for (size_t i = 0; choice->precision.outputs != NULL && i < layer->outputs.count; i++)
        json_writer_string(json, precision_name(choice->precision.outputs[i]));
    json_writer_end_array(json);
    if (choice->input_scales == NULL)
        return;
    json_writer_begin_array_member(json, "input_scales");
    for (size_t i = 0; i < layer->inputs.count; i++)
        json_writer_number(json, (double)choice->input_scales[i]);
    json_writer_end_array(json);
}

/* `position`: index of each node of the model among the written ones. */
static void write_plan_layer(struct json_writer *json, const struct layer *layer, const struct engine_layer *choice,
                             const uint32_t *position)
{
    json_writer_begin_object(json);
    json_writer_add_string(json, "name", layer->name);
    json_writer_add_string(json, "kind", layer_kind_name(layer->kind));
    json_writer_begin_array_member(json, "nodes");
    for (size_t i = 0; i < layer->nodes.count; i++)
        json_writer_integer(json, position[layer->nodes.items[i]]);
    json_writer_end_array(json);
    write_plan_tactic(json, layer, &choice->tactic);
    write_plan_precision(json, layer, choice);
    json_writer_add_number(json, "seconds", choice->seconds);
    json_writer_add_number(json, "share_of_fastest", choice->share_of_fastest);
    json_writer_add_count(json, "tactics", choice->tactic_count);
    write_json_shapes(json, "input_shapes", choice->input_shapes, layer->inputs.count);
    write_json_shapes(json, "output_shapes", choice->output_shapes, layer->outputs.count);
    json_writer_end_object(json);
}

static void write_plan_description(struct json_writer *json, const struct engine *engine, const uint32_t *position)
{
    const struct network *network = engine->network;

    json_writer_begin_object(json);
    json_writer_add_integer(json, "threads", engine->threads);
    write_plan_providers(json, engine);
    json_writer_begin_array_member(json, "inputs");
    for (size_t i = 0; i < network->inputs.count; i++)
        write_json_text(json, network->model->values.items[network->inputs.items[i]].name);
    json_writer_end_array(json);
    write_plan_profiles(json, engine);
    json_writer_begin_array_member(json, "layers");
    for (size_t i = 0; i < network->layers.count; i++)
        write_plan_layer(json, &network->layers.items[i], &engine->layers[i], position);
    json_writer_end_array(json);
    json_writer_end_object(json);
}

/* --- the model --- */

/* The offset of the graph's content in the model, for alignment of weights; and decoded tensors. */
struct weight_placer {
    struct model *model;
    uint64_t graph_start;
    struct tensor_list decoded;
};

/* The TensorProto up to its data, with a doc_string of `padding` - 1 blanks (0: none). */
static void write_weight_header(struct string_builder *header, struct text name, const struct tensor *tensor,
                                size_t padding)
{
    char blanks[2 * PLAN_ALIGNMENT];

    memset(blanks, ' ', sizeof(blanks));
    string_clear(header);
    tensor_proto_write_header(header, name, tensor);
    if (padding > 0)
        wire_write_bytes(header, TENSOR_DOC_STRING, blanks, padding - 1);
    wire_write_tag(header, TENSOR_RAW_DATA, WIRE_BYTES);
    wire_write_varint(header, tensor->size);
}

/* Pads the header such that what follows it is aligned in the file. */
static void align_weight(const struct weight_placer *placer, struct text name, const struct tensor *tensor,
                         const struct piece_list *graph, struct string_builder *header)
{
    for (size_t padding = 0; padding <= 2 * PLAN_ALIGNMENT; padding++) {
        uint64_t before = placer->graph_start + graph->size;

        write_weight_header(header, name, tensor, padding);
        before += 1 + wire_varint_size(header->size + tensor->size); /* tag and length of the initializer */
        if ((before + header->size) % PLAN_ALIGNMENT == 0)
            return;
    }
}

static int place_weight(void *data, const struct initializer *initializer, struct piece_list *graph, struct error *err)
{
    struct weight_placer *placer = data;
    struct text name = placer->model->values.items[initializer->value].name;
    SCOPED_STRING(header);
    struct tensor tensor = {0};
    int rc;

    if (initializer->narrowed.size > 0)
        rc = external_tensor_read_constant(placer->model, initializer, &tensor, err);
    else
        rc = external_tensor_borrow(placer->model, initializer->message, &tensor, err);
    if (rc < 0)
        return error_context(err, "constant '" TEXT_FORMAT "'", TEXT_ARGS(name));
    if (tensor.type == DATA_STRING || tensor.type == DATA_UNDEFINED) {
        tensor_release(&tensor);
        return 0;
    }
    align_weight(placer, name, &tensor, graph, &header);
    pieces_add_header(graph, GRAPH_INITIALIZER, header.size + tensor.size);
    pieces_add_copy(graph, header.data, header.size);
    pieces_add(graph, (struct span){tensor.data, tensor.size});
    if (tensor.free_owner != NULL)
        tensor_list_add(&placer->decoded, name, &tensor);
    return 1;
}

/* Weights are stored in the plan, but external tensors in attributes cannot be. */
static int check_external_tensors(const struct subgraph *subgraph, struct error *err)
{
    struct model nodes_only = *subgraph->model;
    struct subgraph part = *subgraph;
    struct text_list locations SCOPED_ITEMS = {0};
    int rc;

    nodes_only.initializers.count = 0;
    part.model = &nodes_only;
    rc = external_data_locations(&part, &locations, err);
    if (rc == 0 && locations.count > 0)
        rc = error_set(err, ERR_UNSUPPORTED,
                       "%s: a node holds tensors that lie in '" TEXT_FORMAT "', which a plan file cannot take in",
                       subgraph->model->display_name, TEXT_ARGS(locations.items[0]));
    return rc;
}

/* The size of the graph's length field affects the alignment of weights: it is guessed and corrected. If no guess is
 * right, weights are unaligned, which costs readers a copy. */
static int write_aligned_model(const struct subgraph *subgraph, struct weight_placer *placer, struct piece_list *graph,
                               struct piece_list *ret, struct error *err)
{
    struct initializer_writer writer = {place_weight, placer};
    size_t length_size = wire_varint_size(subgraph->model->file.size);
    uint64_t before = 0;

    for (size_t i = 0; i < subgraph->model->fields_before_graph.count; i++)
        before += subgraph->model->fields_before_graph.items[i].size;
    for (int attempt = 0; attempt < 4; attempt++) {
        int rc;

        pieces_release(graph);
        pieces_release(ret);
        pieces_init(graph);
        pieces_init(ret);
        placer->graph_start = before + 1 + length_size;
        rc = model_write_pieces(subgraph, &writer, graph, ret, err);
        if (rc < 0 || wire_varint_size(graph->size) == length_size)
            return rc;
        length_size = wire_varint_size(graph->size);
    }
    return 0;
}

/* --- the file --- */

static struct hash hash_pieces(const struct piece_list *pieces)
{
    struct plan_hash state;

    plan_hash_init(&state);
    for (size_t i = 0; i < pieces->pieces.count; i++)
        plan_hash_add(&state, pieces->pieces.items[i].bytes.data, pieces->pieces.items[i].bytes.size);
    return plan_hash_finish(&state);
}

static int write_plan_file(const char *path, const struct string_builder *description, const struct piece_list *model,
                           const struct file_map *map, struct error *err)
{
    uint64_t described = PLAN_HEADER_SIZE + (uint64_t)description->size;
    uint64_t offset = (described + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
    static const uint8_t zeros[PLAN_ALIGNMENT];
    uint8_t header[PLAN_HEADER_SIZE] = PLAN_MAGIC;
    struct file_writer writer;
    int rc;

    plan_number_put(header + PLAN_AT_VERSION, PLAN_VERSION, 4);
    plan_number_put(header + PLAN_AT_DESCRIPTION_SIZE, description->size, 8);
    plan_number_put(header + PLAN_AT_MODEL_OFFSET, offset, 8);
    plan_number_put(header + PLAN_AT_MODEL_SIZE, model->size, 8);
    plan_hash_put(header + PLAN_AT_MODEL_HASH, hash_pieces(model));
    plan_hash_put(header + PLAN_AT_DESCRIPTION_HASH,
                  plan_description_hash(header, description->data, description->size));
    rc = file_writer_open(&writer, path, err);
    if (rc < 0)
        return rc;
    rc = file_writer_add(&writer, header, sizeof(header), err);
    if (rc < 0)
        goto done;
    rc = file_writer_add(&writer, description->data, description->size, err);
    if (rc < 0)
        goto done;
    rc = file_writer_add(&writer, zeros, (size_t)(offset - described), err);
    if (rc < 0)
        goto done;
    rc = pieces_write(model, map, &writer, err);
    if (rc < 0)
        goto done;
    rc = file_writer_commit(&writer, FILE_DURABLE, err);
done:
    file_writer_release(&writer);
    return rc;
}

/* Initializes the subgraph of the network: its inputs, outputs, and the nodes in layers. */
static void init_network_subgraph(struct subgraph *subgraph, const struct network *network)
{
    subgraph_init_whole(subgraph, network->model);
    bitset_release(&subgraph->nodes);
    bitset_init(&subgraph->nodes, network->model->nodes.count);
    for (size_t i = 0; i < network->layers.count; i++)
        for (size_t k = 0; k < network->layers.items[i].nodes.count; k++)
            bitset_add(&subgraph->nodes, network->layers.items[i].nodes.items[k]);
    value_list_assign(&subgraph->inputs, &network->inputs);
    value_list_assign(&subgraph->outputs, &network->outputs);
}

static uint32_t *number_written_nodes(const struct bitset *nodes)
{
    uint32_t *position = memory_alloc_zero(nodes->size, sizeof(*position)), next = 0;

    BITSET_EACH (i, nodes)
        position[i] = next++;
    return position;
}

int plan_save(const struct engine *engine, const char *path, struct error *err)
{
    struct weight_placer placer = {.model = engine->network->model};
    struct piece_list graph SCOPED(pieces_release) = {0};
    struct piece_list model SCOPED(pieces_release) = {0};
    struct json_writer json SCOPED(json_writer_release) = {0};
    struct subgraph subgraph SCOPED(subgraph_release) = {0};
    uint32_t *position SCOPED_FREE = NULL;
    int rc;

    json_writer_init(&json);
    json.compact = true;
    init_network_subgraph(&subgraph, engine->network);
    position = number_written_nodes(&subgraph.nodes);
    rc = check_external_tensors(&subgraph, err);
    if (rc < 0)
        goto done;
    rc = write_aligned_model(&subgraph, &placer, &graph, &model, err);
    if (rc < 0)
        goto done;
    write_plan_description(&json, engine, position);
    rc = write_plan_file(path, &json.text, &model, &engine->network->model->map, err);
done:
    tensor_list_release(&placer.decoded);
    return rc;
}
