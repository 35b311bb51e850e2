/* tensor/compare/compare.c: the verdict on two outputs. */
#include "tensor/compare/compare.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "tensor/compare/difference.h"
#include "tensor/statistics/range.h"
#include "tensor/statistics/statistics.h"

static const char *const statistic_names[] = {
    [COMPARE_ELEMWISE] = "elemwise", [COMPARE_MAX] = "max",           [COMPARE_MEAN] = "mean",
    [COMPARE_MEDIAN] = "median",     [COMPARE_QUANTILE] = "quantile",
};

const char *compare_statistic_name(enum compare_statistic statistic)
{
    return statistic_names[statistic];
}

bool compare_statistic_parse(struct text name, enum compare_statistic *ret)
{
    for (unsigned i = 0; i < ARRAY_LEN(statistic_names); i++) {
        if (text_equal_string(name, statistic_names[i])) {
            *ret = (enum compare_statistic)i;
            return true;
        }
    }
    return false;
}

int compare_options_check(const struct compare_options *options, struct error *err)
{
    char number[NUMBER_TEXT_SIZE];

    if (!(options->atol >= 0))
        return error_set(err, ERR_INVALID, "the absolute tolerance must be a number >= 0, not %s",
                         number_to_text(options->atol, number));
    if (!(options->rtol >= 0))
        return error_set(err, ERR_INVALID, "the relative tolerance must be a number >= 0, not %s",
                         number_to_text(options->rtol, number));
    if (!(options->norm_tolerance >= 0 && isfinite(options->norm_tolerance)))
        return error_set(err, ERR_INVALID, "the norm tolerance must be a finite number >= 0, not %s",
                         number_to_text(options->norm_tolerance, number));
    if (!(options->quantile >= 0 && options->quantile <= 1))
        return error_set(err, ERR_INVALID, "the error quantile must be a number from 0 to 1, not %s",
                         number_to_text(options->quantile, number));
    return 0;
}

static bool is_complex(const struct tensor *tensor)
{
    return tensor->type != DATA_STRING && elements_arithmetic(tensor->type) == ARITHMETIC_NONE;
}

static bool shapes_go_together(const struct tensor *a, const struct tensor *b, const struct compare_options *options)
{
    return options->check_shapes ? shape_equal(&a->shape, &b->shape) : tensor_elements(a) == tensor_elements(b);
}

/* Initializes `pair` with two outputs of compatible shapes, the second converted to the shape of the first. The caller
 * must release `matched` in any case. */
static int match_outputs(const struct tensor *a, const struct tensor *b, const struct compare_options *options,
                         struct tensor *matched, struct pair *pair, struct error *err)
{
    if (is_complex(a) || is_complex(b))
        return error_set(err, ERR_UNSUPPORTED, "outputs of type %s cannot be compared",
                         data_type_name(is_complex(a) ? a->type : b->type));

    int rc = tensor_match_shape(b, &a->shape, matched, err);
    if (rc == 0)
        pair_init(pair, a, matched, options->infinities_compare_equal, options->nans_compare_equal);
    return rc;
}

/* The greatest difference among elements outside their tolerances, and the first such element. */
struct worst {
    double difference; /* -1: none so far */
    size_t element, first;
};

static void look_for_worst(const struct pair *pair, size_t first, size_t count, const struct tolerance *tolerance,
                           struct worst *worst)
{
    double absolute[ELEMENTS_RUN], relative[ELEMENTS_RUN];

    pair_differences(pair, first, count, absolute, relative);
    for (size_t i = 0; i < count; i++) {
        if (!(absolute[i] <= worst->difference) && pair_mismatch(pair, tolerance, absolute[i], relative[i])) {
            if (worst->difference == -1)
                worst->first = first + i;
            worst->difference = absolute[i];
            worst->element = first + i;
            if (isnan(absolute[i]))
                return;
        }
    }
}

/* The position of the greatest difference in a run. */
static size_t look_for_difference(const struct pair *pair, size_t first, size_t count, double greatest)
{
    double absolute[ELEMENTS_RUN], relative[ELEMENTS_RUN];

    if (count == 0)
        return first;
    pair_differences(pair, first, count, absolute, relative);
    for (size_t i = 0; i < count; i++)
        if (absolute[i] == greatest || (isnan(absolute[i]) && isnan(greatest)))
            return first + i;
    return first;
}

/* One pass over both outputs. Only runs that may contain a new worst element are read twice. */
static void summarize_differences(const struct pair *pair, const struct tolerance *tolerance,
                                  struct compare_result *ret)
{
    struct worst worst = {.difference = -1};
    struct difference_summary run;
    double absolute_sum = 0, relative_sum = 0;
    size_t greatest_run = 0;

    for (size_t first = 0; first < ret->elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(ret->elements, first);
        pair_summarize(pair, first, count, tolerance, &run);
        absolute_sum += run.absolute_sum;
        relative_sum += run.relative_sum;
        if (!isnan(ret->absolute.maximum) && !(run.absolute_maximum <= ret->absolute.maximum))
            greatest_run = first;
        ret->absolute.maximum = difference_greatest(run.absolute_maximum, ret->absolute.maximum);
        ret->relative.maximum = difference_greatest(run.relative_maximum, ret->relative.maximum);
        ret->mismatches += run.mismatches;
        ret->zeros_replaced |= run.zeros_replaced;
        ret->equal_nans += pair->nans_equal ? pair_equal_nans(pair, first, count) : 0;
        if (run.mismatches > 0 && !isnan(worst.difference) && !(run.absolute_maximum <= worst.difference))
            look_for_worst(pair, first, count, tolerance, &worst);
    }
    ret->absolute.mean = absolute_sum / (double)ret->elements; /* NaN when there are none */
    ret->relative.mean = relative_sum / (double)ret->elements;
    ret->first = worst.first;
    ret->worst = ret->mismatches > 0
                     ? worst.element
                     : look_for_difference(pair, greatest_run, elements_in_run(ret->elements, greatest_run),
                                           ret->absolute.maximum);
}

