/* plot/color_scale.c: see color_scale.h. */
#include "plot/color_scale.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text/number.h"

#define BAR_WIDTH 22
#define MOST_LABELS 8
#define LABEL_DISTANCE 14 /* minimum distance of labels in pixels */

/* Interpolates between two color stops. */
static uint32_t mix_colors(const uint32_t *stops, size_t count, double position)
{
    double place = fmin(fmax(position, 0), 1) * (double)(count - 1);
    size_t first = (size_t)place < count - 1 ? (size_t)place : count - 2;
    double share = place - (double)first;
    uint32_t color = 0;

    for (unsigned shift = 0; shift < 24; shift += 8) {
        double a = (double)(stops[first] >> shift & 0xFF), b = (double)(stops[first + 1] >> shift & 0xFF);

        color |= (uint32_t)lrint(a + (b - a) * share) << shift;
    }
    return color;
}

uint32_t color_shade_warm(double position)
{
    static const uint32_t stops[] = {0xFFF0B2, 0xFED976, 0xFD8D3C, 0xE31A1C, 0x800026, 0x2B0010};

    return mix_colors(stops, ARRAY_LEN(stops), position);
}

uint32_t color_shade_cold(double position)
{
    static const uint32_t stops[] = {0xC6DBEF, 0x6BAED6, 0x2171B5, 0x08306B};

    return mix_colors(stops, ARRAY_LEN(stops), position);
}

void color_scale_init(struct color_scale *scale, double low, double high)
{
    *scale = (struct color_scale){.low = low, .high = high};
    for (int i = 0; i < COLOR_STEPS; i++)
        scale->colors[i] = color_shade_warm((double)i / (COLOR_STEPS - 1));
    scale->colors[COLOR_ZERO] = 0xFFFFFF;
    scale->colors[COLOR_INFINITE] = 0x0090FF;
    scale->colors[COLOR_NAN] = 0x00C030;
    scale->colors[COLOR_OUTSIDE] = 0xDDDDDD;
}

/* From 0 at the low end to 1 at the high one. */
static double position_of(const struct color_scale *scale, double value)
{
    return scale->high > scale->low ? log(value / scale->low) / log(scale->high / scale->low) : 1;
}

uint8_t color_scale_level(const struct color_scale *scale, double value)
{
    double position;

    if (isnan(value))
        return COLOR_NAN;
    if (isinf(value))
        return COLOR_INFINITE;
    if (value == 0)
        return COLOR_ZERO;
    position = position_of(scale, value);
    return (uint8_t)lrint(fmin(fmax(position, 0), 1) * (COLOR_STEPS - 1));
}

static void add_label(struct svg *svg, double x, double y, double value, const char *name)
{
    char number[NUMBER_TEXT_SIZE], label[NUMBER_TEXT_SIZE + 32];

    snprintf(label, sizeof(label), "%s%s%s", name, name[0] != '\0' ? " " : "",
             number_to_text_rounded(value, 'g', 3, number));
    svg_line(svg, x, y, x + 4, y, (struct svg_stroke){.color = 0x404040});
    svg_text(svg, x + 8, y + 4, SVG_SMALL, text_of(label));
}

void color_scale_draw(const struct color_scale *scale, double x, double y, double height, struct svg *svg)
{
    uint8_t levels[COLOR_STEPS];
    double low = log10(scale->low), high = log10(scale->high), tolerance = scale->tolerance;
    double marked = tolerance > scale->low && tolerance < scale->high ? y + height * (1 - position_of(scale, tolerance))
                                                                      : -LABEL_DISTANCE;

    for (int i = 0; i < COLOR_STEPS; i++)
        levels[i] = (uint8_t)(COLOR_STEPS - 1 - i);
    svg_draw_cells(
        svg, &(struct svg_cells){x, y, BAR_WIDTH, height / COLOR_STEPS, 1, COLOR_STEPS, levels, 1, scale->colors});
    svg_frame(svg, x, y, BAR_WIDTH, height);
    add_label(svg, x + BAR_WIDTH, y, scale->high, "");
    if (scale->high <= scale->low)
        return;
    add_label(svg, x + BAR_WIDTH, y + height, scale->low, "");
    for (int decade = (int)ceil(low), step = (int)fmax(ceil((high - low) / MOST_LABELS), 1); decade <= high;
         decade += step) {
        double at = y + height * (1 - position_of(scale, pow(10, decade)));

        if (at > y + LABEL_DISTANCE && at < y + height - LABEL_DISTANCE && fabs(at - marked) > LABEL_DISTANCE)
            add_label(svg, x + BAR_WIDTH, at, pow(10, decade), "");
    }
    if (marked < y)
        return;
    svg_line(svg, x - 4, marked, x + BAR_WIDTH, marked, (struct svg_stroke){.color = 0x0000FF});
    add_label(svg, x + BAR_WIDTH, marked, tolerance, scale->tolerance_name);
}
