/* engine/tactic/layout.c: see layout.h. */
#include "engine/tactic/layout.h"

#include <string.h>

#define MAX_LETTERS 26

static bool multiply_checked(int64_t *value, int64_t factor)
{
    return !__builtin_mul_overflow(*value, factor, value);
}

/* Parses the letters: the order of dimensions and which ones are blocked. Returns a pointer to the block sizes, or
 * NULL. */
static const char *read_layout_order(const char *text, size_t rank, uint8_t *ret_order, bool *ret_blocked)
{
    bool seen[TENSOR_MAX_RANK] = {false};

    for (size_t i = 0; i < rank; i++, text++) {
        bool blocked = *text >= 'A' && *text <= 'Z';
        size_t dimension = (size_t)((unsigned char)*text - (unsigned char)(blocked ? 'A' : 'a'));

        if (dimension >= rank || dimension >= MAX_LETTERS || seen[dimension])
            return NULL;
        seen[dimension] = true;
        ret_order[i] = (uint8_t)dimension;
        ret_blocked[dimension] = blocked;
    }
    return text;
}

/* Reads "16b16a2b". Dimensions have blocks if and only if their letter is upper-case. */
static bool read_layout_blocks(const char *text, size_t rank, const bool *blocked, struct layout_strides *ret)
{
    bool has_block[TENSOR_MAX_RANK] = {false};

    while (*text) {
        int64_t size = 0;
        size_t dimension;

        if (ret->block_count == LAYOUT_MAX_BLOCKS || *text < '1' || *text > '9')
            return false;
        for (; *text >= '0' && *text <= '9'; text++) {
            size = size * 10 + (*text - '0');
            if (size > 1 << 16)
                return false;
        }
        dimension = (size_t)((unsigned char)*text - (unsigned char)'a');
        if (dimension >= rank || dimension >= MAX_LETTERS || !blocked[dimension])
            return false;
        text++;
        has_block[dimension] = true;
        ret->block_sizes[ret->block_count] = size;
        ret->block_dimensions[ret->block_count++] = (uint8_t)dimension;
    }
    return memcmp(has_block, blocked, sizeof(has_block)) == 0;
}

/* Computes padded sizes, strides and the number of elements. */
static bool place_layout_dimensions(const struct shape *shape, const uint8_t *order, struct layout_strides *ret)
{
    int64_t blocks[TENSOR_MAX_RANK], stride = 1;

    for (size_t i = 0; i < shape->rank; i++)
        blocks[i] = 1;
    for (size_t i = 0; i < ret->block_count; i++) {
        if (!multiply_checked(&blocks[ret->block_dimensions[i]], ret->block_sizes[i]) ||
            !multiply_checked(&stride, ret->block_sizes[i]))
            return false;
    }
    for (size_t i = shape->rank; i-- > 0;) {
        size_t dimension = order[i];
        int64_t size = shape->dims[dimension], outer;

        if (size < 0)
            return false;
        outer = size / blocks[dimension] + (size % blocks[dimension] != 0);
        ret->padded[dimension] = outer;
        if (!multiply_checked(&ret->padded[dimension], blocks[dimension]))
            return false;
        ret->strides[dimension] = stride;
        /* An empty dimension must not make the strides of outer dimensions 0. */
        if (!multiply_checked(&stride, outer > 0 ? outer : 1))
            return false;
    }
    ret->elements = (size_t)stride;
    for (size_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i] == 0)
            ret->elements = 0;
    }
    return true;
}

bool layout_resolve(const struct layout *layout, const struct shape *shape, struct layout_strides *ret)
{
    uint8_t order[TENSOR_MAX_RANK];
    bool blocked[TENSOR_MAX_RANK] = {false};
    struct layout_strides strides = {.rank = shape->rank};
    const char *blocks = "";

    if (shape->rank > TENSOR_MAX_RANK || !memchr(layout->text, '\0', sizeof(layout->text)))
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        order[i] = (uint8_t)i;
    if (layout->text[0] != '\0')
        blocks = read_layout_order(layout->text, shape->rank, order, blocked);
    if (!blocks || !read_layout_blocks(blocks, shape->rank, blocked, &strides) ||
        !place_layout_dimensions(shape, order, &strides))
        return false;
    *ret = strides;
    return true;
}

bool layout_is_row_major(const struct layout *layout)
{
    for (size_t i = 0; layout->text[i] != '\0'; i++) {
        if (layout->text[i] != (char)('a' + i))
            return false;
    }
    return true;
}

bool layout_equal(const struct layout *a, const struct layout *b)
{
    return strcmp(a->text, b->text) == 0 || (layout_is_row_major(a) && layout_is_row_major(b));
}

size_t layout_bytes(const struct layout *layout, enum data_type type, const struct shape *shape)
{
    struct layout_strides strides;

    if (!layout_resolve(layout, shape, &strides))
        return SIZE_MAX;
    return tensor_bytes(type, strides.elements);
}

/* The offset of the element at `position`, in elements. */
static size_t find_element_offset(const struct layout_strides *strides, const struct shape *position)
{
    int64_t rest[TENSOR_MAX_RANK], inside = 1, offset = 0;

    memcpy(rest, position->dims, sizeof(rest));
    for (size_t i = strides->block_count; i-- > 0;) {
        int64_t *index = &rest[strides->block_dimensions[i]];

        offset += *index % strides->block_sizes[i] * inside;
        *index /= strides->block_sizes[i];
        inside *= strides->block_sizes[i];
    }
    for (size_t i = 0; i < strides->rank; i++)
        offset += rest[i] * strides->strides[i];
    return (size_t)offset;
}

/* The next position in row-major order. */
static void advance_layout_position(const struct shape *shape, struct shape *position)
{
    for (size_t i = shape->rank; i-- > 0;) {
        if (++position->dims[i] < shape->dims[i])
            return;
        position->dims[i] = 0;
    }
}

int layout_convert(const struct layout_change *change, const void *source, void *target, struct error *err)
{
    const struct layout *from = change->from, *to = change->to;
    const struct shape *shape = change->shape;
    struct layout_strides read, written;
    struct shape position = {.rank = shape->rank};
    size_t size = data_type_bits(change->type) / 8, elements = shape_elements(shape);

    if (size == 0 || data_type_bits(change->type) % 8 != 0)
        return error_set(err, ERR_UNSUPPORTED, "elements of type %s have no layout", data_type_name(change->type));
    if (!layout_resolve(from, shape, &read) || !layout_resolve(to, shape, &written))
        return error_set(err, ERR_INVALID, "a tensor of rank %zu cannot be copied from layout '%.*s' to layout '%.*s'",
                         shape->rank, LAYOUT_TEXT_SIZE, from->text, LAYOUT_TEXT_SIZE, to->text);
    if (layout_equal(from, to)) {
        memcpy(target, source, read.elements * size);
        return 0;
    }
    if (written.elements > elements)
        memset(target, 0, written.elements * size);
    for (size_t i = 0; i < elements; i++) {
        memcpy((char *)target + find_element_offset(&written, &position) * size,
               (const char *)source + find_element_offset(&read, &position) * size, size);
        advance_layout_position(shape, &position);
    }
    return 0;
}
