/* onnx/shrink/sparsity.c: see sparsity.h. */
#include "onnx/shrink/sparsity.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/bitset.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"

enum {
    GROUP = 4,
    ZEROS = 2,
    LONGEST_CHAIN = 16, /* nodes between a weight and its consumer; real models have three */
};

/* ---- Finding weights ---- */

/* The nodes between a node's input and a weight. */
struct weight_chain {
    const struct node *nodes[LONGEST_CHAIN]; /* starting at the consumer */
    size_t count;
};

static bool passes_weights_on(const struct node *node)
{
    return node->inputs.count > 0 && (node_is(node, "QuantizeLinear") || node_is(node, "DequantizeLinear") ||
                                      node_is(node, "Cast") || node_is(node, "Transpose"));
}

/* Walks back to an initializer: its number, or INITIALIZER_NONE. */
static uint32_t find_weight_tensor(const struct model *model, uint32_t value, struct weight_chain *ret)
{
    ret->count = 0;
    while (value != VALUE_NONE && model->values.items[value].initializer == INITIALIZER_NONE) {
        const struct node *node = model_producer(model, value);

        if (node == NULL || ret->count == LONGEST_CHAIN || !passes_weights_on(node))
            return INITIALIZER_NONE;
        ret->nodes[ret->count++] = node;
        value = model_edge(model, node->inputs, 0);
    }
    return value != VALUE_NONE ? model->values.items[value].initializer : INITIALIZER_NONE;
}

/* Maps an axis of a Transpose's output to its input. False if the permutation is invalid. */
static bool axis_before_reshape(const struct node *transpose, size_t rank, size_t *axis)
{
    int64_t permutation[TENSOR_MAX_RANK];
    size_t count = node_attribute_integers(transpose->message, "perm", permutation, TENSOR_MAX_RANK);

    if (count == 0) {
        *axis = rank - 1 - *axis;
        return true;
    }
    if (count != rank || permutation[*axis] < 0 || permutation[*axis] >= (int64_t)rank)
        return false;
    *axis = (size_t)permutation[*axis];
    return true;
}

struct sparsity_search {
    const struct model *model;
    struct sparsity_candidates found;
    struct bitset weights; /* initializers among them */
};

static bool sparsity_candidate_is_listed(const struct sparsity_candidates *list, struct sparsity_candidate candidate)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].initializer == candidate.initializer && list->items[i].axis == candidate.axis)
            return true;
    return false;
}

static void add_sparsity_candidate(struct sparsity_search *search, uint32_t weight, size_t axis)
{
    struct sparsity_candidate candidate = {weight, (uint32_t)axis};

    if (bitset_has(&search->weights, weight) && sparsity_candidate_is_listed(&search->found, candidate))
        return;
    bitset_add(&search->weights, weight);
    *VECTOR_APPEND(&search->found) = candidate;
}

/* Adds the weight of an input of a node, if it is a candidate. A negative `axis` counts from the end. */
static int add_sparse_weight(struct sparsity_search *search, const struct node *node, size_t input, int axis,
                             struct error *err)
{
    const struct model *model = search->model;
    struct weight_chain chain;
    struct tensor_header header;
    uint32_t weight = INITIALIZER_NONE;
    size_t rank, at;
    int rc;

    if (input < node->inputs.count)
        weight = find_weight_tensor(model, model_edge(model, node->inputs, input), &chain);
    if (weight == INITIALIZER_NONE || model->initializers.items[weight].sparse)
        return 0;
    rc = tensor_proto_read(model->initializers.items[weight].message, &header, err);
    if (rc < 0)
        return error_context(err, "%s", model->display_name);
    rank = header.shape.rank;
    at = axis < 0 ? rank - (size_t)-axis : (size_t)axis;
    if (rank < 2 || at >= rank)
        return 0;
    for (size_t i = 0; i < chain.count; i++)
        if (node_is(chain.nodes[i], "Transpose") && !axis_before_reshape(chain.nodes[i], rank, &at))
            return 0;
    if ((header.type == DATA_FLOAT32 || header.type == DATA_FLOAT16 || header.type == DATA_BFLOAT16) &&
        header.shape.dims[at] % GROUP == 0)
        add_sparsity_candidate(search, weight, at);
    return 0;
}

