/* onnx/edit/unroll.c: see unroll.h. */
#include "onnx/edit/unroll.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/attribute.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"

/* Nodes that pass the condition of a Loop on: Identity, Cast. */
#define MOST_COPIES 8

/* Axes and directions that are read of a Scan. */
#define MOST_SCAN_LISTED 64

/* The first opset in which Unsqueeze reads its axes as an input. */
#define OPSET_OF_AXES_INPUT 13

struct text_names {
    struct text *items;
    size_t count, capacity;
};

/* A body, as spans of the model. */
struct loop_body {
    struct span_list nodes, tensors; /* NodeProtos with tag and length; TensorProtos */
    struct text_names inputs, outputs;
    size_t first_input_rank; /* of its first input: the number of the iteration of a Loop */
    bool cannot_move;
};

/* State of unrolling one node. */
struct unrolling {
    struct model *model;
    struct unused_names *names;
    const struct node *node;
    struct loop_body body;
    size_t states;      /* that one iteration passes to the next */
    size_t body_states; /* position of the first one among the inputs of the node and of its body */
    int64_t input_axes[MOST_SCAN_LISTED], output_axes[MOST_SCAN_LISTED];
    bool input_backwards[MOST_SCAN_LISTED], output_backwards[MOST_SCAN_LISTED];
    struct text *current;        /* tensors of the main graph that the next iteration gets as states */
    struct text_names collected; /* what each iteration has added to the outputs behind the states, one by one */
    struct rename_map constants; /* of the body, which all iterations share */
    struct text truth;           /* a constant: the condition of a Loop goes on */
    int64_t count, current_iteration;
    const char *suffix;     /* of names in this iteration */
    struct span_list nodes; /* finished */
};

/* ---- Bodies ---- */

static void read_body_input(struct loop_body *body, struct span info)
{
    struct value_type type;

    value_info_decode(info, &type);
    if (body->inputs.count == 0)
        body->first_input_rank = type.has_shape ? type.shape.rank : 0;
    *VECTOR_APPEND(&body->inputs) = wire_find_text(info, VALUE_INFO_NAME);
}

static bool read_loop_body(const struct node *node, struct loop_body *ret)
{
    struct span graph;
    struct wire_reader reader;
    struct wire_field field;

    *ret = (struct loop_body){0};
    if (!node_attribute_graph(node->message, "body", &graph))
        return false;
    reader = wire_reader_of(graph);
    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == GRAPH_NODE)
            *VECTOR_APPEND(&ret->nodes) = field.whole;
        else if (field.number == GRAPH_INITIALIZER)
            *VECTOR_APPEND(&ret->tensors) = field.bytes;
        else if (field.number == GRAPH_INPUT)
            read_body_input(ret, field.bytes);
        else if (field.number == GRAPH_OUTPUT)
            *VECTOR_APPEND(&ret->outputs) = wire_find_text(field.bytes, VALUE_INFO_NAME);
        ret->cannot_move |= field.number == GRAPH_SPARSE_INITIALIZER || field.number == GRAPH_QUANTIZATION_ANNOTATION;
    }
    return !reader.damaged;
}

static void release_loop_body(struct loop_body *body)
{
    free(body->nodes.items);
    free(body->tensors.items);
    free(body->inputs.items);
    free(body->outputs.items);
}

/* The NodeProto of the body that produces the tensor; size 0: none. */
static struct span find_body_producer(const struct loop_body *body, struct text name)
{
    struct wire_field field;

    for (size_t i = 0; i < body->nodes.count; i++) {
        struct span node = wire_content(body->nodes.items[i]);
        struct wire_reader reader = wire_reader_of(node);

        while (wire_next(&reader, &field))
            if (field.number == NODE_OUTPUT && field.type == WIRE_BYTES && text_equal(span_text(field.bytes), name))
                return node;
    }
    return (struct span){0};
}

static struct span attribute_tensor(struct span message)
{
    struct attribute attribute;

    attribute_read(message, &attribute);
    return attribute.bytes;
}

