/* cli/debug/passes/kernels.c: see kernels.h. */
#include "cli/debug/passes/kernels.h"

#include <string.h>

struct engine_labels {
    const struct engine *engine;
    struct node_labels nodes;
};

static void engine_labels_init(struct engine_labels *labels, const struct engine *engine)
{
    labels->engine = engine;
    node_labels_init(&labels->nodes, engine->network->model);
}

/* Label of the layer's first node, which determines its kind of kernel. */
static struct text label_of(const struct engine_labels *labels, size_t layer)
{
    return labels->nodes.items[labels->engine->network->layers.items[layer].nodes.items[0]];
}

/* Maps first nodes to layers. */
static int map_layers(const struct engine_labels *labels, struct name_map *ret, struct error *err)
{
    for (size_t i = 0; i < labels->engine->network->layers.count; i++)
        if (name_map_add(ret, label_of(labels, i), (uint32_t)i) != i)
            return error_set(err, ERR_UNSUPPORTED, "two nodes are named '" TEXT_FORMAT "'",
                             TEXT_ARGS(label_of(labels, i)));
    return 0;
}

static bool is_same(const struct tactic *a, const struct tactic *b)
{
    return strcmp(a->provider->name, b->provider->name) == 0 && strcmp(a->name, b->name) == 0;
}

static void force_tactics(const struct layer *layer, const struct tactic *tactic, struct tactic_replay *ret)
{
    struct tactic_algorithm *algorithm = tactic_replay_set(ret, layer->name);
    struct string_builder name;

    string_init(&name);
    string_add_format(&name, "%s:%s", tactic->provider->name, tactic->name);
    algorithm->implementation = tactic->implementation;
    algorithm->tactic = tactic->number;
    algorithm->name = string_take(&name);
}

int kernels_find(const struct engine *with, const struct engine *without, struct tactic_replay *ret,
                 struct string_builder *differences, struct error *err)
{
    struct engine_labels of_with, of_without;
    SCOPED_NAME_MAP(places);
    int rc;

    tactic_replay_init(ret);
    string_init(differences);
    engine_labels_init(&of_with, with);
    engine_labels_init(&of_without, without);
    rc = map_layers(&of_with, &places, err);
    for (size_t i = 0; rc == 0 && i < without->network->layers.count; i++) {
        const struct layer *layer = &without->network->layers.items[i];
        uint32_t twin = name_map_find(&places, label_of(&of_without, i));
        const struct tactic *tactic = twin != NAME_MAP_NONE ? &with->layers[twin].tactic : NULL;

        if (tactic == NULL)
            continue;
        force_tactics(layer, tactic, ret);
        if (!is_same(tactic, &without->layers[i].tactic))
            string_add_format(differences, "%s'%s' (%s:%s)", differences->size > 0 ? ", " : "", layer->name,
                              tactic->provider->name, tactic->name);
    }
    node_labels_release(&of_with.nodes);
    node_labels_release(&of_without.nodes);
    return rc;
}
