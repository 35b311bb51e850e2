/* backend/trtexec/io.c: see io.h. */
#include "backend/trtexec/io.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/memory.h"

struct io *io_list_add(struct io_list *list, const char *name, const char *safe, enum data_type type)
{
    size_t capacity = list->capacity;

    list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
    if (capacity != list->capacity)
        list->details = memory_resize(list->details, list->capacity, sizeof(*list->details));
    list->items[list->count] = (struct backend_io){.name = memory_strdup(name), .type = type};
    list->items[list->count].symbols = memory_alloc_zero(TENSOR_MAX_RANK, sizeof(char *));
    list->details[list->count] = (struct io){.safe = memory_strdup(safe)};
    return &list->details[list->count++];
}

void io_list_release(struct io_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->details[i].safe);
    model_io_free(list->items, list->count);
    free(list->details);
}

struct io *io_list_find(const struct io_list *list, const char *safe)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->details[i].safe, safe) == 0)
            return &list->details[i];
    return NULL;
}

void io_list_take(const struct trtexec_tensors *tensors, struct io_list *ret)
{
    for (size_t i = 0; i < tensors->count; i++) {
        const struct trtexec_tensor *tensor = &tensors->items[i];

        io_list_add(ret, tensor->name, tensor->safe, tensor->type)->is_open =
            !tensor->has_shape || !shape_is_static(&tensor->shape);
        ret->items[i].has_shape = tensor->has_shape;
        ret->items[i].shape = tensor->shape;
        for (size_t k = 0; k < tensor->shape.rank; k++)
            ret->items[i].symbols[k] = tensor->symbols[k] != NULL ? memory_strdup(tensor->symbols[k]) : NULL;
    }
}
