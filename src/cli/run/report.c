/* cli/run/report.c: see report.h. */
#include "cli/run/report.h"

#include <stdlib.h>

#include "base/text/number.h"
#include "plot/picture.h"
#include "tensor/statistics/histogram.h"
#include "tensor/values/elements.h"

enum {
    MOST_PICTURES = 6, /* outputs that are drawn */
    MOST_CULPRITS = 10,
};

/* ---- Outputs that do not match ---- */

static bool has_numbers(const struct tensor *tensor)
{
    return elements_arithmetic(tensor->type) != ARITHMETIC_NONE;
}

static void add_histogram(struct report *report, const struct compared_outputs *compared)
{
    const struct tensor *a = &compared->first->tensor, *b = &compared->second->tensor;
    uint64_t of_first[HISTOGRAM_BINS], of_second[HISTOGRAM_BINS];
    double minimum = INFINITY, maximum = -INFINITY;
    struct histogram first, second;
    SCOPED_STRING(title);

    if (!has_numbers(a) || !has_numbers(b))
        return;
    histogram_extend_range(a, &minimum, &maximum);
    histogram_extend_range(b, &minimum, &maximum);
    if (!(minimum <= maximum))
        return;
    histogram_compute(a, minimum, maximum, &first);
    histogram_compute(b, minimum, maximum, &second);
    for (size_t i = 0; i < HISTOGRAM_BINS; i++) {
        of_first[i] = first.counts[i];
        of_second[i] = second.counts[i];
    }
    string_add_format(&title, "values of '%s'", compared->first->name);
    report_add_histogram(report, &(struct report_histogram){.title = title.data,
                                                            .from = first.edges[0],
                                                            .to = first.edges[HISTOGRAM_BINS],
                                                            .bins = HISTOGRAM_BINS,
                                                            .reference = of_second,
                                                            .suspect = of_first});
}

static void add_heat_map(struct report *report, const struct compared_outputs *compared)
{
    struct compare_options options = compared->criteria->simple;
    SCOPED_STRING(title);
    struct svg svg;

    options.atol = compared->result->atol;
    if (heat_map_draw(compared, &options, DIFFERENCE_ABSOLUTE, &svg, NULL) < 0)
        return; /* no memory for it: the page does without */
    string_add_format(&title, "absolute error of '%s', element by element", compared->first->name);
    report_add_picture(report, title.data, (struct text){svg.text.data, svg.text.size});
    svg_release(&svg);
}

void run_page_add_comparison(struct report *report, size_t *drawn, const struct compared_outputs *compared)
{
    if (report == NULL || compared->result->passed || compared->function != COMPARISON_SIMPLE ||
        compared->result->shape_mismatch || compared->result->elements == 0 || *drawn == MOST_PICTURES)
        return;
    (*drawn)++;
    add_histogram(report, compared);
    add_heat_map(report, compared);
}

/* ---- Tensors ---- */

static struct report_range make_report_range(const struct described_output *output)
{
    const struct value_range *range = &output->range;

    return (struct report_range){.known = output->has_statistics && range->finite > 0,
                                 .minimum = range->minimum,
                                 .maximum = range->maximum,
                                 .mean = range->mean,
                                 .nan = range->nans,
                                 .infinities = range->infinities};
}

static double read_element_number(const struct element_value *value)
{
    if (value->text != NULL)
        return NAN;
    return elements_arithmetic(value->type) != ARITHMETIC_INTEGER ? value->number
           : data_type_is_signed(value->type)                     ? (double)(int64_t)value->integer
                                                                  : (double)value->integer;
}

