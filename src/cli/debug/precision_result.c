/* cli/debug/precision_result.c: see precision_result.h. */
#include "cli/debug/precision_result.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/text/shell_line.h"

static bool is_high(const struct precision_result *result, size_t layer)
{
    return bitset_has(&result->chosen, layer) || bitset_has(&result->added, layer);
}

/* ---- Lines ---- */

static void set_verdict(const struct precision_report *report, struct result *ret)
{
    const struct precision_result *result = report->result;
    const char *high = data_type_name(report->values->high);
    size_t chosen = bitset_count(&result->chosen), all = (size_t)result->lowered;

    if (result->outcome != PRECISION_FOUND)
        result_set_verdict(ret, REPORT_FAILED, "The check fails with every tested choice of precisions");
    else if (result->none_needed)
        result_set_verdict(ret, REPORT_PASSED, "No layer needs the higher precision");
    else if (chosen == 1 && result->is_minimal)
        result_set_verdict(ret, REPORT_CAUSE, "Cause: layer '%s' needs %s: 1 of %zu layers",
                           report->network->layers.items[bitset_next(&result->chosen, 0)].name, high, all);
    else if (result->is_minimal)
        result_set_verdict(ret, REPORT_CAUSE, "Cause: %zu of %zu layers need %s", chosen, all, high);
    else
        result_set_verdict(ret, REPORT_FAILED, "The check passes with %zu of %zu layers in %s", chosen, all, high);
}

static void add_evidence(const struct precision_report *report, struct result *ret)
{
    const char *high = data_type_name(report->values->high);
    size_t chosen = bitset_count(&report->result->chosen), added = bitset_count(&report->result->added);

    if (report->skipped > 0)
        result_add_line(ret, RESULT_NOT_TESTED,
                        "%" PRId64 " candidates, which could not be built or whose check was inconclusive",
                        report->skipped);
    if (report->result->is_minimal && report->skipped > 0)
        result_add_line(ret, RESULT_EVIDENCE, "passes with these layers in %s; no candidate without one of them passes",
                        high);
    else if (report->result->is_minimal)
        result_add_line(ret, RESULT_EVIDENCE,
                        chosen == 1 ? "passes with it in %s; fails without"
                                    : "passes with these layers in %s; fails if any single one of them is left out",
                        high);
    else
        result_add_line(ret, RESULT_NOT_TESTED, "whether all of these layers are needed (--mode minimal tests each)");
    if (added > 0)
        result_add_line(ret, RESULT_EVIDENCE, "also passes with %zu more in %s, which saves Casts", added, high);
}

/* "conv1 + relu1:float32" */
static void add_override(const struct precision_report *report, size_t layer, struct string_builder *ret)
{
    string_add_format(ret, "%s:%s", report->network->layers.items[layer].name, data_type_name(report->values->high));
}

static void add_fix(const struct precision_report *report, struct result *ret)
{
    SCOPED_STRING(text);

    if (report->by_casts) {
        result_add_line(ret, RESULT_FIX, "build the model that --output-onnx saves: its Casts set the precisions");
        return;
    }
    for (size_t i = 0; i < report->network->layers.count; i++) {
        SCOPED_STRING(word);

        if (!is_high(report->result, i))
            continue;
        add_override(report, i, &word);
        shell_add_argument(&text, word.data);
    }
    result_add_line(ret, RESULT_FIX, "--precision-constraints obey --layer-precisions %s", text.data);
}

static void add_costs(const struct precision_costs *costs, const struct precision_costs *without_added,
                      struct result *ret)
{
    SCOPED_STRING(text);

    string_add_format(&text, "As a typed model: %zu node%s in float32", costs->float32_nodes,
                      costs->float32_nodes == 1 ? "" : "s");
    if (costs->float32_moving > 0)
        string_add_format(&text, ", %zu of which only move data", costs->float32_moving);
    string_add_format(&text, ", %zu in the lower precision, %zu Cast%s", costs->low_nodes, costs->mixed.casts,
                      costs->mixed.casts == 1 ? "" : "s");
    if (costs->mixed.casts != without_added->mixed.casts || costs->float32_nodes != without_added->float32_nodes)
        string_add_format(&text, " (without the layers that save Casts: %zu in float32, %zu Casts)",
                          without_added->float32_nodes, without_added->mixed.casts);
    if (costs->float32.node_bytes > 0)
        string_add_format(&text, ". Nodes read and write %.0f %% of the bytes that they do in float32, Casts %.1f %%",
                          100.0 * (double)costs->mixed.node_bytes / (double)costs->float32.node_bytes,
                          100.0 * (double)costs->mixed.cast_bytes / (double)costs->float32.node_bytes);
    if (costs->mixed.unknown > 0)
        string_add_format(&text, ", without %zu tensors of unknown size", costs->mixed.unknown);
    result_add_line(ret, RESULT_NOTE, "%s", text.data);
}

static const struct result_column error_columns[] = {
    {"form", "nodes compute in", RESULT_TEXT, false},
    {"output", "output", RESULT_TEXT, false},
    {"absolute", "largest error", RESULT_NUMBER, false},
    {"relative", "of the largest magnitude", RESULT_SHARE, false},
    {"of_candidates", "as in the checks", RESULT_FLAG, false},
};

static const struct result_table error_table = {.key = "largest_errors",
                                                .title = "Largest errors of the outputs against float32",
                                                .line = "Largest errors of the outputs against the model in float32, "
                                                        "both run with ONNX Runtime on the input data:",
                                                .log_rows = 2,
                                                .columns = error_columns,
                                                .column_count = ARRAY_LEN(error_columns)};

