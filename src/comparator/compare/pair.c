/* comparator/compare/pair.c: see pair.h. */
#include "comparator/compare/pair.h"

#include <inttypes.h>
#include <math.h>

#include "base/text/number.h"
#include "comparator/compare/validation.h"
#include "tensor/compare/difference.h"
#include "tensor/compare/logits.h"
#include "tensor/compare/metrics.h"
#include "tensor/compare/ranking.h"
#include "tensor/compare/structural_similarity.h"
#include "tensor/statistics/histogram.h"
#include "tensor/statistics/statistics.h"
#include "tensor/values/element_text.h"
#include "tensor/values/text.h"

/* Maximum number of mismatching elements in the log. */
enum { MOST_MISMATCHES = 1000 };

/* Tensors with more elements are abbreviated. */
enum { MOST_VALUES = 100 };

static void log_values(struct log *log, const struct tensor *tensor)
{
    SCOPED_STRING(text);

    string_add(&text, "---- Values ----\n");
    tensor_to_text(tensor, &TENSOR_TEXT_DEFAULTS, &text);
    log_text(log, LOG_VERBOSE, (struct text){text.data, text.size});
}

static void log_histogram(struct log *log, const struct histogram_range *range, const struct tensor *tensor)
{
    struct histogram histogram;
    SCOPED_STRING(text);

    if (tensor->type == DATA_BOOL)
        return;
    histogram_compute(tensor, range->minimum, range->maximum, &histogram);
    histogram_to_text(&histogram, &text);
    if (text.size > 0)
        log_message(log, LOG_VERBOSE, "---- Histogram ----\n%s", text.data);
}

int statistics_log(struct log *log, const char *label, const struct tensor *tensor, const struct histogram_range *range,
                   struct error *err)
{
    struct statistics statistics;
    SCOPED_STRING(text);
    int rc;

    if (log_shows(log, LOG_INFO)) {
        rc = statistics_compute(tensor, &statistics, err);
        if (rc < 0)
            return rc;
        statistics_to_text(&statistics, &tensor->shape, &text);
        log_message(log, LOG_INFO, "%s | Stats: %s", label, text.data);
    }
    if (log_shows(log, LOG_VERBOSE)) {
        log_indent(log, 1);
        if (tensor_elements(tensor) <= MOST_VALUES)
            log_values(log, tensor);
        log_histogram(log, range, tensor);
        log_indent(log, -1);
    }
    return 0;
}

#define DIFFERENT_SHAPES "Will not compare outputs of different shapes"

/* Two outputs under comparison. */
struct subject {
    struct log *log;
    enum comparison_function function;
    const char *name;           /* of the first output */
    const struct tensor *a, *b; /* of equal shape after match_shapes() */
    struct comparison_criteria criteria;
    struct compare_result result;
};

static void add_shape(struct string_builder *text, const struct shape *shape, const char *end)
{
    shape_to_text(shape, text);
    string_add(text, end);
}

void pair_log_beginning(struct log *log, enum comparison_function function, const struct output_pair *pair)
{
    const struct tensor *a = &pair->first->tensor, *b = &pair->second->tensor;
    SCOPED_STRING(text);

    string_add_format(&text, "%s | Comparing Output: '%s' (dtype=%s, shape=", comparison_function_label(function),
                      pair->first->name, data_type_name(a->type));
    add_shape(&text, &a->shape, "");
    string_add_format(&text, ") with '%s' (dtype=%s, shape=", pair->second->name, data_type_name(b->type));
    add_shape(&text, &b->shape, ")");
    log_message(log, LOG_START, "%s", text.data);
}

static void log_tolerance(const struct subject *subject)
{
    const struct compare_options *options = &subject->criteria.simple;
    char absolute[NUMBER_TEXT_SIZE], relative[NUMBER_TEXT_SIZE], norm[NUMBER_TEXT_SIZE];

    log_message(subject->log, LOG_INFO, "Tolerance: [abs=%s, rel=%s%s%s] | Checking %s error",
                number_to_text_rounded(options->atol, 'g', 5, absolute),
                number_to_text_rounded(options->rtol, 'g', 5, relative), options->norm_tolerance > 0 ? ", norm=" : "",
                options->norm_tolerance > 0 ? number_to_text_rounded(options->norm_tolerance, 'g', 5, norm) : "",
                compare_statistic_name(options->statistic));
}

