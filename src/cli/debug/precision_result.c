/* cli/debug/precision_result.c: see precision_result.h. */
#include "cli/debug/precision_result.h"

#include <string.h>

/* More layers than that are only in the line to copy, and in the JSON file. */
#define SHOWN_LAYERS 50

static size_t next_chosen(const struct precision_result *result, size_t from)
{
    return bitset_next(&result->chosen, from);
}

/* As a word for the shell. */
static void add_word(struct string_builder *text, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,@%+=";

    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        string_add(text, word);
        return;
    }
    string_add_char(text, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            string_add(text, "'\\''");
        else
            string_add_char(text, *word);
    }
    string_add_char(text, '\'');
}

/* "conv1 + relu1:float32" */
static void add_override(struct string_builder *text, const struct layer *layer, enum data_type high)
{
    string_add_format(text, "%s:%s", layer->name, data_type_name(high));
}

static void add_layer(struct string_builder *text, const struct network *network, const struct layer *layer)
{
    string_add_format(text, "\n'%s': ONNX node%s", layer->name, layer->nodes.count > 1 ? "s" : "");
    for (size_t i = 0; i < layer->nodes.count; i++)
        string_add_format(text, "%s '%s' (" TEXT_FORMAT ")", i > 0 ? "," : "",
                          model_node_label(network->model, layer->nodes.items[i]),
                          TEXT_ARGS(network->model->nodes.items[layer->nodes.items[i]].op_type));
}

static void log_layers(const struct precision_result *result, const struct network *network, struct log *log)
{
    struct string_builder text;
    size_t shown = 0, count = bitset_count(&result->chosen);

    string_init(&text);
    string_add(&text, "In higher precision:");
    for (size_t i = next_chosen(result, 0); i < result->chosen.size && shown < SHOWN_LAYERS;
         i = next_chosen(result, i + 1), shown++)
        add_layer(&text, network, &network->layers.items[i]);
    if (shown < count)
        string_add_format(&text, "\nand %zu more", count - shown);
    log_message(log, LOG_INFO, "%s", text.data);
    string_release(&text);
}

void precision_result_log(const struct precision_result *result, const struct network *network, enum data_type high,
                          bool by_casts, struct log *log)
{
    struct string_builder text, word;

    if (result->outcome != PRECISION_FOUND || bitset_count(&result->chosen) == 0)
        return;
    log_layers(result, network, log);
    if (result->is_minimal)
        log_message(log, LOG_INFO, "Without any single one of them the check fails: each was left out once");
    if (by_casts) {
        log_message(log, LOG_INFO,
                    "To build like that: build the model that --output-onnx saves, in which Casts say so");
        return;
    }
    string_init(&text);
    string_init(&word);
    for (size_t i = next_chosen(result, 0); i < result->chosen.size; i = next_chosen(result, i + 1)) {
        string_clear(&word);
        add_override(&word, &network->layers.items[i], high);
        string_add_char(&text, ' ');
        add_word(&text, word.data);
    }
    log_message(log, LOG_INFO, "To build like that: --precision-constraints obey --layer-precisions%s", text.data);
    string_release(&text);
    string_release(&word);
}

/* ---- JSON ---- */

static void write_layer(struct json_writer *writer, const struct precision_result *result,
                        const struct network *network, size_t index)
{
    const struct layer *layer = &network->layers.items[index];

    json_writer_begin_object(writer);
    json_writer_key(writer, "layer");
    json_writer_string(writer, layer->name);
    json_writer_key(writer, "nodes");
    json_writer_begin_array(writer);
    for (size_t i = 0; i < layer->nodes.count; i++)
        json_writer_string(writer, model_node_label(network->model, layer->nodes.items[i]));
    json_writer_end_array(writer);
    json_writer_key(writer, "score");
    if (result->scores != NULL)
        json_writer_number(writer, result->scores[index]);
    else
        json_writer_null(writer);
    json_writer_end_object(writer);
}

static void write_layers(struct json_writer *writer, const struct precision_result *result,
                         const struct network *network, enum data_type high)
{
    struct string_builder word;

    json_writer_key(writer, "layers");
    json_writer_begin_array(writer);
    for (size_t i = next_chosen(result, 0); i < result->chosen.size; i = next_chosen(result, i + 1))
        write_layer(writer, result, network, i);
    json_writer_end_array(writer);
    json_writer_key(writer, "layer_precisions");
    json_writer_begin_array(writer);
    string_init(&word);
    for (size_t i = next_chosen(result, 0); i < result->chosen.size; i = next_chosen(result, i + 1)) {
        string_clear(&word);
        add_override(&word, &network->layers.items[i], high);
        json_writer_string(writer, word.data);
    }
    string_release(&word);
    json_writer_end_array(writer);
}

static void write_boolean(struct json_writer *writer, const char *key, bool value)
{
    json_writer_key(writer, key);
    json_writer_boolean(writer, value);
}

static void write_integer(struct json_writer *writer, const char *key, int64_t value)
{
    json_writer_key(writer, key);
    json_writer_integer(writer, value);
}

void precision_result_write(const void *data, struct json_writer *writer)
{
    static const char *const modes[] = {"bisect", "linear", "minimal"};
    const struct precision_report *report = data;
    const struct precision_result *result = report->result;

    json_writer_key(writer, "mode");
    json_writer_string(writer, modes[report->values->mode]);
    json_writer_key(writer, "precision");
    json_writer_string(writer, data_type_name(report->values->high));
    write_boolean(writer, "found", result->outcome == PRECISION_FOUND);
    write_boolean(writer, "none_needed", result->none_needed);
    write_boolean(writer, "minimal", result->is_minimal);
    write_integer(writer, "lowered", result->lowered);
    write_integer(writer, "selected", result->selected);
    write_integer(writer, "iterations", report->iterations);
    write_layers(writer, result, report->network, report->values->high);
}
