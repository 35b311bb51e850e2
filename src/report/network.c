/* report/network.c: the network as members of the document, and as boxes with lines between them.
 *
 * Nodes that compute constants alone are not drawn, unless they are culprits. Up to MOST_NODES others have a box each.
 * Of a larger network only what surrounds the culprits has; the others share boxes by scope (the beginning of their
 * names up to a '/') as deep as MOST_FOLDED boxes allow, or, where names have no scopes, with their neighbours in the
 * model's order.
 */
#include "report/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/container/bitset.h"
#include "base/memory.h"
#include "onnx/model/graph_view.h"
#include "report/graphviz.h"

#define MOST_NODES 300
#define MOST_FOLDED 150 /* boxes */
#define MOST_DEPTH 16   /* of scopes */

/* What surrounds a culprit: so many lines away, and so many nodes for all of them. */
#define NEAR 3
#define MOST_NEAR 60

/* The size of boxes, in points. Names are cut off to fit in. */
#define BOX_NONE UINT32_MAX
#define BOX_WIDTH 140
#define BOX_HEIGHT 38
#define END_HEIGHT 24 /* of inputs and outputs of the network */

/* What is connected: nodes by number, then the network's inputs, then its outputs. */
struct arc {
    uint32_t from, to;
};

struct report_network {
    bool present;
    struct json_writer members; /* of the main graph: begun object */
    struct arena names;
    size_t node_count, input_count, output_count;
    const char **labels; /* of nodes */
    uint32_t *ends;      /* tensors: inputs, then outputs */
    struct {
        struct arc *items;
        size_t count, capacity;
    } arcs;
    struct name_map node_by_label, node_by_tensor;
    uint32_t *layers; /* of each node, or CLUSTER_NONE */
    uint32_t layer_count;
    struct value_list culprits; /* nodes */

    /* Before the model is known, or after, whatever comes first. */
    struct {
        const char **items;
        size_t count, capacity;
    } culprit_labels, bad_tensors;
    struct {
        struct layer_member {
            const char *node;
            uint32_t layer;
        } * items;
        size_t count, capacity;
    } layer_members;
};

struct report_network *report_network_new(void)
{
    struct report_network *network = memory_alloc_zero(1, sizeof(*network));

    json_writer_init(&network->members);
    network->members.compact = true;
    arena_init(&network->names);
    name_map_init(&network->node_by_label);
    name_map_init(&network->node_by_tensor);
    return network;
}

void report_network_free(struct report_network *network)
{
    json_writer_release(&network->members);
    arena_release(&network->names);
    name_map_release(&network->node_by_label);
    name_map_release(&network->node_by_tensor);
    free(network->labels);
    free(network->ends);
    free(network->arcs.items);
    free(network->layers);
    free(network->culprits.items);
    free(network->culprit_labels.items);
    free(network->bad_tensors.items);
    free(network->layer_members.items);
    free(network);
}

void report_network_add_culprit(struct report_network *network, const char *node)
{
    *VECTOR_APPEND(&network->culprit_labels) = arena_strdup(&network->names, node);
}

void report_network_add_bad_tensor(struct report_network *network, const char *tensor)
{
    *VECTOR_APPEND(&network->bad_tensors) = arena_strdup(&network->names, tensor);
}

void report_network_add_layer(struct report_network *network, const struct words *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        *VECTOR_APPEND(&network->layer_members) =
            (struct layer_member){arena_strdup(&network->names, nodes->items[i]), network->layer_count};
    network->layer_count++;
}

/* ---- The main graph ---- */

static void write_drawn_text(struct json_writer *writer, const char *key, struct text text)
{
    char *copy = memory_copy(text.data, text.size);

    json_writer_add_string(writer, key, copy);
    free(copy);
}

/* Numbers of tensors; null where an optional one is left out. */
static void write_drawn_values(struct json_writer *writer, const char *key, const uint32_t *values, size_t count)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < count; i++)
        if (values[i] == VALUE_NONE)
            json_writer_null(writer);
        else
            json_writer_integer(writer, values[i]);
    json_writer_end_array(writer);
}

