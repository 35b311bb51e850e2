/* onnx/edit/inline_branches.c: see inline_branches.h. */
#include "onnx/edit/inline_branches.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "onnx/edit/node.h"

/* State of inlining one branch into the main graph. */
struct inlining {
    struct model *model;
    struct unused_names *names;
    struct span body;
    struct rename_map map;    /* tensors defined in the branch */
    struct span_list nodes;   /* finished */
    struct span_list tensors; /* constants of the branch, */
    struct text_names {
        struct text *items;
        size_t count, capacity;
    } tensor_names, outputs; /* and their new names; the branch's outputs under their inner names */
};

static bool read_branch_condition(const struct model *model, const struct node *node, bool *ret)
{
    const struct initializer *initializer =
        node->inputs.count == 1 ? model_dense_initializer(model, node_input(model, node, 0)) : NULL;
    struct tensor tensor SCOPED(tensor_release) = {0};
    bool known;

    if (initializer == NULL || tensor_proto_decode(initializer->message, &tensor, NULL) < 0)
        return false;
    known = tensor.type == DATA_BOOL && tensor_elements(&tensor) == 1;
    if (known)
        *ret = *(const uint8_t *)tensor.data != 0;
    return known;
}

static void define_inlined_name(struct inlining *inlining, struct text name)
{
    if (name.size > 0 && name_map_find(&inlining->map.index, name) == NAME_MAP_NONE)
        rename_map_add(&inlining->map, name, unused_names_make(inlining->names, name, ""));
}

/* Collects the outputs and constants of the branch. False if it contains anything that cannot be moved. */
static bool survey_branch(struct inlining *inlining)
{
    struct wire_reader reader = wire_reader_of(inlining->body);
    struct wire_field field;

    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == GRAPH_SPARSE_INITIALIZER || field.number == GRAPH_QUANTIZATION_ANNOTATION ||
            field.number == GRAPH_INPUT)
            return false;
        if (field.number == GRAPH_OUTPUT)
            *VECTOR_APPEND(&inlining->outputs) = wire_find_text(field.bytes, VALUE_INFO_NAME);
        if (field.number == GRAPH_INITIALIZER)
            define_inlined_name(inlining, wire_find_text(field.bytes, TENSOR_NAME));
    }
    return true;
}

/* Renames outputs of the node that are outputs of the branch to the corresponding outputs of the `If`. */
static void define_node_outputs(struct inlining *inlining, const struct node *node, struct text name)
{
    const struct model *model = inlining->model;

    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);

        if (value != VALUE_NONE && text_equal(name, inlining->outputs.items[i]) &&
            name_map_find(&inlining->map.index, name) == NAME_MAP_NONE)
            rename_map_add(&inlining->map, name, model->values.items[value].name);
    }
    define_inlined_name(inlining, name);
}

static void define_branch_outputs(struct inlining *inlining, const struct node *node)
{
    struct wire_reader reader = wire_reader_of(inlining->body), inner;
    struct wire_field field, part;

    while (wire_next(&reader, &field)) {
        if (field.number != GRAPH_NODE || field.type != WIRE_BYTES)
            continue;
        inner = wire_reader_of(field.bytes);
        while (wire_next(&inner, &part))
            if (part.number == NODE_OUTPUT && part.type == WIRE_BYTES)
                define_node_outputs(inlining, node, span_text(part.bytes));
    }
}

static int move_branch_nodes(struct inlining *inlining, struct error *err)
{
    struct wire_reader reader = wire_reader_of(inlining->body);
    struct wire_field field;
    int rc = 0;

    while (rc == 0 && wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == GRAPH_NODE) {
            struct span renamed;

            rc = node_rename(&inlining->model->arena, field.whole, &inlining->map, &inlining->map, &renamed, err);
            if (rc == 0)
                *VECTOR_APPEND(&inlining->nodes) = renamed;
        } else if (field.number == GRAPH_INITIALIZER) {
            *VECTOR_APPEND(&inlining->tensors) = field.bytes;
            *VECTOR_APPEND(&inlining->tensor_names) =
                rename_map_get(&inlining->map, wire_find_text(field.bytes, TENSOR_NAME));
        }
    }
    return rc;
}

/* Copies outputs that are constants, tensors of the main graph, or repeated tensors. */
static void copy_branch_outputs(struct inlining *inlining, const struct node *node)
{
    struct model *model = inlining->model;

    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);
        struct node_recipe identity = {.op_type = TEXT("Identity"), .input_count = 1, .output_count = 1};
        struct text from = rename_map_get(&inlining->map, inlining->outputs.items[i]), to;

        if (value == VALUE_NONE || text_equal(from, model->values.items[value].name))
            continue;
        to = model->values.items[value].name;
        identity.name = unused_names_make(inlining->names, to, "_copy");
        identity.inputs = &from;
        identity.outputs = &to;
        *VECTOR_APPEND(&inlining->nodes) = node_build(&model->arena, &identity);
    }
}

static void add_branch_constants(struct inlining *inlining)
{
    for (size_t i = 0; i < inlining->tensors.count; i++)
        model_set_initializer(inlining->model, model_add_value(inlining->model, inlining->tensor_names.items[i]),
                              inlining->tensors.items[i]);
}

/* Appends the nodes that replace `node` to `ret`. Returns 1 if it cannot be replaced. */
static int inline_branch(struct model *model, struct unused_names *names, const struct node *node,
                         struct span_list *ret)
{
    struct inlining inlining = {.model = model, .names = names};
    bool condition;
    int rc = 1;

    if (!read_branch_condition(model, node, &condition) ||
        !node_attribute_graph(node->message, condition ? "then_branch" : "else_branch", &inlining.body))
        return 1;
    rename_map_init(&inlining.map);
    if (survey_branch(&inlining) && inlining.outputs.count == node->outputs.count) {
        define_branch_outputs(&inlining, node);
        if (move_branch_nodes(&inlining, NULL) == 0) {
            copy_branch_outputs(&inlining, node);
            add_branch_constants(&inlining);
            for (size_t i = 0; i < inlining.nodes.count; i++)
                *VECTOR_APPEND(ret) = inlining.nodes.items[i];
            rc = 0;
        }
    }
    rename_map_release(&inlining.map);
    free(inlining.nodes.items);
    free(inlining.tensors.items);
    free(inlining.tensor_names.items);
    free(inlining.outputs.items);
    return rc;
}

static bool branch_is_decided(const struct model *model, const struct node *node)
{
    bool condition;

    return node_is(node, "If") && read_branch_condition(model, node, &condition);
}

int model_inline_branches(struct model *model, struct unused_names *names, size_t *count, struct error *err)
{
    struct span_list fields SCOPED_ITEMS = {0};
    size_t inlined = 0;
    int rc = 0;

    for (size_t i = 0; i < model->nodes.count; i++) {
        struct node node = model->nodes.items[i];

        if (branch_is_decided(model, &node) && inline_branch(model, names, &node, &fields) == 0)
            inlined++;
        else
            *VECTOR_APPEND(&fields) = node.field;
    }
    if (inlined > 0)
        rc = model_set_nodes(model, &fields, err);
    if (rc == 0)
        *count += inlined;
    return rc;
}