static bool is_true_constant(struct span tensor_proto)
{
    struct tensor tensor SCOPED(tensor_release) = {0};

    return tensor_proto_decode(tensor_proto, &tensor, NULL) == 0 && tensor.type == DATA_BOOL &&
           tensor_elements(&tensor) == 1 && *(const uint8_t *)tensor.data != 0;
}

/* A tensor of the body that no node produces: its own condition of before, or a constant that is true. */
static bool is_always_true(const struct loop_body *body, struct text name)
{
    bool ret = text_equal(name, body->inputs.items[1]);

    for (size_t i = 0; !ret && i < body->tensors.count; i++)
        ret = text_equal(wire_find_text(body->tensors.items[i], TENSOR_NAME), name) &&
              is_true_constant(body->tensors.items[i]);
    return ret;
}

bool loop_is_counted(const struct node *node)
{
    struct loop_body body SCOPED(release_loop_body) = {0};
    struct span constant;
    struct text name;

    if (!read_loop_body(node, &body) || body.inputs.count < 2 || body.outputs.count == 0)
        return false;
    name = body.outputs.items[0];
    for (int steps = 0; steps < MOST_COPIES; steps++) {
        struct span producer = find_body_producer(&body, name);
        struct text op_type = wire_find_text(producer, NODE_OP_TYPE);

        if (producer.size == 0)
            return is_always_true(&body, name);
        if (!text_equal_string(op_type, "Identity") && !text_equal_string(op_type, "Cast"))
            return text_equal_string(op_type, "Constant") && node_attribute_find(producer, "value", &constant) &&
                   is_true_constant(attribute_tensor(constant));
        name = wire_find_text(producer, NODE_INPUT);
    }
    return false;
}

bool loop_states(const struct node *node, size_t *ret_states)
{
    struct loop_body body SCOPED(release_loop_body) = {0};
    int64_t scanned = node_attribute_integer(node->message, "num_scan_inputs", 0);

    if ((!node_is(node, "Loop") && !node_is(node, "Scan")) || !read_loop_body(node, &body) || scanned < 0)
        return false;
    if (node_is(node, "Loop") && body.inputs.count >= 2 && node->inputs.count == body.inputs.count &&
        node->outputs.count + 1 == body.outputs.count && node->outputs.count + 2 >= body.inputs.count) {
        *ret_states = body.inputs.count - 2;
        return true;
    }
    if (node_is(node, "Scan") && scanned > 0 && (size_t)scanned <= body.inputs.count &&
        node->inputs.count == body.inputs.count && node->outputs.count == body.outputs.count &&
        node->outputs.count + (size_t)scanned >= body.inputs.count) {
        *ret_states = body.inputs.count - (size_t)scanned;
        return true;
    }
    return false;
}

/* ---- New nodes and constants ---- */

struct new_integer {
    const char *suffix; /* of its name */
    size_t rank;
    int64_t number;
};

/* Returns its name; .data NULL after an error. */
static struct text add_integer(struct unrolling *unrolling, struct text base, struct new_integer integer,
                               struct error *err)
{
    struct text ret = unused_names_make(unrolling->names, base, integer.suffix);
    struct tensor tensor;

    tensor_borrow(DATA_INT64, &(struct shape){.rank = integer.rank, .dims = {1}}, &integer.number,
                  sizeof(integer.number), &tensor);
    return model_set_tensor(unrolling->model, model_add_value(unrolling->model, ret), &tensor, err) == 0
               ? ret
               : (struct text){0};
}

static void add_new_node(struct unrolling *unrolling, const char *op_type, const struct text *inputs,
                         size_t input_count, struct text output, const struct node_attribute *attribute)
{
    const struct node_recipe recipe = {.op_type = text_of(op_type),
                                       .name = unused_names_make(unrolling->names, output, "_node"),
                                       .inputs = inputs,
                                       .input_count = input_count,
                                       .outputs = &output,
                                       .output_count = 1,
                                       .attributes = attribute,
                                       .attribute_count = attribute != NULL};

    *VECTOR_APPEND(&unrolling->nodes) = node_build(&unrolling->model->arena, &recipe);
}

