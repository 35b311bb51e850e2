/* comparator/compare/run_report.c: see run_report.h. */
#include "comparator/compare/run_report.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tensor/compare/metrics.h"
#include "tensor/compare/validate.h"
#include "tensor/statistics/statistics.h"

/* One of two outputs; the tensor itself is gone when the report is written. */
struct described_output {
    char *runner, *name;
    enum data_type type;
    struct shape shape;
    bool has_statistics;
    struct statistics statistics;
};

struct compared_record {
    struct described_output first, second;
    size_t iteration;
    bool passed, has_differences, has_metrics;
    struct compare_result differences;
    struct metrics metrics;
};

struct validated_record {
    char *runner, *output;
    size_t iteration, elements;
    struct validation found;
};

void run_report_init(struct run_report *report)
{
    *report = (struct run_report){0};
}

void run_report_release(struct run_report *report)
{
    for (size_t i = 0; i < report->comparison_count; i++) {
        free(report->comparisons[i].first.runner);
        free(report->comparisons[i].first.name);
        free(report->comparisons[i].second.runner);
        free(report->comparisons[i].second.name);
    }
    for (size_t i = 0; i < report->validation_count; i++) {
        free(report->validations[i].runner);
        free(report->validations[i].output);
    }
    free(report->comparisons);
    free(report->validations);
    run_report_init(report);
}

/* ---- Collecting ---- */

static void describe(const struct named_tensor *output, const char *runner, struct described_output *ret)
{
    *ret = (struct described_output){.runner = memory_strdup(runner),
                                     .name = memory_strdup(output->name),
                                     .type = output->tensor.type,
                                     .shape = output->tensor.shape};
    ret->has_statistics = statistics_compute(&output->tensor, &ret->statistics, NULL) == 0;
}

void run_report_add_comparison(void *data, const struct compared_outputs *compared)
{
    struct run_report *report = data;
    const struct tensor *a = &compared->first->tensor, *b = &compared->second->tensor;
    struct compared_record record = {
        .iteration = compared->iteration,
        .passed = compared->result->passed,
        .has_differences = compared->function == COMPARISON_SIMPLE && !compared->result->shape_mismatch,
        .differences = *compared->result,
    };

    describe(compared->first, compared->first_runner, &record.first);
    describe(compared->second, compared->second_runner, &record.second);
    record.has_metrics = shape_equal(&a->shape, &b->shape) && metrics_compute(a, b, &record.metrics, NULL) == 0;
    report->comparisons = memory_grow(report->comparisons, report->comparison_count, &report->comparison_capacity,
                                      sizeof(*report->comparisons));
    report->comparisons[report->comparison_count++] = record;
}

void run_report_add_validation(struct run_report *report, const char *runner, size_t iteration,
                               const struct named_tensor *output)
{
    struct validated_record record = {.runner = memory_strdup(runner),
                                      .output = memory_strdup(output->name),
                                      .iteration = iteration,
                                      .elements = tensor_elements(&output->tensor)};

    tensor_validate(&output->tensor, &record.found);
    report->validations = memory_grow(report->validations, report->validation_count, &report->validation_capacity,
                                      sizeof(*report->validations));
    report->validations[report->validation_count++] = record;
}

void run_report_add_validations(struct run_report *report, const struct runner_results *runner)
{
    for (size_t i = 0; i < runner->count; i++)
        for (size_t k = 0; k < runner->items[i].outputs.count; k++)
            run_report_add_validation(report, runner->name, i, &runner->items[i].outputs.items[k]);
}

/* ---- Writing ---- */

static void write_text(struct json_writer *json, const char *key, const char *text)
{
    json_writer_key(json, key);
    json_writer_string(json, text);
}

static void write_count(struct json_writer *json, const char *key, size_t count)
{
    json_writer_key(json, key);
    json_writer_integer(json, (int64_t)count);
}

static void write_number(struct json_writer *json, const char *key, double number)
{
    json_writer_key(json, key);
    json_writer_number(json, number);
}

static void write_flag(struct json_writer *json, const char *key, bool flag)
{
    json_writer_key(json, key);
    json_writer_boolean(json, flag);
}

/* Begins a member that is an object, or is null. */
static bool begin_member(struct json_writer *json, const char *key, bool is_there)
{
    json_writer_key(json, key);
    if (is_there)
        json_writer_begin_object(json);
    else
        json_writer_null(json);
    return is_there;
}

