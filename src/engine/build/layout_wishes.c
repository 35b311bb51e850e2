/* engine/build/layout_wishes.c: see layout_wishes.h. */
#include "engine/build/layout_wishes.h"

#include <stdlib.h>

#include "base/memory.h"

/* A reorder reads and writes memory; these are rough numbers of a current machine. A constant estimate keeps builds
 * with a timing cache reproducible. */
#define REORDER_START 3e-6
#define REORDER_BYTES_PER_SECOND 4e9

enum wish { WISH_ROW_MAJOR, WISH_BLOCKED, WISH_AS_IT_COMES };

static enum wish layout_wish_of(enum layer_kind kind)
{
    switch (kind) {
    case LAYER_CONVOLUTION:
    case LAYER_DECONVOLUTION:
        return WISH_BLOCKED;
    case LAYER_POOLING:
    case LAYER_ACTIVATION:
    case LAYER_BINARY:
    case LAYER_CONCATENATION:
    case LAYER_BATCH_NORMALIZATION:
    case LAYER_LRN:
    case LAYER_RESIZE:
        return WISH_AS_IT_COMES;
    default:
        return WISH_ROW_MAJOR;
    }
}

/* A layer that passes a layout on prefers what the consumers of its result prefer, which is known already. */
static bool node_wants_blocked(const struct layout_wishes *wishes, const struct layer *layer)
{
    enum wish wish = layout_wish_of(layer->kind);
    uint32_t output = layer->outputs.items[0];

    return wish == WISH_BLOCKED || (wish == WISH_AS_IT_COMES && output != VALUE_NONE &&
                                    wishes->values[output].blocked > wishes->values[output].row_major);
}

void layout_wishes_init(struct layout_wishes *wishes, const struct network *network)
{
    *wishes = (struct layout_wishes){
        .network = network, .values = memory_alloc_zero(network->model->values.count, sizeof(*wishes->values))};
    for (size_t i = 0; i < network->outputs.count; i++)
        wishes->values[network->outputs.items[i]].row_major++;
    for (size_t i = network->layers.count; i-- > 0;) {
        const struct layer *layer = &network->layers.items[i];
        bool blocked = node_wants_blocked(wishes, layer);

        for (size_t k = 0; k < layer->inputs.count; k++) {
            if (layer->inputs.items[k] == VALUE_NONE)
                continue;
            if (blocked)
                wishes->values[layer->inputs.items[k]].blocked++;
            else
                wishes->values[layer->inputs.items[k]].row_major++;
        }
    }
}

void layout_wishes_release(struct layout_wishes *wishes)
{
    free(wishes->values);
    *wishes = (struct layout_wishes){0};
}

double layout_wishes_cost(const struct layout_wishes *wishes, uint32_t value, const struct layout *layout, size_t bytes)
{
    uint32_t unhappy = layout_is_row_major(layout) ? wishes->values[value].blocked : wishes->values[value].row_major;

    return unhappy * (REORDER_START + (double)bytes / REORDER_BYTES_PER_SECOND);
}
