/* engine/onednn_memory.c: between layouts and oneDNN's memory descriptors. See onednn.h. */
#include <stdio.h>
#include <string.h>

#include "engine/onednn.h"

bool onednn_memory_of(const struct layout *layout, const struct shape *shape, struct onednn_memory_desc *ret)
{
    struct onednn_memory_desc memory = {.data_type = ONEDNN_F32, .format_kind = ONEDNN_BLOCKED};
    struct onednn_blocking_desc *blocking = &memory.format_desc.blocking;
    struct shape one_dimension = {.rank = 1, .dims = {1}};
    struct layout_strides strides;

    if (shape->rank == 0)
        shape = &one_dimension;
    if (shape->rank > ONEDNN_MAX_RANK || !layout_resolve(layout, shape, &strides) || strides.elements == 0)
        return false;
    memory.ndims = (int)shape->rank;
    for (size_t i = 0; i < shape->rank; i++) {
        memory.dims[i] = shape->dims[i];
        memory.padded_dims[i] = strides.padded[i];
        blocking->strides[i] = strides.strides[i];
    }
    blocking->inner_nblks = (int)strides.block_count;
    for (size_t i = 0; i < strides.block_count; i++) {
        blocking->inner_blks[i] = strides.block_sizes[i];
        blocking->inner_idxs[i] = strides.block_dimensions[i];
    }
    *ret = memory;
    return true;
}

/* Sorts the dimensions from the outermost to the innermost. Of equal strides, which only sizes of 1 can have, the
 * natural order is as good as any. */
static void sort_dimensions(const struct onednn_memory_desc *memory, size_t *ret_order)
{
    const int64_t *strides = memory->format_desc.blocking.strides;

    for (size_t i = 0; i < (size_t)memory->ndims; i++) {
        size_t at = i;

        for (; at > 0 && strides[ret_order[at - 1]] < strides[i]; at--)
            ret_order[at] = ret_order[at - 1];
        ret_order[at] = i;
    }
}

/* Whether the descriptor is what the text says: dense, without an offset or anything extra. `outer`: how many blocks
 * each dimension has; the stride of a single one does not matter. NULL: all strides do. */
static bool is_faithful(const struct onednn_memory_desc *memory, const struct layout *layout, const int64_t *outer)
{
    struct shape shape = {.rank = (size_t)memory->ndims};
    struct layout_strides strides;

    memcpy(shape.dims, memory->dims, sizeof(memory->dims));
    if (memory->offset0 != 0 || memory->extra.flags != 0 || !layout_resolve(layout, &shape, &strides))
        return false;
    for (size_t i = 0; i < shape.rank; i++) {
        if (memory->padded_offsets[i] != 0 || memory->padded_dims[i] != strides.padded[i] ||
            ((!outer || outer[i] > 1) && memory->format_desc.blocking.strides[i] != strides.strides[i]))
            return false;
    }
    return true;
}

/* Row-major, or "acdb" and the like. */
static bool is_plain(const struct onednn_memory_desc *memory, struct layout *ret)
{
    size_t rank = (size_t)memory->ndims;
    struct layout layout = {""};

    if (is_faithful(memory, &layout, NULL)) {
        *ret = layout;
        return true;
    }
    for (size_t i = 0; i < rank; i++)
        layout.text[i] = (char)('a' + (i == 0 ? 0 : i + 1 == rank ? 1 : (int)i + 1));
    if (!is_faithful(memory, &layout, NULL))
        return false;
    *ret = layout;
    return true;
}

bool onednn_layout_of(const struct onednn_memory_desc *memory, struct layout *ret)
{
    const struct onednn_blocking_desc *blocking = &memory->format_desc.blocking;
    int64_t outer[ONEDNN_MAX_RANK], blocks[ONEDNN_MAX_RANK];
    size_t order[ONEDNN_MAX_RANK], size = 0, rank = (size_t)memory->ndims;
    struct layout layout = {""};

    if (memory->format_kind != ONEDNN_BLOCKED || memory->data_type != ONEDNN_F32 ||
        blocking->inner_nblks > LAYOUT_MAX_BLOCKS)
        return false;
    for (size_t i = 0; i < rank; i++)
        blocks[i] = 1;
    for (int i = 0; i < blocking->inner_nblks; i++)
        blocks[blocking->inner_idxs[i]] *= blocking->inner_blks[i];
    for (size_t i = 0; i < rank; i++)
        outer[i] = memory->padded_dims[i] / blocks[i];
    /* oneDNN looks at the strides of single elements, too, when it asks whether a tensor is channels-last. */
    if (blocking->inner_nblks == 0 && is_plain(memory, ret))
        return true;
    sort_dimensions(memory, order);

    for (size_t i = 0; i < rank; i++)
        layout.text[size++] = (char)((blocks[order[i]] > 1 ? 'A' : 'a') + (int)order[i]);
    for (int i = 0; i < blocking->inner_nblks; i++) {
        int written = snprintf(layout.text + size, sizeof(layout.text) - size, "%d%c", (int)blocking->inner_blks[i],
                               (char)('a' + (int)blocking->inner_idxs[i]));

        if (written < 0 || (size_t)written >= sizeof(layout.text) - size)
            return false;
        size += (size_t)written;
    }
    if (!is_faithful(memory, &layout, outer))
        return false;
    *ret = layout;
    return true;
}
