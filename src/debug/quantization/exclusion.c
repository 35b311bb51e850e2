/* debug/quantization/exclusion.c: see exclusion.h. */
#include "debug/quantization/exclusion.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define NO_QUANTIZER UINT32_MAX

/* A node that requires a quantizer. */
struct request {
    uint32_t quantizer, node;
};

struct requests {
    struct request *items;
    size_t count, capacity;
};

static void add_makers(const struct quantization_subject *subject, struct requests *requests)
{
    for (size_t i = 0; i < subject->quantizers.count; i++) {
        const struct quantizer *quantizer = &subject->quantizers.items[i];
        uint32_t made = quantizer->quantize != NODE_NONE ? quantizer->tensor : quantizer->integers;
        uint32_t maker = subject->model->values.items[made].producer;

        if (maker != NODE_NONE)
            *VECTOR_APPEND(requests) = (struct request){(uint32_t)i, maker};
    }
}

/* For each value, the quantizer that outputs it. */
static uint32_t *map_results(const struct quantization_subject *subject)
{
    const struct model *model = subject->model;
    uint32_t *ret = memory_alloc_zero(model->values.count, sizeof(*ret));

    for (size_t i = 0; i < model->values.count; i++)
        ret[i] = NO_QUANTIZER;
    for (size_t i = 0; i < subject->quantizers.count; i++) {
        const struct quantizer *quantizer = &subject->quantizers.items[i];

        if (quantizer->form == QUANTIZER_FIXED)
            ret[quantizer->integers] = (uint32_t)i;
        for (size_t k = 0; k < quantizer->dequantize.count; k++) {
            const struct node *node = &model->nodes.items[quantizer->dequantize.items[k]];

            ret[model_edge(model, node->outputs, 0)] = (uint32_t)i;
        }
    }
    return ret;
}

/* Nodes of quantizers require no quantizers: one may read the output of another. */
static struct bitset mark_quantizer_nodes(const struct quantization_subject *subject)
{
    struct bitset ret;

    bitset_init(&ret, subject->model->nodes.count);
    VECTOR_EACH (const struct quantizer, quantizer, subject->quantizers) {
        if (quantizer->quantize != NODE_NONE)
            bitset_add(&ret, quantizer->quantize);
        for (size_t k = 0; k < quantizer->dequantize.count; k++)
            bitset_add(&ret, quantizer->dequantize.items[k]);
    }
    return ret;
}

static void add_readers(const struct quantization_subject *subject, struct requests *requests)
{
    const struct model *model = subject->model;
    uint32_t *results SCOPED_FREE = map_results(subject);

    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE && results[value] != NO_QUANTIZER)
                *VECTOR_APPEND(requests) = (struct request){results[value], (uint32_t)i};
        }
}

static struct requests find_requests(const struct quantization_subject *subject, enum exclusion_style style)
{
    struct bitset own = mark_quantizer_nodes(subject);
    struct requests ret = {0};
    size_t kept = 0;

    add_readers(subject, &ret);
    if (style == EXCLUSION_BOTH_SIDES)
        add_makers(subject, &ret);
    for (size_t i = 0; i < ret.count; i++)
        if (!bitset_has(&own, ret.items[i].node))
            ret.items[kept++] = ret.items[i];
    ret.count = kept;
    bitset_release(&own);
    return ret;
}

static bool has_node(const struct model *model, struct text name)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (text_equal(model->nodes.items[i].name, name))
            return true;
    return false;
}

static void add_name(const struct quantization_subject *subject, struct text name, struct quantizer_exclusion *ret)
{
    if (name.size == 0) {
        ret->unnamed++;
        return;
    }
    for (size_t i = 0; i < ret->names.count; i++)
        if (text_equal(ret->names.items[i], name))
            return;
    *VECTOR_APPEND(&ret->names) = name;
    ret->unknown += subject->float_model != NULL && !has_node(subject->float_model, name);
}

/* A Relu of the float model that a quantizer replaces requires it, like the node before it. */
static void add_activations(const struct quantization_subject *subject, const struct bitset *off,
                            struct quantizer_exclusion *ret)
{
    BITSET_EACH (i, off) {
        const struct quantizer_twin *twin = quantization_twin(subject, i);
        uint32_t maker;

        if (twin == NULL || twin->tensor == VALUE_NONE || (isinf(twin->least) && isinf(twin->largest)))
            continue;
        maker = subject->float_model->values.items[twin->tensor].producer;
        if (maker != NODE_NONE)
            add_name(subject, subject->float_model->nodes.items[maker].name, ret);
    }
}

/* Quantizers that only these nodes require. */
static void find_left_out(const struct requests *requests, const struct bitset *nodes, struct bitset *ret)
{
    for (size_t i = 0; i < requests->count; i++)
        bitset_add(ret, requests->items[i].quantizer);
    for (size_t i = 0; i < requests->count; i++)
        if (!bitset_has(nodes, requests->items[i].node))
            bitset_remove(ret, requests->items[i].quantizer);
}

void quantizer_exclusion_find(const struct quantization_subject *subject, const struct bitset *off,
                              enum exclusion_style style, struct quantizer_exclusion *ret)
{
    struct requests requests SCOPED_ITEMS = find_requests(subject, style);
    SCOPED_BITSET(nodes);

    *ret = (struct quantizer_exclusion){.proof = EXCLUSION_EXACT};
    bitset_init(&nodes, subject->model->nodes.count);
    bitset_init(&ret->left_out, subject->quantizers.count);
    for (size_t i = 0; i < requests.count; i++)
        if (bitset_has(off, requests.items[i].quantizer))
            bitset_add(&nodes, requests.items[i].node);
    BITSET_EACH (i, &nodes)
        add_name(subject, subject->model->nodes.items[i].name, ret);
    if (style == EXCLUSION_BOTH_SIDES)
        add_activations(subject, off, ret);
    find_left_out(&requests, &nodes, &ret->left_out);
    ret->leaves_out_enough = bitset_count_common(&ret->left_out, off) == bitset_count(off);
}

void quantizer_exclusion_release(struct quantizer_exclusion *exclusion)
{
    free(exclusion->names.items);
    bitset_release(&exclusion->left_out);
}
