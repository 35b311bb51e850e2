/* debug/precision/casts.c: see casts.h. */
#include "debug/precision/casts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/half/half_operators.h"
#include "search/graph/minimum_cut.h"

#define WIDER 2      /* additional bytes of an element in float32 */
#define CAST_BYTES 6 /* bytes that a Cast reads and writes for one element */

/* Limit for one tensor: shapes come from the file, and the sum over all tensors must not overflow. */
#define MOST_ELEMENTS (UINT64_C(1) << 36)

/* A float32 tensor that is not a constant. */
struct tensor_uses {
    uint32_t maker;              /* a vertex of the flow network */
    uint32_t cast_down, cast_up; /* vertices of its Casts; 0: not created yet */
};

struct cut {
    const struct cast_question *question;
    struct flow_network network;
    uint32_t *places; /* vertex of each node; the source: in float32 */
    uint32_t next;    /* next free vertex */
};

static uint64_t size_of(const struct cut *cut, uint32_t value)
{
    uint64_t elements = cut->question->elements[value];

    return elements == 0 ? 1 : elements < MOST_ELEMENTS ? elements : MOST_ELEMENTS;
}

static bool is_float32(const struct cut *cut, uint32_t value)
{
    return value != VALUE_NONE && value_element(cut->question->model, value) == DATA_FLOAT32;
}

static uint32_t maker_of(const struct cut *cut, uint32_t value)
{
    uint32_t producer = cut->question->model->values.items[value].producer;

    return producer == NODE_NONE ? MINIMUM_CUT_SOURCE : cut->places[producer];
}

/* The vertex of one of the two Casts that a tensor may need; its arc is cut if the Cast is needed. */
static uint32_t cast_place(struct cut *cut, uint32_t value, bool up, uint32_t *place)
{
    uint64_t cost = CAST_BYTES * size_of(cut, value) + 1;

    if (*place != 0)
        return *place;
    *place = cut->next++;
    if (up)
        flow_network_add(&cut->network, *place, maker_of(cut, value), cost);
    else
        flow_network_add(&cut->network, maker_of(cut, value), *place, cost);
    return *place;
}

/* A tensor produced in low and consumed in high precision is cast up; the other way round, down. */
static void add_reader(struct cut *cut, uint32_t value, uint32_t reader, struct tensor_uses *uses)
{
    uint32_t maker = maker_of(cut, value);

    if (maker != MINIMUM_CUT_SOURCE)
        flow_network_add(&cut->network, reader, cast_place(cut, value, true, &uses->cast_up), MINIMUM_CUT_ENDLESS);
    if (reader != MINIMUM_CUT_SOURCE)
        flow_network_add(&cut->network, cast_place(cut, value, false, &uses->cast_down), reader, MINIMUM_CUT_ENDLESS);
}

/* Returns the cost of raising the node. */
static uint64_t add_inputs(struct cut *cut, uint32_t index, struct tensor_uses *uses)
{
    const struct model *model = cut->question->model;
    const struct node *node = &model->nodes.items[index];
    uint32_t place = cut->places[index];
    uint64_t wider = 0;

    for (size_t k = 0; k < node_read_count(node); k++) {
        uint32_t value = node_read(model, node, k);
        bool captured = k >= node->inputs.count;
        bool narrows = place != MINIMUM_CUT_SOURCE && !captured && node_narrows_input(node, k);

        if (!is_float32(cut, value) || (!captured && node_takes_any_type(node)))
            continue;
        wider += narrows ? WIDER * size_of(cut, value) : 0;
        if (model->values.items[value].initializer == INITIALIZER_NONE)
            add_reader(cut, value, narrows ? place : MINIMUM_CUT_SOURCE, &uses[value]);
    }
    return wider;
}

/* Adds arcs that tie a node that only moves data to its producers, unless one of these is in float32: then it is low
 * because of its readers. */
static void add_follower(struct cut *cut, uint32_t index)
{
    const struct model *model = cut->question->model;
    const struct node *node = &model->nodes.items[index];
    size_t makers = 0;
    uint32_t last = 0;

    for (size_t k = 0; k < node->inputs.count; k++) {
        uint32_t value = model_edge(model, node->inputs, k);

        if (!is_float32(cut, value) || model->values.items[value].initializer != INITIALIZER_NONE)
            continue;
        last = maker_of(cut, value);
        if (last == MINIMUM_CUT_SOURCE)
            return;
        flow_network_add(&cut->network, last, cut->places[index], MINIMUM_CUT_ENDLESS);
        makers++;
    }
    if (makers == 1)
        flow_network_add(&cut->network, cut->places[index], last, MINIMUM_CUT_ENDLESS);
}

