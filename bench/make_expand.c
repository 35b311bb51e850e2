/* bench/make_expand.c: writes a model with a small input and an output of any size.
 *
 *   make_expand FILE ELEMENTS
 *
 * Its only node is an Expand of one float32 number to ELEMENTS: the output takes almost no computation.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"

static void add_node(struct string_builder *graph)
{
    struct string_builder node;

    string_init(&node);
    wire_write_text(&node, NODE_INPUT, text_of("x"));
    wire_write_text(&node, NODE_INPUT, text_of("shape"));
    wire_write_text(&node, NODE_OUTPUT, text_of("y"));
    wire_write_text(&node, NODE_OP_TYPE, text_of("Expand"));
    wire_write_bytes(graph, GRAPH_NODE, node.data, node.size);
    string_release(&node);
}

static int add_constant(struct string_builder *graph, int64_t elements, struct error *err)
{
    struct string_builder constant;
    struct tensor tensor;
    int rc = tensor_allocate(DATA_INT64, &(struct shape){1, {1}}, &tensor, err);

    if (rc < 0)
        return rc;
    *(int64_t *)tensor_writable(&tensor) = elements;
    string_init(&constant);
    tensor_proto_write(&constant, text_of("shape"), &tensor);
    wire_write_bytes(graph, GRAPH_INITIALIZER, constant.data, constant.size);
    string_release(&constant);
    tensor_release(&tensor);
    return 0;
}

static void add_description(struct string_builder *graph, uint32_t field, const char *name, int64_t elements)
{
    struct value_type type = {.element = DATA_FLOAT32, .has_shape = true, .shape = {1, {elements}}};
    struct arena arena = {0};
    struct span info = value_info_make(&arena, text_of(name), &type);

    wire_write_bytes(graph, field, info.data, info.size);
    arena_release(&arena);
}

static int write_model(const char *path, const struct string_builder *graph, struct error *err)
{
    struct string_builder model, opset;
    struct file_writer writer;
    int rc;

    string_init(&model);
    string_init(&opset);
    wire_write_integer(&model, MODEL_IR_VERSION, 8);
    wire_write_integer(&opset, OPSET_VERSION, 13);
    wire_write_bytes(&model, MODEL_OPSET_IMPORT, opset.data, opset.size);
    wire_write_bytes(&model, MODEL_GRAPH, graph->data, graph->size);
    rc = file_writer_open(&writer, path, err);
    if (rc == 0) {
        rc = file_writer_add(&writer, model.data, model.size, err);
        if (rc == 0)
            rc = file_writer_commit(&writer, FILE_INTERMEDIATE, err);
        file_writer_release(&writer);
    }
    string_release(&model);
    string_release(&opset);
    return rc;
}

int main(int argc, char **argv)
{
    int64_t elements = argc == 3 ? strtoll(argv[2], NULL, 10) : 0;
    struct string_builder graph;
    struct error err = {0};
    int rc;

    if (elements < 1) {
        fprintf(stderr, "usage: make_expand FILE ELEMENTS\n");
        return 2;
    }
    string_init(&graph);
    wire_write_text(&graph, GRAPH_NAME, text_of("expand"));
    add_node(&graph);
    rc = add_constant(&graph, elements, &err);
    if (rc == 0) {
        add_description(&graph, GRAPH_INPUT, "x", 1);
        add_description(&graph, GRAPH_OUTPUT, "y", elements);
        rc = write_model(argv[1], &graph, &err);
    }
    if (rc < 0)
        fprintf(stderr, "make_expand: %s\n", err.message);
    string_release(&graph);
    return rc < 0;
}
