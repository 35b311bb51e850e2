/* plot/log_axis.h: an axis of powers of ten, cut into bins. */
#ifndef PLOT_LOG_AXIS_H
#define PLOT_LOG_AXIS_H

#include <stdbool.h>
#include <stddef.h>

struct log_axis {
    double low, high;       /* powers of ten, whole numbers; low < high once it is closed */
    double least, greatest; /* values seen; `least` > `greatest`: none */
};

void log_axis_init(struct log_axis *axis);

/* Makes room for a value; what is not finite or not above 0 has none. */
void log_axis_add(struct log_axis *axis, double value);

/* Ends the adding. Makes room for `mark`, too, unless it lies far from all values. */
void log_axis_close(struct log_axis *axis, double mark);

/* From 0 at the low end to 1 at the high one, and beyond for what lies outside. */
double log_axis_position(const struct log_axis *axis, double value);

/* The bin, of `bins`, of a value that was added. */
size_t log_axis_bin(const struct log_axis *axis, double value, size_t bins);

/* The distance, in powers of ten, of at most `count` labels. */
int log_axis_step(const struct log_axis *axis, int count);

#endif