static void add_node(struct cut *cut, uint32_t index, struct tensor_uses *uses)
{
    const struct model *model = cut->question->model;
    const struct node *node = &model->nodes.items[index];
    uint64_t wider = add_inputs(cut, index, uses);

    if (cut->places[index] == MINIMUM_CUT_SOURCE)
        return;
    for (size_t k = 0; k < node->outputs.count; k++)
        if (is_float32(cut, model_edge(model, node->outputs, k)))
            wider += WIDER * size_of(cut, model_edge(model, node->outputs, k));
    flow_network_add(&cut->network, cut->places[index], MINIMUM_CUT_SINK, wider);
    if (bitset_has(cut->question->moving, index))
        add_follower(cut, index);
}

void casts_find_unworthy(const struct cast_question *question, struct bitset *ret)
{
    const struct model *model = question->model;
    struct cut cut = {.question = question,
                      .places = memory_alloc_zero(model->nodes.count, sizeof(*cut.places)),
                      .next = MINIMUM_CUT_SINK + 1};
    struct tensor_uses *uses SCOPED_FREE = memory_alloc_zero(model->values.count, sizeof(*uses));
    SCOPED_BITSET(high);

    for (size_t i = bitset_next(question->low, 0); i < model->nodes.count; i = bitset_next(question->low, i + 1))
        cut.places[i] = cut.next++;
    flow_network_init(&cut.network, cut.next + 2 * model->values.count);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        add_node(&cut, i, uses);
    for (size_t i = 0; i < model->outputs.count; i++)
        if (is_float32(&cut, model->outputs.items[i]))
            add_reader(&cut, model->outputs.items[i], MINIMUM_CUT_SOURCE, &uses[model->outputs.items[i]]);
    bitset_init(&high, cut.network.count);
    minimum_cut(&cut.network, &high);
    for (size_t i = bitset_next(question->low, 0); i < model->nodes.count; i = bitset_next(question->low, i + 1))
        if (bitset_has(&high, cut.places[i]))
            bitset_add(ret, i);
    flow_network_release(&cut.network);
    free(cut.places);
}

/* ---- Pieces ---- */

static uint32_t find_root(uint32_t *parents, uint32_t item)
{
    while (parents[item] != item)
        item = parents[item] = parents[parents[item]];
    return item;
}

/* A union-find forest: nodes, followed by values. */
static uint32_t *join_nodes_and_tensors(const struct model *model, const struct bitset *nodes)
{
    size_t count = model->nodes.count;
    uint32_t *parents = memory_alloc_zero(count + model->values.count, sizeof(*parents));

    for (size_t i = 0; i < count + model->values.count; i++)
        parents[i] = (uint32_t)i;
    for (size_t i = bitset_next(nodes, 0); i < count; i = bitset_next(nodes, i + 1)) {
        const struct node *node = &model->nodes.items[i];

        for (size_t k = 0; k < node->inputs.count + node->outputs.count; k++) {
            uint32_t value = k < node->inputs.count ? model_edge(model, node->inputs, k)
                                                    : model_edge(model, node->outputs, k - node->inputs.count);

            if (value != VALUE_NONE && model->values.items[value].initializer == INITIALIZER_NONE)
                parents[find_root(parents, (uint32_t)(count + value))] = find_root(parents, (uint32_t)i);
        }
    }
    return parents;
}

uint32_t *casts_find_pieces(const struct model *model, const struct bitset *nodes, uint32_t *ret_count)
{
    uint32_t *parents SCOPED_FREE = join_nodes_and_tensors(model, nodes);
    uint32_t *ret = memory_alloc_zero(model->nodes.count + 1, sizeof(*ret));
    uint32_t *numbers SCOPED_FREE = memory_alloc_zero(model->nodes.count + model->values.count, sizeof(*numbers));

    *ret_count = 0;
    for (size_t i = bitset_next(nodes, 0); i < model->nodes.count; i = bitset_next(nodes, i + 1)) {
        uint32_t root = find_root(parents, (uint32_t)i);

        if (numbers[root] == 0)
            numbers[root] = ++*ret_count;
        ret[i] = numbers[root];
    }
    return ret;
}
