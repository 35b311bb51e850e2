/* onnx/model/known_types.c: see known_types.h. */
#include "onnx/model/known_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void known_types_init(struct known_types *known, const struct model *model, struct arena *arena)
{
    *known = (struct known_types){.model = model, .arena = arena};
}

void known_types_init_copy(struct known_types *known, const struct known_types *from)
{
    size_t size = from->model->values.count * sizeof(*from->infos);

    *known = *from;
    if (from->infos == NULL)
        return;
    known->infos = memory_alloc(size);
    memcpy(known->infos, from->infos, size);
}

void known_types_release(struct known_types *known)
{
    free(known->infos);
    known->infos = NULL;
}

void known_types_set(struct known_types *known, uint32_t value, const struct value_type *type)
{
    known_types_set_info(known, value, value_info_make(known->arena, known->model->values.items[value].name, type));
}

void known_types_set_info(struct known_types *known, uint32_t value, struct span info)
{
    if (known->infos == NULL)
        known->infos = memory_alloc_zero(known->model->values.count, sizeof(*known->infos));
    known->infos[value] = info;
}

void known_types_state(const struct known_types *known, struct model *model)
{
    for (uint32_t i = 0; known->infos != NULL && i < known->model->values.count; i++)
        if (known->infos[i].size > 0) {
            model->values.items[i].info = known->infos[i];
            model->values.items[i].info_prefix = 0;
        }
}
