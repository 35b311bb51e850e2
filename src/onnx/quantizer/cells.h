/* onnx/quantizer/cells.h: a stored constant with a scale for each block, as cells: the elements that share a scale,
 * next to the values of a float model.
 *
 * A line is the sequence of elements along the axis of the blocks at fixed other coordinates; it is divided into as
 * many cells as there are blocks. With groups, a cell has the elements of its group in ascending order.
 */
#ifndef ONNX_QUANTIZER_CELLS_H
#define ONNX_QUANTIZER_CELLS_H

#include "onnx/quantizer/quantizer.h"

struct stored_cells {
    const struct quantizer *quantizer;
    const struct tensor *stored, *values; /* of the same shape */
    size_t lines, blocks, length;         /* lines; cells and elements of a line */
    size_t inner;                         /* elements between two neighbours of a line */
    size_t largest;                       /* elements of the largest cell */
    size_t *order;                        /* the position in the line of each element, cell by cell */
    size_t *starts;                       /* `blocks` + 1: the first element of each cell in `order` */
};

/* False if the quantizer has no blocks or unknown scales, or if its scales do not match the shapes. All must outlive
 * `ret`; release it after success. */
bool stored_cells_init(struct stored_cells *ret, const struct quantizer *quantizer, const struct tensor *stored,
                       const struct tensor *values);
void stored_cells_release(struct stored_cells *cells);

static inline size_t cell_size(const struct stored_cells *cells, size_t block)
{
    return cells->starts[block + 1] - cells->starts[block];
}

/* The index in the tensor of the element at position `place` of a line. */
static inline size_t line_element(const struct stored_cells *cells, size_t line, size_t place)
{
    return (line / cells->inner * cells->length + place) * cells->inner + line % cells->inner;
}

/* The index of the scale of a cell. */
static inline size_t cell_scale(const struct stored_cells *cells, size_t line, size_t block)
{
    return (line / cells->inner * cells->blocks + block) * cells->inner + line % cells->inner;
}

/* The float values of a cell, and its stored integers without the zero point; each has `largest` elements of memory. */
void cell_values(const struct stored_cells *cells, size_t line, size_t block, double *ret);
void cell_integers(const struct stored_cells *cells, size_t line, size_t block, double *ret);

#endif