static void write_output(struct json_writer *json, const char *key, const struct described_output *output)
{
    const struct statistics *statistics = &output->statistics;

    begin_member(json, key, true);
    write_text(json, "dtype", data_type_name(output->type));
    json_writer_key(json, "shape");
    json_writer_begin_array(json);
    for (size_t i = 0; i < output->shape.rank; i++)
        json_writer_integer(json, output->shape.dims[i]);
    json_writer_end_array(json);
    if (begin_member(json, "statistics", output->has_statistics)) {
        write_number(json, "mean", statistics->mean);
        write_number(json, "std_dev", statistics->standard_deviation);
        write_number(json, "variance", statistics->variance);
        write_number(json, "median", statistics->median);
        write_number(json, "min", statistics->minimum);
        write_number(json, "max", statistics->maximum);
        write_number(json, "avg_magnitude", statistics->average_magnitude);
        json_writer_end_object(json);
    }
    json_writer_end_object(json);
}

static void write_difference(struct json_writer *json, const char *key, const struct compare_difference *difference,
                             const struct compare_result *result)
{
    begin_member(json, key, true);
    write_number(json, "max", difference->maximum);
    write_number(json, "mean", difference->mean);
    if (result->has_medians)
        write_number(json, "median", difference->median);
    if (result->has_quantiles)
        write_number(json, "quantile", difference->quantile);
    json_writer_end_object(json);
}

static void write_differences(struct json_writer *json, const struct compared_record *record)
{
    const struct compare_result *result = &record->differences;

    if (!begin_member(json, "differences", record->has_differences))
        return;
    write_count(json, "elements", result->elements);
    write_count(json, "mismatches", result->mismatches);
    write_difference(json, "absolute", &result->absolute, result);
    write_difference(json, "relative", &result->relative, result);
    json_writer_end_object(json);
}

static void write_metrics(struct json_writer *json, const struct compared_record *record)
{
    const struct metrics *metrics = &record->metrics;

    if (!begin_member(json, "metrics", record->has_metrics))
        return;
    write_number(json, "l2_norm", metrics->l2_norm);
    write_number(json, "cosine_similarity", metrics->cosine_similarity);
    write_number(json, "mse", metrics->mean_squared_error);
    write_number(json, "nmse", metrics->normalized_mean_squared_error);
    write_number(json, "psnr", metrics->peak_signal_to_noise);
    write_number(json, "snr", metrics->signal_to_noise);
    json_writer_end_object(json);
}

static void write_comparison(struct json_writer *json, const struct compared_record *record)
{
    json_writer_begin_object(json);
    write_text(json, "first_runner", record->first.runner);
    write_text(json, "second_runner", record->second.runner);
    write_count(json, "iteration", record->iteration);
    write_text(json, "output", record->first.name);
    write_text(json, "counterpart", record->second.name);
    write_flag(json, "passed", record->passed);
    write_output(json, "first", &record->first);
    write_output(json, "second", &record->second);
    write_differences(json, record);
    write_metrics(json, record);
    json_writer_end_object(json);
}

static void write_validation(struct json_writer *json, const struct validated_record *record)
{
    json_writer_begin_object(json);
    write_text(json, "runner", record->runner);
    write_count(json, "iteration", record->iteration);
    write_text(json, "output", record->output);
    write_flag(json, "passed", record->found.nans + record->found.infinities == 0);
    write_count(json, "elements", record->elements);
    write_count(json, "nans", record->found.nans);
    write_count(json, "infinities", record->found.infinities);
    json_writer_end_object(json);
}

static void write_validations(struct json_writer *json, const struct run_report *report)
{
    json_writer_begin_array(json);
    for (size_t i = 0; i < report->validation_count; i++)
        write_validation(json, &report->validations[i]);
    json_writer_end_array(json);
}

void run_report_write(const struct run_report *report, bool passed, const char *compare, bool validated,
                      struct json_writer *json)
{
    json_writer_begin_object(json);
    write_flag(json, "passed", passed);
    write_text(json, "compare", compare);
    json_writer_key(json, "comparisons");
    json_writer_begin_array(json);
    for (size_t i = 0; i < report->comparison_count; i++)
        write_comparison(json, &report->comparisons[i]);
    json_writer_end_array(json);
    json_writer_key(json, "validation");
    if (validated)
        write_validations(json, report);
    else
        json_writer_null(json);
    json_writer_end_object(json);
}
