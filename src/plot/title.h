/* plot/title.h: what is written above every plot: which outputs of what, and how they compare. */
#ifndef PLOT_TITLE_H
#define PLOT_TITLE_H

#include "comparator/compare/comparison.h"
#include "plot/svg.h"

#define PLOT_TITLE_HEIGHT 98 /* pixels */
#define PLOT_TITLE_WIDTH 800 /* pixels that a full line needs */

void plot_title_draw(const struct compared_outputs *compared, const struct compare_options *options, const char *what,
                     double x, struct svg *svg);

#endif