static void add_error(const struct output_error *error, const char *form, bool of_candidates, struct result *ret)
{
    bool is_infinite = isinf(error->absolute);

    result_add_row(
        ret, (const struct result_cell[]){{.text = form},
                                          {.text = error->output},
                                          {.text = is_infinite ? "NaN or infinity" : NULL, .number = error->absolute},
                                          {.text = is_infinite ? "" : NULL, .number = error->relative},
                                          {.number = of_candidates}});
}

static void add_errors(const struct precision_errors *errors, enum data_type half, struct result *ret)
{
    const char *type = data_type_name(half);
    SCOPED_STRING(rounded);

    string_add_format(&rounded, "float32 on values rounded to %s", type);
    result_add_count(ret, "samples", errors->samples);
    result_begin_table(ret, &error_table);
    add_error(&errors->rounded, rounded.data, errors->of_rounded, ret);
    if (errors->written.output != NULL)
        add_error(&errors->written, type, errors->of_written, ret);
    else
        result_add_line(ret, RESULT_NOT_TESTED, "nodes in %s: this runtime refuses the model", type);
    if (errors->of_written && errors->written.output != NULL && errors->rounded.absolute > errors->written.absolute)
        result_add_line(ret, RESULT_CAUTION,
                        "A runtime that computes in %s may have larger errors than the check saw: a runtime without "
                        "kernels for that type leaves out part of the rounding",
                        type);
}

/* ---- Facts and tables ---- */

static const struct result_column layer_columns[] = {
    {"layer", "layer", RESULT_TEXT, false},
    {"nodes", "ONNX nodes", RESULT_NAMES, false},
    {"score", "score", RESULT_NUMBER, true},
    {"saves_casts", "only saves Casts", RESULT_FLAG, true},
};

static const struct result_table layer_table = {.key = "layers",
                                                .title = "Layers in higher precision",
                                                .line = "Layers in higher precision:",
                                                .log_rows = 50,
                                                .columns = layer_columns,
                                                .column_count = ARRAY_LEN(layer_columns)};

static void add_layers(const struct precision_report *report, struct result *ret)
{
    const struct network *network = report->network;

    result_begin_table(ret, &layer_table);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];
        struct word_list nodes SCOPED_ITEMS = {0};

        if (!is_high(report->result, i))
            continue;
        for (size_t k = 0; k < layer->nodes.count; k++) {
            *VECTOR_APPEND(&nodes) = model_node_label(network->model, layer->nodes.items[k]);
            if (bitset_has(&report->result->chosen, i))
                result_add_node(ret, nodes.items[k]);
        }
        result_add_row(ret, (const struct result_cell[]){
                                {.text = layer->name},
                                {.names = {nodes.items, nodes.count}},
                                {.number = report->result->scores != NULL ? report->result->scores[i] : NAN},
                                {.number = !bitset_has(&report->result->chosen, i)}});
    }
}

static void add_cost_facts(const char *key, const struct precision_costs *costs, struct result *ret)
{
    if (costs == NULL) {
        result_add_null(ret, key);
        return;
    }
    result_begin_record(ret, key);
    result_add_count(ret, "float32_nodes", costs->float32_nodes);
    result_add_count(ret, "float32_moving", costs->float32_moving);
    result_add_count(ret, "low_nodes", costs->low_nodes);
    result_add_count(ret, "casts", costs->mixed.casts);
    result_add_count(ret, "cast_bytes", costs->mixed.cast_bytes);
    result_add_count(ret, "node_bytes", costs->mixed.node_bytes);
    result_add_count(ret, "float32_bytes", costs->float32.node_bytes);
    result_add_count(ret, "unknown", costs->mixed.unknown);
    result_end_record(ret);
}

static void add_facts(const struct precision_report *report, struct result *ret)
{
    static const char *const modes[] = {"bisect", "linear", "minimal"};
    const struct precision_result *result = report->result;

    result_add_text(ret, "mode", modes[report->values->mode]);
    result_add_text(ret, "precision", data_type_name(report->values->high));
    result_add_flag(ret, "found", result->outcome == PRECISION_FOUND);
    result_add_flag(ret, "none_needed", result->none_needed);
    result_add_flag(ret, "minimal", result->is_minimal);
    result_add_integer(ret, "lowered", result->lowered);
    result_add_integer(ret, "selected", result->selected);
    result_add_integer(ret, "iterations", report->iterations);
    result_add_number(ret, "unfit", result->unfit >= 0 ? (double)result->unfit : NAN);
    add_cost_facts("costs", report->costs, ret);
    add_cost_facts("without_added", report->without_added, ret);
    result_begin_list(ret, "layer_precisions");
    for (size_t i = 0; i < report->network->layers.count; i++) {
        SCOPED_STRING(word);

        if (!is_high(result, i))
            continue;
        add_override(report, i, &word);
        result_add_text(ret, NULL, word.data);
    }
    result_end_list(ret);
}

void precision_result_fill(const struct precision_report *report, struct result *ret)
{
    bool has_layers = report->result->outcome == PRECISION_FOUND && bitset_count(&report->result->chosen) > 0;

    set_verdict(report, ret);
    add_facts(report, ret);
    if (has_layers)
        add_evidence(report, ret);
    if (report->result->outcome == PRECISION_FOUND)
        add_layers(report, ret);
    if (has_layers)
        add_fix(report, ret);
    if (report->costs != NULL)
        add_costs(report->costs, report->without_added, ret);
    if (report->errors != NULL)
        add_errors(report->errors, report->half, ret);
}