static void write_drawn_tensor(struct json_writer *writer, const struct graph_view *view, uint32_t value)
{
    SCOPED_STRING(shape);
    struct value_type type;
    bool constant = graph_view_describe(view, value, &type);

    json_writer_begin_object(writer);
    write_drawn_text(writer, "name", view->graph->values.items[value].name);
    if (type.not_a_tensor != NULL)
        write_drawn_text(writer, "type", text_of(type.not_a_tensor));
    else if (type.element != DATA_UNDEFINED)
        write_drawn_text(writer, "type", text_of(data_type_name(type.element)));
    if (type.not_a_tensor == NULL && type.has_shape) {
        shape_to_text(&type.shape, &shape);
        write_drawn_text(writer, "shape", (struct text){shape.data, shape.size});
    }
    if (constant)
        json_writer_add_boolean(writer, "constant", true);
    json_writer_end_object(writer);
}

static void write_drawn_node(struct json_writer *writer, struct model *model, uint32_t number)
{
    const struct node *node = &model->nodes.items[number];
    const uint32_t *edges = model->edges.items;

    json_writer_begin_object(writer);
    write_drawn_text(writer, "name", text_of(model_node_label(model, number)));
    write_drawn_text(writer, "operator", node->op_type);
    if (node->domain.size > 0)
        write_drawn_text(writer, "domain", node->domain);
    write_drawn_values(writer, "inputs", edges + node->inputs.first, node->inputs.count);
    if (node->captures.count > 0)
        write_drawn_values(writer, "captures", edges + node->captures.first, node->captures.count);
    write_drawn_values(writer, "outputs", edges + node->outputs.first, node->outputs.count);
    json_writer_end_object(writer);
}

static void add_arc(struct report_network *network, uint32_t from, uint32_t to)
{
    if (from != NODE_NONE)
        *VECTOR_APPEND(&network->arcs) = (struct arc){from, to};
}

static void add_arcs(struct report_network *network, const struct model *model)
{
    uint32_t *made_by = memory_alloc((model->values.count + 1) * sizeof(*made_by)); /* each tensor: a node or input */
    uint32_t end = (uint32_t)model->nodes.count;

    for (size_t i = 0; i < model->values.count; i++)
        made_by[i] = model->values.items[i].producer; /* or NODE_NONE */
    for (size_t i = 0; i < model->inputs.count; i++)
        made_by[model->inputs.items[i]] = end++;
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE)
                add_arc(network, made_by[value], i);
        }
    for (size_t i = 0; i < model->outputs.count; i++)
        add_arc(network, made_by[model->outputs.items[i]], end++);
    free(made_by);
}

static void take_names(struct report_network *network, struct model *model)
{
    network->labels = memory_alloc((model->nodes.count + 1) * sizeof(*network->labels));
    network->layers = memory_alloc((model->nodes.count + 1) * sizeof(*network->layers));
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        network->layers[i] = CLUSTER_NONE;
        network->labels[i] = arena_strdup(&network->names, model_node_label(model, i));
        name_map_add(&network->node_by_label, text_of(network->labels[i]), i);
        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k);

            if (value != VALUE_NONE)
                name_map_add(&network->node_by_tensor,
                             text_of(arena_text(&network->names, model->values.items[value].name)), i);
        }
    }
}

void report_network_set(struct report_network *network, struct model *model)
{
    struct json_writer *writer = &network->members;
    struct graph_view view = graph_view_of(model);

    if (network->present)
        return;
    network->present = true;
    network->node_count = model->nodes.count;
    network->input_count = model->inputs.count;
    network->output_count = model->outputs.count;
    network->ends = memory_alloc((model->inputs.count + model->outputs.count + 1) * sizeof(*network->ends));
    if (model->inputs.count > 0)
        memcpy(network->ends, model->inputs.items, model->inputs.count * sizeof(*network->ends));
    if (model->outputs.count > 0)
        memcpy(network->ends + model->inputs.count, model->outputs.items,
               model->outputs.count * sizeof(*network->ends));
    take_names(network, model);
    add_arcs(network, model);
    json_writer_begin_object(writer);
    json_writer_begin_array_member(writer, "tensors");
    for (uint32_t i = 0; i < model->values.count; i++)
        write_drawn_tensor(writer, &view, i);
    json_writer_end_array(writer);
    write_drawn_values(writer, "inputs", model->inputs.items, model->inputs.count);
    write_drawn_values(writer, "outputs", model->outputs.items, model->outputs.count);
    json_writer_begin_array_member(writer, "nodes");
    for (uint32_t i = 0; i < model->nodes.count; i++)
        write_drawn_node(writer, model, i);
    json_writer_end_array(writer);
}

