/* debug/quantization/scales.c: see scales.h. */
#include "debug/quantization/scales.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define FEW 4 /* no median of fewer scales */

static int compare_scales(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

bool scale_is_outlying(double factor)
{
    return factor > OUTLYING_SCALE || factor * OUTLYING_SCALE < 1;
}

struct outlying_scale quantizer_find_outlying_scale(const struct quantizer *quantizer)
{
    const float *scales = quantizer->scale.data;
    size_t count = scales != NULL ? tensor_elements(&quantizer->scale) : 0, usable = 0;
    double *sorted SCOPED_FREE = memory_alloc_zero(count + 1, sizeof(*sorted)), median;
    struct outlying_scale ret = {.count = count, .factor = 1};

    for (size_t i = 0; i < count; i++)
        if (isfinite(scales[i]) && (scales[i] > 0 || scales[i] < 0))
            sorted[usable++] = fabs((double)scales[i]);
    if (usable < FEW)
        return ret;
    qsort(sorted, usable, sizeof(*sorted), compare_scales);
    ret.median = median = sorted[usable / 2];
    for (size_t i = 0; i < count; i++) {
        double factor = fabs((double)scales[i]) / median;

        if (!isfinite(factor) || !(factor > 0) || fabs(log(factor)) <= fabs(log(ret.factor)))
            continue;
        ret.channel = i;
        ret.factor = factor;
    }
    return ret;
}
