/* comparator/compare/run_report.c: see run_report.h. */
#include "comparator/compare/run_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void run_report_init(struct run_report *report)
{
    *report = (struct run_report){0};
}

static void forget_output(struct described_output *output)
{
    free(output->runner);
    free(output->name);
}

static void forget_element(struct compared_element *element)
{
    element_value_release(&element->first);
    element_value_release(&element->second);
}

void run_report_release(struct run_report *report)
{
    for (size_t i = 0; i < report->comparison_count; i++) {
        forget_output(&report->comparisons[i].first);
        forget_output(&report->comparisons[i].second);
        forget_element(&report->comparisons[i].first_bad);
        forget_element(&report->comparisons[i].worst);
    }
    for (size_t i = 0; i < report->output_count; i++)
        forget_output(&report->outputs[i]);
    for (size_t i = 0; i < report->validation_count; i++) {
        free(report->validations[i].runner);
        free(report->validations[i].output);
    }
    free(report->comparisons);
    free(report->outputs);
    free(report->validations);
    run_report_init(report);
}

/* ---- Collecting ---- */

static void describe_output(const struct named_tensor *output, const char *runner, size_t iteration,
                            struct described_output *ret)
{
    struct validation invalid;

    *ret = (struct described_output){.runner = memory_strdup(runner),
                                     .name = memory_strdup(output->name),
                                     .iteration = iteration,
                                     .type = output->tensor.type,
                                     .shape = output->tensor.shape};
    ret->has_statistics = statistics_compute(&output->tensor, &ret->statistics, NULL) == 0;
    if (ret->has_statistics) {
        range_compute(&output->tensor, &ret->range);
        return;
    }
    tensor_validate(&output->tensor, &invalid);
    ret->range = (struct value_range){
        .elements = tensor_elements(&output->tensor), .nans = invalid.nans, .infinities = invalid.infinities};
}

/* The second output was compared in the shape of the first one. */
static void read_elements(const struct compared_outputs *compared, struct compared_record *record)
{
    const struct tensor *a = &compared->first->tensor;
    struct tensor b SCOPED(tensor_release) = {0};

    record->has_differences = tensor_match_shape(&compared->second->tensor, &a->shape, &b, NULL) == 0;
    if (record->has_differences && record->differences.elements > 0) {
        record->worst.element = record->differences.worst;
        element_value_read(a, record->worst.element, &record->worst.first);
        element_value_read(&b, record->worst.element, &record->worst.second);
    }
    if (record->has_differences && record->differences.mismatches > 0) {
        record->first_bad.element = record->differences.first;
        element_value_read(a, record->first_bad.element, &record->first_bad.first);
        element_value_read(&b, record->first_bad.element, &record->first_bad.second);
    }
}

void run_report_add_comparison(void *data, const struct compared_outputs *compared)
{
    struct run_report *report = data;
    const struct tensor *a = &compared->first->tensor, *b = &compared->second->tensor;
    struct compared_record record = {
        .function = compared->function,
        .iteration = compared->iteration,
        .passed = compared->result->passed,
        .criteria = *compared->criteria,
        .differences = *compared->result,
    };

    describe_output(compared->first, compared->first_runner, compared->iteration, &record.first);
    describe_output(compared->second, compared->second_runner, compared->iteration, &record.second);
    if (compared->function == COMPARISON_SIMPLE && !compared->result->shape_mismatch)
        read_elements(compared, &record);
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
                                      .shape = output->tensor.shape};

    tensor_validate(&output->tensor, &record.found);
    report->validations = memory_grow(report->validations, report->validation_count, &report->validation_capacity,
                                      sizeof(*report->validations));
    report->validations[report->validation_count++] = record;
}

void run_report_add_output(struct run_report *report, const char *runner, size_t iteration,
                           const struct named_tensor *output)
{
    if (report == NULL)
        return;
    report->outputs =
        memory_grow(report->outputs, report->output_count, &report->output_capacity, sizeof(*report->outputs));
    describe_output(output, runner, iteration, &report->outputs[report->output_count++]);
}

void run_report_add_outputs(struct run_report *report, const struct runner_results *runner)
{
    for (size_t i = 0; i < runner->count; i++)
        for (size_t k = 0; k < runner->items[i].outputs.count; k++)
            run_report_add_output(report, runner->name, i, &runner->items[i].outputs.items[k]);
}

