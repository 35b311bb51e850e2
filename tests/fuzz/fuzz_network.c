/* tests/fuzz/fuzz_network.c: models as the engine takes them. Each becomes layers; what these are has to be found again
 * in the model that they leave behind. */
#include <stdlib.h>

#include "base/memory.h"
#include "engine/network/compile.h"
#include "onnx/write/model.h"
#include "target.h"

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void compare(const struct network *network, const struct network *again)
{
    struct layer_names names;

    require(network->layers.count == again->layers.count);
    layer_names_init(&names, network);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *before = &network->layers.items[i], *after = &again->layers.items[i];

        require(text_equal(text_of(before->name), text_of(after->name)));
        require(before->kind == after->kind && before->activation == after->activation);
        require(before->fused.count == after->fused.count && before->inputs.count == after->inputs.count);
        require(before->outputs.count == after->outputs.count && before->moves_data == after->moves_data);
        require(layer_names_find(&names, text_of(before->name)) == before);
    }
    layer_names_release(&names);
}

/* What a plan file does: the model is written, and its layers made again from their nodes. */
static void restore(const struct network *network)
{
    struct node_group *groups = memory_alloc_zero(network->layers.count + 1, sizeof(*groups));
    struct network *again = NULL;
    struct model *model = NULL;
    struct subgraph whole;
    struct error error;
    char *bytes = NULL;
    size_t size;

    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];

        groups[i] = (struct node_group){text_of(layer->name), layer->nodes.items, layer->nodes.count};
    }
    subgraph_init_whole(&whole, network->model);
    if (model_write_memory(&whole, &bytes, &size, &error) == 0) {
        require(model_parse((struct span){(const uint8_t *)bytes, size}, "again", &model, &error) == 0);
        require(network_restore(model, groups, network->layers.count, &again, &error) == 0);
        compare(network, again);
        network_free(again);
        free(bytes);
    }
    subgraph_release(&whole);
    free(groups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int marked = 0; marked < 2; marked++) {
        struct network_settings settings = {.outputs.mark_all = marked};
        struct network *network = NULL;
        struct model *model = NULL;
        struct error error;

        if (model_parse((struct span){data, size}, "fuzzed", &model, &error) < 0)
            return 0;
        if (network_build(model, &settings, &network, &error) < 0)
            continue;
        restore(network);
        network_free(network);
    }
    return 0;
}
