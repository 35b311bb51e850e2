/* engine/io.c: see io.h. */
#include "engine/io.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/proto/value_info.h"

static void describe(const struct network *network, uint32_t number, struct backend_io *ret)
{
    const struct value *value = &network->model->values.items[number];
    struct value_type type;

    value_info_decode(value->info, &type);
    *ret = (struct backend_io){.name = memory_copy(value->name.data, value->name.size),
                               .type = type.element != DATA_UNDEFINED ? type.element : network_type(network, number),
                               .not_a_tensor = type.not_a_tensor,
                               .has_shape = type.has_shape,
                               .shape = type.shape};
    ret->symbols = memory_alloc_zero(TENSOR_MAX_RANK, sizeof(*ret->symbols));
    for (size_t i = 0; i < type.shape.rank; i++)
        if (type.shape.dims[i] < 0 && type.symbols[i].size > 0)
            ret->symbols[i] = memory_copy(type.symbols[i].data, type.symbols[i].size);
}

/* What the profiles leave no choice about. */
static void apply_profiles(const struct engine *engine, size_t input, struct backend_io *ret)
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

        for (size_t k = 0; k < engine->profiles.count; k++) {
            const struct engine_profile *profile = &engine->profiles.items[k];

            fixed &=
                profile->minimum[input].rank == ret->shape.rank && profile->maximum[input].rank == ret->shape.rank &&
                profile->minimum[input].dims[i] == first->dims[i] && profile->maximum[input].dims[i] == first->dims[i];
        }
        if (!fixed || ret->shape.dims[i] >= 0)
            continue;
        ret->shape.dims[i] = first->dims[i];
        free(ret->symbols[i]);
        ret->symbols[i] = NULL;
    }
}

struct backend_io *engine_inputs_new(const struct engine *engine)
{
    const struct network *network = engine->network;
    struct backend_io *items = memory_alloc_zero(network->inputs.count, sizeof(*items));

    for (size_t i = 0; i < network->inputs.count; i++) {
        describe(network, network->inputs.items[i], &items[i]);
        if (engine->profiles.count > 0 && items[i].not_a_tensor == NULL)
            apply_profiles(engine, i, &items[i]);
    }
    return items;
}

struct backend_io *engine_outputs_new(const struct engine *engine)
{
    const struct network *network = engine->network;
    struct backend_io *items = memory_alloc_zero(network->outputs.count, sizeof(*items));

    for (size_t i = 0; i < network->outputs.count; i++)
        describe(network, network->outputs.items[i], &items[i]);
    return items;
}

void engine_io_free(struct backend_io *items, size_t count)
{
    for (size_t i = 0; items != NULL && i < count; i++) {
        for (size_t k = 0; k < TENSOR_MAX_RANK; k++)
            free(items[i].symbols[k]);
        free(items[i].symbols);
        free(items[i].name);
    }
    free(items);
}