void run_report_add_validations(struct run_report *report, const struct runner_results *runner)
{
    for (size_t i = 0; i < runner->count; i++)
        for (size_t k = 0; k < runner->items[i].outputs.count; k++)
            run_report_add_validation(report, runner->name, i, &runner->items[i].outputs.items[k]);
}

/* ---- Summaries of tensors ---- */

static double read_greatest_error(const struct compared_record *record)
{
    return record->has_differences ? record->differences.absolute.maximum : 0;
}

/* Whether the result of `a` is worse than that of `b`. */
static bool is_worse(const struct compared_record *a, const struct compared_record *b)
{
    if (a->passed != b->passed)
        return !a->passed;
    return !(read_greatest_error(a) <= read_greatest_error(b)) && !isnan(read_greatest_error(b));
}

static struct tensor_summary *find_or_add_summary(struct tensor_summaries *list, struct name_map *places,
                                                  const char *name)
{
    uint32_t place = name_map_find(places, text_of(name));
    struct tensor_summary *ret;

    if (place != NAME_MAP_NONE)
        return &list->items[place];
    name_map_add(places, text_of(name), (uint32_t)list->count);
    ret = VECTOR_APPEND(list);
    *ret = (struct tensor_summary){.name = name};
    return ret;
}

void run_report_summarize(const struct run_report *report, struct tensor_summaries *ret)
{
    SCOPED_NAME_MAP(places);

    ARRAY_EACH (const struct compared_record, record, report->comparisons, report->comparison_count) {
        struct tensor_summary *summary = find_or_add_summary(ret, &places, record->first.name);

        if (summary->worst == NULL || is_worse(record, summary->worst))
            summary->worst = record;
    }
    for (size_t i = 0; i < report->output_count; i++)
        find_or_add_summary(ret, &places, report->outputs[i].name)->alone = &report->outputs[i];
}

double compared_norm_error(const struct compared_record *record)
{
    double difference = record->differences.absolute.maximum, norm = record->second.range.scale;

    return !record->has_differences ? NAN : difference == 0 ? 0 : difference / norm;
}

/* ---- Writing ---- */

void run_report_write_node(const struct model *model, const char *output, struct json_writer *json)
{
    uint32_t value = model != NULL ? model_find_value(model, text_of(output)) : VALUE_NONE;
    uint32_t index = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

    if (!json_writer_begin_object_or_null(json, "node", index != NODE_NONE))
        return;
    json_writer_add_count(json, "index", index);
    json_writer_add_text(json, "name", model->nodes.items[index].name);
    json_writer_add_text(json, "operator", model->nodes.items[index].op_type);
    json_writer_end_object(json);
}

static void write_range(struct json_writer *json, const struct described_output *output)
{
    const struct value_range *range = &output->range;

    json_writer_add_count(json, "elements", range->elements);
    json_writer_add_count(json, "nans", range->nans);
    json_writer_add_count(json, "infinities", range->infinities);
    if (!json_writer_begin_object_or_null(json, "finite", output->has_statistics && range->finite > 0))
        return;
    json_writer_add_count(json, "zeros", range->zeros);
    json_writer_add_number(json, "min", range->minimum);
    json_writer_add_number(json, "max", range->maximum);
    json_writer_add_number(json, "mean", range->mean);
    json_writer_add_number(json, "largest_magnitude", range->largest_magnitude);
    if (json_writer_key_or_null(json, "smallest_magnitude", range->smallest_magnitude > 0))
        json_writer_number(json, range->smallest_magnitude);
    json_writer_end_object(json);
}

/* Writes members of the open object. */
static void write_output(struct json_writer *json, const struct described_output *output)
{
    const struct statistics *statistics = &output->statistics;

    json_writer_add_string(json, "dtype", data_type_name(output->type));
    json_writer_key(json, "shape");
    json_writer_integers(json, output->shape.dims, output->shape.rank);
    if (json_writer_begin_object_or_null(json, "statistics", output->has_statistics)) {
        json_writer_add_number(json, "mean", statistics->mean);
        json_writer_add_number(json, "std_dev", statistics->standard_deviation);
        json_writer_add_number(json, "variance", statistics->variance);
        json_writer_add_number(json, "median", statistics->median);
        json_writer_add_number(json, "min", statistics->minimum);
        json_writer_add_number(json, "max", statistics->maximum);
        json_writer_add_number(json, "avg_magnitude", statistics->average_magnitude);
        json_writer_end_object(json);
    }
    write_range(json, output);
}

