/* onnx/quantizer/rounding.h: which scale belongs to which element, and what stored integers stand for. */
#ifndef ONNX_QUANTIZER_ROUNDING_H
#define ONNX_QUANTIZER_ROUNDING_H

#include "onnx/quantizer/quantizer.h"

/* The scales over the elements of a tensor. Along the axis there are `length` slices, or in blocks, `blocks` of
 * `block_size` slices each, the last one maybe shorter. */
struct scale_layout {
    size_t inner;  /* elements of a slice that lie side by side */
    size_t length; /* 1: there is one scale */
    size_t block_size, blocks;
};

/* False when the scales do not fit a tensor of this shape, or are not known. */
bool scale_layout_of(const struct quantizer *quantizer, const struct shape *shape, struct scale_layout *ret);

/* The number of the scale of an element. */
static inline size_t scale_layout_index(const struct scale_layout *layout, size_t element)
{
    size_t slice = element / layout->inner;
    size_t along = slice % layout->length;

    if (layout->block_size == 0)
        return along;
    return (slice / layout->length * layout->blocks + along / layout->block_size) * layout->inner +
           element % layout->inner;
}

/* What DequantizeLinear makes of elements of a stored constant, `count` from `first` on: at most ELEMENTS_RUN. `stored`
 * has the type and shape that `layout` was made for. */
void quantizer_restore_run(const struct quantizer *quantizer, const struct scale_layout *layout,
                           const struct tensor *stored, size_t first, size_t count, float *ret);

#endif
