/* plot/color_scale.h: maps errors to colors: a logarithmic scale from pale to dark, and separate colors for zero,
 * infinities and NaN.
 */
#ifndef PLOT_COLOR_SCALE_H
#define PLOT_COLOR_SCALE_H

#include "plot/svg.h"

#define COLOR_STEPS 64 /* levels 0 to 63: the scale */

enum color_level {
    COLOR_ZERO = COLOR_STEPS,
    COLOR_INFINITE,
    COLOR_NAN,
    COLOR_OUTSIDE, /* of the tensor */
    COLOR_LEVELS,
};

struct color_scale {
    double low, high; /* finite, > 0, low <= high; both 0: no such values */
    uint32_t colors[COLOR_LEVELS];
    double tolerance; /* marked if it is within the scale */
    const char *tolerance_name;
};

void color_scale_init(struct color_scale *scale, double low, double high);

/* The level of a value of 0 or more, or NaN. */
uint8_t color_scale_level(const struct color_scale *scale, double value);

/* Colors from pale (position 0) to dark (1). */
uint32_t color_shade_warm(double position);
uint32_t color_shade_cold(double position);

/* Draws the scale as a bar, 22 pixels wide, with numbers to its right. */
void color_scale_draw(const struct color_scale *scale, double x, double y, double height, struct svg *svg);

#endif
