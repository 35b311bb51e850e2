/* engine/onednn/memory.c: converts between layouts and oneDNN's memory descriptors. See onednn.h. */
#include <stdio.h>

#include "engine/onednn/onednn.h"

bool onednn_memory_of(const struct layout *layout, const struct shape *shape, struct onednn_memory_desc *ret)
{
    struct onednn_memory_desc memory = {.shape = *shape, .kind = ONEDNN_MEMORY_LAYOUT, .layout = *layout};
    struct layout_strides strides;

    if (shape->rank == 0)
        memory.shape = (struct shape){.rank = 1, .dims = {1}};
    if (memory.shape.rank > ONEDNN_MAX_RANK || !layout_resolve(layout, &memory.shape, &strides) ||
        strides.elements == 0)
        return false;
    *ret = memory;
    return true;
}

bool onednn_memory_equal(const struct onednn *onednn, const struct onednn_memory_desc *memory,
                         const struct dnnl_memory_desc *other)
{
    struct dnnl_memory_desc *described = onednn->dialect->memory_desc_new(memory);
    bool equal = described && onednn->memory_desc_equal(described, other);

    onednn->dialect->memory_desc_free(described);
    return equal;
}

/* Sorts the dimensions from the outermost to the innermost. Equal strides, which imply a size of 1, keep the natural
 * order. */
static void sort_dimensions(const struct onednn_blocked_memory *memory, size_t *ret_order)
{
    const int64_t *strides = memory->strides.strides;

    for (size_t i = 0; i < memory->shape.rank; i++) {
        size_t at = i;

        for (; at > 0 && strides[ret_order[at - 1]] < strides[i]; at--)
            ret_order[at] = ret_order[at - 1];
        ret_order[at] = i;
    }
}

/* Whether the tensor has this layout. `outer`: number of blocks of each dimension; the stride of a single block is
 * ignored. NULL: all strides are compared. */
static bool layout_is_faithful(const struct onednn_blocked_memory *memory, const struct layout *layout,
                               const int64_t *outer)
{
    struct layout_strides strides;

    if (!layout_resolve(layout, &memory->shape, &strides))
        return false;
    for (size_t i = 0; i < memory->shape.rank; i++) {
        if (memory->strides.padded[i] != strides.padded[i] ||
            ((!outer || outer[i] > 1) && memory->strides.strides[i] != strides.strides[i]))
            return false;
    }
    return true;
}

/* Row-major, or "acdb" and the like. */
static bool blocked_memory_is_plain(const struct onednn_blocked_memory *memory, struct layout *ret)
{
    size_t rank = memory->shape.rank;
    struct layout layout = {""};

    if (layout_is_faithful(memory, &layout, NULL)) {
        *ret = layout;
        return true;
    }
    for (size_t i = 0; i < rank; i++)
        layout.text[i] = (char)('a' + (i == 0 ? 0 : i + 1 == rank ? 1 : (int)i + 1));
    if (!layout_is_faithful(memory, &layout, NULL))
        return false;
    *ret = layout;
    return true;
}

static bool spell_layout(const struct onednn_blocked_memory *memory, struct layout *ret)
{
    const struct layout_strides *strides = &memory->strides;
    int64_t outer[ONEDNN_MAX_RANK], blocks[ONEDNN_MAX_RANK];
    size_t order[ONEDNN_MAX_RANK], size = 0, rank = memory->shape.rank;
    struct layout layout = {""};

    for (size_t i = 0; i < rank; i++)
        blocks[i] = 1;
    for (size_t i = 0; i < strides->block_count; i++)
        blocks[strides->block_dimensions[i]] *= strides->block_sizes[i];
    for (size_t i = 0; i < rank; i++)
        outer[i] = strides->padded[i] / blocks[i];
    /* oneDNN also uses strides of dimensions of size 1 to detect channels-last tensors. */
    if (strides->block_count == 0 && blocked_memory_is_plain(memory, ret))
        return true;
    sort_dimensions(memory, order);

    for (size_t i = 0; i < rank; i++)
        layout.text[size++] = (char)((blocks[order[i]] > 1 ? 'A' : 'a') + (int)order[i]);
    for (size_t i = 0; i < strides->block_count; i++) {
        int written = snprintf(layout.text + size, sizeof(layout.text) - size, "%d%c", (int)strides->block_sizes[i],
                               (char)('a' + (int)strides->block_dimensions[i]));

        if (written < 0 || (size_t)written >= sizeof(layout.text) - size)
            return false;
        size += (size_t)written;
    }
    if (!layout_is_faithful(memory, &layout, outer))
        return false;
    *ret = layout;
    return true;
}

bool onednn_layout_of(const struct onednn *onednn, const struct dnnl_memory_desc *memory, struct layout *ret)
{
    struct onednn_blocked_memory read;

    return memory && onednn->dialect->memory_desc_read(memory, &read) && spell_layout(&read, ret);
}
