/* backend/model_io.c: see model_io.h. */
#include "backend/model_io.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/write/model.h"

int model_io_open(const struct backend_model *source, struct model **ret, struct error *err)
{
    int rc;

    if (source->path != NULL)
        return model_open(source->path, source->external_folder, ret, err);
    rc = model_parse((struct span){source->data, source->size}, "the model in memory", ret, err);
    if (rc == 0 && source->external_folder != NULL) {
        free((*ret)->folder);
        (*ret)->folder = memory_strdup(source->external_folder);
    }
    return rc;
}

int model_io_write(const struct model *model, char **ret_bytes, struct backend_model *ret, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};
    size_t size = 0;
    int rc;

    subgraph_init_whole(&whole, model);
    rc = model_write_memory(&whole, ret_bytes, &size, err);
    if (rc == 0)
        *ret = (struct backend_model){.data = *ret_bytes, .size = size, .external_folder = model->folder};
    return rc;
}

struct backend_io *model_io_new(const struct model *model, const struct known_types *known,
                                const struct value_list *values)
{
    struct backend_io *items = memory_alloc_zero(values->count, sizeof(*items));

    for (size_t i = 0; i < values->count; i++) {
        const struct value *value = &model->values.items[values->items[i]];
        struct backend_io *io = &items[i];
        struct value_type type;

        value_info_decode(known_types_info(known, model, values->items[i]), &type);
        *io = (struct backend_io){.name = memory_copy(value->name.data, value->name.size),
                                  .type = type.element,
                                  .not_a_tensor = type.not_a_tensor,
                                  .has_shape = type.has_shape,
                                  .shape = type.shape,
                                  .symbols = memory_alloc_zero(TENSOR_MAX_RANK, sizeof(*io->symbols))};
        for (size_t k = 0; k < type.shape.rank; k++)
            if (type.shape.dims[k] < 0 && type.symbols[k].size > 0)
                io->symbols[k] = memory_copy(type.symbols[k].data, type.symbols[k].size);
    }
    return items;
}

void model_io_free(struct backend_io *items, size_t count)
{
    for (size_t i = 0; items != NULL && i < count; i++) {
        for (size_t k = 0; k < TENSOR_MAX_RANK; k++)
            free(items[i].symbols[k]);
        free(items[i].symbols);
        free(items[i].name);
    }
    free(items);
}