static void refuse_shapes(struct subject *subject, const char *what)
{
    SCOPED_STRING(text);

    subject->result.shape_mismatch = true;
    add_shape(&text, &subject->a->shape, " vs. ");
    add_shape(&text, &subject->b->shape, "");
    log_message(subject->log, LOG_ERROR, "FAILED | Output: '%s' | %s: %s", subject->name, what, text.data);
}

/* The value of the checked statistic; for elementwise comparison the greatest difference. */
static double read_needed_tolerance(const struct compare_difference *difference, enum compare_statistic statistic)
{
    switch (statistic) {
    case COMPARE_MEAN:
        return difference->mean;
    case COMPARE_MEDIAN:
        return difference->median;
    case COMPARE_QUANTILE:
        return difference->quantile;
    default:
        return difference->maximum;
    }
}

static void log_needed_tolerance(const struct subject *subject)
{
    const struct compare_options *options = &subject->criteria.simple;
    char absolute[NUMBER_TEXT_SIZE], relative[NUMBER_TEXT_SIZE], quantile[NUMBER_TEXT_SIZE], norm[NUMBER_TEXT_SIZE];
    double largest = read_needed_tolerance(&subject->result.absolute, options->statistic);
    SCOPED_STRING(remark);

    if (options->norm_tolerance > 0 && subject->result.norm > 0)
        string_add_format(&remark, " OR [norm=%s]",
                          number_to_text_rounded(largest / subject->result.norm, 'g', 5, norm));
    if (options->statistic == COMPARE_ELEMWISE)
        string_add(&remark, " (requirements may be lower if both abs/rel tolerances are set)");
    else if (options->statistic == COMPARE_QUANTILE)
        string_add_format(&remark, " (quantile=%s)", number_to_text(options->quantile, quantile));
    log_message(
        subject->log, LOG_INFO, "Minimum Required Tolerance: %s error | [abs=%s] OR [rel=%s]%s",
        compare_statistic_name(options->statistic), number_to_text_rounded(largest, 'g', 5, absolute),
        number_to_text_rounded(read_needed_tolerance(&subject->result.relative, options->statistic), 'g', 5, relative),
        remark.data);
}

static int log_differences(const struct subject *subject, enum difference_kind kind, struct error *err)
{
    const char *label = kind == DIFFERENCE_ABSOLUTE ? "Absolute Difference" : "Relative Difference";
    struct histogram_range range = HISTOGRAM_RANGE_EMPTY;
    struct tensor differences SCOPED(tensor_release) = {0};
    int rc = compare_differences(subject->a, subject->b, &subject->criteria.simple, kind, &differences, err);

    if (rc < 0)
        return rc;
    if (log_shows(subject->log, LOG_VERBOSE))
        histogram_extend_range(&differences, &range.minimum, &range.maximum);
    return statistics_log(subject->log, label, &differences, &range, err);
}

static bool has_numbers(const struct tensor *tensor)
{
    return elements_arithmetic(tensor->type) != ARITHMETIC_NONE;
}

int pair_log_statistics(struct log *log, const struct output_pair *pair, const struct pair_names *runners,
                        struct error *err)
{
    const struct tensor *a = &pair->first->tensor, *b = &pair->second->tensor;
    struct histogram_range range = HISTOGRAM_RANGE_EMPTY;
    SCOPED_STRING(label);
    int rc;

    if (!log_shows(log, LOG_INFO) || !has_numbers(a) || !has_numbers(b))
        return 0;
    if (log_shows(log, LOG_VERBOSE)) {
        histogram_extend_range(a, &range.minimum, &range.maximum);
        histogram_extend_range(b, &range.minimum, &range.maximum);
    }
    string_add_format(&label, "%s: %s", runners->first, pair->first->name);
    rc = statistics_log(log, label.data, a, &range, err);
    string_clear(&label);
    string_add_format(&label, "%s: %s", runners->second, pair->second->name);
    if (rc == 0)
        rc = statistics_log(log, label.data, b, &range, err);
    return rc;
}