/* ---- What was said of nodes by their names ---- */

static void add_culprit(struct report_network *network, uint32_t node)
{
    for (size_t i = 0; i < network->culprits.count; i++)
        if (network->culprits.items[i] == node)
            return;
    *VECTOR_APPEND(&network->culprits) = node;
}

static void find_named(struct report_network *network)
{
    for (size_t i = 0; i < network->culprit_labels.count; i++) {
        uint32_t node = name_map_find(&network->node_by_label, text_of(network->culprit_labels.items[i]));

        if (node != NAME_MAP_NONE)
            add_culprit(network, node);
    }
    for (size_t i = 0; network->culprits.count == 0 && i < network->bad_tensors.count; i++) {
        uint32_t node = name_map_find(&network->node_by_tensor, text_of(network->bad_tensors.items[i]));

        if (node != NAME_MAP_NONE)
            add_culprit(network, node);
    }
    for (size_t i = 0; i < network->layer_members.count; i++) {
        const struct layer_member *member = &network->layer_members.items[i];
        uint32_t node = name_map_find(&network->node_by_label, text_of(member->node));

        if (node != NAME_MAP_NONE && network->layers[node] == CLUSTER_NONE)
            network->layers[node] = member->layer;
    }
}

/* ---- Boxes ---- */

struct network_folding {
    const struct report_network *network;
    struct bitset drawn;   /* nodes in boxes */
    struct bitset alone;   /* of them, those with boxes of their own */
    uint32_t *box_of;      /* of each node, or BOX_NONE */
    uint32_t *first_of;    /* of each box: a node in it */
    uint32_t *node_counts; /* of each box */
    uint32_t box_count;
};

/* What the network's inputs have a part in, and culprits; everything where there are no inputs. */
static void find_drawn(const struct report_network *network, struct bitset *ret)
{
    size_t before;

    if (network->input_count == 0)
        bitset_fill(ret);
    for (size_t i = 0; i < network->culprits.count; i++)
        bitset_add(ret, network->culprits.items[i]);
    do { /* once for most models, which have their nodes in topological order */
        before = bitset_count(ret);
        for (size_t i = 0; i < network->arcs.count; i++) {
            struct arc arc = network->arcs.items[i];

            if (arc.to < network->node_count && (arc.from >= network->node_count || bitset_has(ret, arc.from)))
                bitset_add(ret, arc.to);
        }
    } while (bitset_count(ret) > before);
}

/* Goes one line further from what is in `near` already. */
static void widen_neighbourhood(const struct report_network *network, struct bitset *near)
{
    SCOPED_BITSET(before);

    bitset_init_copy(&before, near);
    for (size_t i = 0; i < network->arcs.count && bitset_count(near) < MOST_NEAR; i++) {
        struct arc arc = network->arcs.items[i];

        if (arc.from >= network->node_count || arc.to >= network->node_count)
            continue;
        if (bitset_has(&before, arc.from))
            bitset_add(near, arc.to);
        if (bitset_has(&before, arc.to))
            bitset_add(near, arc.from);
    }
}

/* How much of a label is its scope of this depth; 0 when it is not in so many. "/a/b/c" is c in a scope of depth 2. */
static size_t scope_size(const char *label, unsigned depth)
{
    const char *end = label;

    for (unsigned i = 0; i < depth; i++) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        if (end[strspn(end, "/")] == '\0')
            return 0;
    }
    return (size_t)(end - label);
}

static void add_to_box(struct network_folding *folding, uint32_t node, uint32_t box)
{
    if (box == folding->box_count) {
        folding->first_of[box] = node;
        folding->node_counts[box] = 0;
        folding->box_count++;
    }
    folding->box_of[node] = box;
    folding->node_counts[box]++;
}

/* Scopes down to `depth` become boxes. */
static void fold_scopes(struct network_folding *folding, unsigned depth)
{
    const struct report_network *network = folding->network;
    SCOPED_NAME_MAP(boxes);

    folding->box_count = 0;
    for (size_t k = bitset_next(&folding->drawn, 0); k < network->node_count; k = bitset_next(&folding->drawn, k + 1)) {
        uint32_t i = (uint32_t)k;
        size_t size = 0;

        for (unsigned d = depth; size == 0 && d > 0 && !bitset_has(&folding->alone, i); d--)
            size = scope_size(network->labels[i], d);
        add_to_box(folding, i,
                   size == 0 ? folding->box_count
                             : name_map_add(&boxes, (struct text){network->labels[i], size}, folding->box_count));
    }
}

