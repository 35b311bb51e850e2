/* debug/precision/blocks.c: see blocks.h. */
#include "debug/precision/blocks.h"

#include "base/memory.h"

struct value_uses {
    uint32_t maker; /* the producing layer; UINT32_MAX: none */
    uint32_t readers;
};

static struct value_uses *find_uses(const struct network *network)
{
    struct value_uses *ret = memory_alloc_zero(network->model->values.count, sizeof(*ret));

    for (size_t i = 0; i < network->model->values.count; i++)
        ret[i].maker = UINT32_MAX;
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];

        for (size_t k = 0; k < layer->outputs.count; k++)
            if (layer->outputs.items[k] != VALUE_NONE)
                ret[layer->outputs.items[k]].maker = (uint32_t)i;
        for (size_t k = 0; k < layer->inputs.count; k++)
            if (layer->inputs.items[k] != VALUE_NONE)
                ret[layer->inputs.items[k]].readers++;
    }
    return ret;
}

/* The block of the producers of the layer's inputs; UINT32_MAX: several blocks, or other consumers of these inputs. */
static uint32_t block_before(const struct layer *layer, const struct value_uses *uses, const uint32_t *blocks)
{
    uint32_t found = UINT32_MAX;

    for (size_t k = 0; k < layer->inputs.count; k++) {
        const struct value_uses *use = layer->inputs.items[k] != VALUE_NONE ? &uses[layer->inputs.items[k]] : NULL;

        if (use == NULL || use->maker == UINT32_MAX)
            continue;
        if (use->readers > 1 || (found != UINT32_MAX && found != blocks[use->maker]))
            return UINT32_MAX;
        found = blocks[use->maker];
    }
    return found;
}

uint32_t *precision_blocks(const struct network *network)
{
    uint32_t *blocks = memory_alloc_zero(network->layers.count, sizeof(*blocks));
    struct value_uses *uses SCOPED_FREE = find_uses(network);

    for (size_t i = 0; i < network->layers.count; i++) {
        uint32_t before = block_before(&network->layers.items[i], uses, blocks);

        blocks[i] = before != UINT32_MAX ? before : (uint32_t)i;
    }
    return blocks;
}
