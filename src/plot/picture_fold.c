/* plot/picture_fold.c: see picture_fold.h. */
#include "plot/picture_fold.h"

#include <math.h>

#define MOST_TILES 4096

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static size_t clamp(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Columns of tiles such that the picture is about as wide as it is high. */
static size_t tiles_across(const struct picture_fold *fold)
{
    double wanted = sqrt((double)fold->tiles * (double)fold->cell_rows / (double)fold->cell_columns);
    size_t least = divide_up(fold->tiles, PICTURE_MOST_CELLS);
    size_t most = fold->tiles < PICTURE_MOST_CELLS ? fold->tiles : PICTURE_MOST_CELLS;

    return clamp((size_t)lrint(fmin(wanted, PICTURE_MOST_CELLS)), least, most);
}

void picture_fold_init(struct picture_fold *fold, const struct shape *shape)
{
    size_t elements = shape_elements(shape), rank = shape->rank;

    *fold = (struct picture_fold){.width = rank > 0 ? (size_t)shape->dims[rank - 1] : 1,
                                  .height = rank > 1 ? (size_t)shape->dims[rank - 2] : 1};
    fold->slices = elements / (fold->height * fold->width);
    if (fold->slices == 1 && fold->height == 1 && elements > PICTURE_MOST_CELLS / 4) {
        fold->broken = true;
        fold->width = (size_t)ceil(sqrt((double)elements));
        fold->height = divide_up(elements, fold->width);
    }
    fold->merged = divide_up(fold->slices, MOST_TILES);
    fold->tiles = divide_up(fold->slices, fold->merged);
    fold->cell_rows = clamp(fold->height, 1, PICTURE_MOST_CELLS);
    fold->cell_columns = clamp(fold->width, 1, PICTURE_MOST_CELLS);
    fold->across = tiles_across(fold);
    fold->down = divide_up(fold->tiles, fold->across);
    fold->cell_rows = clamp(fold->height, 1, PICTURE_MOST_CELLS / fold->down);
    fold->cell_columns = clamp(fold->width, 1, PICTURE_MOST_CELLS / fold->across);
    fold->columns = fold->across * fold->cell_columns;
    fold->rows = fold->down * fold->cell_rows;
}

/* The part, of `parts`, that position `at` of `size` falls into. */
static size_t part_of(size_t at, size_t size, size_t parts)
{
    return parts == size ? at : (size_t)((double)at / (double)size * (double)parts);
}

size_t picture_fold_cell(const struct picture_fold *fold, size_t element)
{
    size_t row = element / fold->width, column = element % fold->width;
    size_t tile = row / fold->height / fold->merged;
    size_t y = tile / fold->across * fold->cell_rows + part_of(row % fold->height, fold->height, fold->cell_rows);
    size_t x = tile % fold->across * fold->cell_columns + part_of(column, fold->width, fold->cell_columns);

    return y * fold->columns + x;
}

size_t picture_fold_elements_per_cell(const struct picture_fold *fold)
{
    return divide_up(fold->height, fold->cell_rows) * divide_up(fold->width, fold->cell_columns) * fold->merged;
}