static void write_element(struct json_writer *json, const char *key, const struct compared_record *record,
                          const struct compared_element *element, bool is_there)
{
    if (!json_writer_begin_object_or_null(json, key, is_there))
        return;
    json_writer_add_count(json, "element", element->element);
    json_writer_key(json, "position");
    element_position_write(&record->first.shape, element->element, json);
    json_writer_key(json, "first");
    element_value_write(&element->first, json);
    json_writer_key(json, "second");
    element_value_write(&element->second, json);
    json_writer_end_object(json);
}

static void write_elements(struct json_writer *json, const struct compared_record *record)
{
    write_element(json, "first_bad", record, &record->first_bad,
                  record->has_differences && record->differences.mismatches > 0);
    write_element(json, "worst", record, &record->worst, record->has_differences && record->differences.elements > 0);
}

bool run_report_write_mismatch(const struct run_report *report, const char *output, struct json_writer *json)
{
    ARRAY_EACH (const struct compared_record, record, report->comparisons, report->comparison_count) {
        if (record->passed || strcmp(record->first.name, output) != 0)
            continue;
        json_writer_add_string(json, "output", output);
        write_elements(json, record);
        return true;
    }
    return false;
}

static void write_limit(struct json_writer *json, const struct compared_record *record)
{
    json_writer_add_number(json, comparison_limit_name(record->function), record->criteria.limits[record->function]);
}

static void write_detection_criteria(struct json_writer *json, const struct detection_criteria *criteria)
{
    json_writer_add_number(json, "iou_threshold", criteria->iou);
    json_writer_add_number(json, "score_tolerance", criteria->score_tolerance);
    if (json_writer_key_or_null(json, "score_cut", !isnan(criteria->cut)))
        json_writer_number(json, criteria->cut);
}

/* Writes the criteria, named like the options. */
static void write_tolerances(struct json_writer *json, const struct compared_record *record)
{
    const struct comparison_criteria *criteria = &record->criteria;

    json_writer_begin_object_or_null(json, "tolerances", true);
    switch (record->function) {
    case COMPARISON_SIMPLE:
        json_writer_add_number(json, "atol", criteria->simple.atol);
        json_writer_add_number(json, "rtol", criteria->simple.rtol);
        json_writer_add_number(json, "norm_tolerance", criteria->simple.norm_tolerance);
        if (record->has_differences)
            json_writer_add_number(json, "atol_in_effect", record->differences.atol);
        json_writer_add_string(json, "check_error_stat", compare_statistic_name(criteria->simple.statistic));
        if (criteria->simple.statistic == COMPARE_QUANTILE)
            json_writer_add_number(json, "error_quantile", criteria->simple.quantile);
        json_writer_add_boolean(json, "infinities_compare_equal", criteria->simple.infinities_compare_equal);
        json_writer_add_boolean(json, "nans_compare_equal", criteria->simple.nans_compare_equal);
        break;
    case COMPARISON_INDICES:
        json_writer_add_count(json, "index_tolerance", criteria->index_tolerance);
        break;
    case COMPARISON_DETECTIONS:
        write_detection_criteria(json, &criteria->detections);
        write_limit(json, record);
        break;
    case COMPARISON_TOPK:
        json_writer_add_count(json, "topk_size", criteria->topk_size);
        write_limit(json, record);
        break;
    default:
        write_limit(json, record);
    }
    json_writer_end_object(json);
}

static void write_difference(struct json_writer *json, const char *key, const struct compare_difference *difference,
                             const struct compare_result *result)
{
    json_writer_begin_object_or_null(json, key, true);
    json_writer_add_number(json, "max", difference->maximum);
    json_writer_add_number(json, "mean", difference->mean);
    if (result->has_medians)
        json_writer_add_number(json, "median", difference->median);
    if (result->has_quantiles)
        json_writer_add_number(json, "quantile", difference->quantile);
    json_writer_end_object(json);
}

static void write_differences(struct json_writer *json, const struct compared_record *record)
{
    const struct compare_result *result = &record->differences;

    if (!json_writer_begin_object_or_null(json, "differences", record->has_differences))
        return;
    json_writer_add_count(json, "elements", result->elements);
    json_writer_add_count(json, "mismatches", result->mismatches);
    write_difference(json, "absolute", &result->absolute, result);
    write_difference(json, "relative", &result->relative, result);
    json_writer_add_number(json, "norm_error", compared_norm_error(record));
    write_elements(json, record);
    json_writer_end_object(json);
}

