/* tensor/compare/validate.c: counting NaN and infinities. */
#include "tensor/compare/validate.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "tensor/values/elements.h"

static void count_element_found(size_t element, size_t *count, size_t *first)
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
    double run[ELEMENTS_RUN]; /* even size: complex elements are not split */

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
                count_element_found(element, &ret->nans, &ret->first_nan);
            if (isinf(run[i]) || isinf(other))
                count_element_found(element, &ret->infinities, &ret->first_infinity);
        }
    }
}

/* ---- Compared with a reference ---- */

double data_type_limit(enum data_type type)
{
    switch (type) {
    case DATA_FLOAT64:
        return DBL_MAX;
    case DATA_FLOAT32:
        return (double)FLT_MAX;
    case DATA_BFLOAT16:
        return 0x1.fep127;
    case DATA_FLOAT16:
        return 65504;
    case DATA_FLOAT8E5M2:
    case DATA_FLOAT8E5M2FNUZ:
        return 57344;
    case DATA_FLOAT8E4M3FN:
        return 448;
    case DATA_FLOAT8E4M3FNUZ:
        return 240;
    case DATA_FLOAT4E2M1:
        return 6;
    default:
        return NAN;
    }
}

/* The widest type in which the value may have been computed and whose largest number is below the reference. */
static enum data_type find_limited_type(enum data_type type, double reference)
{
    static const enum data_type narrower[] = {DATA_FLOAT32, DATA_BFLOAT16, DATA_FLOAT16};
    double magnitude = fabs(reference);

    if (magnitude > data_type_limit(type))
        return type;
    for (size_t i = 0; data_type_bits(type) >= 32 && i < ARRAY_LEN(narrower); i++)
        if (magnitude > data_type_limit(narrower[i]))
            return narrower[i];
    return DATA_UNDEFINED;
}

void tensor_find_excess(const struct tensor *tensor, const struct tensor *reference, struct excess *ret)
{
    size_t elements = tensor_elements(tensor);
    double run[ELEMENTS_RUN], beside[ELEMENTS_RUN];

    *ret = (struct excess){.limited_type = DATA_UNDEFINED};
    if (!data_type_is_float(tensor->type) || elements_arithmetic(reference->type) == ARITHMETIC_NONE)
        return;
    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);

        elements_to_float64(tensor, first, count, run);
        elements_to_float64(reference, first, count, beside);
        for (size_t i = 0; i < count; i++) {
            if (isfinite(run[i]) || !isfinite(beside[i]))
                continue;
            if (ret->count++ == 0) {
                ret->first = first + i;
                ret->value = run[i];
                ret->reference = beside[i];
                ret->limited_type = find_limited_type(tensor->type, beside[i]);
            }
        }
    }
}
