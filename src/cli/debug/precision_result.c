/* cli/debug/precision_result.c: see precision_result.h. */
#include "cli/debug/precision_result.h"

#include <math.h>

#include "base/text/shell_line.h"

/* More layers than that are only in the line to copy, and in the JSON file. */
#define SHOWN_LAYERS 50

/* "conv1 + relu1:float32" */
static void add_override(struct string_builder *text, const struct layer *layer, enum data_type high)
{
    string_add_format(text, "%s:%s", layer->name, data_type_name(high));
}

static void add_high_layer(struct string_builder *text, const struct network *network, const struct layer *layer)
{
    string_add_format(text, "\n'%s': ONNX node%s", layer->name, layer->nodes.count > 1 ? "s" : "");
    for (size_t i = 0; i < layer->nodes.count; i++)
        string_add_format(text, "%s '%s' (" TEXT_FORMAT ")", i > 0 ? "," : "",
                          model_node_label(network->model, layer->nodes.items[i]),
                          TEXT_ARGS(network->model->nodes.items[layer->nodes.items[i]].op_type));
}

static void log_layers(const char *title, const struct bitset *layers, const struct network *network, struct log *log)
{
    SCOPED_STRING(text);
    size_t shown = 0, count = bitset_count(layers);

    string_add(&text, title);
    for (size_t i = bitset_next(layers, 0); i < layers->size && shown < SHOWN_LAYERS;
         i = bitset_next(layers, i + 1), shown++)
        add_high_layer(&text, network, &network->layers.items[i]);
    if (shown < count)
        string_add_format(&text, "\nand %zu more", count - shown);
    log_message(log, LOG_INFO, "%s", text.data);
}

static bool is_high(const struct precision_result *result, size_t layer)
{
    return bitset_has(&result->chosen, layer) || bitset_has(&result->added, layer);
}

void precision_result_log(const struct precision_result *result, const struct network *network, enum data_type high,
                          bool by_casts, struct log *log)
{
    SCOPED_STRING(text);
    SCOPED_STRING(word);

    if (result->outcome != PRECISION_FOUND || bitset_count(&result->chosen) == 0)
        return;
    log_layers("In higher precision:", &result->chosen, network, log);
    if (result->is_minimal)
        log_message(log, LOG_INFO, "Without any single one of them the check fails: each was left out once");
    if (bitset_count(&result->added) > 0)
        log_layers("In higher precision, too, because that saves Casts:", &result->added, network, log);
    if (by_casts) {
        log_message(log, LOG_INFO,
                    "To build like that: build the model that --output-onnx saves, in which Casts say so");
        return;
    }
    for (size_t i = 0; i < network->layers.count; i++) {
        if (!is_high(result, i))
            continue;
        string_clear(&word);
        add_override(&word, &network->layers.items[i], high);
        shell_add_argument(&text, word.data);
    }
    log_message(log, LOG_INFO, "To build like that: --precision-constraints obey --layer-precisions %s", text.data);
}

void precision_result_log_costs(const struct precision_costs *costs, const struct precision_costs *without_added,
                                struct log *log)
{
    SCOPED_STRING(text);

    string_add_format(&text, "As a typed model: %zu node%s in float32", costs->float32_nodes,
                      costs->float32_nodes == 1 ? "" : "s");
    if (costs->float32_moving > 0)
        string_add_format(&text, ", %zu of which only move data", costs->float32_moving);
    string_add_format(&text, ", %zu in the lower precision, %zu Cast%s", costs->low_nodes, costs->mixed.casts,
                      costs->mixed.casts == 1 ? "" : "s");
    if (costs->mixed.casts != without_added->mixed.casts || costs->float32_nodes != without_added->float32_nodes)
        string_add_format(&text, " (without what was added: %zu in float32, %zu Casts)", without_added->float32_nodes,
                          without_added->mixed.casts);
    if (costs->float32.node_bytes > 0)
        string_add_format(&text, ". Nodes read and write %.0f %% of the bytes that they do in float32, Casts %.1f %%",
                          100.0 * (double)costs->mixed.node_bytes / (double)costs->float32.node_bytes,
                          100.0 * (double)costs->mixed.cast_bytes / (double)costs->float32.node_bytes);
    if (costs->mixed.unknown > 0)
        string_add_format(&text, ", without %zu tensors whose size is not known", costs->mixed.unknown);
    log_message(log, LOG_INFO, "%s", text.data);
}

static void add_error(struct string_builder *text, const struct output_error *error)
{
    char absolute[NUMBER_TEXT_SIZE];

    if (isinf(error->absolute))
        string_add_format(text, "\nOutput '%s' has a NaN or an infinity that it has not in float32", error->output);
    else
        string_add_format(text, "\n%s of output '%s', %.2g %% of its largest magnitude",
                          number_to_text_short(error->absolute, absolute), error->output, 100 * error->relative);
}

