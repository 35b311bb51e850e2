/* tensor/statistics/statistics.c: mean, spread, extremes and quantiles in a few passes over the data. */
#include "tensor/statistics/statistics.h"

#include <float.h>
#include <math.h>

#include "base/text/number.h"
#include "tensor/statistics/selection.h"
#include "tensor/values/elements.h"

/* Reads the next run of elements as float64. Returns their number; 0 at the end. */
static size_t read_run(const struct tensor *tensor, size_t elements, size_t first, double *ret)
{
    size_t count = elements_in_run(elements, first);

    elements_to_float64(tensor, first, count, ret);
    return count;
}

/* Finds minimum and maximum. Returns true if there is a NaN, which is then both minimum and maximum. */
static bool find_extremes(const struct tensor *tensor, struct statistics *ret)
{
    double run[ELEMENTS_RUN];
    size_t count;

    elements_to_float64(tensor, 0, 1, run);
    ret->minimum = ret->maximum = run[0];
    ret->minimum_at = ret->maximum_at = 0;
    for (size_t first = 0; first < ret->elements; first += count) {
        count = read_run(tensor, ret->elements, first, run);
        for (size_t i = 0; i < count; i++) {
            if (run[i] < ret->minimum) {
                ret->minimum = run[i];
                ret->minimum_at = first + i;
            }
            if (run[i] > ret->maximum) {
                ret->maximum = run[i];
                ret->maximum_at = first + i;
            }
            if (isnan(run[i])) {
                ret->minimum = ret->maximum = NAN;
                ret->minimum_at = ret->maximum_at = first + i;
                return true;
            }
        }
    }
    return false;
}

/* Values are scaled by a power of two near the largest magnitude, which is exact: sums and squares of large float64
 * values would overflow, squares of small ones underflow. Each run is summed separately (pairwise summation), which is
 * more accurate than one long sum. */
static void find_moments(const struct tensor *tensor, struct statistics *ret)
{
    double largest = fmax(fabs(ret->minimum), fabs(ret->maximum));
    int exponent = isfinite(largest) && largest > 0 ? ilogb(largest) : 0;
    double elements = (double)ret->elements;
    double sum = 0, magnitudes = 0, squares = 0;
    double run[ELEMENTS_RUN];
    size_t count;

    if (exponent < DBL_MIN_EXP)
        exponent = DBL_MIN_EXP;
    double scale = ldexp(1, -exponent);
    for (size_t first = 0; first < ret->elements; first += count) {
        double run_sum = 0, run_magnitudes = 0;
        count = read_run(tensor, ret->elements, first, run);
        for (size_t i = 0; i < count; i++) {
            run_sum += run[i] * scale;
            run_magnitudes += fabs(run[i] * scale);
        }
        sum += run_sum;
        magnitudes += run_magnitudes;
    }

    double mean = sum / elements;
    for (size_t first = 0; first < ret->elements; first += count) {
        double run_squares = 0;
        count = read_run(tensor, ret->elements, first, run);
        for (size_t i = 0; i < count; i++) {
            double deviation = run[i] * scale - mean;
            run_squares += deviation * deviation;
        }
        squares += run_squares;
    }
    ret->mean = ldexp(mean, exponent);
    ret->average_magnitude = ldexp(magnitudes / elements, exponent);
    ret->standard_deviation = ldexp(sqrt(squares / elements), exponent);
    ret->variance = ldexp(squares / elements, 2 * exponent);
}

/* A position between two ranks. */
struct position {
    size_t below, above;
    double weight; /* of the rank above */
};

static struct position quantile_position(double fraction, size_t elements)
{
    double exact = fraction * (double)(elements - 1);
    size_t below = (size_t)exact;

    return (struct position){below, below + 1 < elements ? below + 1 : below, exact - (double)below};
}

/* Interpolates from the nearer end, as NumPy does. */
static double interpolate_quantile(double below, double above, double weight)
{
    if (weight == 0 || below == above) /* avoids infinity - infinity */
        return below;
    if (isfinite(below) && isfinite(above) && isinf(above - below))
        return below * (1 - weight) + above * weight;
    double part = (above - below) * (weight < 0.5 ? weight : 1 - weight);
    return weight < 0.5 ? below + part : above - part;
}