/* Logs statistics of the differences, which cost several passes over the data. */
static int log_error_metrics(const struct subject *subject, struct error *err)
{
    int rc;

    if (!log_shows(subject->log, LOG_INFO) || !has_numbers(subject->a) || !has_numbers(subject->b))
        return 0;
    log_message(subject->log, LOG_INFO, "Error Metrics: %s", subject->name);
    log_indent(subject->log, 1);
    log_needed_tolerance(subject);
    rc = log_differences(subject, DIFFERENCE_ABSOLUTE, err);
    if (rc == 0)
        rc = log_differences(subject, DIFFERENCE_RELATIVE, err);
    log_indent(subject->log, -1);
    return rc;
}

/* "(0, 3): 1.5 vs. 1.6", the position only if requested. */
static void add_pair_element(const struct tensor *a, const struct tensor *b, size_t element, bool with_position,
                             struct string_builder *text)
{
    struct shape position;

    if (with_position) {
        shape_position(&a->shape, element, &position);
        add_shape(text, &position, ": ");
    }
    element_to_text_alone(a, element, text);
    string_add(text, " vs. ");
    element_to_text_alone(b, element, text);
}

void pair_add_mismatch(const struct output_pair *pair, const struct compare_result *result, struct string_builder *ret)
{
    const struct tensor *a = &pair->first->tensor, *b = &pair->second->tensor;

    string_add_format(ret, "'%s'", pair->first->name);
    if (result->mismatches == 0)
        return;
    string_add_format(ret, ", %zu of %zu elements", result->mismatches, result->elements);
    if (!shape_equal(&a->shape, &b->shape))
        return; /* elements were compared in a different order */
    string_add(ret, ", the worst at ");
    add_pair_element(a, b, result->worst, true, ret);
}

/* Logs each mismatching element, at LOG_EXTRA_VERBOSE. */
static void log_mismatches(const struct subject *subject)
{
    bool with_position = log_shows(subject->log, LOG_SUPER_VERBOSE);
    size_t elements = tensor_elements(subject->a), shown = 0;
    double absolute[ELEMENTS_RUN], relative[ELEMENTS_RUN];
    struct tolerance tolerance = {subject->result.atol, subject->criteria.simple.rtol};
    SCOPED_STRING(text);
    struct pair pair;

    if (!log_shows(subject->log, LOG_EXTRA_VERBOSE) || subject->result.mismatches == 0)
        return;
    pair_init(&pair, subject->a, subject->b, subject->criteria.simple.infinities_compare_equal,
              subject->criteria.simple.nans_compare_equal);
    string_add(&text, "Mismatched values:");
    for (size_t first = 0; first < elements && shown < MOST_MISMATCHES; first += ELEMENTS_RUN) {
        size_t count = elements - first < ELEMENTS_RUN ? elements - first : ELEMENTS_RUN;

        pair_differences(&pair, first, count, absolute, relative);
        for (size_t i = 0; i < count && shown < MOST_MISMATCHES; i++) {
            if (!pair_mismatch(&pair, &tolerance, absolute[i], relative[i]))
                continue;
            string_add_char(&text, '\n');
            add_pair_element(subject->a, subject->b, first + i, with_position, &text);
            shown++;
        }
    }
    if (shown < subject->result.mismatches)
        string_add_format(&text, "\n... and %zu more", subject->result.mismatches - shown);
    log_message(subject->log, LOG_EXTRA_VERBOSE, "%s", text.data);
}

/* Appends ", norm=0.001 * 25.5" if there is a norm tolerance. */
static void add_norm_tolerance(const struct subject *subject, struct string_builder *text)
{
    double tolerance = subject->criteria.simple.norm_tolerance;
    char number[NUMBER_TEXT_SIZE], norm[NUMBER_TEXT_SIZE];

    if (tolerance > 0)
        string_add_format(text, ", norm=%s * %s", number_to_text(tolerance, number),
                          number_to_text_rounded(subject->result.norm, 'g', 6, norm));
}