/* Integers of 32 bits and more are counts, positions and classes, which rounding errors do not change. */
static bool is_rounded(enum data_type type)
{
    return !data_type_is_integer(type) || data_type_bits(type) < 32;
}

/* The larger of `atol` and the norm tolerance. The latter stays finite for any reference, so that an infinite
 * difference always fails. */
static double atol_in_effect(const struct pair *pair, const struct compare_options *options, double *norm)
{
    double most = pair->arithmetic == ARITHMETIC_FLOAT32 ? (double)FLT_MAX : DBL_MAX;

    if (options->norm_tolerance == 0 || pair->arithmetic == ARITHMETIC_NONE || !is_rounded(pair->b->type))
        return options->atol;
    *norm = range_largest_magnitude(pair->b);
    return fmax(options->atol, fmin(options->norm_tolerance * *norm, most));
}

static int gather_differences(const struct pair *pair, enum difference_kind kind, struct tensor *ret, struct error *err)
{
    enum data_type type = pair->arithmetic == ARITHMETIC_FLOAT32 ? DATA_FLOAT32 : DATA_FLOAT64;
    double differences[2][ELEMENTS_RUN];
    size_t elements = tensor_elements(pair->a);

    int rc = tensor_allocate(type, &pair->a->shape, ret, err);
    if (rc < 0)
        return rc;
    void *data = tensor_writable(ret);
    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);
        pair_differences(pair, first, count, differences[0], differences[1]);
        for (size_t i = 0; i < count; i++) {
            double difference = differences[kind == DIFFERENCE_RELATIVE][i];
            if (type == DATA_FLOAT32)
                ((float *)data)[first + i] = (float)difference;
            else
                ((double *)data)[first + i] = difference;
        }
    }
    return 0;
}

/* Median and quantile need all differences at once. */
static int find_order_statistics(const struct pair *pair, const struct compare_options *options,
                                 enum difference_kind kind, const struct compare_result *result,
                                 struct compare_difference *ret, struct error *err)
{
    struct tensor differences SCOPED(tensor_release) = {0};

    if (!result->has_medians && !result->has_quantiles)
        return 0;
    int rc = gather_differences(pair, kind, &differences, err);
    if (rc < 0)
        return rc;
    if (result->has_medians)
        ret->median = statistics_median(&differences);
    if (result->has_quantiles)
        ret->quantile = statistics_quantile(&differences, options->quantile);
    return 0;
}

static double statistic_of(const struct compare_difference *difference, enum compare_statistic statistic)
{
    switch (statistic) {
    case COMPARE_MAX:
        return difference->maximum;
    case COMPARE_MEAN:
        return difference->mean;
    case COMPARE_MEDIAN:
        return difference->median;
    case COMPARE_QUANTILE:
        return difference->quantile;
    default:
        return NAN;
    }
}

static bool result_passes(const struct pair *pair, const struct compare_options *options,
                          const struct compare_result *result)
{
    if (options->statistic == COMPARE_ELEMWISE || pair->arithmetic == ARITHMETIC_NONE || result->elements == 0)
        return result->mismatches == 0;
    return statistic_of(&result->absolute, options->statistic) <= result->atol ||
           statistic_of(&result->relative, options->statistic) <= options->rtol;
}

int compare_outputs(const struct tensor *a, const struct tensor *b, const struct compare_options *options,
                    struct compare_result *ret, struct error *err)
{
    struct compare_result result = {
        .elements = tensor_elements(a),
        .has_medians = options->want_medians || options->statistic == COMPARE_MEDIAN,
        .has_quantiles = options->statistic == COMPARE_QUANTILE,
    };
    struct tensor matched SCOPED(tensor_release) = {0};
    struct pair pair;

    int rc = compare_options_check(options, err);
    if (rc < 0)
        return rc;
    if (!shapes_go_together(a, b, options)) {
        *ret = (struct compare_result){.shape_mismatch = true};
        return 0;
    }
    rc = match_outputs(a, b, options, &matched, &pair, err);
    if (rc < 0)
        return rc;

    pair.masks_equal = options->norm_tolerance > 0;
    result.atol = atol_in_effect(&pair, options, &result.norm);
    struct tolerance tolerance = {result.atol, options->rtol};
    summarize_differences(&pair, &tolerance, &result);
    rc = find_order_statistics(&pair, options, DIFFERENCE_ABSOLUTE, &result, &result.absolute, err);
    if (rc < 0)
        return rc;
    rc = find_order_statistics(&pair, options, DIFFERENCE_RELATIVE, &result, &result.relative, err);
    if (rc < 0)
        return rc;
    result.passed = result_passes(&pair, options, &result);
    *ret = result;
    return rc;
}

int compare_differences(const struct tensor *a, const struct tensor *b, const struct compare_options *options,
                        enum difference_kind kind, struct tensor *ret, struct error *err)
{
    struct tensor matched SCOPED(tensor_release) = {0};
    struct pair pair;

    if (!shapes_go_together(a, b, options))
        return error_set(err, ERR_INVALID, "cannot compute differences of outputs with incompatible shapes");
    int rc = match_outputs(a, b, options, &matched, &pair, err);
    if (rc == 0)
        rc = gather_differences(&pair, kind, ret, err);
    return rc;
}
