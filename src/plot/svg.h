/* plot/svg.h: pictures as SVG text (W3C, Scalable Vector Graphics 1.1): the few shapes used in plots.
 *
 *   svg_begin(&svg, 640, 480);
 *   svg_text(&svg, 20, 30, SVG_HEADING, TEXT("Absolute error"));
 *   svg_end(&svg);
 *   ... svg.text.data, svg.text.size ...
 *   svg_release(&svg);
 *
 * Coordinates are pixels from the upper left corner, colors are 0xRRGGBB.
 */
#ifndef PLOT_SVG_H
#define PLOT_SVG_H

#include <stdint.h>

#include "base/text/string_builder.h"

struct svg {
    struct string_builder text;
};

enum svg_style {
    SVG_HEADING, /* bold, larger */
    SVG_NORMAL,
    SVG_SMALL,
    SVG_SMALL_CENTERED, /* around x */
    SVG_SMALL_LEFT_OF,  /* ends at x */
    SVG_UPWARDS,        /* turned by 90 degrees, around y */
};

void svg_begin(struct svg *svg, int width, int height);
void svg_end(struct svg *svg);
void svg_release(struct svg *svg);

/* A line of text with its base line at y. Characters that XML does not allow become U+FFFD. Text longer than
 * SVG_LINE_CHARACTERS (two thirds of that in headings) is shortened in the middle. */
#define SVG_LINE_CHARACTERS 102
void svg_text(struct svg *svg, double x, double y, enum svg_style style, struct text text);

void svg_rectangle(struct svg *svg, double x, double y, double width, double height, uint32_t fill);
void svg_frame(struct svg *svg, double x, double y, double width, double height);

struct svg_stroke {
    uint32_t color;
    bool dashed;
};

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, struct svg_stroke stroke);
void svg_circle(struct svg *svg, double x, double y, double radius, uint32_t color); /* its outline */

/* A grid of colored cells, row by row. */
struct svg_cells {
    double x, y, cell_width, cell_height;
    size_t columns, rows;
    const uint8_t *levels;  /* of cell [row * stride + column]; SVG_NO_CELL: not drawn */
    size_t stride;          /* cells from one row to the next */
    const uint32_t *colors; /* of each level */
};

#define SVG_NO_CELL 255

void svg_draw_cells(struct svg *svg, const struct svg_cells *cells);

#endif