void precision_result_log_errors(const struct precision_errors *errors, enum data_type half, struct log *log)
{
    static const char seen[] = ", as the check has seen it";
    SCOPED_STRING(text);

    string_add_format(&text,
                      "Largest error against the model in float32, both run with ONNX Runtime on %zu sample%s of the "
                      "input data:",
                      errors->samples, errors->samples == 1 ? "" : "s");
    add_error(&text, &errors->rounded);
    string_add_format(&text, ", with nodes in float32 on values that are rounded to %s%s", data_type_name(half),
                      errors->of_rounded ? seen : "");
    if (errors->written.output != NULL) {
        add_error(&text, &errors->written);
        string_add_format(&text, ", with nodes in %s as the runtime here computes them%s", data_type_name(half),
                          errors->of_written ? seen : "");
    } else {
        string_add_format(&text, "\nThe runtime here does not take the model with nodes in %s", data_type_name(half));
    }
    log_message(log, LOG_INFO, "%s", text.data);
    if (errors->of_written && errors->written.output != NULL && errors->rounded.absolute > errors->written.absolute)
        log_message(log, LOG_WARNING,
                    "Where a runtime computes in %s, the model may be farther off than the check has seen: a runtime "
                    "without kernels for that leaves some of the rounding out",
                    data_type_name(half));
}

/* ---- JSON ---- */

static void write_high_layer(struct json_writer *writer, const struct precision_result *result,
                             const struct network *network, size_t index)
{
    const struct layer *layer = &network->layers.items[index];

    json_writer_begin_object(writer);
    json_writer_add_string(writer, "layer", layer->name);
    json_writer_begin_array_member(writer, "nodes");
    for (size_t i = 0; i < layer->nodes.count; i++)
        json_writer_string(writer, model_node_label(network->model, layer->nodes.items[i]));
    json_writer_end_array(writer);
    if (json_writer_key_or_null(writer, "score", result->scores != NULL))
        json_writer_number(writer, result->scores[index]);
    json_writer_end_object(writer);
}

static void write_layers(struct json_writer *writer, const struct precision_result *result,
                         const struct network *network, enum data_type high)
{
    SCOPED_STRING(word);

    json_writer_begin_array_member(writer, "layers");
    for (size_t i = bitset_next(&result->chosen, 0); i < result->chosen.size; i = bitset_next(&result->chosen, i + 1))
        write_high_layer(writer, result, network, i);
    json_writer_end_array(writer);
    json_writer_begin_array_member(writer, "added");
    for (size_t i = bitset_next(&result->added, 0); i < result->added.size; i = bitset_next(&result->added, i + 1))
        json_writer_string(writer, network->layers.items[i].name);
    json_writer_end_array(writer);
    json_writer_begin_array_member(writer, "layer_precisions");
    for (size_t i = 0; i < network->layers.count; i++) {
        if (!is_high(result, i))
            continue;
        string_clear(&word);
        add_override(&word, &network->layers.items[i], high);
        json_writer_string(writer, word.data);
    }
    json_writer_end_array(writer);
}

static void write_costs(struct json_writer *writer, const char *key, const struct precision_costs *costs)
{
    if (!json_writer_begin_object_or_null(writer, key, costs != NULL))
        return;
    json_writer_add_count(writer, "float32_nodes", costs->float32_nodes);
    json_writer_add_count(writer, "float32_moving", costs->float32_moving);
    json_writer_add_count(writer, "low_nodes", costs->low_nodes);
    json_writer_add_count(writer, "casts", costs->mixed.casts);
    json_writer_add_count(writer, "cast_bytes", costs->mixed.cast_bytes);
    json_writer_add_count(writer, "node_bytes", costs->mixed.node_bytes);
    json_writer_add_count(writer, "float32_bytes", costs->float32.node_bytes);
    json_writer_add_count(writer, "unknown", costs->mixed.unknown);
    json_writer_end_object(writer);
}

static void write_error(struct json_writer *writer, const char *key, const struct output_error *error)
{
    if (!json_writer_begin_object_or_null(writer, key, error->output != NULL))
        return;
    json_writer_add_string(writer, "output", error->output);
    json_writer_add_number(writer, "absolute", error->absolute);
    json_writer_add_number(writer, "relative", error->relative);
    json_writer_end_object(writer);
}

static void write_errors(struct json_writer *writer, const struct precision_errors *errors)
{
    if (!json_writer_begin_object_or_null(writer, "largest_error", errors != NULL))
        return;
    json_writer_add_count(writer, "samples", errors->samples);
    json_writer_add_string(
        writer, "seen", errors->of_rounded || errors->of_written ? errors->of_rounded ? "rounded" : "written" : NULL);
    write_error(writer, "rounded", &errors->rounded);
    write_error(writer, "written", &errors->written);
    json_writer_end_object(writer);
}

void precision_result_write(const void *data, struct json_writer *writer)
{
    static const char *const modes[] = {"bisect", "linear", "minimal"};
    const struct precision_report *report = data;
    const struct precision_result *result = report->result;

    json_writer_add_string(writer, "mode", modes[report->values->mode]);
    json_writer_add_string(writer, "precision", data_type_name(report->values->high));
    json_writer_add_boolean(writer, "found", result->outcome == PRECISION_FOUND);
    json_writer_add_boolean(writer, "none_needed", result->none_needed);
    json_writer_add_boolean(writer, "minimal", result->is_minimal);
    json_writer_add_integer(writer, "lowered", result->lowered);
    json_writer_add_integer(writer, "selected", result->selected);
    json_writer_add_integer(writer, "iterations", report->iterations);
    if (json_writer_key_or_null(writer, "unfit", result->unfit >= 0))
        json_writer_integer(writer, result->unfit);
    write_costs(writer, "costs", report->costs);
    write_costs(writer, "without_added", report->without_added);
    write_errors(writer, report->errors);
    write_layers(writer, result, report->network, report->values->high);
}
