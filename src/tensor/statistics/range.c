/* tensor/statistics/range.c: see range.h. */
#include "tensor/statistics/range.h"

#include <math.h>

#include "tensor/values/elements.h"
#include "tensor/values/float_bits.h"

/* IEEE 754 magnitudes sort like their bit patterns: numbers, infinity, NaN. So non-finite values are detected without a
 * branch. */
#define MAGNITUDE INT64_MAX
#define INFINITE INT64_C(0x7ff0000000000000)

bool range_is_mask(enum data_type type, double value)
{
    return type == DATA_FLOAT16 ? value <= -32752 : value >= 1e30 || value <= -1e30;
}

double range_largest_magnitude(const struct tensor *tensor)
{
    size_t elements = tensor_elements(tensor);
    double run[ELEMENTS_RUN];
    int64_t largest = 0;

    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);

        elements_to_float64(tensor, first, count, run);
        for (size_t i = 0; i < count; i++) {
            int64_t magnitude = (int64_t)float64_bits(run[i]) & MAGNITUDE;

            magnitude = magnitude < INFINITE && !range_is_mask(tensor->type, run[i]) ? magnitude : 0;
            largest = magnitude > largest ? magnitude : largest;
        }
    }
    return float64_of_bits((uint64_t)largest);
}

/* Adds one finite element. */
static void add_finite(enum data_type type, double value, struct value_range *ret, double *sum)
{
    double magnitude = fabs(value);

    if (ret->finite++ == 0)
        ret->minimum = ret->maximum = value;
    *sum += value;
    ret->minimum = value < ret->minimum ? value : ret->minimum;
    ret->maximum = value > ret->maximum ? value : ret->maximum;
    ret->largest_magnitude = magnitude > ret->largest_magnitude ? magnitude : ret->largest_magnitude;
    if (magnitude > ret->scale && !range_is_mask(type, value))
        ret->scale = magnitude;
    if (value == 0)
        ret->zeros++;
    else if (ret->smallest_magnitude == 0 || magnitude < ret->smallest_magnitude)
        ret->smallest_magnitude = magnitude;
}

void range_compute(const struct tensor *tensor, struct value_range *ret)
{
    size_t elements = tensor_elements(tensor);
    double run[ELEMENTS_RUN], total = 0;

    *ret = (struct value_range){.elements = elements};
    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);
        double sum = 0;

        elements_to_float64(tensor, first, count, run);
        for (size_t i = 0; i < count; i++) {
            if (isnan(run[i]))
                ret->nans++;
            else if (isinf(run[i]))
                ret->infinities++;
            else
                add_finite(tensor->type, run[i], ret, &sum);
        }
        total += sum;
    }
    if (ret->finite > 0)
        ret->mean = total / (double)ret->finite;
}
