/* plot/error_plot.c: errors against magnitudes. See picture.h. */
#include "plot/picture.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "plot/color_scale.h"
#include "tensor/compare/difference.h"

/* Bins of a panel: one for zeros, those of the axis, one for infinities, one for NaN. Non-finite magnitudes share one
 * bin. */
enum {
    X_BINS = 140,
    Y_BINS = 70,
    COLUMNS = 1 + X_BINS + 1,
    ROWS = 1 + Y_BINS + 2,
};

/* Pixels. */
enum {
    CELL = 4,
    STRIP = 12,
    GAP = 8,
    LEFT = 96,
    TOP = PICTURE_TITLE_HEIGHT + 24,
    PANEL_WIDTH = STRIP + GAP + X_BINS * CELL + GAP + STRIP,
    PANEL_HEIGHT = 2 * (STRIP + GAP) + Y_BINS * CELL + GAP + STRIP,
    PANEL_DISTANCE = 28,
    LEGEND_LEFT = LEFT + PANEL_WIDTH + 24,
    HEIGHT = TOP + 2 * PANEL_HEIGHT + PANEL_DISTANCE + 56,
};

#define SHADES 32 /* for each of two ranges: all within the tolerances, and not */
#define LINE_COLOR 0x008000

#define FAR 3 /* powers of ten */

/* ---- A logarithmic axis with bins ---- */

struct log_axis {
    double low, high;       /* integer powers of ten; low < high after log_axis_close() */
    double least, greatest; /* values seen; `least` > `greatest`: none */
};

static void log_axis_init(struct log_axis *axis)
{
    *axis = (struct log_axis){.least = INFINITY, .greatest = -INFINITY};
}

/* Extends the axis to a value; values that are not finite or not > 0 are ignored. */
static void log_axis_add(struct log_axis *axis, double value)
{
    if (!(value > 0) || isinf(value))
        return;
    axis->least = fmin(axis->least, value);
    axis->greatest = fmax(axis->greatest, value);
}

/* Finishes the range; also includes `mark`, unless it is far from all values. */
static void log_axis_close(struct log_axis *axis, double mark)
{
    bool has_mark = mark > 0 && isfinite(mark);

    if (axis->least > axis->greatest)
        axis->least = axis->greatest = has_mark ? mark : 1;
    axis->low = floor(log10(axis->least));
    axis->high = ceil(log10(axis->greatest));
    if (has_mark && log10(mark) < axis->low && log10(mark) > axis->low - FAR)
        axis->low = floor(log10(mark));
    if (has_mark && log10(mark) > axis->high && log10(mark) < axis->high + FAR)
        axis->high = ceil(log10(mark));
    if (axis->low >= axis->high)
        axis->high = axis->low + 1;
}

/* 0 at the low end, 1 at the high end; values outside of the axis give positions outside of [0, 1]. */
static double log_axis_position(const struct log_axis *axis, double value)
{
    return (log10(value) - axis->low) / (axis->high - axis->low);
}

/* The bin (0 .. bins-1) of a value that was added. */
static size_t log_axis_bin(const struct log_axis *axis, double value, size_t bins)
{
    double place = log_axis_position(axis, value) * (double)bins;

    return place <= 0 ? 0 : place >= (double)bins ? bins - 1 : (size_t)place;
}

/* The distance of labels in powers of ten, for at most `count` labels. */
static int log_axis_step(const struct log_axis *axis, int count)
{
    int step = (int)ceil((axis->high - axis->low) / count);

    return step > 0 ? step : 1;
}

/* ---- Bins ---- */

struct panel {
    struct log_axis y;
    uint64_t counts[ROWS][COLUMNS];
    bool exceeds[ROWS][COLUMNS]; /* the tolerances, for any element */
};

struct error_plot {
    const struct compare_options *options;
    struct log_axis x;
    struct panel absolute, relative;
    uint64_t most; /* in a cell */
    uint32_t colors[2 * SHADES];
};

/* ---- Gathering ---- */

/* Called for each run of elements. */
struct errors {
    double magnitude[ELEMENTS_RUN], absolute[ELEMENTS_RUN], relative[ELEMENTS_RUN];
};

static void find_ranges(struct error_plot *plot, const struct errors *errors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        log_axis_add(&plot->x, errors->magnitude[i]);
        log_axis_add(&plot->absolute.y, errors->absolute[i]);
        log_axis_add(&plot->relative.y, errors->relative[i]);
    }
}

