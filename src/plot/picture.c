/* plot/picture.c: what both pictures share. See picture.h. */
#include "plot/picture.h"

#include <math.h>

#include "base/text/number.h"

#define MOST_TILES 4096

/* ---- The title ---- */

static void add_line(struct string_builder *text, double x, double y, enum svg_style style, struct svg *svg)
{
    svg_text(svg, x, y, style, (struct text){text->data, text->size});
    string_clear(text);
}

static void add_side(const char *which, const char *runner, const struct named_tensor *output,
                     struct string_builder *text)
{
    string_add_format(text, "%s: %s | '%s' | %s ", which, runner, output->name, data_type_name(output->tensor.type));
    shape_to_text(&output->tensor.shape, text);
}

void picture_title_draw(const struct compared_outputs *compared, const struct compare_options *options,
                        const char *what, double x, struct svg *svg)
{
    char absolute[NUMBER_TEXT_SIZE], relative[NUMBER_TEXT_SIZE];
    SCOPED_STRING(text);

    string_add_format(&text, "%s | %s", what, compared->first->name);
    add_line(&text, x, 32, SVG_HEADING, svg);
    add_side("first", compared->first_runner, compared->first, &text);
    add_line(&text, x, 54, SVG_NORMAL, svg);
    add_side("second (reference)", compared->second_runner, compared->second, &text);
    add_line(&text, x, 72, SVG_NORMAL, svg);
    string_add_format(&text, "iteration %zu | %zu of %zu elements exceed both tolerances (atol %s, rtol %s) | %s",
                      compared->iteration, compared->result->mismatches, compared->result->elements,
                      number_to_text_rounded(options->atol, 'g', 5, absolute),
                      number_to_text_rounded(options->rtol, 'g', 5, relative),
                      compared->result->passed ? "PASSED" : "FAILED");
    add_line(&text, x, 90, SVG_NORMAL, svg);
}

/* ---- Folding ---- */

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static size_t clamp_size(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The number of tile columns for which the picture is about square. */
static size_t tiles_across(const struct picture_fold *fold)
{
    double wanted = sqrt((double)fold->tiles * (double)fold->cell_rows / (double)fold->cell_columns);
    size_t least = divide_up(fold->tiles, PICTURE_MOST_CELLS);
    size_t most = fold->tiles < PICTURE_MOST_CELLS ? fold->tiles : PICTURE_MOST_CELLS;

    return clamp_size((size_t)lrint(fmin(wanted, PICTURE_MOST_CELLS)), least, most);
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
    fold->cell_rows = clamp_size(fold->height, 1, PICTURE_MOST_CELLS);
    fold->cell_columns = clamp_size(fold->width, 1, PICTURE_MOST_CELLS);
    fold->across = tiles_across(fold);
    fold->down = divide_up(fold->tiles, fold->across);
    fold->cell_rows = clamp_size(fold->height, 1, PICTURE_MOST_CELLS / fold->down);
    fold->cell_columns = clamp_size(fold->width, 1, PICTURE_MOST_CELLS / fold->across);
    fold->columns = fold->across * fold->cell_columns;
    fold->rows = fold->down * fold->cell_rows;
}

/* The part (0 .. parts-1) that contains position `at` of `size`. */
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