static int add_node_weights(struct sparsity_search *search, const struct node *node, struct error *err)
{
    int rc = 0;

    if (node_is(node, "Conv"))
        return add_sparse_weight(search, node, 1, 1, err);
    if (node_is(node, "MatMul")) {
        rc = add_sparse_weight(search, node, 0, -1, err);
        return rc < 0 ? rc : add_sparse_weight(search, node, 1, -2, err);
    }
    if (node_is(node, "Gemm")) {
        rc = add_sparse_weight(search, node, 0, node_attribute_integer(node->message, "transA", 0) ? 0 : 1, err);
        if (rc == 0)
            rc = add_sparse_weight(search, node, 1, node_attribute_integer(node->message, "transB", 0) ? 1 : 0, err);
    }
    return rc;
}

int sparsity_find(const struct model *model, struct sparsity_candidates *ret, struct error *err)
{
    struct sparsity_search search = {.model = model};
    int rc = 0;

    bitset_init(&search.weights, model->initializers.count);
    for (size_t i = 0; i < model->nodes.count && rc == 0; i++)
        rc = add_node_weights(&search, &model->nodes.items[i], err);
    bitset_release(&search.weights);
    if (rc < 0)
        free(search.found.items);
    else
        *ret = search.found;
    return rc;
}

/* ---- The 2:4 pattern ---- */

/* A tensor seen as [outer][length][inner], with `length` along the axis. Steps are in elements. */
struct view {
    size_t outer, length, inner;
};

static struct view view_of_candidate(const struct shape *shape, size_t axis)
{
    struct view view = {1, (size_t)shape->dims[axis], 1};

    for (size_t i = 0; i < axis; i++)
        view.outer *= (size_t)shape->dims[i];
    for (size_t i = axis + 1; i < shape->rank; i++)
        view.inner *= (size_t)shape->dims[i];
    return view;
}

/* The bits of an element without its sign: as integers they sort like the magnitudes, NaN last. */
static uint32_t element_magnitude(const uint8_t *data, size_t element, size_t size)
{
    uint32_t wide;
    uint16_t narrow;

    if (size == 4) {
        memcpy(&wide, data + element * 4, 4);
        return wide & 0x7fffffff;
    }
    memcpy(&narrow, data + element * 2, 2);
    return narrow & 0x7fff;
}

bool sparsity_holds(const struct tensor *tensor, size_t axis)
{
    struct view view = view_of_candidate(&tensor->shape, axis);
    size_t size = data_type_bits(tensor->type) / 8;

    for (size_t outer = 0; outer < view.outer; outer++)
        for (size_t group = 0; group < view.length; group += GROUP)
            for (size_t inner = 0; inner < view.inner; inner++) {
                size_t first = (outer * view.length + group) * view.inner + inner;
                int zeros = 0;

                for (size_t i = 0; i < GROUP; i++)
                    zeros += element_magnitude(tensor->data, first + i * view.inner, size) == 0;
                if (zeros < ZEROS)
                    return false;
            }
    return true;
}

/* Clears two elements of the four that start at `first`, `step` elements apart. */
static void prune_group(uint8_t *data, size_t first, size_t step, size_t size)
{
    uint32_t magnitudes[GROUP];
    size_t smallest = 0, second;

    for (size_t i = 0; i < GROUP; i++)
        magnitudes[i] = element_magnitude(data, first + i * step, size);
    for (size_t i = 1; i < GROUP; i++)
        if (magnitudes[i] < magnitudes[smallest])
            smallest = i;
    second = smallest == 0 ? 1 : 0;
    for (size_t i = second + 1; i < GROUP; i++)
        if (i != smallest && magnitudes[i] < magnitudes[second])
            second = i;
    memset(data + (first + smallest * step) * size, 0, size);
    memset(data + (first + second * step) * size, 0, size);
}

void sparsity_prune(enum data_type type, const struct shape *shape, size_t axis, void *data)
{
    struct view view = view_of_candidate(shape, axis);
    size_t size = data_type_bits(type) / 8;

    for (size_t outer = 0; outer < view.outer; outer++)
        for (size_t group = 0; group < view.length; group += GROUP)
            for (size_t inner = 0; inner < view.inner; inner++)
                prune_group(data, (outer * view.length + group) * view.inner + inner, view.inner, size);
}