static size_t column_of(const struct error_plot *plot, double magnitude)
{
    if (!isfinite(magnitude))
        return 1 + X_BINS;
    return magnitude > 0 ? 1 + log_axis_bin(&plot->x, magnitude, X_BINS) : 0;
}

static size_t row_of(const struct panel *panel, double error)
{
    if (isnan(error))
        return ROWS - 1;
    if (isinf(error))
        return ROWS - 2;
    return error > 0 ? 1 + log_axis_bin(&panel->y, error, Y_BINS) : 0;
}

static void count_element(struct error_plot *plot, struct panel *panel, size_t column, double error, bool exceeds)
{
    size_t row = row_of(panel, error);

    panel->exceeds[row][column] |= exceeds;
    if (++panel->counts[row][column] > plot->most)
        plot->most = panel->counts[row][column];
}

static void count_elements(struct error_plot *plot, const struct pair *pair, const struct errors *errors, size_t count)
{
    const struct tolerance tolerance = {plot->options->atol, plot->options->rtol};

    for (size_t i = 0; i < count; i++) {
        size_t column = column_of(plot, errors->magnitude[i]);
        bool exceeds = pair_mismatch(pair, &tolerance, errors->absolute[i], errors->relative[i]);

        count_element(plot, &plot->absolute, column, errors->absolute[i], exceeds);
        count_element(plot, &plot->relative, column, errors->relative[i], exceeds);
    }
}

static void read_errors(const struct pair *pair, size_t first, size_t count, struct errors *ret)
{
    pair_differences(pair, first, count, ret->absolute, ret->relative);
    elements_to_float64(pair->b, first, count, ret->magnitude);
    for (size_t i = 0; i < count; i++)
        ret->magnitude[i] = fabs(ret->magnitude[i]);
}

static int gather_errors(struct error_plot *plot, const struct compared_outputs *compared, struct error *err)
{
    const struct tensor *a = &compared->first->tensor;
    size_t total = tensor_elements(a);
    struct tensor matched SCOPED(tensor_release) = {0};
    struct errors errors;
    struct pair pair;
    int rc = tensor_match_shape(&compared->second->tensor, &a->shape, &matched, err);

    if (rc < 0)
        return rc;
    pair_init(&pair, a, &matched, plot->options->infinities_compare_equal, plot->options->nans_compare_equal);
    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        read_errors(&pair, first, elements_in_run(total, first), &errors);
        find_ranges(plot, &errors, elements_in_run(total, first));
    }
    log_axis_close(&plot->x, 0);
    log_axis_close(&plot->absolute.y, plot->options->atol);
    log_axis_close(&plot->relative.y, plot->options->rtol);
    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        read_errors(&pair, first, elements_in_run(total, first), &errors);
        count_elements(plot, &pair, &errors, elements_in_run(total, first));
    }
    return 0;
}

/* ---- Cells ---- */

static void choose_colors(struct error_plot *plot)
{
    for (int i = 0; i < SHADES; i++) {
        plot->colors[i] = color_shade_cold((double)i / (SHADES - 1));
        plot->colors[SHADES + i] = color_shade_warm(0.3 + 0.5 * i / (SHADES - 1));
    }
}

static uint8_t level_of(const struct error_plot *plot, uint64_t count, bool exceeds)
{
    double shade = plot->most > 1 ? log((double)count) / log((double)plot->most) : 0;

    return count == 0 ? SVG_NO_CELL : (uint8_t)((exceeds ? SHADES : 0) + lrint(shade * (SHADES - 1)));
}

/* Parts of an axis, in bins and in pixels from its beginning. */
struct plot_region {
    size_t first, count;
    double at, cell;
};

static const struct plot_region x_parts[] = {
    {0, 1, 0, STRIP},
    {1, X_BINS, STRIP + GAP, CELL},
    {1 + X_BINS, 1, STRIP + GAP + X_BINS *CELL + GAP, STRIP},
};

/* From the top down: rows of cells are counted downwards, those of a panel upwards. */
static const struct plot_region y_parts[] = {
    {0, 1, 0, STRIP},
    {1, 1, STRIP, STRIP},
    {2, Y_BINS, 2 * STRIP + GAP, CELL},
    {2 + Y_BINS, 1, 2 * STRIP + GAP + Y_BINS *CELL + GAP, STRIP},
};