/* As Python prints what was written: 10, 10.0. */
static const char *tolerance_text(double value, bool is_integer, char buffer[NUMBER_TEXT_SIZE])
{
    if (!is_integer || fabs(value) >= 1e15)
        return number_to_text(value, buffer);
    snprintf(buffer, NUMBER_TEXT_SIZE, "%.0f", value);
    return buffer;
}

static void log_verdict(const struct subject *subject)
{
    const struct compare_options *options = &subject->criteria.simple;
    const struct compare_result *result = &subject->result;
    char absolute[NUMBER_TEXT_SIZE], relative[NUMBER_TEXT_SIZE];
    SCOPED_STRING(worst);
    SCOPED_STRING(norm);

    if (!result->passed) {
        validation_log_excess(subject->log, subject->a, subject->b);
        validation_log_excess(subject->log, subject->b, subject->a);
    }
    if (!result->passed && result->mismatches > 0) {
        add_pair_element(subject->a, subject->b, result->worst, true, &worst);
        log_message(subject->log, LOG_ERROR, "Mismatched elements: %zu of %zu | Worst at %s", result->mismatches,
                    result->elements, worst.data);
    }
    if (result->equal_nans > 0)
        log_message(subject->log, LOG_WARNING, "%zu of %zu elements are NaN in both outputs and count as equal",
                    result->equal_nans, result->elements);
    add_norm_tolerance(subject, &norm);
    log_message(subject->log, result->passed ? LOG_FINISH : LOG_ERROR,
                "%s | Output: '%s' | Difference %s tolerance (rel=%s, abs=%s%s)", result->passed ? "PASSED" : "FAILED",
                subject->name, result->passed ? "is within" : "exceeds",
                tolerance_text(options->rtol, subject->criteria.rtol_is_integer, relative),
                tolerance_text(options->atol, subject->criteria.atol_is_integer, absolute), norm.data);
}

/* Makes subject->b refer to the second output in the shape of the first one, which may be owned by `matched`. If that
 * is impossible or disabled, logs it and sets *ret_possible to false. */
static int match_shapes(struct subject *subject, struct tensor *matched, bool *ret_possible, struct error *err)
{
    int rc;

    *ret_possible = true;
    if (shape_equal(&subject->a->shape, &subject->b->shape))
        return 0;
    *ret_possible = false;
    if (subject->criteria.simple.check_shapes) {
        refuse_shapes(subject, DIFFERENT_SHAPES);
        log_once(subject->log, LOG_ERROR,
                 "With --no-shape-check outputs of different shapes are compared if they have as many elements");
        return 0;
    }
    if (tensor_elements(subject->a) != tensor_elements(subject->b)) {
        refuse_shapes(subject, "The outputs differ in their number of elements");
        return 0;
    }
    rc = tensor_match_shape(subject->b, &subject->a->shape, matched, err);
    if (rc < 0)
        return rc;
    subject->b = matched;
    *ret_possible = true;
    return 0;
}

static int compare_values(struct subject *subject, struct error *err)
{
    int rc = compare_outputs(subject->a, subject->b, &subject->criteria.simple, &subject->result, err);

    if (rc < 0)
        return rc;
    if (subject->result.zeros_replaced)
        log_once(subject->log, LOG_WARNING,
                 "Some values are 0. A small number takes their place in relative differences, which may become very "
                 "large.");
    rc = log_error_metrics(subject, err);
    if (rc < 0)
        return rc;
    log_mismatches(subject);
    log_verdict(subject);
    return 0;
}

static int compare_simple(struct subject *subject, struct error *err)
{
    struct tensor matched SCOPED(tensor_release) = {0};
    bool possible;
    int rc;

    log_tolerance(subject);
    rc = match_shapes(subject, &matched, &possible, err);
    if (rc == 0 && possible)
        rc = compare_values(subject, err);
    return rc;
}

