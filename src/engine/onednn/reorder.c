/* engine/onednn/reorder.c: converts tensors between layouts with oneDNN. See engine/tactic/tactic.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "engine/onednn/onednn.h"

/* One kind of conversion. Only for elements of 4 bytes, which are moved as float32 regardless of their type. */
struct reorder_copy {
    struct shape shape;
    struct layout from, to;
    struct dnnl_primitive *primitive; /* NULL: oneDNN cannot do it */
    struct onednn_exec_arg args[3];
    size_t arg_count;
    void *scratchpad;
};

struct reorder {
    const struct onednn *onednn; /* NULL: not available */
    VECTOR(struct reorder_copy) copies;
};

static void release_reorder_copy(const struct onednn *onednn, struct reorder_copy *copy)
{
    for (size_t i = 0; i < copy->arg_count; i++) {
        if (copy->args[i].memory)
            onednn->memory_destroy(copy->args[i].memory);
    }
    if (copy->primitive)
        onednn->primitive_destroy(copy->primitive);
    free(copy->scratchpad);
}

static bool add_copy_memory(const struct onednn *onednn, struct reorder_copy *copy, int arg,
                            const struct dnnl_memory_desc *memory, void *data)
{
    struct onednn_exec_arg *added = &copy->args[copy->arg_count];

    *added = (struct onednn_exec_arg){.arg = arg};
    if (onednn->memory_create(&added->memory, memory, onednn->engine, data) != ONEDNN_SUCCESS)
        return false;
    copy->arg_count++;
    return true;
}

static bool add_copy_scratchpad(const struct onednn *onednn, struct reorder_copy *copy,
                                const struct dnnl_primitive_desc *descriptor)
{
    const struct dnnl_memory_desc *memory = onednn->primitive_desc_query_md(descriptor, ONEDNN_QUERY_SCRATCHPAD_MD, 0);
    size_t size = memory ? onednn->memory_desc_get_size(memory) : 0;

    if (size == 0)
        return true;
    copy->scratchpad = onednn_allocate(size);
    return copy->scratchpad && add_copy_memory(onednn, copy, ONEDNN_ARG_SCRATCHPAD, memory, copy->scratchpad);
}

/* NULL if it cannot be described. */
static struct dnnl_memory_desc *create_layout_descriptor(const struct onednn *onednn, const struct layout *layout,
                                                         const struct shape *shape)
{
    struct onednn_memory_desc memory;

    return onednn_memory_of(layout, shape, &memory) ? onednn->dialect->memory_desc_new(&memory) : NULL;
}

/* False if oneDNN cannot; created objects stay in `copy`. */
static bool make_reorder_primitive(const struct onednn *onednn, struct reorder_copy *copy)
{
    struct dnnl_memory_desc *from = create_layout_descriptor(onednn, &copy->from, &copy->shape);
    struct dnnl_memory_desc *to = create_layout_descriptor(onednn, &copy->to, &copy->shape);
    struct dnnl_primitive_attr *attributes = NULL;
    struct dnnl_primitive_desc *descriptor = NULL;
    bool made = from && to && onednn->primitive_attr_create(&attributes) == ONEDNN_SUCCESS &&
                onednn->primitive_attr_set_scratchpad_mode(attributes, ONEDNN_SCRATCHPAD_MODE_USER) == ONEDNN_SUCCESS &&
                onednn->reorder_primitive_desc_create(&descriptor, from, onednn->engine, to, onednn->engine,
                                                      attributes) == ONEDNN_SUCCESS &&
                add_copy_memory(onednn, copy, ONEDNN_ARG_SRC, from, NULL) &&
                add_copy_memory(onednn, copy, ONEDNN_ARG_DST, to, NULL) &&
                add_copy_scratchpad(onednn, copy, descriptor) &&
                onednn->primitive_create(&copy->primitive, descriptor) == ONEDNN_SUCCESS;

    if (descriptor)
        onednn->primitive_desc_destroy(descriptor);
    if (attributes)
        onednn->primitive_attr_destroy(attributes);
    onednn->dialect->memory_desc_free(from);
    onednn->dialect->memory_desc_free(to);
    return made;
}

static struct reorder_copy *find_reorder_copy(struct reorder *reorder, const struct layout_change *change)
{
    struct reorder_copy *copy;

    for (size_t i = 0; i < reorder->copies.count; i++) {
        copy = &reorder->copies.items[i];
        if (shape_equal(&copy->shape, change->shape) && layout_equal(&copy->from, change->from) &&
            layout_equal(&copy->to, change->to))
            return copy;
    }
    copy = VECTOR_APPEND(&reorder->copies);
    *copy = (struct reorder_copy){.shape = *change->shape, .from = *change->from, .to = *change->to};
    if (!make_reorder_primitive(reorder->onednn, copy)) {
        release_reorder_copy(reorder->onednn, copy);
        *copy = (struct reorder_copy){.shape = *change->shape, .from = *change->from, .to = *change->to};
    }
    return copy;
}

static struct reorder *create_reorder(void)
{
    struct reorder *reorder = memory_alloc_zero(1, sizeof(*reorder));
    struct error ignored;

    if (onednn_load(&reorder->onednn, &ignored) < 0)
        reorder->onednn = NULL; /* then layout_convert() is used */
    return reorder;
}

int reorder_run(struct reorder **state, const struct layout_change *change, const void *source, void *target,
                struct error *err)
{
    const struct onednn *onednn;
    struct reorder_copy *copy;

    if (!*state)
        *state = create_reorder();
    onednn = (*state)->onednn;
    if (!onednn || change->type != DATA_FLOAT32 || layout_equal(change->from, change->to))
        return layout_convert(change, source, target, err);
    copy = find_reorder_copy(*state, change);
    if (!copy->primitive)
        return layout_convert(change, source, target, err);
    if (onednn->memory_set_data_handle(copy->args[0].memory, (void *)(uintptr_t)source) != ONEDNN_SUCCESS ||
        onednn->memory_set_data_handle(copy->args[1].memory, target) != ONEDNN_SUCCESS ||
        onednn->primitive_execute(copy->primitive, onednn->stream, (int)copy->arg_count, copy->args) !=
            ONEDNN_SUCCESS ||
        onednn->stream_wait(onednn->stream) != ONEDNN_SUCCESS)
        return error_set(err, ERR_BACKEND, "oneDNN failed to copy a tensor from layout '%s' to layout '%s'",
                         change->from->text, change->to->text);
    return 0;
}

void reorder_free(struct reorder *reorder)
{
    if (!reorder)
        return;
    for (size_t i = 0; i < reorder->copies.count; i++)
        release_reorder_copy(reorder->onednn, &reorder->copies.items[i]);
    free(reorder->copies.items);
    free(reorder);
}