static bool has_nan(const struct tensor *tensor)
{
    size_t elements = tensor_elements(tensor), count;
    double run[ELEMENTS_RUN];

    if (elements_arithmetic(tensor->type) == ARITHMETIC_INTEGER)
        return false;
    for (size_t first = 0; first < elements; first += count) {
        size_t nans = 0;
        count = read_run(tensor, elements, first, run);
        for (size_t i = 0; i < count; i++)
            nans += isnan(run[i]) ? 1 : 0;
        if (nans > 0)
            return true;
    }
    return false;
}

double statistics_quantile(const struct tensor *tensor, double fraction)
{
    size_t elements = tensor_elements(tensor);
    double values[2];

    if (elements == 0)
        return INFINITY;
    if (has_nan(tensor))
        return NAN;
    struct position position = quantile_position(fraction, elements);
    selection_find(tensor, (const size_t[]){position.below, position.above}, 2, values);
    return interpolate_quantile(values[0], values[1], position.weight);
}

double statistics_median(const struct tensor *tensor)
{
    size_t elements = tensor_elements(tensor);
    double values[2];

    if (elements == 0)
        return 0;
    if (has_nan(tensor))
        return NAN;
    selection_find(tensor, (const size_t[]){(elements - 1) / 2, elements / 2}, 2, values);
    return interpolate_quantile(values[0], values[1], 0.5);
}

/* Finds median and percentiles in the same passes over the data. */
static void find_quantiles(const struct tensor *tensor, struct statistics *ret)
{
    const double fractions[] = {0.5, 0.9, 0.95, 0.99};
    double *const results[] = {&ret->median, &ret->p90, &ret->p95, &ret->p99};
    size_t count = ret->has_percentiles ? 4 : 1;
    struct position positions[4];
    size_t ranks[8];
    double values[8];

    for (size_t i = 0; i < count; i++) {
        positions[i] = quantile_position(fractions[i], ret->elements);
        ranks[2 * i] = positions[i].below;
        ranks[2 * i + 1] = positions[i].above;
    }
    selection_find(tensor, ranks, 2 * count, values);
    for (size_t i = 0; i < count; i++)
        *results[i] = interpolate_quantile(values[2 * i], values[2 * i + 1], positions[i].weight);
}

int statistics_compute(const struct tensor *tensor, struct statistics *ret, struct error *err)
{
    struct statistics result = {
        .elements = tensor_elements(tensor),
        .mean = NAN,
        .average_magnitude = NAN,
        .has_percentiles = tensor->type != DATA_BOOL,
        .p90 = INFINITY,
        .p95 = INFINITY,
        .p99 = INFINITY,
    };

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
        return error_set(err, ERR_UNSUPPORTED, "cannot compute statistics of %s data", data_type_name(tensor->type));
    if (result.elements > 0) {
        if (find_extremes(tensor, &result)) {
            result.standard_deviation = result.variance = result.median = NAN;
            result.p90 = result.p95 = result.p99 = NAN;
        } else {
            find_moments(tensor, &result);
            find_quantiles(tensor, &result);
        }
    }
    *ret = result;
    return 0;
}

static void add_labelled_number(struct string_builder *text, const char *label, double value)
{
    char number[NUMBER_TEXT_SIZE];

    string_add_format(text, "%s=%s", label, number_to_text_rounded(value, 'g', 5, number));
}

static void add_element_position(struct string_builder *text, const struct statistics *statistics,
                                 const struct shape *shape, size_t element)
{
    struct shape position;

    string_add(text, " at ");
    if (statistics->elements == 0) {
        string_add_char(text, '0');
    } else {
        shape_position(shape, element, &position);
        shape_to_text(&position, text);
    }
}

void statistics_to_text(const struct statistics *statistics, const struct shape *shape, struct string_builder *text)
{
    add_labelled_number(text, "mean", statistics->mean);
    add_labelled_number(text, ", std-dev", statistics->standard_deviation);
    add_labelled_number(text, ", var", statistics->variance);
    add_labelled_number(text, ", median", statistics->median);
    add_labelled_number(text, ", min", statistics->minimum);
    add_element_position(text, statistics, shape, statistics->minimum_at);
    add_labelled_number(text, ", max", statistics->maximum);
    add_element_position(text, statistics, shape, statistics->maximum_at);
    add_labelled_number(text, ", avg-magnitude", statistics->average_magnitude);
    if (statistics->has_percentiles) {
        add_labelled_number(text, ", p90", statistics->p90);
        add_labelled_number(text, ", p95", statistics->p95);
        add_labelled_number(text, ", p99", statistics->p99);
    }
}
