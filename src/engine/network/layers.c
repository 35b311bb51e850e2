/* engine/network/layers.c: names and order of layers. See layers.h. */
#include "engine/network/layers.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text/string_builder.h"

char *layer_name(const struct node_labels *labels, const struct layer *layer, struct name_map *taken)
{
    struct string_builder name;
    size_t size;
    char *result;

    string_init(&name);
    for (size_t i = 0; i < layer->nodes.count; i++) {
        string_add(&name, i > 0 ? " + " : "");
        string_add_text(&name, labels->items[layer->nodes.items[i]]);
    }
    size = name.size;
    for (unsigned i = 2; name_map_find(taken, (struct text){name.data, name.size}) != NAME_MAP_NONE; i++) {
        string_truncate(&name, size);
        string_add_format(&name, "_%u", i);
    }
    result = string_take(&name);
    name_map_add(taken, text_of(result), 0);
    return result;
}

/* The values that exist before any layer has run. */
static void add_source_values(const struct network *network, struct bitset *ret)
{
    const struct model *model = network->model;

    for (size_t i = 0; i < network->inputs.count; i++)
        bitset_add(ret, network->inputs.items[i]);
    for (size_t i = 0; i < model->initializers.count; i++)
        if (model->values.items[model->initializers.items[i].value].producer == NODE_NONE)
            bitset_add(ret, model->initializers.items[i].value);
}

/* The first input that does not exist; VALUE_NONE if all do. */
static uint32_t find_missing_input(const struct layer *layer, const struct bitset *exists)
{
    for (size_t i = 0; i < layer->inputs.count; i++)
        if (layer->inputs.items[i] != VALUE_NONE && !bitset_has(exists, layer->inputs.items[i]))
            return layer->inputs.items[i];
    return VALUE_NONE;
}

static void add_layer_outputs(const struct layer *layer, struct bitset *exists)
{
    for (size_t i = 0; i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE)
            bitset_add(exists, layer->outputs.items[i]);
}

static int refuse_missing_value(const struct network *network, const char *what, uint32_t value, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "%s: %s '" TEXT_FORMAT "', which nothing has made by then",
                     network->model->display_name, what, TEXT_ARGS(network->model->values.items[value].name));
}

static int compare_layer_order(const void *a, const void *b)
{
    const struct layer *x = a, *y = b;
    uint32_t last_of_x = x->nodes.items[x->nodes.count - 1], last_of_y = y->nodes.items[y->nodes.count - 1];

    return (last_of_x > last_of_y) - (last_of_x < last_of_y);
}

int layers_sort(struct network *network, struct error *err)
{
    size_t count = network->layers.count, placed = 0, before;
    struct layer *sorted = memory_alloc_zero(count + 1, sizeof(*sorted));
    struct layer *layers = network->layers.items;
    SCOPED_BITSET(exists);
    SCOPED_BITSET(done);
    int rc = 0;

    bitset_init(&exists, network->model->values.count);
    bitset_init(&done, count);
    add_source_values(network, &exists);
    if (count > 0)
        qsort(layers, count, sizeof(*layers), compare_layer_order);
    do { /* a single iteration, except for layers with distant nodes */
        before = placed;
        for (size_t i = 0; i < count; i++) {
            if (bitset_has(&done, i) || find_missing_input(&layers[i], &exists) != VALUE_NONE)
                continue;
            add_layer_outputs(&layers[i], &exists);
            bitset_add(&done, i);
            sorted[placed++] = layers[i];
        }
    } while (placed > before && placed < count);
    if (placed < count) {
        size_t left = 0;

        while (bitset_has(&done, left))
            left++;
        rc = refuse_missing_value(network, "a node reads", find_missing_input(&layers[left], &exists), err);
        free(sorted);
    } else {
        free(network->layers.items);
        network->layers.items = sorted;
        network->layers.capacity = count + 1;
    }
    return rc;
}

static bool output_is_made_twice(const struct network *network, uint32_t value, const struct bitset *exists)
{
    return bitset_has(exists, value) || network->model->values.items[value].initializer != INITIALIZER_NONE;
}

int layers_check(const struct network *network, struct error *err)
{
    SCOPED_BITSET(exists);
    int rc = 0;

    bitset_init(&exists, network->model->values.count);
    add_source_values(network, &exists);
    VECTOR_EACH (const struct layer, layer, network->layers) {
        if (find_missing_input(layer, &exists) != VALUE_NONE)
            return refuse_missing_value(network, "a layer reads", find_missing_input(layer, &exists), err);
        for (size_t k = 0; k < layer->outputs.count; k++)
            if (layer->outputs.items[k] != VALUE_NONE &&
                output_is_made_twice(network, layer->outputs.items[k], &exists)) {
                return error_set(err, ERR_CORRUPT, "%s: '" TEXT_FORMAT "' is produced twice",
                                 network->model->display_name,
                                 TEXT_ARGS(network->model->values.items[layer->outputs.items[k]].name));
            }
        add_layer_outputs(layer, &exists);
    }
    for (size_t i = 0; rc == 0 && i < network->outputs.count; i++)
        if (!bitset_has(&exists, network->outputs.items[i]))
            rc = refuse_missing_value(network, "an output is", network->outputs.items[i], err);
    return rc;
}