static struct node_attribute axis_attribute(int64_t axis)
{
    return (struct node_attribute){.name = TEXT("axis"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = axis};
}

/* ---- One iteration ---- */

/* What the body's scanned input `i` is in this iteration: a slice. */
static int add_scan_slice(struct unrolling *unrolling, size_t i, struct text *ret, struct error *err)
{
    int64_t k = unrolling->current_iteration, index = unrolling->input_backwards[i] ? unrolling->count - 1 - k : k;
    struct model *model = unrolling->model;
    uint32_t value = node_input(model, unrolling->node, unrolling->states + i);
    const struct node_attribute axis = axis_attribute(unrolling->input_axes[i]);
    struct text inputs[2] = {model->values.items[value].name};

    *ret = unused_names_make(unrolling->names, inputs[0], unrolling->suffix);
    inputs[1] = add_integer(unrolling, *ret, (struct new_integer){"_index", 0, index}, err);
    if (inputs[1].data == NULL)
        return -1;
    add_new_node(unrolling, "Gather", inputs, 2, *ret, &axis);
    return 0;
}

/* Names the tensors that the body reads from outside in this iteration. */
static int bind_inputs(struct unrolling *unrolling, struct rename_map *map, struct error *err)
{
    const struct loop_body *body = &unrolling->body;
    size_t scanned = body->inputs.count - unrolling->body_states - unrolling->states;
    struct text name;

    for (size_t i = 0; i < unrolling->constants.names.count; i++)
        rename_map_add(map, wire_find_text(body->tensors.items[i], TENSOR_NAME), unrolling->constants.names.items[i]);
    if (unrolling->body_states > 0) { /* a Loop */
        name = add_integer(
            unrolling, body->inputs.items[0],
            (struct new_integer){unrolling->suffix, body->first_input_rank > 0, unrolling->current_iteration}, err);
        if (name.data == NULL)
            return -1;
        rename_map_add(map, body->inputs.items[0], name);
        rename_map_add(map, body->inputs.items[1], unrolling->truth);
    }
    for (size_t i = 0; i < unrolling->states; i++)
        rename_map_add(map, body->inputs.items[unrolling->body_states + i], unrolling->current[i]);
    for (size_t i = 0; i < scanned; i++) {
        if (add_scan_slice(unrolling, i, &name, err) < 0)
            return -1;
        rename_map_add(map, body->inputs.items[unrolling->body_states + unrolling->states + i], name);
    }
    return 0;
}

static void name_body_outputs(struct unrolling *unrolling, struct span node, struct rename_map *map)
{
    struct wire_reader reader = wire_reader_of(node);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number == NODE_OUTPUT && field.type == WIRE_BYTES && field.bytes.size > 0)
            rename_map_add(map, span_text(field.bytes),
                           unused_names_make(unrolling->names, span_text(field.bytes), unrolling->suffix));
}

static int copy_body_node(struct unrolling *unrolling, struct span node, const struct rename_map *map,
                          struct error *err)
{
    struct text name = wire_find_text(wire_content(node), NODE_NAME);
    struct span renamed;
    int rc = node_rename(&unrolling->model->arena, node, map, map, &renamed, err);

    if (rc < 0)
        return rc;
    if (name.size > 0)
        renamed = node_set_name(&unrolling->model->arena, renamed,
                                unused_names_make(unrolling->names, name, unrolling->suffix));
    *VECTOR_APPEND(&unrolling->nodes) = renamed;
    return 0;
}

/* What the iteration leaves: states for the next one, and rows of the outputs behind them. */
static void read_body_outputs(struct unrolling *unrolling, const struct rename_map *map)
{
    const struct loop_body *body = &unrolling->body;
    size_t first = unrolling->body_states > 0; /* behind the condition */

    for (size_t i = 0; first + i < body->outputs.count; i++) {
        struct text name = rename_map_get(map, body->outputs.items[first + i]);

        if (i < unrolling->states)
            unrolling->current[i] = name;
        else
            *VECTOR_APPEND(&unrolling->collected) = name;
    }
}

