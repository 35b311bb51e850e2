/* onnx/edit/copy.c: see copy.h. */
#include "onnx/edit/copy.h"

#include <string.h>

#include "base/memory.h"

static void *copy_items(const void *items, size_t count, size_t size)
{
    void *copy = memory_alloc_zero(count, size);

    if (count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

#define COPY_VECTOR(to, from)                                                                                          \
    ((to)->items = copy_items((from)->items, (from)->count, sizeof(*(from)->items)),                                   \
     (to)->count = (to)->capacity = (from)->count)

struct model *model_copy(const struct model *from)
{
    struct model *copy = memory_alloc_zero(1, sizeof(*copy));

    *copy = *from;
    copy->borrows_map = true;
    copy->folder = memory_strdup(from->folder);
    copy->display_name = memory_strdup(from->display_name);
    arena_init(&copy->arena);
    memset(&copy->buffers, 0, sizeof(copy->buffers));
    memset(&copy->external_files, 0, sizeof(copy->external_files));
    COPY_VECTOR(&copy->opsets, &from->opsets);
    COPY_VECTOR(&copy->fields_before_graph, &from->fields_before_graph);
    COPY_VECTOR(&copy->fields_after_graph, &from->fields_after_graph);
    COPY_VECTOR(&copy->nodes, &from->nodes);
    COPY_VECTOR(&copy->values, &from->values);
    COPY_VECTOR(&copy->edges, &from->edges);
    COPY_VECTOR(&copy->initializers, &from->initializers);
    COPY_VECTOR(&copy->inputs, &from->inputs);
    COPY_VECTOR(&copy->outputs, &from->outputs);
    COPY_VECTOR(&copy->repeated_inputs, &from->repeated_inputs);
    COPY_VECTOR(&copy->annotations, &from->annotations);
    COPY_VECTOR(&copy->other_graph_fields, &from->other_graph_fields);
    name_map_init(&copy->value_by_name);
    for (uint32_t i = 0; i < from->values.count; i++)
        name_map_add(&copy->value_by_name, from->values.items[i].name, i);
    return copy;
}
