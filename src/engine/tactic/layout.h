/* engine/tactic/layout.h: memory layouts of tensors.
 *
 * A layout is written as oneDNN writes its format tags: the dimensions from the outermost to the innermost, 'a' for the
 * first. An upper-case letter is a blocked dimension, with block sizes at the end: "abcd" is row-major NCHW, "acdb"
 * NHWC, and "aBcd16b" has blocks of 16 contiguous channels (oneDNN, "Understanding Memory Formats"). The empty text is
 * row-major of any rank.
 */
#ifndef ENGINE_TACTIC_LAYOUT_H
#define ENGINE_TACTIC_LAYOUT_H

#include "base/error.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

#define LAYOUT_TEXT_SIZE 32
#define LAYOUT_MAX_BLOCKS 4

struct layout {
    char text[LAYOUT_TEXT_SIZE]; /* "" is row-major */
};

/* A layout resolved for one shape. */
struct layout_strides {
    size_t rank;
    int64_t padded[TENSOR_MAX_RANK];  /* the dimensions, rounded up to whole blocks */
    int64_t strides[TENSOR_MAX_RANK]; /* in elements, of the outer dimensions (counted in blocks) */
    size_t block_count;               /* inner blocks, from the outermost to the innermost */
    int64_t block_sizes[LAYOUT_MAX_BLOCKS];
    uint8_t block_dimensions[LAYOUT_MAX_BLOCKS];
    size_t elements; /* padding included */
};

/* False if the text is not a layout of that rank, or sizes overflow. */
bool layout_resolve(const struct layout *layout, const struct shape *shape, struct layout_strides *ret);

bool layout_is_row_major(const struct layout *layout); /* "", "a", "ab", "abc", ... */
bool layout_equal(const struct layout *a, const struct layout *b);

/* Bytes of a tensor, padding included; SIZE_MAX if it is not a layout of that rank, or on overflow. */
size_t layout_bytes(const struct layout *layout, enum data_type type, const struct shape *shape);

/* A conversion from one layout to another. */
struct layout_change {
    enum data_type type;
    const struct shape *shape;
    const struct layout *from, *to;
};

/* Copies elements of 1, 2, 4 or 8 bytes; padding becomes 0. Slow reference implementation: used to test the providers'
 * reorders, and if there is none. */
int layout_convert(const struct layout_change *change, const void *source, void *target, struct error *err);

#endif
