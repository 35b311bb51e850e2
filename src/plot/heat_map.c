/* plot/heat_map.c: draws heat maps. See picture.h. */
#include "plot/picture.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "plot/color_scale.h"
#include "tensor/compare/difference.h"

enum {
    MARGIN = 24,
    PICTURE_TOP = PICTURE_TITLE_HEIGHT + 52,
    PICTURE_WANTED = 640, /* pixels of the longer side */
    CELL_MOST = 40,       /* pixels of a side */
    SIDE_LEAST = 40,
    SCALE_LEFT = 36, /* from the picture to its scale */
    SCALE_WIDTH = 150,
    SCALE_LEAST = 220,
    SCALE_MOST = 360,
    SWATCH = 14,
    TILE_LINES_FROM = 4, /* minimum cells of a tile for lines between tiles */
};

struct heat_map {
    const struct compared_outputs *compared;
    const struct compare_options *options;
    enum difference_kind kind;
    struct picture_fold fold;
    double *cells;   /* greatest error; -1: no element */
    uint8_t *levels; /* color levels of the cells */
    double cell_width, cell_height;
    size_t zeros, infinities, nans;
    double worst;
    size_t worst_element;
};

/* ---- Gathering ---- */

static void add_error(struct heat_map *map, size_t element, double error)
{
    double *cell = &map->cells[picture_fold_cell(&map->fold, element)];

    map->zeros += error == 0;
    map->infinities += isinf(error) != 0;
    map->nans += isnan(error) != 0;
    if (!isnan(*cell) && !(error <= *cell))
        *cell = error;
    if (!isnan(map->worst) && !(error <= map->worst)) {
        map->worst = error;
        map->worst_element = element;
    }
}

static int gather_cells(struct heat_map *map, struct error *err)
{
    const struct tensor *a = &map->compared->first->tensor;
    size_t total = tensor_elements(a);
    double absolute[ELEMENTS_RUN], relative[ELEMENTS_RUN];
    struct tensor matched SCOPED(tensor_release) = {0};
    struct pair pair;
    int rc = tensor_match_shape(&map->compared->second->tensor, &a->shape, &matched, err);

    if (rc < 0)
        return rc;
    pair_init(&pair, a, &matched, map->options->infinities_compare_equal, map->options->nans_compare_equal);
    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(total, first);

        pair_differences(&pair, first, count, absolute, relative);
        for (size_t i = 0; i < count; i++)
            add_error(map, first + i, map->kind == DIFFERENCE_ABSOLUTE ? absolute[i] : relative[i]);
    }
    return 0;
}

static void assign_levels(struct heat_map *map, struct color_scale *scale)
{
    size_t count = map->fold.rows * map->fold.columns;
    double low = 0, high = 0;

    for (size_t i = 0; i < count; i++) {
        double error = map->cells[i];

        if (!(error > 0) || isinf(error))
            continue;
        low = low == 0 || error < low ? error : low;
        high = error > high ? error : high;
    }
    color_scale_init(scale, low, high);
    for (size_t i = 0; i < count; i++)
        map->levels[i] = map->cells[i] < 0 ? COLOR_OUTSIDE : color_scale_level(scale, map->cells[i]);
}

/* ---- Drawing ---- */

static void set_sizes(struct heat_map *map)
{
    double cell = floor(PICTURE_WANTED / fmax((double)map->fold.columns, (double)map->fold.rows));

    cell = fmin(fmax(cell, 1), CELL_MOST);
    map->cell_width = fmax(cell, ceil(SIDE_LEAST / (double)map->fold.columns));
    map->cell_height = fmax(cell, ceil(SIDE_LEAST / (double)map->fold.rows));
}

static void add_layout_text(const struct heat_map *map, struct string_builder *text)
{
    const struct picture_fold *fold = &map->fold;
    size_t per_cell = picture_fold_elements_per_cell(fold);

    if (fold->broken)
        string_add_format(text, "broken into rows of %zu", fold->width);
    else if (fold->slices > 1)
        string_add_format(text, "%zu slices of %zu x %zu, %zu side by side", fold->slices, fold->height, fold->width,
                          fold->across);
    else
        string_add_format(text, "%zu x %zu", fold->height, fold->width);
    if (per_cell > 1)
        string_add_format(text, "; a cell shows the greatest of up to %zu elements", per_cell);
}

static void add_worst_text(const struct heat_map *map, struct string_builder *text)
{
    char number[NUMBER_TEXT_SIZE];
    struct shape position;

    if (map->worst == 0) {
        string_add(text, "no element differs");
        return;
    }
    shape_position(&map->compared->first->tensor.shape, map->worst_element, &position);
    string_add_format(text, "greatest (encircled): %s at ", number_to_text_rounded(map->worst, 'g', 5, number));
    shape_to_text(&position, text);
}

static void draw_title(const struct heat_map *map, struct svg *svg)
{
    SCOPED_STRING(text);

    picture_title_draw(map->compared, map->options,
                       map->kind == DIFFERENCE_ABSOLUTE ? "Absolute error" : "Relative error", MARGIN, svg);
    add_layout_text(map, &text);
    svg_text(svg, MARGIN, PICTURE_TITLE_HEIGHT + 12, SVG_NORMAL, (struct text){text.data, text.size});
    string_clear(&text);
    add_worst_text(map, &text);
    svg_text(svg, MARGIN, PICTURE_TITLE_HEIGHT + 30, SVG_NORMAL, (struct text){text.data, text.size});
}

