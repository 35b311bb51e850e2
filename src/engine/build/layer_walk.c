/* engine/build/layer_walk.c: see layer_walk.h. */
#include "engine/build/layer_walk.h"

#include <stdlib.h>

#include "base/memory.h"

static void note_last_reader(struct layer_walk *walk, const struct value_list *values, size_t layer)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != VALUE_NONE)
            walk->last_reader[values->items[i]] = layer;
}

void layer_walk_init(struct layer_walk *walk, const struct network *network)
{
    size_t count = network->model->values.count;

    *walk = (struct layer_walk){
        .network = network,
        .values = memory_alloc_zero(count, sizeof(*walk->values)),
        .last_reader = memory_alloc_zero(count, sizeof(*walk->last_reader)),
    };
    for (size_t i = 0; i < network->layers.count; i++) {
        note_last_reader(walk, &network->layers.items[i].outputs, i);
        note_last_reader(walk, &network->layers.items[i].inputs, i);
    }
}

static void release_walk_value(struct layer_values *value)
{
    tensor_release(&value->tensor);
    *value = (struct layer_values){0};
}

static void release_walk_values(struct layer_walk *walk)
{
    for (size_t i = 0; walk->values && i < walk->network->model->values.count; i++)
        release_walk_value(&walk->values[i]);
}

void layer_walk_release(struct layer_walk *walk)
{
    release_walk_values(walk);
    free(walk->values);
    free(walk->last_reader);
    *walk = (struct layer_walk){0};
}

int layer_walk_feed(struct layer_walk *walk, struct tensor_list *feed, struct error *err)
{
    release_walk_values(walk);
    for (size_t i = 0; i < walk->network->inputs.count; i++) {
        struct tensor *tensor = &feed->items[i].tensor;
        struct layer_values *value = &walk->values[walk->network->inputs.items[i]];
        int rc = layer_tensor_align(tensor, err);

        if (rc < 0)
            return rc;
        tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &value->tensor);
        value->exists = true;
    }
    return 0;
}

static void release_read_values(struct layer_walk *walk, const struct value_list *values, size_t layer)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != VALUE_NONE && walk->last_reader[values->items[i]] == layer)
            release_walk_value(&walk->values[values->items[i]]);
}

void layer_walk_leave(struct layer_walk *walk, size_t layer)
{
    release_read_values(walk, &walk->network->layers.items[layer].inputs, layer);
    release_read_values(walk, &walk->network->layers.items[layer].outputs, layer);
}