/* Neighbours in topological order share a box; one that has a box of its own ends the others' before it. */
static void fold_runs(struct network_folding *folding)
{
    size_t most = bitset_count(&folding->drawn) / MOST_FOLDED + 1, count = folding->network->node_count;
    bool open = false;

    folding->box_count = 0;
    for (size_t i = bitset_next(&folding->drawn, 0); i < count; i = bitset_next(&folding->drawn, i + 1)) {
        bool alone = bitset_has(&folding->alone, i);

        open = open && !alone && folding->node_counts[folding->box_count - 1] < most;
        add_to_box(folding, (uint32_t)i, open ? folding->box_count - 1 : folding->box_count);
        open = !alone;
    }
}

static void fold_network(struct network_folding *folding)
{
    const struct report_network *network = folding->network;
    unsigned depth = MOST_DEPTH;

    find_drawn(network, &folding->drawn);
    if (bitset_count(&folding->drawn) <= MOST_NODES) {
        bitset_assign(&folding->alone, &folding->drawn);
    } else {
        for (size_t i = 0; i < network->culprits.count && i < MOST_NEAR; i++)
            bitset_add(&folding->alone, network->culprits.items[i]);
        for (size_t i = 0; i < NEAR; i++)
            widen_neighbourhood(network, &folding->alone);
        bitset_intersect(&folding->alone, &folding->drawn);
    }
    do
        fold_scopes(folding, depth);
    while (folding->box_count > bitset_count(&folding->alone) + MOST_FOLDED && --depth > 0);
    if (depth == 0)
        fold_runs(folding);
}

