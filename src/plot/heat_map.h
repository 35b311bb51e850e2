/* plot/heat_map.h: where in two outputs the errors are, as a picture.
 *
 * The layout is that of picture_fold.h. A cell shows the greatest error of its elements, so that a single bad element
 * stays visible however large the tensor is; NaN counts as greatest, then infinities. The worst one is encircled.
 */
#ifndef PLOT_HEAT_MAP_H
#define PLOT_HEAT_MAP_H

#include "comparator/compare/comparison.h"
#include "plot/svg.h"

/* Draws the absolute or relative error of two outputs that were compared with the simple function, whose shapes go
 * together, and that have at least one element. `svg` is to be released after success. ERR_MEMORY when there is none
 * for the second output in another shape. */
int heat_map_draw(const struct compared_outputs *compared, const struct compare_options *options,
                  enum difference_kind kind, struct svg *svg, struct error *err);

#endif
