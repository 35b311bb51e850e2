/* comparator/data/derived_values.c: see derived_values.h. */
#include "comparator/data/derived_values.h"

#include <math.h>

#include "comparator/data/cast.h"

/* Element `place` of the last axis, which has `length`. */
static int64_t value_at(const struct derived_input *input, int64_t place, int64_t length)
{
    int64_t period;

    switch (input->values) {
    case DERIVED_MASK:
        return place < length - input->low;
    case DERIVED_POSITIONS:
        period = input->high < INT64_MAX && input->high >= 0 ? input->high + 1 : INT64_MAX;
        return (input->low + place) % period;
    case DERIVED_NUMBER:
        return input->low;
    case DERIVED_ANY:
    case DERIVED_INTEGERS:
        break;
    }
    return 0;
}

static int fill_values(const struct derived_input *input, const struct shape *shape, struct tensor *ret,
                       struct error *err)
{
    int64_t length = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
    int64_t *values;
    int rc = tensor_allocate(DATA_INT64, shape, ret, err);

    if (rc < 0)
        return rc;
    values = tensor_writable(ret);
    for (size_t i = 0; i < tensor_elements(ret); i++)
        values[i] = value_at(input, (int64_t)(i % (size_t)length), length);
    return 0;
}

int derived_values_generate(const struct derived_input *input, enum data_type type, const struct shape *shape,
                            struct mersenne_twister *random, struct tensor *ret, struct error *err)
{
    double limit = ldexp(1, (int)data_type_bits(type) - data_type_is_signed(type)) - 1;
    struct number_range range = {(double)input->low, fmin((double)input->high, limit)};
    struct tensor values SCOPED(tensor_release) = {0};
    size_t clipped;
    int rc;

    if (input->values == DERIVED_INTEGERS && type != DATA_BOOL)
        return tensor_generate(random, type, shape, range, ret, err);
    rc = fill_values(input, shape, &values, err);
    return rc < 0 ? rc : tensor_cast(&values, type, ret, &clipped, err);
}