static int add_iteration(struct unrolling *unrolling, struct error *err)
{
    const struct loop_body *body = &unrolling->body;
    struct rename_map map SCOPED(rename_map_release);
    SCOPED_STRING(suffix);
    int rc;

    rename_map_init(&map);
    string_add_format(&suffix, "_iteration_%lld", (long long)unrolling->current_iteration);
    unrolling->suffix = suffix.data;
    rc = bind_inputs(unrolling, &map, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < body->nodes.count; i++)
        name_body_outputs(unrolling, wire_content(body->nodes.items[i]), &map);
    for (size_t i = 0; rc == 0 && i < body->nodes.count; i++)
        rc = copy_body_node(unrolling, body->nodes.items[i], &map, err);
    if (rc == 0)
        read_body_outputs(unrolling, &map);
    return rc;
}

/* ---- Around the iterations ---- */

static int add_body_constants(struct unrolling *unrolling, struct error *err)
{
    const struct loop_body *body = &unrolling->body;
    const bool truth = true;
    struct tensor tensor;

    for (size_t i = 0; i < body->tensors.count; i++) {
        struct text name = wire_find_text(body->tensors.items[i], TENSOR_NAME);
        struct text unused = unused_names_make(unrolling->names, name, "");

        rename_map_add(&unrolling->constants, name, unused);
        model_set_initializer(unrolling->model, model_add_value(unrolling->model, unused), body->tensors.items[i]);
    }
    if (unrolling->body_states == 0)
        return 0;
    unrolling->truth = unused_names_make(unrolling->names, body->inputs.items[1], "");
    tensor_borrow(DATA_BOOL, &(struct shape){.rank = 0}, &truth, sizeof(truth), &tensor);
    return model_set_tensor(unrolling->model, model_add_value(unrolling->model, unrolling->truth), &tensor, err);
}

/* Unsqueezes what one iteration has added to output `i`. */
static int add_stacked(struct unrolling *unrolling, struct text from, int64_t axis, struct text *ret, struct error *err)
{
    const struct node_attribute axes = {
        .name = TEXT("axes"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = &axis, .count = 1};
    bool is_input = model_opset(unrolling->model) >= OPSET_OF_AXES_INPUT;
    struct text inputs[2] = {from};

    *ret = unused_names_make(unrolling->names, from, "_row");
    if (is_input)
        inputs[1] = add_integer(unrolling, from, (struct new_integer){"_axes", 1, axis}, err);
    if (is_input && inputs[1].data == NULL)
        return -1;
    add_new_node(unrolling, "Unsqueeze", inputs, is_input ? 2 : 1, *ret, is_input ? NULL : &axes);
    return 0;
}

/* Makes the node's output `states + i` of what the iterations have added to it. */
static int add_collected(struct unrolling *unrolling, size_t i, struct text output, struct error *err)
{
    int64_t count = unrolling->count;
    size_t each = unrolling->collected.count / (size_t)count;
    const struct node_attribute axis = axis_attribute(unrolling->output_axes[i]);
    struct text *rows SCOPED_FREE = memory_alloc_zero((size_t)count, sizeof(*rows));
    int rc = 0;

    for (int64_t k = 0; rc == 0 && k < count; k++)
        rc = add_stacked(unrolling, unrolling->collected.items[(size_t)k * each + i], axis.integer,
                         &rows[unrolling->output_backwards[i] ? count - 1 - k : k], err);
    if (rc == 0)
        add_new_node(unrolling, "Concat", rows, (size_t)count, output, &axis);
    return rc;
}

static int add_node_outputs(struct unrolling *unrolling, struct error *err)
{
    const struct node *node = unrolling->node;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < node->outputs.count; i++) {
        uint32_t value = node_output(unrolling->model, node, i);

        if (value == VALUE_NONE)
            continue;
        if (i < unrolling->states)
            add_new_node(unrolling, "Identity", &unrolling->current[i], 1, unrolling->model->values.items[value].name,
                         NULL);
        else
            rc = add_collected(unrolling, i - unrolling->states, unrolling->model->values.items[value].name, err);
    }
    return rc;
}

/* ---- One node ---- */

