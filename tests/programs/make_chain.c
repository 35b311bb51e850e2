/* tests/programs/make_chain.c: writes a model of any size, for tests and measurements.
 *
 *   make_chain FILE NODES WEIGHT_BYTES chain|branches [NUMBERS|untyped]
 *
 * "chain": each node reads what the one in front of it makes. "branches": of every three nodes two read the same tensor
 * and the third joins their results. With weights the nodes are MatMuls, each with an initializer of its own of about
 * WEIGHT_BYTES bytes, a square float32 matrix that moves all columns one to the right; with 0 bytes they are Negs of 16
 * numbers. Joins are Maxes. So values neither grow nor shrink however long the model is. "untyped" leaves out what the
 * file says about the tensors between nodes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "onnx/proto/pieces.h"

struct chain {
    uint32_t nodes;
    bool branches;
    bool weights;
    bool untyped;
    struct shape shape;   /* of every tensor between nodes */
    struct tensor matrix; /* every weight */
    struct piece_list graph;
};

/* The name of the tensor that node `node` makes; of the model's input when the node is -1. */
static void tensor_name(long node, char ret[24])
{
    if (node < 0)
        snprintf(ret, 24, "x");
    else
        snprintf(ret, 24, "t%ld", node);
}

static bool is_join(const struct chain *chain, uint32_t node)
{
    return chain->branches && node % 3 == 2;
}

/* What a node that is no join reads. */
static long source_of(const struct chain *chain, uint32_t node)
{
    return chain->branches && node % 3 == 1 ? (long)node - 2 : (long)node - 1;
}

static void add_node(struct chain *chain, uint32_t node)
{
    struct string_builder message;
    char name[24];

    string_init(&message);
    if (is_join(chain, node)) {
        tensor_name((long)node - 2, name);
        wire_write_text(&message, NODE_INPUT, text_of(name));
        tensor_name((long)node - 1, name);
    } else {
        tensor_name(source_of(chain, node), name);
    }
    wire_write_text(&message, NODE_INPUT, text_of(name));
    if (chain->weights && !is_join(chain, node)) {
        snprintf(name, sizeof(name), "w%u", node);
        wire_write_text(&message, NODE_INPUT, text_of(name));
    }
    tensor_name((long)node, name);
    wire_write_text(&message, NODE_OUTPUT, text_of(name));
    snprintf(name, sizeof(name), "node_%u", node);
    wire_write_text(&message, NODE_NAME, text_of(name));
    wire_write_text(&message, NODE_OP_TYPE,
                    text_of(is_join(chain, node) ? "Max" : (chain->weights ? "MatMul" : "Neg")));
    pieces_add_header(&chain->graph, GRAPH_NODE, message.size);
    pieces_add_copy(&chain->graph, message.data, message.size);
    string_release(&message);
}

static void add_weight(struct chain *chain, uint32_t node)
{
    struct string_builder message;
    char name[24];

    if (!chain->weights || is_join(chain, node))
        return;
    string_init(&message);
    snprintf(name, sizeof(name), "w%u", node);
    tensor_proto_write_header(&message, text_of(name), &chain->matrix);
    wire_write_tag(&message, TENSOR_RAW_DATA, WIRE_BYTES);
    wire_write_varint(&message, chain->matrix.size);
    pieces_add_header(&chain->graph, GRAPH_INITIALIZER, message.size + chain->matrix.size);
    pieces_add_copy(&chain->graph, message.data, message.size);
    pieces_add(&chain->graph, (struct span){chain->matrix.data, chain->matrix.size});
    string_release(&message);
}

static void add_description(struct chain *chain, uint32_t field, long node)
{
    struct value_type type = {.element = DATA_FLOAT32, .has_shape = true, .shape = chain->shape};
    char name[24];

    tensor_name(node, name);
    pieces_add_field(&chain->graph, field, value_info_make(&chain->graph.arena, text_of(name), &type));
}

static int make_matrix(int64_t width, struct tensor *ret, struct error *err)
{
    int rc = tensor_allocate(DATA_FLOAT32, &(struct shape){2, {width, width}}, ret, err);
    float *elements;

    if (rc < 0)
        return rc;
    elements = tensor_writable(ret);
    memset(elements, 0, ret->size);
    for (int64_t i = 0; i < width; i++)
        elements[i * width + (i + 1) % width] = 1;
    return 0;
}

static int write_model(const struct chain *chain, const char *path, struct error *err)
{
    struct string_builder front, opset;
    struct file_writer writer;
    struct piece_list file;
    int rc;

    string_init(&front);
    string_init(&opset);
    pieces_init(&file);
    wire_write_integer(&front, MODEL_IR_VERSION, 8);
    wire_write_integer(&opset, OPSET_VERSION, 13);
    wire_write_bytes(&front, MODEL_OPSET_IMPORT, opset.data, opset.size);
    pieces_add_copy(&file, front.data, front.size);
    pieces_add_header(&file, MODEL_GRAPH, chain->graph.size);
    rc = file_writer_open(&writer, path, err);
    if (rc == 0) {
        rc = pieces_write(&file, NULL, &writer, err);
        if (rc == 0)
            rc = pieces_write(&chain->graph, NULL, &writer, err);
        if (rc == 0)
            rc = file_writer_commit(&writer, FILE_INTERMEDIATE, err);
        file_writer_release(&writer);
    }
    pieces_release(&file);
    string_release(&front);
    string_release(&opset);
    return rc;
}

static void add_graph(struct chain *chain)
{
    static const char name[] = "chain";

    pieces_add_field(&chain->graph, GRAPH_NAME, (struct span){(const uint8_t *)name, sizeof(name) - 1});
    for (uint32_t i = 0; i < chain->nodes; i++)
        add_node(chain, i);
    for (uint32_t i = 0; i < chain->nodes; i++)
        add_weight(chain, i);
    add_description(chain, GRAPH_INPUT, -1);
    add_description(chain, GRAPH_OUTPUT, (long)chain->nodes - 1);
    for (uint32_t i = 0; !chain->untyped && i + 1 < chain->nodes; i++)
        add_description(chain, GRAPH_VALUE_INFO, (long)i);
}

int main(int argc, char **argv)
{
    struct chain chain = {.shape = {2, {1, 16}}};
    struct error err = {0};
    int rc;

    if (argc < 5 || argc > 6 || (strcmp(argv[4], "chain") != 0 && strcmp(argv[4], "branches") != 0)) {
        fprintf(stderr, "usage: make_chain FILE NODES WEIGHT_BYTES chain|branches [NUMBERS|untyped]\n");
        return 2;
    }
    chain.nodes = (uint32_t)strtoul(argv[2], NULL, 10);
    chain.weights = strtoul(argv[3], NULL, 10) > 0;
    chain.branches = strcmp(argv[4], "branches") == 0;
    chain.untyped = argc == 6 && strcmp(argv[5], "untyped") == 0;
    if (argc == 6 && !chain.untyped)
        chain.shape.dims[1] = strtoll(argv[5], NULL, 10);
    if (chain.weights)
        chain.shape.dims[1] = (int64_t)fmax(1, round(sqrt(strtod(argv[3], NULL) / sizeof(float))));
    pieces_init(&chain.graph);
    rc = make_matrix(chain.weights ? chain.shape.dims[1] : 1, &chain.matrix, &err);
    if (rc == 0) {
        add_graph(&chain);
        rc = write_model(&chain, argv[1], &err);
    }
    if (rc < 0)
        fprintf(stderr, "make_chain: %s\n", err.message);
    tensor_release(&chain.matrix);
    pieces_release(&chain.graph);
    return rc < 0;
}