static void add_compared(struct report *report, const struct compared_record *record)
{
    struct report_tensor row = REPORT_TENSOR_UNKNOWN;
    SCOPED_STRING(shape);
    SCOPED_STRING(index);
    struct shape position;

    shape_to_text(&record->first.shape, &shape);
    row.name = record->first.name;
    row.type = data_type_name(record->second.type);
    row.precision = record->first.type != record->second.type ? data_type_name(record->first.type) : NULL;
    row.shape = shape.data;
    row.reference = make_report_range(&record->second);
    row.suspect = make_report_range(&record->first);
    row.outcome = record->passed ? REPORT_MATCHES : REPORT_DIFFERS;
    if (record->has_metrics) {
        row.signal_to_noise = record->metrics.signal_to_noise;
        row.cosine_similarity = record->metrics.cosine_similarity;
    }
    if (record->has_differences) {
        row.absolute_error = record->differences.absolute.maximum;
        row.relative_error = record->differences.relative.maximum;
        row.atol = record->differences.atol;
        row.rtol = record->criteria.simple.rtol;
        row.mismatches = (double)record->differences.mismatches;
        row.elements = (double)record->differences.elements;
    }
    if (record->has_differences && record->differences.mismatches > 0) {
        shape_position(&record->first.shape, record->first_bad.element, &position);
        shape_to_text(&position, &index);
        row.first_bad.index = index.data;
        row.first_bad.reference = read_element_number(&record->first_bad.second);
        row.first_bad.suspect = read_element_number(&record->first_bad.first);
    }
    report_add_tensor(report, &row);
}

static void add_lone_output(struct report *report, const struct described_output *output)
{
    struct report_tensor row = REPORT_TENSOR_UNKNOWN;
    SCOPED_STRING(shape);

    shape_to_text(&output->shape, &shape);
    row.name = output->name;
    row.type = data_type_name(output->type);
    row.shape = shape.data;
    row.suspect = make_report_range(output);
    row.elements = (double)output->range.elements;
    report_add_tensor(report, &row);
}

/* ---- The verdict ---- */

/* What the file calls the node that makes the same as this one; else what the model does. */
static const char *find_node_label(const struct run_outcome *outcome, uint32_t index)
{
    const struct model *model = outcome->model;
    struct edge_range outputs = model->nodes.items[index].outputs;

    for (size_t i = 0; i < outputs.count; i++) {
        uint32_t value = model_edge(model, outputs, i), same;

        if (value == VALUE_NONE)
            continue;
        same = model_find_value(outcome->file, model->values.items[value].name);
        if (same != VALUE_NONE && outcome->file->values.items[same].producer != NODE_NONE)
            return model_node_label(outcome->file, outcome->file->values.items[same].producer);
    }
    return "";
}

static void add_culprits(struct report *report, const struct run_outcome *outcome, const struct blamed_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count && i < MOST_CULPRITS; i++) {
        const struct blamed_node *blamed = &nodes->items[i];
        const char *label = find_node_label(outcome, blamed->node);

        report_add_culprit(report, label);
        report_add_proof(report, "node '%s' (" TEXT_FORMAT "): all that it reads is good, what it makes is not%s",
                         label, TEXT_ARGS(outcome->model->nodes.items[blamed->node].op_type),
                         blamed->before > 0 ? ", but some tensors before it were not compared" : "");
        if (blamed->behind > 0)
            report_add_proof(report, "%zu node%s behind it make bad values, too", blamed->behind,
                             blamed->behind > 1 ? "s" : "");
    }
    if (nodes->count > MOST_CULPRITS)
        report_add_proof(report, "%zu more nodes like these", nodes->count - MOST_CULPRITS);
}

/* What the first node that makes NaN or infinities made, and of what. */
static void add_bad_element(struct report *report, const struct run_outcome *outcome)
{
    const struct divergence_findings *findings = outcome->findings;
    char number[NUMBER_TEXT_SIZE];
    SCOPED_STRING(text);
    struct shape position;

    if (!findings->seen_again)
        return;
    string_add_format(&text, "'" TEXT_FORMAT "' at ",
                      TEXT_ARGS(outcome->model->values.items[findings->bad_output].name));
    shape_position(&findings->bad_shape, findings->bad_element, &position);
    shape_to_text(&position, &text);
    string_add_format(&text, " is %s",
                      number_to_text_rounded(read_element_number(&findings->bad_value), 'g', 6, number));
    for (size_t i = 0; i < findings->inputs.count; i++)
        string_add_format(
            &text, "%s'" TEXT_FORMAT "' there: %s", i == 0 ? ", of " : ", ",
            TEXT_ARGS(outcome->model->values.items[findings->inputs.items[i].input].name),
            number_to_text_rounded(read_element_number(&findings->inputs.items[i].value), 'g', 6, number));
    report_add_proof(report, "%s", text.data);
}

static void add_recheck(struct report *report, const struct divergence_findings *findings)
{
    if (findings->rechecked && findings->comparable)
        report_add_proof(report, "without extra outputs, the model's own outputs %s",
                         findings->matched ? "match" : "differ");
    if (findings->rechecked && findings->validated)
        report_add_proof(report, "without extra outputs, the model's own outputs are %s",
                         findings->finds_invalid ? "not all finite" : "finite");
}

