/* comparator/compare/accuracy.c: see accuracy.h. */
#include "comparator/compare/accuracy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct {
    enum comparison_function function;
    enum accuracy_kind kind;
} kinds[] = {
    {COMPARISON_SIMPLE, ACCURACY_SIMPLE}, {COMPARISON_INDICES, ACCURACY_PLAIN},
    {COMPARISON_L2, ACCURACY_L2},         {COMPARISON_COSINE_SIMILARITY, ACCURACY_COSINE_SIMILARITY},
    {COMPARISON_PSNR, ACCURACY_PSNR},     {COMPARISON_SNR, ACCURACY_SNR},
    {COMPARISON_NMSE, ACCURACY_NMSE},
};

static enum accuracy_kind kind_of(enum comparison_function function)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].function == function)
            return kinds[i].kind;
    return ACCURACY_PLAIN;
}

/* False for metrics of other programs. */
static bool find_function(enum accuracy_kind kind, enum comparison_function *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].kind == kind) {
            *ret = kinds[i].function;
            return true;
        }
    return false;
}

/* ---- Collecting ---- */

void accuracy_results_begin(struct accuracy_results *results, const struct comparison_functions *functions,
                            bool average)
{
    for (size_t i = 0; i < functions->count; i++)
        *VECTOR_APPEND(results) = (struct accuracy_result){.average = average};
}

static struct accuracy_output *find_accuracy(const struct accuracy_iteration *iteration, const char *name)
{
    for (size_t i = 0; i < iteration->count; i++)
        if (strcmp(iteration->items[i].name, name) == 0)
            return &iteration->items[i];
    return NULL;
}

/* The pair of these runners that lacks the output; several may have the same names. */
static struct accuracy_pair *find_pair(struct accuracy_result *result, const struct compared_outputs *compared)
{
    struct accuracy_pair *ret;

    VECTOR_EACH (struct accuracy_pair, pair, *result)
        if (strcmp(pair->first, compared->first_runner) == 0 && strcmp(pair->second, compared->second_runner) == 0 &&
            (pair->count <= compared->iteration ||
             find_accuracy(&pair->items[compared->iteration], compared->first->name) == NULL))
            return pair;
    ret = VECTOR_APPEND(result);
    *ret = (struct accuracy_pair){.first = memory_strdup(compared->first_runner),
                                  .second = memory_strdup(compared->second_runner)};
    return ret;
}

static void set_difference(struct accuracy_output *output, size_t value, double absolute, double relative)
{
    output->values[value] = absolute;
    output->values[value + 1] = relative;
    output->known[value] = output->known[value + 1] = true;
}

static void set_simple(struct accuracy_output *output, const struct compare_result *result)
{
    set_difference(output, ACCURACY_MAX, result->absolute.maximum, result->relative.maximum);
    set_difference(output, ACCURACY_MEAN, result->absolute.mean, result->relative.mean);
    if (result->has_medians)
        set_difference(output, ACCURACY_MEDIAN, result->absolute.median, result->relative.median);
    if (result->has_quantiles)
        set_difference(output, ACCURACY_QUANTILE, result->absolute.quantile, result->relative.quantile);
    output->has_verdict = output->statistic == COMPARE_ELEMWISE;
}

static void set_thresholds(struct accuracy_output *output, enum comparison_function function,
                           const struct comparison_criteria *criteria)
{
    output->statistic = criteria->simple.statistic;
    output->atol = criteria->simple.atol;
    output->rtol = criteria->simple.rtol;
    output->threshold = criteria->limits[function];
}

void accuracy_results_add_comparison(struct accuracy_results *results, const struct comparison_functions *functions,
                                     const struct compared_outputs *compared)
{
    struct accuracy_output output = {
        .name = memory_strdup(compared->first->name), .has_verdict = true, .verdict = compared->result->passed};
    struct accuracy_pair *pair;
    size_t index = 0;

    while (functions->items[index] != compared->function)
        index++;
    set_thresholds(&output, compared->function, compared->criteria);
    if (!compared->result->shape_mismatch)
        output.kind = kind_of(compared->function);
    if (output.kind == ACCURACY_SIMPLE) {
        set_simple(&output, compared->result);
    } else if (output.kind != ACCURACY_PLAIN) {
        output.values[0] = compared->result->metric;
        output.known[0] = true;
        output.has_verdict = false;
    }
    pair = find_pair(&results->items[index], compared);
    while (pair->count <= compared->iteration)
        *VECTOR_APPEND(pair) = (struct accuracy_iteration){0};
    *VECTOR_APPEND(&pair->items[compared->iteration]) = output;
}

