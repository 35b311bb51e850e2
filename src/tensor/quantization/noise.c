/* tensor/quantization/noise.c: see noise.h. */
#include "tensor/quantization/noise.h"

#include <math.h>

#include "tensor/values/elements.h"

double noise_ratio(const struct noise *noise)
{
    if (noise->noise == 0 && noise->compared == 0 && noise->left_out > 0)
        return NAN;
    if (noise->noise == 0)
        return INFINITY;
    return noise->signal == 0 || isinf(noise->noise) ? -INFINITY : 10 * log10(noise->signal / noise->noise);
}

void noise_add(struct noise *noise, const struct tensor *actual, const struct tensor *expected)
{
    size_t total = tensor_elements(expected);
    double a[ELEMENTS_RUN], b[ELEMENTS_RUN];

    if (!shape_equal(&actual->shape, &expected->shape) || elements_arithmetic(actual->type) == ARITHMETIC_NONE ||
        elements_arithmetic(expected->type) == ARITHMETIC_NONE) {
        if (!tensor_identical(actual, expected))
            noise->noise = INFINITY;
        return;
    }
    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(total, first);

        elements_to_float64(actual, first, count, a);
        elements_to_float64(expected, first, count, b);
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(b[i])) {
                noise->left_out++;
                continue;
            }
            noise->compared++;
            noise->signal += b[i] * b[i];
            noise->noise += isfinite(a[i]) ? (a[i] - b[i]) * (a[i] - b[i]) : (double)INFINITY;
        }
    }
}