static int compare_rankings(struct subject *subject, struct error *err)
{
    size_t tolerance = subject->criteria.index_tolerance;
    struct indices_result result;
    int rc = compare_indices(subject->a, subject->b, tolerance, &result, err);

    if (rc < 0)
        return rc;
    subject->result.passed = result.passed;
    if (result.shape_mismatch)
        refuse_shapes(subject, DIFFERENT_SHAPES);
    else if (result.passed)
        log_message(subject->log, LOG_FINISH, "PASSED | Difference is within index tolerance (%zu)", tolerance);
    else if (!result.found)
        log_message(subject->log, LOG_ERROR,
                    "FAILED | Value: %s not found in output | Output: '%s', row %zu, position %zu; failing values: %zu",
                    result.value, subject->name, result.row, result.position, result.failures);
    else
        log_message(
            subject->log, LOG_ERROR,
            "FAILED | Difference exceeds index tolerance (%zu) | Output: '%s', row %zu: value %s stands at %zu, but at "
            "%zu in the second output; failing values: %zu",
            tolerance, subject->name, result.row, result.value, result.position, result.found_at, result.failures);
    return 0;
}

/* "(0, 3)": the position of a row, or a plane, which has `inner` axes. */
static void add_outer_position(const struct shape *shape, size_t inner, size_t index, struct string_builder *ret)
{
    struct shape outer = *shape, position;

    outer.rank -= inner;
    shape_position(&outer, index, &position);
    shape_to_text(&position, ret);
}

/* The share of tokens that differ. */
static int measure_tokens(const struct subject *subject, double *ret, struct error *err)
{
    struct token_agreement agreement;
    char margin[NUMBER_TEXT_SIZE];
    SCOPED_STRING(line);
    int rc = tokens_compare(subject->a, subject->b, &agreement, err);

    if (rc < 0)
        return rc;
    *ret = agreement.rows > 0 ? (double)agreement.different / (double)agreement.rows : 0;
    if (agreement.ties > 0)
        log_message(subject->log, LOG_INFO, "%zu token(s) are tied with another one in the second output",
                    agreement.ties);
    if (agreement.different == 0)
        return 0;
    add_outer_position(&subject->a->shape, tensor_is_tokens(subject->a) && tensor_is_tokens(subject->b) ? 0 : 1,
                       agreement.first, &line);
    string_add_format(&line, ": %" PRId64 " vs. %" PRId64, agreement.token, agreement.reference);
    if (!isnan(agreement.margin))
        string_add_format(&line, ", whose logit is greater by %s in the second output",
                          number_to_text_rounded(agreement.margin, 'g', 5, margin));
    log_message(subject->log, LOG_INFO, "%zu of %zu token(s) differ, the first at %s", agreement.different,
                agreement.rows, line.data);
    return 0;
}

static int measure_divergence(const struct subject *subject, double *ret, struct error *err)
{
    struct logits_divergence divergence;
    char mean[NUMBER_TEXT_SIZE];
    SCOPED_STRING(position);
    int rc = logits_diverge(subject->a, subject->b, &divergence, err);

    if (rc < 0)
        return rc;
    *ret = divergence.maximum;
    add_outer_position(&subject->a->shape, 1, divergence.worst, &position);
    log_message(subject->log, LOG_INFO, "KL divergence of the rows: mean %s nats, the greatest at %s",
                number_to_text_rounded(divergence.mean, 'g', 5, mean), position.data);
    return 0;
}

static int measure_overlap(const struct subject *subject, double *ret, struct error *err)
{
    struct logits_overlap overlap;
    char mean[NUMBER_TEXT_SIZE];
    SCOPED_STRING(position);
    int rc = logits_overlap_compute(subject->a, subject->b, subject->criteria.topk_size, &overlap, err);

    if (rc < 0)
        return rc;
    *ret = overlap.minimum;
    add_outer_position(&subject->a->shape, 1, overlap.worst, &position);
    log_message(subject->log, LOG_INFO, "Overlap of the %zu greatest of each row: mean %s, the least at %s",
                subject->criteria.topk_size, number_to_text_rounded(overlap.mean, 'g', 5, mean), position.data);
    return 0;
}