static void add_mismatch(struct report *report, const struct compared_record *record)
{
    char first[NUMBER_TEXT_SIZE], second[NUMBER_TEXT_SIZE], norm[NUMBER_TEXT_SIZE];
    SCOPED_STRING(index);
    struct shape position;

    if (!record->has_differences || record->differences.elements == 0)
        return;
    shape_position(&record->first.shape, record->worst.element, &position);
    shape_to_text(&position, &index);
    report_add_proof(report,
                     "'%s': %zu of %zu elements differ, worst at %s: %s, where the reference has %s; the error "
                     "is %s of the reference's largest value",
                     record->first.name, record->differences.mismatches, record->differences.elements, index.data,
                     number_to_text_rounded(read_element_number(&record->worst.first), 'g', 6, first),
                     number_to_text_rounded(read_element_number(&record->worst.second), 'g', 6, second),
                     number_to_text_rounded(compared_norm_error(record), 'g', 3, norm));
}

/* How many tensors were compared, how many of them differ, and the first of these. */
struct counts {
    size_t compared, differing;
    const struct compared_record *first;
};

static void set_verdict(struct report *report, const struct run_outcome *outcome, const struct counts *counts,
                        size_t tensors)
{
    const struct divergence_findings *findings = outcome->findings;

    if (findings->differing.count > 0)
        report_set_verdict(report, REPORT_FAILED, "%zu of %zu tensors differ, from node '%s' on", counts->differing,
                           counts->compared, find_node_label(outcome, findings->differing.items[0].node));
    else if (findings->invalid.count > 0)
        report_set_verdict(report, findings->seen_again ? REPORT_CAUSE : REPORT_FAILED,
                           "node '%s' makes the first NaN or infinity, of inputs without",
                           find_node_label(outcome, findings->invalid.items[0].node));
    else if (divergence_is_hidden(findings))
        report_set_verdict(report, REPORT_FAILED,
                           "the model's own outputs differ, but no tensor does once all of them are outputs");
    else if (counts->differing > 0)
        report_set_verdict(report, REPORT_FAILED, "%zu of %zu outputs differ, the first one: '%s'", counts->differing,
                           counts->compared, counts->first->first.name);
    else if (!outcome->passed)
        report_set_verdict(report, REPORT_FAILED,
                           outcome->validated ? "not all outputs are finite" : "not all outputs could be compared");
    else if (counts->compared > 0)
        report_set_verdict(report, REPORT_PASSED, "all %zu outputs match%s", counts->compared,
                           outcome->validated ? ", and all values are finite" : "");
    else
        report_set_verdict(report, outcome->validated ? REPORT_PASSED : REPORT_UNKNOWN, "%zu output%s, %s", tensors,
                           tensors == 1 ? "" : "s",
                           outcome->validated ? "all of them finite" : "compared with nothing");
}

void run_page_fill(struct report *report, const struct run_outcome *outcome)
{
    struct tensor_summaries tensors SCOPED_ITEMS = {0};
    struct counts counts = {0};

    if (report == NULL)
        return;
    run_report_summarize(outcome->results, &tensors);
    for (size_t i = 0; i < tensors.count; i++) {
        const struct compared_record *record = tensors.items[i].worst;

        if (record != NULL && !record->passed && counts.differing++ == 0)
            counts.first = record;
        counts.compared += record != NULL;
        if (record != NULL)
            add_compared(report, record);
        else
            add_lone_output(report, tensors.items[i].alone);
    }
    set_verdict(report, outcome, &counts, tensors.count);
    if (counts.first != NULL)
        add_mismatch(report, counts.first);
    if (outcome->model != NULL && outcome->file != NULL) {
        add_culprits(report, outcome, &outcome->findings->differing);
        add_culprits(report, outcome, &outcome->findings->invalid);
        add_bad_element(report, outcome);
        add_recheck(report, outcome->findings);
    }
    if (tensors.count > 0 && tensors.items[0].worst != NULL) {
        report_add_environment(report, "reference", tensors.items[0].worst->second.runner);
        report_add_environment(report, "suspect", tensors.items[0].worst->first.runner);
    }
    if (outcome->file != NULL)
        report_add_network(report, outcome->file);
}
