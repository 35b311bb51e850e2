/* plot/error_plot.h: errors against the magnitude of what they are errors of, as a picture.
 *
 * Both axes are logarithmic; zeros, infinities and NaN have strips of their own at the edges. A cell's color says how
 * many elements fall into it, and whether all of them are within the tolerances, which are lines. So one sees whether
 * errors grow with the values, and which tolerances would do.
 */
#ifndef PLOT_ERROR_PLOT_H
#define PLOT_ERROR_PLOT_H

#include "comparator/compare/comparison.h"
#include "plot/svg.h"

/* Draws absolute and relative errors of two outputs that were compared with the simple function, whose shapes go
 * together, and that have at least one element. They are numbers: strings have no magnitude. `svg` is to be released
 * after success. ERR_MEMORY when there is none for the second output in another shape. */
int error_plot_draw(const struct compared_outputs *compared, const struct compare_options *options, struct svg *svg,
                    struct error *err);

#endif
