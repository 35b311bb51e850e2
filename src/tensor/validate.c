/* tensor/validate.c: counting NaN and infinities. */
#include "tensor/validate.h"

#include <math.h>

#include "tensor/elements.h"

static void note(size_t element, size_t *count, size_t *first)
{
    if ((*count)++ == 0)
        *first = element;
}

void tensor_validate(const struct tensor *tensor, struct validation *ret)
{
    bool is_complex = tensor->type == DATA_COMPLEX64 || tensor->type == DATA_COMPLEX128;
    size_t parts = is_complex ? 2 : 1;
    size_t values = tensor_elements(tensor) * parts;
    struct tensor view = *tensor;
    double run[ELEMENTS_RUN]; /* holds no half element */

    *ret = (struct validation){0};
    if (is_complex)
        view.type = tensor->type == DATA_COMPLEX64 ? DATA_FLOAT32 : DATA_FLOAT64;
    else if (!data_type_is_float(tensor->type))
        return;
    for (size_t first = 0; first < values; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(values, first);
        elements_to_float64(&view, first, count, run);
        for (size_t i = 0; i < count; i += parts) {
            size_t element = (first + i) / parts;
            double other = run[i + parts - 1]; /* the imaginary part, or the number itself again */
            if (isfinite(run[i]) && isfinite(other))
                continue;
            if (isnan(run[i]) || isnan(other))
                note(element, &ret->nans, &ret->first_nan);
            if (isinf(run[i]) || isinf(other))
                note(element, &ret->infinities, &ret->first_infinity);
        }
    }
}