/* ---- Judging ---- */

/* The first value of the statistic; the relative one is next to it. */
static size_t value_of(enum compare_statistic statistic)
{
    switch (statistic) {
    case COMPARE_MEAN:
        return ACCURACY_MEAN;
    case COMPARE_MEDIAN:
        return ACCURACY_MEDIAN;
    case COMPARE_QUANTILE:
        return ACCURACY_QUANTILE;
    default:
        return ACCURACY_MAX;
    }
}

bool accuracy_output_passed(const struct accuracy_output *output)
{
    size_t value = value_of(output->statistic);
    enum comparison_function function;

    if (output->has_verdict)
        return output->verdict;
    if (output->kind == ACCURACY_SIMPLE)
        return (output->known[value] && output->values[value] <= output->atol) ||
               (output->known[value + 1] && output->values[value + 1] <= output->rtol);
    if (!find_function(output->kind, &function))
        return output->known[0] && output->values[0] <= output->threshold;
    return output->known[0] && comparison_metric_passes(function, output->values[0], output->threshold);
}

static int judge_output(struct accuracy_output *output, enum comparison_function function,
                        const struct comparison_rules *rules, struct error *err)
{
    struct comparison_criteria criteria;

    if (output->kind == ACCURACY_PLAIN)
        return error_set(err, ERR_INVALID,
                         "output '%s' has a verdict and no metrics, since shapes were different or rankings were "
                         "compared: compare saved outputs again, with `run --load-outputs`",
                         output->name);
    comparison_rules_find(rules, output->name, &criteria);
    set_thresholds(output, function, &criteria);
    output->has_verdict = false;
    if (output->kind != ACCURACY_SIMPLE)
        return 0;
    if (output->statistic == COMPARE_ELEMWISE)
        return error_set(err, ERR_INVALID,
                         "Cannot re-threshold an 'elemwise' comparison: the verdict on output '%s' is one of its "
                         "elements, which are not saved. Pass --check-error-stat max (or mean, median), or compare "
                         "saved outputs again, with `run --load-outputs`",
                         output->name);
    if (!output->known[value_of(output->statistic)])
        return error_set(err, ERR_INVALID,
                         "The saved results do not contain a '%s' statistic of output '%s': choose another one with "
                         "--check-error-stat, such as max, or compare saved outputs again, with `run --load-outputs`",
                         compare_statistic_name(output->statistic), output->name);
    return 0;
}

static int judge_pair(struct accuracy_pair *pair, enum comparison_function function,
                      const struct comparison_rules *rules, struct error *err)
{
    for (size_t i = 0; i < pair->count; i++)
        for (size_t k = 0; k < pair->items[i].count; k++)
            if (judge_output(&pair->items[i].items[k], function, rules, err) < 0)
                return err->code;
    return 0;
}

static struct accuracy_result *find_result(const struct accuracy_results *results, enum accuracy_kind kind)
{
    for (size_t r = 0; r < results->count; r++)
        if (accuracy_result_kind(&results->items[r]) == kind)
            return &results->items[r];
    return NULL;
}

static int refuse_function(const struct accuracy_results *results, enum comparison_function function, struct error *err)
{
    SCOPED_STRING(wanted);
    SCOPED_STRING(saved);

    accuracy_list_values(kind_of(function), &wanted);
    for (size_t r = 0; r < results->count; r++) {
        string_add(&saved, r > 0 ? ", " : "");
        accuracy_list_values(accuracy_result_kind(&results->items[r]), &saved);
    }
    return error_set(err, ERR_MISSING,
                     "No saved comparison results match the requested threshold (metric fields: %s). The file has: "
                     "[%s]",
                     wanted.data, saved.data);
}

int accuracy_results_judge_again(struct accuracy_results *results, const struct comparison_functions *functions,
                                 const struct comparison_rules *rules, struct error *err)
{
    for (size_t i = 0; i < functions->count; i++) {
        enum comparison_function function = functions->items[i];
        struct accuracy_result *result = find_result(results, kind_of(function));

        if (result == NULL || function == COMPARISON_INDICES)
            return refuse_function(results, function, err);
        for (size_t p = 0; p < result->count; p++)
            if (judge_pair(&result->items[p], function, rules, err) < 0)
                return err->code;
    }
    return 0;
}

void accuracy_results_keep(struct accuracy_results *results, const struct comparison_functions *functions,
                           struct log *log)
{
    struct accuracy_results dropped = {0}, kept = {0};