static void draw_cells(const struct error_plot *plot, const struct panel *panel, double top, struct svg *svg)
{
    uint8_t levels[ROWS][COLUMNS];

    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < COLUMNS; column++)
            levels[ROWS - 1 - row][column] = level_of(plot, panel->counts[row][column], panel->exceeds[row][column]);
    for (size_t i = 0; i < ARRAY_LEN(y_parts); i++) {
        for (size_t k = 0; k < ARRAY_LEN(x_parts); k++) {
            const struct plot_region *x = &x_parts[k], *y = &y_parts[i];

            svg_draw_cells(svg, &(struct svg_cells){LEFT + x->at, top + y->at, x->cell, y->cell, x->count, y->count,
                                                    &levels[y->first][x->first], COLUMNS, plot->colors});
            svg_frame(svg, LEFT + x->at, top + y->at, (double)x->count * x->cell, (double)y->count * y->cell);
        }
    }
}

/* ---- Axes ---- */

static double x_of(const struct error_plot *plot, double magnitude)
{
    return LEFT + x_parts[1].at + log_axis_position(&plot->x, magnitude) * X_BINS * CELL;
}

static double y_of(const struct panel *panel, double top, double error)
{
    return top + y_parts[2].at + (1 - log_axis_position(&panel->y, error)) * Y_BINS * CELL;
}

static void draw_label(double x, double y, enum svg_style style, double value, struct svg *svg)
{
    char number[NUMBER_TEXT_SIZE];

    svg_text(svg, x, y, style, text_of(number_to_text_rounded(value, 'g', 3, number)));
}

static void draw_y_axis(const struct panel *panel, double top, const char *title, struct svg *svg)
{
    const double bottom = top + y_parts[3].at;
    const int step = log_axis_step(&panel->y, 10);

    for (int decade = (int)panel->y.low; decade <= panel->y.high; decade += step) {
        double y = y_of(panel, top, pow(10, decade));

        svg_line(svg, LEFT + x_parts[1].at, y, LEFT + x_parts[2].at - GAP, y, (struct svg_stroke){.color = 0xE4E4E4});
        draw_label(LEFT - 6, y + 4, SVG_SMALL_LEFT_OF, pow(10, decade), svg);
    }
    svg_text(svg, LEFT - 6, bottom + STRIP - 2, SVG_SMALL_LEFT_OF, TEXT("0"));
    svg_text(svg, LEFT - 6, top + STRIP - 2, SVG_SMALL_LEFT_OF, TEXT("NaN"));
    svg_text(svg, LEFT - 6, top + 2 * STRIP - 2, SVG_SMALL_LEFT_OF, TEXT("inf"));
    svg_text(svg, 22, top + (double)PANEL_HEIGHT / 2, SVG_UPWARDS, text_of(title));
}

static void draw_x_lines(const struct error_plot *plot, double top, struct svg *svg)
{
    const int step = log_axis_step(&plot->x, 10);

    for (int decade = (int)plot->x.low; decade <= plot->x.high; decade += step) {
        double x = x_of(plot, pow(10, decade));

        svg_line(svg, x, top + y_parts[2].at, x, top + y_parts[3].at - GAP, (struct svg_stroke){.color = 0xE4E4E4});
    }
}

static void draw_x_labels(const struct error_plot *plot, double y, struct svg *svg)
{
    const int step = log_axis_step(&plot->x, 10);

    for (int decade = (int)plot->x.low; decade <= plot->x.high; decade += step)
        draw_label(x_of(plot, pow(10, decade)), y + 14, SVG_SMALL_CENTERED, pow(10, decade), svg);
    svg_text(svg, LEFT + STRIP / 2, y + 28, SVG_SMALL_CENTERED, TEXT("0"));
    svg_text(svg, LEFT + x_parts[2].at + STRIP / 2, y + 28, SVG_SMALL_CENTERED, TEXT("inf, NaN"));
    svg_text(svg, LEFT + x_parts[1].at + X_BINS * CELL / 2 - 110, y + 36, SVG_NORMAL,
             TEXT("magnitude of the reference (second output)"));
}

/* ---- Tolerances ---- */

