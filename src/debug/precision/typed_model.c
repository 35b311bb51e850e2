/* debug/precision/typed_model.c: see typed_model.h. */
#include "debug/precision/typed_model.h"

#include "base/memory.h"
#include "debug/precision/casts.h"
#include "onnx/edit/model.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/half/rounded_nodes.h"

/* ---- Making it ---- */

bool typed_model_takes_half(const struct typed_models *models, const struct layer *layer)
{
    const struct model *model = models->network->model;

    for (size_t i = 0; i < layer->nodes.count; i++)
        if (!node_takes_half(model, &model->nodes.items[layer->nodes.items[i]], models->half))
            return false;
    return true;
}

static void add_nodes(const struct layer *layer, struct bitset *nodes)
{
    for (size_t i = 0; i < layer->nodes.count; i++)
        bitset_add(nodes, layer->nodes.items[i]);
}

/* Whether a layer only moves outputs of nodes in lower precision: lowering it changes nothing and saves Casts. */
static bool goes_along(const struct typed_models *models, const struct layer *layer, const struct bitset *nodes)
{
    const struct network *network = models->network;
    const struct model *model = network->model;
    bool ret = false;

    if (!layer->moves_data || !typed_model_takes_half(models, layer))
        return false;
    for (size_t i = 0; i < layer->inputs.count; i++) {
        uint32_t value = layer->inputs.items[i];

        if (value == VALUE_NONE || network_type(network, value) != DATA_FLOAT32)
            continue;
        if (model->values.items[value].producer == NODE_NONE || !bitset_has(nodes, model->values.items[value].producer))
            return false;
        ret = true;
    }
    return ret;
}

/* Whether nodes in lower precision are all that read a value: they round it in any case. Shape reads any type. */
static bool is_read_low(const struct typed_models *models, const struct value_readers *readers, uint32_t value,
                        const struct bitset *nodes)
{
    const struct model *model = models->network->model;
    size_t low = 0;

    for (size_t i = 0; i < model->outputs.count; i++)
        if (model->outputs.items[i] == value)
            return false;
    for (size_t i = 0; i < value_read_count(readers, value); i++) {
        struct value_read read = value_read_at(readers, value, i);
        const struct node *node = &model->nodes.items[read.node];

        if (read.input < node->inputs.count && node_takes_any_type(node))
            continue;
        if (!bitset_has(nodes, read.node) || read.input >= node->inputs.count || !node_narrows_input(node, read.input))
            return false;
        low++;
    }
    return low > 0;
}

/* Whether a layer only moves data that nodes in lower precision read, and lowering it needs no more Casts: at most the
 * one of its output for its only input in float32. */
static bool goes_ahead(const struct typed_models *models, const struct value_readers *readers,
                       const struct layer *layer, const struct bitset *nodes)
{
    const struct network *network = models->network;
    const struct model *model = network->model;
    size_t high = 0;

    if (!layer->moves_data || !typed_model_takes_half(models, layer))
        return false;
    for (size_t i = 0; i < layer->outputs.count; i++)
        if (layer->outputs.items[i] != VALUE_NONE && !is_read_low(models, readers, layer->outputs.items[i], nodes))
            return false;
    for (size_t i = 0; i < layer->inputs.count; i++) {
        uint32_t value = layer->inputs.items[i];

        if (value == VALUE_NONE || network_type(network, value) != DATA_FLOAT32 ||
            model->values.items[value].initializer != INITIALIZER_NONE)
            continue;
        high +=
            model->values.items[value].producer == NODE_NONE || !bitset_has(nodes, model->values.items[value].producer);
    }
    return high <= 1;
}

static void add_layers_ahead(const struct typed_models *models, struct bitset *nodes)
{
    struct value_readers readers SCOPED(value_readers_release) = {0};

    value_readers_init(&readers, models->network->model, NULL);
    for (size_t i = models->network->layers.count; i-- > 0;) {
        const struct layer *layer = &models->network->layers.items[i];

        if (goes_ahead(models, &readers, layer, nodes))
            add_nodes(layer, nodes);
    }
}

void typed_model_find_low(const struct typed_models *models, const struct bitset *chosen, bool rounds,
                          struct bitset *nodes)
{
    bitset_init(nodes, models->network->model->nodes.count);
    for (size_t i = 0; i < models->network->layers.count; i++) {
        const struct layer *layer = &models->network->layers.items[i];
        bool is_low = typed_model_lowers(models, i) && !bitset_has(chosen, i);

        if (is_low || (!rounds && goes_along(models, layer, nodes)))
            add_nodes(layer, nodes);
    }
    if (!rounds)
        add_layers_ahead(models, nodes);
}

int typed_model_make(const struct typed_models *models, const struct bitset *chosen, bool rounds, struct log *log,
                     struct model **ret, struct error *err)
{
    struct model *model = model_copy(models->network->model);
    struct unused_names names SCOPED(unused_names_release) = {0};
    SCOPED_BITSET(nodes);
    int rc;

