/* cli/run/nodes.c: see nodes.h. */
#include "cli/run/nodes.h"

#include <stdlib.h>

#include "base/container/arena.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "cli/options/groups.h"
#include "onnx/edit/model.h"
#include "onnx/write/model.h"

#define ROW(member, ...) OPTION_ROW(struct node_values, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(node_data, .names = {"--node-data"}, .kind = OPTION_ONE, .value_name = "FILE.json", .file = OPTION_WRITES,
        .help = "write the error of each tensor, or its largest magnitude without a comparison, as node data of Model "
                "Explorer, which colors the graph accordingly"),
    ROW(annotated, .names = {"--annotate"}, .yields = true, .kind = OPTION_ONE, .value_name = "FILE.onnx",
        .file = OPTION_WRITES,
        .help =
            "write a copy of the model with errors and ranges of each node's outputs as metadata, which Netron shows"),
};

const struct option_group node_options = {
    .title = "Node data",
    .options = options,
    .count = ARRAY_LEN(options),
};

/* ---- Model Explorer ---- */

#define FAILED_COLOR "#d73027"

/* Up to each value, colors of a node, from light to dark. */
struct shade {
    double value;
    const char *color;
};

/* Thresholds of the largest difference relative to the reference's largest value. */
static const struct shade error_shades[] = {
    {0, "#ffffff"},    {1e-7, "#f7fcf5"}, {1e-6, "#e5f5e0"}, {1e-5, "#c7e9c0"},  {1e-4, "#a1d99b"},
    {1e-3, "#74c476"}, {1e-2, "#fee08b"}, {1e-1, "#fdae61"}, {1e300, "#f46d43"},
};

/* Thresholds of magnitudes: normal range of float16, subnormal or coarsely rounded, overflow. */
static const struct shade magnitude_shades[] = {
    {0, "#ffffff"},
    {6.1e-5, "#c6dbef"},
    {65504, "#e5f5e0"},
    {1e300, "#fdae61"},
};

/* Model Explorer knows JSON's numbers only. */
static void write_node_result(struct json_writer *json, const char *tensor, double value, bool failed)
{
    json_writer_begin_object_member(json, tensor);
    if (isfinite(value)) {
        json_writer_add_number(json, "value", value);
    } else {
        json_writer_add_string(json, "value", isnan(value) ? "NaN" : "infinite");
    }
    if (failed || !isfinite(value))
        json_writer_add_string(json, "bgColor", FAILED_COLOR);
    json_writer_end_object(json);
}

