/* tensor/compare/slices.c: see slices.h. */
#include "tensor/compare/slices.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tensor/values/elements.h"

#define DIFFERENT_SCALES 100.0
#define MOST_SLICES 65536 /* of one axis */

/* Of each slice of one axis. */
struct slice_sums {
    double *scales, *differences;
    size_t count, stride; /* elements from one index of the axis to the next */
};

static void add_to_slices(struct slice_sums *sums, const double *reference, const double *other, size_t first,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t slice = (first + i) / sums->stride % sums->count;

        if (!isfinite(reference[i]) || !isfinite(other[i]))
            continue;
        sums->scales[slice] = fmax(sums->scales[slice], fabs(reference[i]));
        sums->differences[slice] = fmax(sums->differences[slice], fabs(reference[i] - other[i]));
    }
}

static void find_on_axis(const struct tensor *reference, const struct tensor *other, size_t axis, double noise,
                         struct slice_sums *sums, struct slice_error *ret)
{
    double a[ELEMENTS_RUN], b[ELEMENTS_RUN], largest = 0, smallest = INFINITY;
    size_t elements = tensor_elements(reference);

    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);

        elements_to_float64(reference, first, count, a);
        elements_to_float64(other, first, count, b);
        add_to_slices(sums, a, b, first, count);
    }
    for (size_t i = 0; i < sums->count; i++) {
        largest = fmax(largest, sums->scales[i]);
        smallest = sums->scales[i] > 0 ? fmin(smallest, sums->scales[i]) : smallest;
    }
    if (!(largest > DIFFERENT_SCALES * smallest))
        return;
    for (size_t i = 0; i < sums->count; i++) {
        double error = sums->differences[i] / sums->scales[i];

        if (sums->scales[i] > noise * largest && (!ret->found || error > ret->difference / ret->scale))
            *ret = (struct slice_error){true, axis, i, sums->scales[i], sums->differences[i]};
    }
}

void slices_find_worst(const struct tensor *reference, const struct tensor *other, double noise,
                       struct slice_error *ret)
{
    enum arithmetic arithmetic = elements_arithmetic(reference->type);
    const struct shape *shape = &reference->shape;
    struct slice_sums sums = {.stride = 1};

    *ret = (struct slice_error){0};
    if ((arithmetic != ARITHMETIC_FLOAT32 && arithmetic != ARITHMETIC_FLOAT64) ||
        elements_arithmetic(other->type) == ARITHMETIC_NONE || !shape_equal(shape, &other->shape))
        return;
    for (size_t axis = (size_t)shape->rank; axis-- > 0; sums.stride *= sums.count) {
        sums.count = (size_t)shape->dims[axis];
        if (sums.count == 0)
            return;
        if (sums.count == 1 || sums.count > MOST_SLICES)
            continue;
        sums.scales = memory_alloc_zero(sums.count, sizeof(*sums.scales));
        sums.differences = memory_alloc_zero(sums.count, sizeof(*sums.differences));
        find_on_axis(reference, other, axis, noise, &sums, ret);
        free(sums.scales);
        free(sums.differences);
    }
}

size_t count_changed_integers(const struct tensor *reference, const struct tensor *other)
{
    uint64_t a[ELEMENTS_RUN], b[ELEMENTS_RUN];
    size_t elements = tensor_elements(reference), ret = 0;

    if (elements_arithmetic(reference->type) != ARITHMETIC_INTEGER ||
        elements_arithmetic(other->type) != ARITHMETIC_INTEGER || !shape_equal(&reference->shape, &other->shape))
        return 0;
    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);

        elements_to_integers(reference, first, count, a);
        elements_to_integers(other, first, count, b);
        for (size_t i = 0; i < count; i++)
            ret += a[i] != b[i];
    }
    return ret;
}