static void draw_tile_lines(const struct heat_map *map, double width, double height, struct svg *svg)
{
    const struct picture_fold *fold = &map->fold;
    double tile_width = (double)fold->cell_columns * map->cell_width;
    double tile_height = (double)fold->cell_rows * map->cell_height;

    if (fold->tiles == 1 || fold->cell_columns < TILE_LINES_FROM || fold->cell_rows < TILE_LINES_FROM)
        return;
    for (size_t i = 1; i < fold->across; i++)
        svg_line(svg, MARGIN + (double)i * tile_width, PICTURE_TOP, MARGIN + (double)i * tile_width,
                 PICTURE_TOP + height, (struct svg_stroke){.color = 0x9090A0});
    for (size_t i = 1; i < fold->down; i++)
        svg_line(svg, MARGIN, PICTURE_TOP + (double)i * tile_height, MARGIN + width,
                 PICTURE_TOP + (double)i * tile_height, (struct svg_stroke){.color = 0x9090A0});
}

static void draw_picture(const struct heat_map *map, const struct color_scale *scale, double width, double height,
                         struct svg *svg)
{
    const struct picture_fold *fold = &map->fold;
    size_t worst = picture_fold_cell(fold, map->worst_element);

    svg_draw_cells(svg, &(struct svg_cells){MARGIN, PICTURE_TOP, map->cell_width, map->cell_height, fold->columns,
                                            fold->rows, map->levels, fold->columns, scale->colors});
    draw_tile_lines(map, width, height, svg);
    svg_frame(svg, MARGIN, PICTURE_TOP, width, height);
    if (map->worst != 0)
        svg_circle(svg, MARGIN + ((double)(worst % fold->columns) + 0.5) * map->cell_width,
                   PICTURE_TOP + ((double)(worst / fold->columns) + 0.5) * map->cell_height,
                   fmax(8, 0.45 * fmin(map->cell_width, map->cell_height)), 0x0000FF);
}

static void draw_swatch(double x, double *y, uint32_t color, size_t count, const char *what, struct svg *svg)
{
    SCOPED_STRING(text);

    if (count == 0)
        return;
    string_add_format(&text, "%s: %zu", what, count);
    svg_rectangle(svg, x, *y, SWATCH, SWATCH, color);
    svg_frame(svg, x, *y, SWATCH, SWATCH);
    svg_text(svg, x + SWATCH + 6, *y + 11, SVG_SMALL, (struct text){text.data, text.size});
    *y += SWATCH + 8;
}

static void draw_legend(const struct heat_map *map, const struct color_scale *scale, double x, double height,
                        struct svg *svg)
{
    double y = PICTURE_TOP;

    if (scale->high > 0) {
        color_scale_draw(scale, x, y, height, svg);
        y += height + 20;
    }
    draw_swatch(x, &y, scale->colors[COLOR_ZERO], map->zeros, "zero", svg);
    draw_swatch(x, &y, scale->colors[COLOR_INFINITE], map->infinities, "infinite", svg);
    draw_swatch(x, &y, scale->colors[COLOR_NAN], map->nans, "NaN", svg);
}

static void draw_heat_map(struct heat_map *map, struct svg *svg)
{
    struct color_scale scale;
    double width, height, scale_height;
    bool absolute = map->kind == DIFFERENCE_ABSOLUTE;

    assign_levels(map, &scale);
    scale.tolerance = absolute ? map->options->atol : map->options->rtol;
    scale.tolerance_name = absolute ? "atol" : "rtol";
    set_sizes(map);
    width = (double)map->fold.columns * map->cell_width;
    height = (double)map->fold.rows * map->cell_height;
    scale_height = scale.high > 0 ? fmin(fmax(height - 3 * (SWATCH + 8), SCALE_LEAST), SCALE_MOST) : 0;
    svg_begin(svg, (int)fmax(PICTURE_TITLE_WIDTH, MARGIN + width + SCALE_LEFT + SCALE_WIDTH),
              (int)(PICTURE_TOP + fmax(height, scale_height + 20 + 3 * (SWATCH + 8)) + MARGIN));
    draw_title(map, svg);
    draw_picture(map, &scale, width, height, svg);
    draw_legend(map, &scale, MARGIN + width + SCALE_LEFT, scale_height, svg);
    svg_end(svg);
}

int heat_map_draw(const struct compared_outputs *compared, const struct compare_options *options,
                  enum difference_kind kind, struct svg *svg, struct error *err)
{
    struct heat_map map = {.compared = compared, .options = options, .kind = kind, .worst = -1};
    size_t count;
    int rc;

    picture_fold_init(&map.fold, &compared->first->tensor.shape);
    count = map.fold.rows * map.fold.columns;
    map.cells = memory_alloc(count * sizeof(*map.cells));
    map.levels = memory_alloc(count);
    for (size_t i = 0; i < count; i++)
        map.cells[i] = -1;
    rc = gather_cells(&map, err);
    if (rc == 0)
        draw_heat_map(&map, svg);
    free(map.cells);
    free(map.levels);
    return rc;
}