    for (size_t r = 0; r < results->count; r++) {
        enum accuracy_kind kind = accuracy_result_kind(&results->items[r]);
        enum comparison_function function;
        SCOPED_STRING(values);

        if (find_function(kind, &function) && comparison_functions_contain(functions, function)) {
            *VECTOR_APPEND(&kept) = results->items[r];
            continue;
        }
        accuracy_list_values(kind, &values);
        log_message(log, LOG_INFO,
                    "Ignoring saved comparison with metric fields %s: no matching threshold was requested.",
                    values.data);
        *VECTOR_APPEND(&dropped) = results->items[r];
    }
    accuracy_results_release(&dropped);
    free(results->items);
    *results = kept;
}

/* ---- Averages ---- */

static int refuse_average(const struct accuracy_output *output, struct error *err)
{
    if (output->kind == ACCURACY_PLAIN)
        return error_set(
            err, ERR_INVALID,
            "output '%s': Cannot compute an averaged comparison because at least one iteration produced no "
            "comparable metrics, such as outputs of different shapes. Leave out --check-average to see the "
            "verdict on each iteration",
            output->name);
    return error_set(err, ERR_INVALID,
                     "--check-average is not supported with check_error_stat='elemwise', the default, which is that of "
                     "output '%s'. Specify --check-error-stat max, mean, median, or quantile",
                     output->name);
}

/* `ret`, which borrows its name, gets the averages of an output. NaN propagates. */
static int average_output(const struct accuracy_pair *pair, const char *name, struct accuracy_output *ret,
                          struct error *err)
{
    size_t counts[ACCURACY_VALUES] = {0};
    double sums[ACCURACY_VALUES] = {0};

    for (size_t i = 0; i < pair->count; i++) {
        const struct accuracy_output *output = find_accuracy(&pair->items[i], name);

        if (output == NULL)
            continue;
        if (output->kind == ACCURACY_PLAIN ||
            (output->kind == ACCURACY_SIMPLE && output->statistic == COMPARE_ELEMWISE))
            return refuse_average(output, err);
        *ret = *output;
        for (size_t v = 0; v < ACCURACY_VALUES; v++) {
            sums[v] += output->known[v] ? output->values[v] : 0;
            counts[v] += output->known[v];
        }
    }
    for (size_t v = 0; v < ACCURACY_VALUES; v++) {
        ret->known[v] = counts[v] > 0;
        ret->values[v] = sums[v] / (double)counts[v];
    }
    return 0;
}

/* The outputs of all iterations of the pair, averaged; names are borrowed. */
static int average_pair(const struct accuracy_pair *pair, struct accuracy_iteration *ret, struct error *err)
{
    for (size_t i = 0; i < pair->count; i++)
        for (size_t k = 0; k < pair->items[i].count; k++) {
            const char *name = pair->items[i].items[k].name;
            struct accuracy_output average = {0};

            if (find_accuracy(ret, name) != NULL)
                continue;
            if (average_output(pair, name, &average, err) < 0)
                return err->code;
            *VECTOR_APPEND(ret) = average;
        }
    return 0;
}

/* ---- Summaries ---- */

size_t accuracy_count_outputs(const struct accuracy_results *results)
{
    size_t count = 0;

    for (size_t r = 0; r < results->count; r++)
        for (size_t p = 0; p < results->items[r].count; p++)
            for (size_t i = 0; i < results->items[r].items[p].count; i++)
                count += results->items[r].items[p].items[i].count;
    return count;
}

size_t accuracy_count_passed(const struct accuracy_pair *pair)
{
    size_t passed = 0;

    for (size_t i = 0; i < pair->count; i++) {
        bool all = true;

        for (size_t k = 0; k < pair->items[i].count; k++)
            all &= accuracy_output_passed(&pair->items[i].items[k]);
        passed += all;
    }
    return passed;
}

static enum log_level level_of(bool passed)
{
    return passed ? LOG_FINISH : LOG_ERROR;
}

/* Logs the line of a metric; simple comparisons have none. */
static void log_metric(const struct accuracy_output *output, const char *prefix, struct log *log)
{
    enum comparison_function function;
    SCOPED_STRING(line);

    if (output->kind == ACCURACY_SIMPLE || !find_function(output->kind, &function))
        return;
    comparison_describe_metric(function, output->values[0], output->threshold, &line);
    log_message(log, level_of(accuracy_output_passed(output)), "%s%s", prefix, line.data);
}

