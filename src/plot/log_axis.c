/* plot/log_axis.c: see log_axis.h. */
#include "plot/log_axis.h"

#include <math.h>

#define FAR 3 /* powers of ten */

void log_axis_init(struct log_axis *axis)
{
    *axis = (struct log_axis){.least = INFINITY, .greatest = -INFINITY};
}

void log_axis_add(struct log_axis *axis, double value)
{
    if (!(value > 0) || isinf(value))
        return;
    axis->least = fmin(axis->least, value);
    axis->greatest = fmax(axis->greatest, value);
}

void log_axis_close(struct log_axis *axis, double mark)
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

double log_axis_position(const struct log_axis *axis, double value)
{
    return (log10(value) - axis->low) / (axis->high - axis->low);
}

size_t log_axis_bin(const struct log_axis *axis, double value, size_t bins)
{
    double place = log_axis_position(axis, value) * (double)bins;

    return place <= 0 ? 0 : place >= (double)bins ? bins - 1 : (size_t)place;
}

int log_axis_step(const struct log_axis *axis, int count)
{
    int step = (int)ceil((axis->high - axis->low) / count);

    return step > 0 ? step : 1;
}
