/* plot/picture.h: the two pictures of the errors of an output, and what both have above them.
 *
 * Both are of two outputs that were compared with the simple function, whose shapes go together, and that have at least
 * one element.
 */
#ifndef PLOT_PICTURE_H
#define PLOT_PICTURE_H

#include "comparator/compare/comparison.h"
#include "plot/svg.h"

/* A heat map says where absolute or relative errors are. The layout is that of struct picture_fold. A cell shows the
 * greatest error of its elements, so that a single bad element stays visible however large the tensor is; NaN counts as
 * greatest, then infinities. The worst one is encircled. `svg` is to be released after success. ERR_MEMORY when there
 * is none for the second output in another shape. */
int heat_map_draw(const struct compared_outputs *compared, const struct compare_options *options,
                  enum difference_kind kind, struct svg *svg, struct error *err);

/* An error plot shows absolute and relative errors against the magnitude of what they are errors of; strings have none.
 * Both axes are logarithmic; zeros, infinities and NaN have strips of their own at the edges. A cell's color says how
 * many elements fall into it, and whether all of them are within the tolerances, which are lines. So one sees whether
 * errors grow with the values, and which tolerances would do. `svg` and errors as above. */
int error_plot_draw(const struct compared_outputs *compared, const struct compare_options *options, struct svg *svg,
                    struct error *err);

#define PICTURE_TITLE_HEIGHT 98 /* pixels */
#define PICTURE_TITLE_WIDTH 800 /* pixels that a full line needs */

/* Writes which outputs of what were compared, and how that ended. */
void picture_title_draw(const struct compared_outputs *compared, const struct compare_options *options,
                        const char *what, double x, struct svg *svg);

/* A tensor of any rank laid out as a picture of a bounded number of cells. As in Polygraphy the last two dimensions are
 * height and width of a slice. Here all slices stand in one picture, row by row; a tensor that is a single row is
 * broken into rows of equal length. Where there are more elements than cells, neighbouring ones share a cell. */
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