static int measure_similarity(const struct subject *subject, double *ret, struct error *err)
{
    struct structural_similarity similarity;
    char mean[NUMBER_TEXT_SIZE];
    int rc = structural_similarity_compute(subject->a, subject->b, &similarity, err);

    if (rc < 0)
        return rc;
    *ret = similarity.minimum;
    log_message(subject->log, LOG_INFO, "SSIM of %zu plane(s): mean %s, the least of plane %zu", similarity.planes,
                number_to_text_rounded(similarity.mean, 'g', 5, mean), similarity.worst);
    return 0;
}

bool comparison_function_applies(enum comparison_function function, const struct output_pair *pair)
{
    const struct tensor *a = &pair->first->tensor, *b = &pair->second->tensor;

    switch (function) {
    case COMPARISON_TOKENS:
        return (tensor_is_tokens(a) && tensor_is_tokens(b)) || (tensor_is_logits(a) && tensor_is_logits(b));
    case COMPARISON_KL:
    case COMPARISON_TOPK:
        return tensor_is_logits(a) && tensor_is_logits(b);
    case COMPARISON_SSIM:
        return tensor_is_images(a) && tensor_is_images(b);
    default:
        return true;
    }
}

static double choose_metric(enum comparison_function function, const struct metrics *metrics)
{
    switch (function) {
    case COMPARISON_COSINE_SIMILARITY:
        return metrics->cosine_similarity;
    case COMPARISON_PSNR:
        return metrics->peak_signal_to_noise;
    case COMPARISON_SNR:
        return metrics->signal_to_noise;
    case COMPARISON_NMSE:
        return metrics->normalized_mean_squared_error;
    default:
        return metrics->l2_norm;
    }
}

static int measure_metric(const struct subject *subject, double *ret, struct error *err)
{
    struct metrics metrics;
    int rc;

    switch (subject->function) {
    case COMPARISON_TOKENS:
        return measure_tokens(subject, ret, err);
    case COMPARISON_KL:
        return measure_divergence(subject, ret, err);
    case COMPARISON_TOPK:
        return measure_overlap(subject, ret, err);
    case COMPARISON_SSIM:
        return measure_similarity(subject, ret, err);
    default:
        rc = metrics_compute(subject->a, subject->b, &metrics, err);
        if (rc == 0)
            *ret = choose_metric(subject->function, &metrics);
        return rc;
    }
}

void pair_judge_metric(struct log *log, enum comparison_function function, double limit, struct compare_result *result)
{
    SCOPED_STRING(line);

    result->passed = comparison_metric_passes(function, result->metric, limit);
    comparison_describe_metric(function, result->metric, limit, &line);
    log_message(log, result->passed ? LOG_FINISH : LOG_ERROR, "%s", line.data);
}

/* Compares outputs by one number: as vectors, as a signal and its noise, as logits or images. */
static int compare_by_metric(struct subject *subject, struct error *err)
{
    double limit = subject->criteria.limits[subject->function];
    struct tensor matched SCOPED(tensor_release) = {0};
    bool possible;
    int rc = match_shapes(subject, &matched, &possible, err);

    if (rc < 0 || !possible)
        return rc;
    rc = measure_metric(subject, &subject->result.metric, err);
    if (rc == 0)
        pair_judge_metric(subject->log, subject->function, limit, &subject->result);
    return rc;
}

int compare_pair(struct log *log, enum comparison_function function, const struct output_pair *pair,
                 const struct comparison_criteria *criteria, struct compare_result *ret, struct error *err)
{
    struct subject subject = {.log = log,
                              .function = function,
                              .name = pair->first->name,
                              .a = &pair->first->tensor,
                              .b = &pair->second->tensor,
                              .criteria = *criteria};
    int rc;

    pair_log_beginning(log, function, pair);
    log_indent(subject.log, 1);
    switch (function) {
    case COMPARISON_SIMPLE:
        rc = compare_simple(&subject, err);
        break;
    case COMPARISON_INDICES:
        rc = compare_rankings(&subject, err);
        break;
    default:
        rc = compare_by_metric(&subject, err);
    }
    log_indent(subject.log, -1);
    if (rc < 0)
        return error_context(err, "output '%s'", subject.name);
    *ret = subject.result;
    return 0;
}
