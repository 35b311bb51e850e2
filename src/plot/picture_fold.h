/* plot/picture_fold.h: a tensor of any rank laid out as a picture of a bounded number of cells.
 *
 * As in Polygraphy the last two dimensions are height and width of a slice. Here all slices stand in one picture, row
 * by row; a tensor that is a single row is broken into rows of equal length. Where there are more elements than cells,
 * neighbouring ones share a cell.
 */
#ifndef PLOT_PICTURE_FOLD_H
#define PLOT_PICTURE_FOLD_H

#include "tensor/values/tensor.h"

#define PICTURE_MOST_CELLS 256 /* in each direction */

struct picture_fold {
    size_t slices, height, width;   /* of the tensor: elements of a slice, which follow each other */
    size_t merged;                  /* neighbouring slices that share a tile */
    size_t tiles, across, down;     /* tiles, in how many columns and rows */
    size_t cell_rows, cell_columns; /* of a tile */
    size_t columns, rows;           /* of the picture, in cells; at most PICTURE_MOST_CELLS */
    bool broken;                    /* a single row that was broken */
};

/* The tensor has at least one element. */
void picture_fold_init(struct picture_fold *fold, const struct shape *shape);

/* The cell, row * columns + column, of the element with this row-major number. */
size_t picture_fold_cell(const struct picture_fold *fold, size_t element);

/* The most elements that a cell stands for. */
size_t picture_fold_elements_per_cell(const struct picture_fold *fold);

#endif