static void write_metrics(struct json_writer *json, const struct compared_record *record)
{
    const struct metrics *metrics = &record->metrics;
    bool has_own = comparison_function_requirement(record->function) != NULL && !record->differences.shape_mismatch;

    if (!json_writer_begin_object_or_null(json, "metrics", record->has_metrics || has_own))
        return;
    if (record->has_metrics) {
        json_writer_add_number(json, "l2_norm", metrics->l2_norm);
        json_writer_add_number(json, "cosine_similarity", metrics->cosine_similarity);
        json_writer_add_number(json, "mse", metrics->mean_squared_error);
        json_writer_add_number(json, "nmse", metrics->normalized_mean_squared_error);
        json_writer_add_number(json, "psnr", metrics->peak_signal_to_noise);
        json_writer_add_number(json, "snr", metrics->signal_to_noise);
    }
    if (has_own)
        json_writer_add_number(json, comparison_function_name(record->function), record->differences.metric);
    json_writer_end_object(json);
}

static void write_comparison(struct json_writer *json, const struct compared_record *record, const struct model *model)
{
    json_writer_begin_object(json);
    json_writer_add_string(json, "first_runner", record->first.runner);
    json_writer_add_string(json, "second_runner", record->second.runner);
    json_writer_add_count(json, "iteration", record->iteration);
    json_writer_add_string(json, "output", record->first.name);
    json_writer_add_string(json, "counterpart", record->second.name);
    json_writer_add_string(json, "compare", comparison_function_name(record->function));
    json_writer_add_boolean(json, "passed", record->passed);
    run_report_write_node(model, record->first.name, json);
    json_writer_begin_object_or_null(json, "first", true);
    write_output(json, &record->first);
    json_writer_end_object(json);
    json_writer_begin_object_or_null(json, "second", true);
    write_output(json, &record->second);
    json_writer_end_object(json);
    write_tolerances(json, record);
    write_differences(json, record);
    write_metrics(json, record);
    json_writer_end_object(json);
}

static void write_validation(struct json_writer *json, const struct validated_record *record, const struct model *model)
{
    const struct validation *found = &record->found;
    bool nan_first = found->nans > 0 && (found->infinities == 0 || found->first_nan < found->first_infinity);

    json_writer_begin_object(json);
    json_writer_add_string(json, "runner", record->runner);
    json_writer_add_count(json, "iteration", record->iteration);
    json_writer_add_string(json, "output", record->output);
    run_report_write_node(model, record->output, json);
    json_writer_add_boolean(json, "passed", found->nans + found->infinities == 0);
    json_writer_add_count(json, "elements", shape_elements(&record->shape));
    json_writer_add_count(json, "nans", found->nans);
    json_writer_add_count(json, "infinities", found->infinities);
    if (json_writer_key_or_null(json, "first_bad", found->nans + found->infinities > 0))
        element_position_write(&record->shape, nan_first ? found->first_nan : found->first_infinity, json);
    json_writer_end_object(json);
}

static void write_validations(struct json_writer *json, const struct run_report *report, const struct model *model)
{
    json_writer_begin_array(json);
    for (size_t i = 0; i < report->validation_count; i++)
        write_validation(json, &report->validations[i], model);
    json_writer_end_array(json);
}

static void write_lone_output(struct json_writer *json, const struct described_output *output,
                              const struct model *model)
{
    json_writer_begin_object(json);
    json_writer_add_string(json, "runner", output->runner);
    json_writer_add_count(json, "iteration", output->iteration);
    json_writer_add_string(json, "output", output->name);
    run_report_write_node(model, output->name, json);
    write_output(json, output);
    json_writer_end_object(json);
}

void run_report_write(const struct run_report *report, const struct run_verdict *verdict, struct json_writer *json)
{
    json_writer_add_boolean(json, "passed", verdict->passed);
    json_writer_add_string(json, "compare", verdict->compare);
    json_writer_begin_array_member(json, "comparisons");
    for (size_t i = 0; i < report->comparison_count; i++)
        write_comparison(json, &report->comparisons[i], verdict->model);
    json_writer_end_array(json);
    if (json_writer_key_or_null(json, "validation", verdict->validated))
        write_validations(json, report, verdict->model);
    if (!json_writer_key_or_null(json, "outputs", report->output_count > 0))
        return;
    json_writer_begin_array(json);
    for (size_t i = 0; i < report->output_count; i++)
        write_lone_output(json, &report->outputs[i], verdict->model);
    json_writer_end_array(json);
}
