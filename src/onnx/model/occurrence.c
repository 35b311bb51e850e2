/* onnx/model/occurrence.c: see occurrence.h. */
#include "onnx/model/occurrence.h"

#include <stdlib.h>

#include "base/memory.h"

/* Pairs of nodes: each one of the pattern, and what stands for it in the place that is tried. */
struct node_pairing {
    const struct model *model;
    const struct bitset *pattern, *taken;
    uint32_t *image; /* of each node of the pattern; NODE_NONE: none yet */
    struct bitset *place;
};

static bool pair_nodes(struct node_pairing *pairing, uint32_t node, uint32_t image)
{
    const struct node *a = &pairing->model->nodes.items[node], *b;

    if (image == NODE_NONE)
        return false;
    if (pairing->image[node] != NODE_NONE)
        return pairing->image[node] == image;
    b = &pairing->model->nodes.items[image];
    if (bitset_has(pairing->taken, image) || bitset_has(pairing->place, image) || !text_equal(a->op_type, b->op_type) ||
        !text_equal(a->domain, b->domain))
        return false;
    pairing->image[node] = image;
    bitset_add(pairing->place, image);
    return true;
}

/* Which output of its producer a value is; SIZE_MAX where it has none. */
static size_t output_number(const struct model *model, uint32_t value)
{
    const struct node *producer = model_producer(model, value);

    for (size_t i = 0; producer != NULL && i < producer->outputs.count; i++)
        if (model_edge(model, producer->outputs, i) == value)
            return i;
    return SIZE_MAX;
}

static uint32_t read_of(const struct model *model, uint32_t node, size_t input)
{
    const struct node *item = &model->nodes.items[node];

    return input < node_read_count(item) ? node_read(model, item, input) : VALUE_NONE;
}

/* Whether `input` of one node is the same output of what stands for the producer of that of the other. */
static bool pair_producers(struct node_pairing *pairing, uint32_t node, size_t input)
{
    const struct model *model = pairing->model;
    uint32_t value = read_of(model, node, input), other = read_of(model, pairing->image[node], input);

    return other != VALUE_NONE && output_number(model, value) == output_number(model, other) &&
           pair_nodes(pairing, model->values.items[value].producer, model->values.items[other].producer);
}

/* A node of the pattern reads `value` as its input number `input`: the first free node that reads the other one so. */
static bool pair_consumer(struct node_pairing *pairing, uint32_t node, size_t input, uint32_t other)
{
    for (uint32_t i = 0; other != VALUE_NONE && i < pairing->model->nodes.count; i++)
        if (read_of(pairing->model, i, input) == other && pair_nodes(pairing, node, i))
            return true;
    return false;
}

/* Goes along one connection inside of the pattern. `*ret_changes` where it has paired another node. */
static bool follow_read(struct node_pairing *pairing, uint32_t node, size_t input, bool *ret_changes)
{
    const struct model *model = pairing->model;
    uint32_t value = read_of(model, node, input);
    uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;
    bool has_node = pairing->image[node] != NODE_NONE;
    const struct node *made;

    if (producer == NODE_NONE || !bitset_has(pairing->pattern, producer))
        return true;
    if (has_node) {
        *ret_changes |= pairing->image[producer] == NODE_NONE;
        return pair_producers(pairing, node, input);
    }
    if (pairing->image[producer] == NODE_NONE)
        return true; /* later */
    *ret_changes = true;
    made = &model->nodes.items[pairing->image[producer]];
    return pair_consumer(pairing, node, input, node_output(model, made, output_number(model, value)));
}

/* Pairs all nodes of the pattern, from the one that is paired already. */
static bool complete_place(struct node_pairing *pairing)
{
    const struct bitset *pattern = pairing->pattern;
    bool changes = true;

    while (changes) {
        changes = false;
        BITSET_EACH (i, pattern)
            for (size_t k = 0; k < node_read_count(&pairing->model->nodes.items[i]); k++)
                if (!follow_read(pairing, (uint32_t)i, k, &changes))
                    return false;
    }
    return bitset_count(pairing->place) == bitset_count(pattern);
}

bool model_find_occurrence(const struct model *model, const struct bitset *nodes, const struct bitset *taken,
                           uint32_t *next, struct bitset *place)
{
    uint32_t anchor = (uint32_t)bitset_next(nodes, 0);
    struct node_pairing pairing = {.model = model, .pattern = nodes, .taken = taken, .place = place};
    bool ret = false;

    if (anchor >= nodes->size)
        return false;
    pairing.image = memory_alloc_zero(nodes->size, sizeof(*pairing.image));
    while (!ret && *next < model->nodes.count) {
        bitset_clear(place);
        for (size_t i = anchor; i < nodes->size; i = bitset_next(nodes, i + 1))
            pairing.image[i] = NODE_NONE;
        ret = pair_nodes(&pairing, anchor, (*next)++) && complete_place(&pairing);
    }
    free(pairing.image);
    return ret;
}