/* Draws the part of factor * magnitude ^ exponent that is inside the panel. */
static void draw_tolerance(const struct error_plot *plot, const struct panel *panel, double top, double factor,
                           int exponent, struct svg *svg)
{
    double from = plot->x.low, to = plot->x.high;
    double at_low = (panel->y.low - log10(factor)), at_high = (panel->y.high - log10(factor));

    if (!(factor > 0) || isinf(factor))
        return;
    if (exponent == 0 && (at_low > 0 || at_high < 0))
        return;
    if (exponent != 0) { /* log(factor) + exponent * log(magnitude) lies between low and high */
        from = fmax(from, exponent > 0 ? at_low : -at_high);
        to = fmin(to, exponent > 0 ? at_high : -at_low);
    }
    if (from >= to)
        return;
    svg_line(svg, x_of(plot, pow(10, from)), y_of(panel, top, factor * pow(10, exponent * from)),
             x_of(plot, pow(10, to)), y_of(panel, top, factor * pow(10, exponent * to)),
             (struct svg_stroke){LINE_COLOR, .dashed = exponent != 0});
}

static void draw_panel(const struct error_plot *plot, const struct panel *panel, double top, const char *title,
                       struct svg *svg)
{
    const struct compare_options *options = plot->options;

    draw_x_lines(plot, top, svg);
    draw_y_axis(panel, top, title, svg);
    draw_cells(plot, panel, top, svg);
    if (panel == &plot->absolute) {
        draw_tolerance(plot, panel, top, options->atol, 0, svg);
        draw_tolerance(plot, panel, top, options->rtol, 1, svg);
    } else {
        draw_tolerance(plot, panel, top, options->rtol, 0, svg);
        draw_tolerance(plot, panel, top, options->atol, -1, svg);
    }
}

/* ---- Legend ---- */

static void draw_shades(const struct error_plot *plot, double y, uint8_t first, const char *title, struct svg *svg)
{
    uint8_t levels[SHADES];

    for (int i = 0; i < SHADES; i++)
        levels[i] = (uint8_t)(first + i);
    svg_text(svg, LEGEND_LEFT, y, SVG_SMALL, text_of(title));
    svg_draw_cells(svg, &(struct svg_cells){LEGEND_LEFT, y + 8, 4, 14, SHADES, 1, levels, SHADES, plot->colors});
    svg_frame(svg, LEGEND_LEFT, y + 8, 4 * SHADES, 14);
    draw_label(LEGEND_LEFT, y + 36, SVG_SMALL, 1, svg);
    draw_label(LEGEND_LEFT + 4 * SHADES, y + 36, SVG_SMALL_LEFT_OF, (double)plot->most, svg);
}

static void draw_line_legend(double y, bool dashed, const char *title, struct svg *svg)
{
    svg_line(svg, LEGEND_LEFT, y - 4, LEGEND_LEFT + 28, y - 4, (struct svg_stroke){LINE_COLOR, dashed});
    svg_text(svg, LEGEND_LEFT + 34, y, SVG_SMALL, text_of(title));
}

static void draw_legend(const struct error_plot *plot, struct svg *svg)
{
    const double second = TOP + PANEL_HEIGHT + PANEL_DISTANCE;

    svg_text(svg, LEGEND_LEFT, TOP + 10, SVG_SMALL, TEXT("elements in a cell,"));
    draw_shades(plot, TOP + 26, 0, "all within a tolerance:", svg);
    draw_shades(plot, TOP + 84, SHADES, "some exceed both:", svg);
    draw_line_legend(TOP + 150, false, "atol", svg);
    draw_line_legend(TOP + 168, true, "rtol x magnitude", svg);
    draw_line_legend(second + 10, false, "rtol", svg);
    draw_line_legend(second + 28, true, "atol / magnitude", svg);
}

int error_plot_draw(const struct compared_outputs *compared, const struct compare_options *options, struct svg *svg,
                    struct error *err)
{
    struct error_plot *plot SCOPED_FREE = memory_alloc_zero(1, sizeof(*plot));
    const double second = TOP + PANEL_HEIGHT + PANEL_DISTANCE;
    int rc;

    plot->options = options;
    log_axis_init(&plot->x);
    log_axis_init(&plot->absolute.y);
    log_axis_init(&plot->relative.y);
    choose_colors(plot);
    rc = gather_errors(plot, compared, err);
    if (rc == 0) {
        svg_begin(svg, LEGEND_LEFT + 160, HEIGHT);
        picture_title_draw(compared, options, "Error metrics", 24, svg);
        draw_panel(plot, &plot->absolute, TOP, "absolute error", svg);
        draw_panel(plot, &plot->relative, second, "relative error", svg);
        draw_x_labels(plot, second + PANEL_HEIGHT, svg);
        draw_legend(plot, svg);
        svg_end(svg);
    }
    return rc;
}