static void write_shades(struct json_writer *json, const struct shade *shades, size_t count)
{
    json_writer_begin_array_member(json, "thresholds");
    for (size_t i = 0; i < count; i++) {
        json_writer_begin_object(json);
        json_writer_add_number(json, "value", shades[i].value);
        json_writer_add_string(json, "bgColor", shades[i].color);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static double magnitude_of(const struct described_output *output)
{
    return output->range.nans > 0 ? NAN : output->range.infinities > 0 ? INFINITY : output->range.largest_magnitude;
}

/* Without the number of a graph around it, which is then the one that is shown. Keys are names of tensors. */
static int write_node_data(const char *path, const struct tensor_summaries *tensors, struct error *err)
{
    bool compared = tensors->count > 0 && tensors->items[0].worst != NULL;
    struct json_writer json SCOPED(json_writer_release) = {0};
    int rc;

    json_writer_init(&json);
    rc = json_writer_open(&json, path, err);
    if (rc < 0)
        return rc;
    json_writer_begin_object(&json);
    json_writer_add_string(&json, "name", compared ? "largest error / largest value" : "largest magnitude");
    json_writer_begin_object_member(&json, "results");
    VECTOR_EACH (const struct tensor_summary, tensor, *tensors) {
        if (tensor->worst != NULL && tensor->worst->has_differences)
            write_node_result(&json, tensor->name, compared_norm_error(tensor->worst), !tensor->worst->passed);
        else if (tensor->worst == NULL && tensor->alone->has_statistics)
            write_node_result(&json, tensor->name, magnitude_of(tensor->alone), false);
    }
    json_writer_end_object(&json);
    if (compared)
        write_shades(&json, error_shades, ARRAY_LEN(error_shades));
    else
        write_shades(&json, magnitude_shades, ARRAY_LEN(magnitude_shades));
    json_writer_end_object(&json);
    return json_writer_commit(&json, FILE_DURABLE, err);
}

/* ---- Metadata of ONNX nodes ---- */

#define PREFIX "polygraphy."

struct notes {
    struct arena texts;
    struct node_note *items;
    size_t count, capacity;

    /* The tensor that they are of. */
    uint32_t node;
    const char *tensor; /* NULL: the node makes no other */
};

static void add_note(struct notes *notes, const char *key, const char *value)
{
    *VECTOR_APPEND(notes) = (struct node_note){
        notes->node,
        notes->tensor == NULL ? arena_printf(&notes->texts, PREFIX "%s", key)
                              : arena_printf(&notes->texts, PREFIX "%s.%s", notes->tensor, key),
        arena_strdup(&notes->texts, value),
    };
}

static void add_number_note(struct notes *notes, const char *key, double number)
{
    char text[NUMBER_TEXT_SIZE];

    add_note(notes, key, number_to_text_rounded(number, 'g', 6, text));
}

static void add_range_note(struct notes *notes, const char *key, const struct described_output *output)
{
    char minimum[NUMBER_TEXT_SIZE], maximum[NUMBER_TEXT_SIZE];
    const struct value_range *range = &output->range;
    SCOPED_STRING(text);

    if (output->has_statistics && range->finite > 0)
        string_add_format(&text, "%s .. %s", number_to_text_rounded(range->minimum, 'g', 6, minimum),
                          number_to_text_rounded(range->maximum, 'g', 6, maximum));
    if (range->nans > 0)
        string_add_format(&text, "%s%zu NaN", text.size > 0 ? ", " : "", range->nans);
    if (range->infinities > 0)
        string_add_format(&text, "%s%zu infinite", text.size > 0 ? ", " : "", range->infinities);
    if (text.size > 0)
        add_note(notes, key, text.data);
}

static void add_tensor_notes(struct notes *notes, const struct tensor_summary *tensor)
{
    const struct compared_record *record = tensor->worst;

    if (record == NULL) {
        add_range_note(notes, "range", tensor->alone);
        return;
    }
    add_note(notes, "outcome", record->passed ? "matches" : "differs");
    if (record->has_differences) {
        add_number_note(notes, "absolute_error", record->differences.absolute.maximum);
        add_number_note(notes, "relative_error", record->differences.relative.maximum);
        add_number_note(notes, "norm_error", compared_norm_error(record));
    }
    if (record->has_metrics)
        add_number_note(notes, "snr", record->metrics.signal_to_noise);
    add_range_note(notes, "range", &record->first);
    add_range_note(notes, "reference_range", &record->second);
}

/* In the order of nodes. */
static void collect_notes(struct notes *notes, const struct model *model, const struct tensor_summaries *tensors)
{
    SCOPED_NAME_MAP(places);

    for (size_t i = 0; i < tensors->count; i++)
        name_map_add(&places, text_of(tensors->items[i].name), (uint32_t)i);
    for (uint32_t n = 0; n < model->nodes.count; n++) {
        struct edge_range outputs = model->nodes.items[n].outputs;

        for (size_t k = 0; k < outputs.count; k++) {
            uint32_t value = model_edge(model, outputs, k), place;

            if (value == VALUE_NONE)
                continue;
            place = name_map_find(&places, model->values.items[value].name);
            if (place == NAME_MAP_NONE)
                continue;
            notes->node = n;
            notes->tensor = outputs.count > 1 ? tensors->items[place].name : NULL;
            add_tensor_notes(notes, &tensors->items[place]);
        }
    }
}

static int annotate_model(const struct command_context *context, const struct run_settings *settings, const char *path,
                          const struct tensor_summaries *tensors, struct error *err)
{
    const struct model_values *values = &settings->file.model;
    const struct onnx_load_values *load = &settings->file.load;
    struct notes notes = {0};
    struct model *model;
    struct subgraph whole;
    int rc = model_open(values->path, load->external_data_dir, &model, err);

    if (rc < 0)
        return rc;
    arena_init(&notes.texts);
    collect_notes(&notes, model, tensors);
    rc = model_set_notes(model, PREFIX, notes.items, notes.count, err);
    if (rc < 0)
        goto done;
    subgraph_init_whole(&whole, model);
    rc = model_save(&whole, path, NULL, false, err);
    subgraph_release(&whole);
    if (rc == 0)
        log_message(context->log, LOG_INFO, "Saving ONNX model with notes on its nodes to: %s", path);
done:
    free(notes.items);
    arena_release(&notes.texts);
    model_free(model);
    return rc;
}

int run_nodes_write(const struct command_context *context, const struct run_settings *settings,
                    const struct run_outcome *outcome, struct error *err)
{
    const struct node_values *values = &settings->nodes;
    struct tensor_summaries tensors = {0};
    int rc = 0;

    if (values->node_data == NULL && values->annotated == NULL)
        return 0;
    run_report_summarize(outcome->results, &tensors);
    if (values->node_data != NULL)
        rc = write_node_data(values->node_data, &tensors, err);
    if (rc == 0 && values->annotated != NULL)
        rc = annotate_model(context, settings, values->annotated, &tensors, err);
    free(tensors.items);
    return rc;
}
