/* plot/svg.c: see svg.h. */
#include "plot/svg.h"

#include "base/text/xml.h"

static const char *const styles[] = {
    [SVG_HEADING] = "font-size=\"16\" font-weight=\"bold\"",
    [SVG_NORMAL] = "font-size=\"12\"",
    [SVG_SMALL] = "font-size=\"11\"",
    [SVG_SMALL_CENTERED] = "font-size=\"11\" text-anchor=\"middle\"",
    [SVG_SMALL_LEFT_OF] = "font-size=\"11\" text-anchor=\"end\"",
    [SVG_UPWARDS] = "font-size=\"12\" text-anchor=\"middle\"",
};

void svg_begin(struct svg *svg, int width, int height)
{
    string_init(&svg->text);
    string_add_format(&svg->text,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                      "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" fill=\"#202020\">\n"
                      "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                      width, height, width, height, width, height);
}

void svg_end(struct svg *svg)
{
    string_add(&svg->text, "</svg>\n");
}

void svg_release(struct svg *svg)
{
    string_release(&svg->text);
}

/* ---- Text ---- */

static size_t step_letter(struct text text, size_t at, size_t *ret_length)
{
    *ret_length = text_utf8_length(text.data + at, text.size - at);
    return *ret_length > 0 ? *ret_length : 1;
}

static void add_shortened(struct string_builder *out, struct text text, size_t most)
{
    size_t count = 0, index = 0, length, size;

    for (size_t i = 0; i < text.size; i += size, count++)
        size = step_letter(text, i, &length);
    for (size_t i = 0; i < text.size; i += size, index++) {
        size = step_letter(text, i, &length);
        if (count <= most || index < most / 2 || index >= count - most / 2)
            xml_add_character(out, text.data + i, length);
        else if (index == most / 2)
            string_add(out, "...");
    }
}

void svg_text(struct svg *svg, double x, double y, enum svg_style style, struct text text)
{
    string_add_format(&svg->text, "<text %s ", styles[style]);
    if (style == SVG_UPWARDS)
        string_add_format(&svg->text, "transform=\"translate(%g %g) rotate(-90)\">", x, y);
    else
        string_add_format(&svg->text, "x=\"%g\" y=\"%g\">", x, y);
    add_shortened(&svg->text, text, style == SVG_HEADING ? SVG_LINE_CHARACTERS * 2 / 3 : SVG_LINE_CHARACTERS);
    string_add(&svg->text, "</text>\n");
}

/* ---- Shapes ---- */

void svg_rectangle(struct svg *svg, double x, double y, double width, double height, uint32_t fill)
{
    string_add_format(&svg->text, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%06x\"/>\n", x, y, width,
                      height, (unsigned)fill);
}

void svg_frame(struct svg *svg, double x, double y, double width, double height)
{
    string_add_format(&svg->text,
                      "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"#808080\"/>\n",
                      x - 0.5, y - 0.5, width + 1, height + 1);
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, struct svg_stroke stroke)
{
    string_add_format(&svg->text, "<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"#%06x\"%s/>\n", x1, y1, x2,
                      y2, (unsigned)stroke.color, stroke.dashed ? " stroke-dasharray=\"6 3\"" : "");
}

void svg_circle(struct svg *svg, double x, double y, double radius, uint32_t color)
{
    string_add_format(&svg->text,
                      "<circle cx=\"%g\" cy=\"%g\" r=\"%g\" fill=\"none\" stroke=\"#%06x\" stroke-width=\"1.5\"/>\n", x,
                      y, radius, (unsigned)color);
}

/* ---- Cells ---- */

/* All cells of one color are one path, and adjacent cells in a row one stroke: much smaller than one rectangle per
 * cell. */
static void add_strokes(struct string_builder *out, const struct svg_cells *cells, unsigned level)
{
    for (size_t row = 0; row < cells->rows; row++) {
        const uint8_t *levels = cells->levels + row * cells->stride;

        for (size_t column = 0, end; column < cells->columns; column = end) {
            for (end = column + 1; end < cells->columns && levels[end] == levels[column];)
                end++;
            if (levels[column] != level)
                continue;
            string_add_char(out, 'M');
            string_add_integer(out, (int64_t)column);
            string_add_char(out, ' ');
            string_add_integer(out, (int64_t)row);
            string_add_char(out, 'h');
            string_add_integer(out, (int64_t)(end - column));
        }
    }
}

void svg_draw_cells(struct svg *svg, const struct svg_cells *cells)
{
    bool present[SVG_NO_CELL + 1] = {false};

    for (size_t row = 0; row < cells->rows; row++)
        for (size_t column = 0; column < cells->columns; column++)
            present[cells->levels[row * cells->stride + column]] = true;
    string_add_format(&svg->text,
                      "<g transform=\"translate(%g %g) scale(%g %g) translate(0 0.5)\" "
                      "shape-rendering=\"crispEdges\" fill=\"none\">\n",
                      cells->x, cells->y, cells->cell_width, cells->cell_height);
    for (unsigned level = 0; level < SVG_NO_CELL; level++) {
        if (!present[level])
            continue;
        string_add_format(&svg->text, "<path stroke=\"#%06x\" d=\"", (unsigned)cells->colors[level]);
        add_strokes(&svg->text, cells, level);
        string_add(&svg->text, "\"/>\n");
    }
    string_add(&svg->text, "</g>\n");
}