static void log_pair_iterations(const struct accuracy_pair *pair, struct log *log, bool *passed)
{
    size_t count = accuracy_count_passed(pair);
    double rate = pair->count > 0 ? 100.0 * (double)count / (double)pair->count : 100.0;

    log_message(log, level_of(count == pair->count),
                "Accuracy Summary | %s vs. %s | Passed: %zu/%zu iterations | Pass Rate: %.2f%%", pair->first,
                pair->second, count, pair->count, rate);
    *passed &= count == pair->count;
}

static int log_pair_averages(const struct accuracy_pair *pair, struct log *log, bool *passed, struct error *err)
{
    struct accuracy_iteration averages SCOPED_ITEMS = {0};
    size_t count = 0;
    int rc = average_pair(pair, &averages, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < averages.count; i++)
        count += accuracy_output_passed(&averages.items[i]);
    log_message(log, level_of(count == averages.count), "Accuracy Summary | %s vs. %s | Passed: %zu/%zu outputs",
                pair->first, pair->second, count, averages.count);
    *passed &= count == averages.count;
    log_indent(log, 1);
    for (size_t i = 0; i < averages.count; i++) {
        SCOPED_STRING(prefix);

        string_add_format(&prefix, "%s | ", averages.items[i].name);
        log_metric(&averages.items[i], prefix.data, log);
    }
    log_indent(log, -1);
    return rc;
}

int accuracy_results_log(const struct accuracy_results *results, struct log *log, bool *ret_passed, struct error *err)
{
    *ret_passed = true;
    for (size_t r = 0; r < results->count; r++)
        VECTOR_EACH (const struct accuracy_pair, pair, results->items[r]) {
            if (!results->items[r].average)
                log_pair_iterations(pair, log, ret_passed);
            else if (log_pair_averages(pair, log, ret_passed, err) < 0)
                return err->code;
        }
    return 0;
}

/* Whether all functions pass the output. */
static bool passes_all(const struct accuracy_iteration *averages, size_t functions, const char *name)
{
    bool ret = true;

    for (size_t r = 0; r < functions; r++) {
        const struct accuracy_output *output = find_accuracy(&averages[r], name);

        ret &= output == NULL || accuracy_output_passed(output);
    }
    return ret;
}

/* `averages`: of each function, of the same outputs. */
static void log_combined(const struct accuracy_pair *pair, const struct accuracy_iteration *averages, size_t functions,
                         struct log *log, bool *passed)
{
    size_t count = 0;

    for (size_t i = 0; i < averages[0].count; i++)
        count += passes_all(averages, functions, averages[0].items[i].name);
    log_message(log, level_of(count == averages[0].count), "Accuracy Summary | %s vs. %s | Passed: %zu/%zu outputs",
                pair->first, pair->second, count, averages[0].count);
    *passed &= count == averages[0].count;
    log_indent(log, 1);
    for (size_t i = 0; i < averages[0].count; i++) {
        const char *name = averages[0].items[i].name;
        bool is_good = passes_all(averages, functions, name);

        log_message(log, level_of(is_good), "%s | %s:", name, is_good ? "PASSED" : "FAILED");
        log_indent(log, 1);
        for (size_t r = 0; r < functions; r++) {
            const struct accuracy_output *output = find_accuracy(&averages[r], name);

            if (output != NULL)
                log_metric(output, "", log);
        }
        log_indent(log, -1);
    }
    log_indent(log, -1);
}

/* `averages` has room for one of each function. */
static int log_pair_combined(const struct accuracy_results *results, size_t pair, struct accuracy_iteration *averages,
                             struct log *log, bool *passed, struct error *err)
{
    for (size_t r = 0; r < results->count; r++)
        if (average_pair(&results->items[r].items[pair], &averages[r], err) < 0)
            return err->code;
    log_combined(&results->items[0].items[pair], averages, results->count, log, passed);
    return 0;
}

int accuracy_results_log_averages(const struct accuracy_results *results, struct log *log, bool *ret_passed,
                                  struct error *err)
{
    int rc = 0;

    *ret_passed = true;
    for (size_t p = 0; p < results->items[0].count && rc == 0; p++) {
        struct accuracy_iteration *averages SCOPED_FREE = memory_alloc_zero(results->count, sizeof(*averages));

        rc = log_pair_combined(results, p, averages, log, ret_passed, err);
        for (size_t r = 0; r < results->count; r++)
            free(averages[r].items);
    }
    return rc;
}
