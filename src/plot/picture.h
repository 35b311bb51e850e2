/* plot/picture.h: heat maps and error plots of an output, and their title.
 *
 * Both require two outputs that were compared with the simple function, with compatible shapes and at least one
 * element.
 */
#ifndef PLOT_PICTURE_H
#define PLOT_PICTURE_H

#include "comparator/compare/comparison.h"
#include "plot/svg.h"

/* A heat map shows the position of absolute or relative errors. The layout is that of struct picture_fold. A cell shows
 * the greatest error of its elements, so that a single bad element stays visible however large the tensor is; NaN
 * counts as greatest, then infinities. The greatest error is encircled. The caller releases `svg` after success.
 * ERR_MEMORY if the second output cannot be reshaped. */
int heat_map_draw(const struct compared_outputs *compared, const struct compare_options *options,
                  enum difference_kind kind, struct svg *svg, struct error *err);

/* An error plot shows absolute and relative errors against the magnitude of the reference; not for strings. Both axes
 * are logarithmic; zeros, infinities and NaN are in separate strips at the edges. A cell's color shows how many
 * elements it contains, and whether all of them are within the tolerances, which are drawn as lines. So the plot shows
 * whether errors grow with the values, and which tolerances would be sufficient. `svg` and errors as above. */
int error_plot_draw(const struct compared_outputs *compared, const struct compare_options *options, struct svg *svg,
                    struct error *err);

#define PICTURE_TITLE_HEIGHT 98 /* pixels */
#define PICTURE_TITLE_WIDTH 800 /* pixels that a full line needs */

/* Draws the title: the compared outputs and the result. */
void picture_title_draw(const struct compared_outputs *compared, const struct compare_options *options,
                        const char *what, double x, struct svg *svg);

/* The layout of a tensor of any rank as a picture with a limited number of cells. As in Polygraphy the last two
 * dimensions are height and width of a slice. All slices are in one picture, row by row; a tensor with a single row is
 * broken into rows of equal length. If there are more elements than cells, neighbours share a cell. */
#define PICTURE_MOST_CELLS 256 /* in each direction */

struct picture_fold {
    size_t slices, height, width;   /* of the tensor: elements of a slice are contiguous */
    size_t merged;                  /* neighbouring slices that share a tile */
    size_t tiles, across, down;     /* number of tiles, their columns and rows */
    size_t cell_rows, cell_columns; /* of a tile */
    size_t columns, rows;           /* of the picture, in cells; at most PICTURE_MOST_CELLS */
    bool broken;                    /* a single row was broken into several */
};

/* The tensor must have at least one element. */
void picture_fold_init(struct picture_fold *fold, const struct shape *shape);

/* The cell, row * columns + column, of the element with this row-major index. */
size_t picture_fold_cell(const struct picture_fold *fold, size_t element);

/* The maximum number of elements of a cell. */
size_t picture_fold_elements_per_cell(const struct picture_fold *fold);

#endif