static void folding_init(struct network_folding *folding, const struct report_network *network)
{
    *folding = (struct network_folding){.network = network};
    bitset_init(&folding->drawn, network->node_count);
    bitset_init(&folding->alone, network->node_count);
    folding->box_of = memory_alloc((network->node_count + 1) * sizeof(uint32_t));
    folding->first_of = memory_alloc((network->node_count + 1) * sizeof(uint32_t));
    folding->node_counts = memory_alloc((network->node_count + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < network->node_count; i++)
        folding->box_of[i] = BOX_NONE;
    fold_network(folding);
}

static void folding_release(struct network_folding *folding)
{
    bitset_release(&folding->drawn);
    bitset_release(&folding->alone);
    free(folding->box_of);
    free(folding->first_of);
    free(folding->node_counts);
}

/* The box of a node (or BOX_NONE), an input or an output. */
static uint32_t box_of(const struct network_folding *folding, uint32_t end)
{
    size_t nodes = folding->network->node_count;

    return end < nodes ? folding->box_of[end] : folding->box_count + (uint32_t)(end - nodes);
}

static int compare_arcs(const void *a, const void *b)
{
    const struct arc *first = a, *second = b;

    if (first->from != second->from)
        return first->from < second->from ? -1 : 1;
    return (first->to > second->to) - (first->to < second->to);
}

static void describe_drawing(const struct network_folding *folding, struct drawing *ret)
{
    const struct report_network *network = folding->network;
    struct arc *arcs = memory_alloc((network->arcs.count + 1) * sizeof(*arcs));

    *ret = (struct drawing){0};
    for (uint32_t i = 0; i < folding->box_count; i++)
        *VECTOR_APPEND(&ret->boxes) = (struct drawing_box){
            .width = BOX_WIDTH,
            .height = BOX_HEIGHT,
            .cluster = folding->node_counts[i] == 1 ? network->layers[folding->first_of[i]] : CLUSTER_NONE,
        };
    for (size_t i = 0; i < network->input_count + network->output_count; i++)
        *VECTOR_APPEND(&ret->boxes) =
            (struct drawing_box){.width = BOX_WIDTH, .height = END_HEIGHT, .cluster = CLUSTER_NONE};
    for (size_t i = 0; i < network->arcs.count; i++)
        arcs[i] =
            (struct arc){box_of(folding, network->arcs.items[i].from), box_of(folding, network->arcs.items[i].to)};
    qsort(arcs, network->arcs.count, sizeof(*arcs), compare_arcs);
    for (size_t i = 0; i < network->arcs.count; i++)
        if (arcs[i].from != arcs[i].to && arcs[i].from != BOX_NONE && arcs[i].to != BOX_NONE &&
            (i == 0 || compare_arcs(&arcs[i - 1], &arcs[i]) != 0))
            *VECTOR_APPEND(&ret->lines) = (struct drawing_line){.from = arcs[i].from, .to = arcs[i].to};
    free(arcs);
}

/* ---- The document ---- */

static void add_length(struct json_writer *writer, const char *key, double points)
{
    json_writer_add_number(writer, key, round(points * 10) / 10);
}

static void add_box(struct json_writer *writer, const struct drawing_box *box)
{
    json_writer_begin_object(writer);
    add_length(writer, "x", box->center.x);
    add_length(writer, "y", box->center.y);
    add_length(writer, "width", box->width);
    add_length(writer, "height", box->height);
}

/* The nodes of a box, or the tensor that it represents. */
static void add_boxes(struct json_writer *writer, const struct network_folding *folding, const struct drawing *drawing)
{
    const struct report_network *network = folding->network;
    uint32_t *sorted = memory_alloc((network->node_count + 1) * sizeof(*sorted)), *at = sorted;
    uint32_t *ends = memory_alloc((folding->box_count + 1) * sizeof(*ends));

    for (uint32_t i = 0; i < folding->box_count; at += folding->node_counts[i++])
        ends[i] = (uint32_t)(at - sorted);
    for (uint32_t i = 0; i < network->node_count; i++)
        if (folding->box_of[i] != BOX_NONE)
            sorted[ends[folding->box_of[i]]++] = i;
    at = sorted;
    for (uint32_t i = 0; i < drawing->boxes.count; i++) {
        add_box(writer, &drawing->boxes.items[i]);
        if (i < folding->box_count) {
            write_drawn_values(writer, "nodes", at, folding->node_counts[i]);
            at += folding->node_counts[i];
        } else {
            json_writer_add_integer(writer, i < folding->box_count + network->input_count ? "input" : "output",
                                    network->ends[i - folding->box_count]);
        }
        json_writer_end_object(writer);
    }
    free(sorted);
    free(ends);
}

static void add_lines(struct json_writer *writer, const struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->lines.count; i++) {
        const struct drawing_line *line = &drawing->lines.items[i];

        json_writer_begin_object(writer);
        json_writer_add_integer(writer, "from", line->from);
        json_writer_add_integer(writer, "to", line->to);
        json_writer_key(writer, "points"); /* x, y, x, y ... */
        json_writer_begin_array(writer);
        for (size_t k = 0; k < line->point_count; k++) {
            json_writer_number(writer, round(line->points[k].x * 10) / 10);
            json_writer_number(writer, round(line->points[k].y * 10) / 10);
        }
        json_writer_end_array(writer);
        json_writer_end_object(writer);
    }
}

static void add_layout(struct json_writer *writer, const struct network_folding *folding, const struct drawing *drawing)
{
    json_writer_begin_object_member(writer, "layout");
    add_length(writer, "width", drawing->width);
    add_length(writer, "height", drawing->height);
    json_writer_begin_array_member(writer, "boxes");
    add_boxes(writer, folding, drawing);
    json_writer_end_array(writer);
    json_writer_begin_array_member(writer, "lines");
    add_lines(writer, drawing);
    json_writer_end_array(writer);
    json_writer_end_object(writer);
}

int report_network_write(struct report_network *network, struct json_writer *document, struct log *log,
                         struct error *err)
{
    struct json_writer *writer = &network->members;
    struct network_folding folding;
    struct drawing drawing;
    struct error why = {0};
    int rc;

    if (!network->present)
        return 0;
    find_named(network);
    folding_init(&folding, network);
    describe_drawing(&folding, &drawing);
    rc = drawing.boxes.count > 0 ? graphviz_lay_out(&drawing, &why) : 0;
    if (rc == 0) {
        add_layout(writer, &folding, &drawing);
    } else {
        log_message(log, LOG_WARNING, "The report shows the network as a table: %s", why.message);
        json_writer_add_string(writer, "no_layout", why.message);
    }
    drawing_release(&drawing);
    folding_release(&folding);
    write_drawn_values(writer, "culprits", network->culprits.items, network->culprits.count);
    json_writer_end_object(writer);
    json_writer_key(document, "network");
    json_writer_fragment(document, writer);
    return rc == ERR_INTERRUPTED ? error_set(err, ERR_INTERRUPTED, "%s", why.message) : 0;
}
