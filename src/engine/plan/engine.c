/* engine/plan/engine.c: see engine.h. */
#include "engine/plan/engine.h"

#include <stdlib.h>

#include "backend/model_io.h"

static void release_engine_layer(struct engine_layer *layer)
{
    tactic_release(&layer->tactic);
    free(layer->precision.outputs);
    free(layer->input_scales);
    free(layer->input_shapes);
    free(layer->output_shapes);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    for (size_t i = 0; engine->layers && i < engine->network->layers.count; i++)
        release_engine_layer(&engine->layers[i]);
    free(engine->layers);
    for (size_t i = 0; i < engine->profiles.count; i++) {
        free(engine->profiles.items[i].minimum);
        free(engine->profiles.items[i].optimum);
        free(engine->profiles.items[i].maximum);
    }
    free(engine->profiles.items);
    if (engine->owns_providers)
        providers_close(&engine->providers);
    network_free(engine->owned_network);
    tactic_options_release(&engine->precision);
    free(engine);
}

/* ---- Inputs and outputs ---- */

/* Sets dimensions that are fixed by the profiles. */
static void apply_profile_shapes(const struct engine *engine, size_t input, struct backend_io *ret)
{
    const struct shape *first = &engine->profiles.items[0].minimum[input];

    if (!ret->has_shape) {
        ret->has_shape = true;
        ret->shape = *first;
        for (size_t i = 0; i < first->rank; i++)
            ret->shape.dims[i] = -1;
    }
    for (size_t i = 0; i < ret->shape.rank && i < first->rank; i++) {
        bool fixed = true;

        VECTOR_EACH (const struct engine_profile, profile, engine->profiles)
            fixed &=
                profile->minimum[input].rank == ret->shape.rank && profile->maximum[input].rank == ret->shape.rank &&
                profile->minimum[input].dims[i] == first->dims[i] && profile->maximum[input].dims[i] == first->dims[i];
        if (!fixed || ret->shape.dims[i] >= 0)
            continue;
        ret->shape.dims[i] = first->dims[i];
        free(ret->symbols[i]);
        ret->symbols[i] = NULL;
    }
}

static struct backend_io *describe_engine_values(const struct network *network, const struct value_list *values)
{
    struct backend_io *items = model_io_new(network->model, NULL, values);

    for (size_t i = 0; i < values->count; i++)
        if (items[i].type == DATA_UNDEFINED)
            items[i].type = network_type(network, values->items[i]);
    return items;
}

struct backend_io *engine_inputs_new(const struct engine *engine)
{
    struct backend_io *items = describe_engine_values(engine->network, &engine->network->inputs);

    for (size_t i = 0; i < engine->network->inputs.count; i++)
        if (engine->profiles.count > 0 && items[i].not_a_tensor == NULL)
            apply_profile_shapes(engine, i, &items[i]);
    return items;
}

struct backend_io *engine_outputs_new(const struct engine *engine)
{
    return describe_engine_values(engine->network, &engine->network->outputs);
}