    typed_model_find_low(models, chosen, rounds, &nodes);
    unused_names_init(&names, model, &model->arena);
    rc = rounds ? model_round_nodes(model, &nodes, models->half, &names, err)
                : mixed_precision_apply(model, &nodes, models->half, &names, log, err);
    if (rc < 0)
        model_free(model);
    else
        *ret = model;
    return rc;
}

/* ---- What it costs ---- */

/* Element counts of the run's tensors; of constants, and without a run, those in the model. */
static uint64_t *known_elements(const struct typed_models *models)
{
    size_t count = models->network->model->values.count;
    uint64_t *ret = memory_alloc_zero(count, sizeof(*ret));

    mixed_precision_elements(models->network->model, ret);
    for (size_t i = 0; i < count; i++)
        ret[i] = models->elements[i] > 0 ? models->elements[i] : ret[i];
    return ret;
}

static void count_nodes(const struct typed_models *models, const struct layer *layer, const struct bitset *low,
                        struct precision_costs *ret)
{
    const struct model *model = models->network->model;

    for (size_t i = 0; i < layer->nodes.count; i++) {
        if (!node_has_float32(model, &model->nodes.items[layer->nodes.items[i]]))
            continue;
        if (bitset_has(low, layer->nodes.items[i])) {
            ret->low_nodes++;
        } else {
            ret->float32_nodes++;
            ret->float32_moving += layer->moves_data;
        }
    }
}

void typed_model_costs(const struct typed_models *models, const struct bitset *chosen, struct precision_costs *ret)
{
    const struct network *network = models->network;
    uint64_t *elements SCOPED_FREE = known_elements(models);
    SCOPED_BITSET(low);
    SCOPED_BITSET(none);

    typed_model_find_low(models, chosen, false, &low);
    bitset_init(&none, network->model->nodes.count);
    *ret = (struct precision_costs){0};
    mixed_precision_costs(network->model, &low, elements, &ret->mixed);
    mixed_precision_costs(network->model, &none, elements, &ret->float32);
    for (size_t i = 0; i < network->layers.count; i++)
        count_nodes(models, &network->layers.items[i], &low, ret);
}

/* ---- What is not worth its Casts ---- */

/* Fewer Casts, or the same number and fewer bytes. */
static bool is_cheaper(const struct precision_costs *costs, const struct precision_costs *than)
{
    if (costs->mixed.casts != than->mixed.casts)
        return costs->mixed.casts < than->mixed.casts;
    return costs->mixed.cast_bytes + costs->mixed.node_bytes < than->mixed.cast_bytes + than->mixed.node_bytes;
}

static uint32_t *find_pieces(const struct typed_models *models, const struct bitset *chosen, uint32_t *ret_count)
{
    const struct network *network = models->network;
    SCOPED_BITSET(low);
    SCOPED_BITSET(moving);
    SCOPED_BITSET(raised);
    struct cast_question question = {.model = network->model, .low = &low, .moving = &moving};
    uint64_t *elements SCOPED_FREE = known_elements(models);

    typed_model_find_low(models, chosen, false, &low);
    bitset_init_copy(&moving, &low);
    bitset_init(&raised, network->model->nodes.count);
    for (size_t i = 0; i < network->layers.count; i++)
        for (size_t k = 0; typed_model_lowers(models, i) && k < network->layers.items[i].nodes.count; k++)
            bitset_remove(&moving, network->layers.items[i].nodes.items[k]);
    question.elements = elements;
    casts_find_unworthy(&question, &raised);
    return casts_find_pieces(network->model, &raised, ret_count);
}

/* Assigns this number to a piece that is cheaper in float32 in addition to the choice. */
static bool take_piece(const struct typed_models *models, const struct bitset *chosen, const uint32_t *pieces,
                       uint32_t piece, uint32_t number, uint32_t *ret)
{
    struct precision_costs before, after;
    SCOPED_BITSET(with);
    bool cheaper;

    bitset_init_copy(&with, chosen);
    for (size_t i = 0; i < models->network->layers.count; i++)
        if (pieces[models->network->layers.items[i].nodes.items[0]] == piece && typed_model_lowers(models, i))
            bitset_add(&with, i);
    typed_model_costs(models, chosen, &before);
    typed_model_costs(models, &with, &after);
    cheaper = is_cheaper(&after, &before);
    bitset_subtract(&with, chosen);
    for (size_t i = bitset_next(&with, 0); cheaper && i < with.size; i = bitset_next(&with, i + 1))
        ret[i] = number;
    return cheaper;
}

uint32_t typed_model_savings(const struct typed_models *models, const struct bitset *chosen, uint32_t *ret)
{
    uint32_t count, taken = 0;
    uint32_t *pieces SCOPED_FREE = find_pieces(models, chosen, &count);

    for (uint32_t piece = 1; piece <= count; piece++)
        taken += take_piece(models, chosen, pieces, piece, taken + 1, ret);
    return taken;
}