static void read_directions(const struct node *node, const char *name, bool *ret)
{
    int64_t directions[MOST_SCAN_LISTED] = {0};

    node_attribute_integers(node->message, name, directions, MOST_SCAN_LISTED);
    for (size_t i = 0; i < MOST_SCAN_LISTED; i++)
        ret[i] = directions[i] == 1;
}

static void read_scan_attributes(struct unrolling *unrolling)
{
    const struct node *node = unrolling->node;

    node_attribute_integers(node->message, "scan_input_axes", unrolling->input_axes, MOST_SCAN_LISTED);
    node_attribute_integers(node->message, "scan_output_axes", unrolling->output_axes, MOST_SCAN_LISTED);
    read_directions(node, "scan_input_directions", unrolling->input_backwards);
    read_directions(node, "scan_output_directions", unrolling->output_backwards);
}

/* Whether the node can be unrolled; then its body and its lists are read. */
static bool survey_loop(struct unrolling *unrolling)
{
    const struct model *model = unrolling->model;
    const struct node *node = unrolling->node;
    bool is_loop = node_is(node, "Loop");

    if (!loop_states(node, &unrolling->states) || !read_loop_body(node, &unrolling->body) ||
        unrolling->body.cannot_move || node->inputs.count > MOST_SCAN_LISTED ||
        node->outputs.count > MOST_SCAN_LISTED || (unrolling->count == 0 && node->outputs.count > unrolling->states))
        return false;
    unrolling->body_states = is_loop ? 2 : 0;
    for (size_t i = unrolling->body_states; i < node->inputs.count; i++)
        if (node_input(model, node, i) == VALUE_NONE)
            return false;
    if (!is_loop)
        read_scan_attributes(unrolling);
    unrolling->current = memory_alloc_zero(unrolling->states + 1, sizeof(*unrolling->current));
    for (size_t i = 0; i < unrolling->states; i++)
        unrolling->current[i] = model->values.items[node_input(model, node, unrolling->body_states + i)].name;
    return true;
}

static void unrolling_release(struct unrolling *unrolling)
{
    release_loop_body(&unrolling->body);
    rename_map_release(&unrolling->constants);
    free(unrolling->current);
    free(unrolling->collected.items);
    free(unrolling->nodes.items);
}

/* The nodes that replace it. */
static int unroll_surveyed(struct unrolling *unrolling, struct error *err)
{
    int rc = add_body_constants(unrolling, err);

    for (int64_t k = 0; rc == 0 && k < unrolling->count; k++) {
        unrolling->current_iteration = k;
        rc = add_iteration(unrolling, err);
    }
    return rc == 0 ? add_node_outputs(unrolling, err) : rc;
}

/* Appends what replaces the node to `ret`, which is the node itself if that is impossible. */
static int unroll_loop(struct unrolling *unrolling, struct span_list *ret, size_t *unrolled, struct error *err)
{
    int rc;

    rename_map_init(&unrolling->constants);
    if (!survey_loop(unrolling)) {
        *VECTOR_APPEND(ret) = unrolling->node->field;
        return 0;
    }
    rc = unroll_surveyed(unrolling, err);
    for (size_t i = 0; i < unrolling->nodes.count; i++)
        *VECTOR_APPEND(ret) = unrolling->nodes.items[i];
    *unrolled += rc == 0;
    return rc;
}

int model_unroll_loops(struct model *model, const int64_t *iterations, size_t *count, struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};
    struct unused_names names SCOPED(unused_names_release) = {0};
    size_t unrolled = 0;
    int rc = 0;

    unused_names_init(&names, model, &model->arena);
    for (size_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        const struct node node = model->nodes.items[i];
        struct unrolling unrolling SCOPED(unrolling_release) = {
            .model = model, .names = &names, .node = &node, .count = iterations[i]};

        if (iterations[i] == NOT_UNROLLED)
            *VECTOR_APPEND(&fields) = node.field;
        else
            rc = unroll_loop(&unrolling, &fields, &unrolled, err);
    }
    if (rc < 0)
        return rc;
    if (unrolled > 0)
        rc = model_set_nodes(model, &fields, err);
    if (rc == 0)
        *count += unrolled;
    return rc;
}
