/* cli/inspect/data_text.c: see data_text.h. */
#include "cli/inspect/data_text.h"

#include <math.h>

#include "cli/inspect/tensor_json.h"
#include "tensor/statistics/histogram.h"
#include "tensor/statistics/statistics.h"

/* ---- Text ---- */

static void add_blanks(struct string_builder *text, unsigned count)
{
    string_add_format(text, "%*s", (int)count, "");
}

/* Adds a line break and the block, every line of it moved to the right. */
static void add_block(struct string_builder *text, unsigned indent, const struct string_builder *block)
{
    string_add_char(text, '\n');
    add_blanks(text, indent);
    for (size_t i = 0; i < block->size; i++) {
        string_add_char(text, block->data[i]);
        if (block->data[i] == '\n')
            add_blanks(text, indent);
    }
}

static void compute_histogram(const struct tensor *tensor, struct histogram *ret)
{
    double minimum = INFINITY, maximum = -INFINITY;

    histogram_extend_range(tensor, &minimum, &maximum);
    histogram_compute(tensor, minimum, maximum, ret);
}

static void add_histogram(const struct tensor *tensor, unsigned indent, struct string_builder *text)
{
    struct histogram histogram;
    struct string_builder block;

    compute_histogram(tensor, &histogram);
    string_init(&block);
    string_add(&block, "---- Histogram ----\n");
    histogram_to_text(&histogram, &block);
    string_truncate(&block, block.size - 1);
    add_block(text, indent, &block);
    string_release(&block);
}

static void add_tensor(const struct named_tensor *item, const struct inspect_data_settings *settings, unsigned indent,
                       struct string_builder *text)
{
    const struct tensor *tensor = &item->tensor;
    struct statistics statistics;
    struct string_builder block;

    string_add_char(text, '\n');
    add_blanks(text, indent);
    string_add_format(text, "%s [dtype=%s, shape=", item->name, data_type_name(tensor->type));
    shape_to_text(&tensor->shape, text);
    string_add(text, "]");
    if (statistics_compute(tensor, &statistics, NULL) == 0) {
        string_add(text, " | Stats: ");
        statistics_to_text(&statistics, &tensor->shape, text);
        if (settings->histogram)
            add_histogram(tensor, indent + 4, text);
    }
    if (settings->values) {
        string_init(&block);
        tensor_to_text(tensor, &settings->layout, &block);
        add_block(text, indent + 4, &block);
        string_release(&block);
    }
}

/* Four blanks stand in front of each array's line break, as Polygraphy has them. */
static void add_iteration(const struct tensor_list *tensors, size_t iteration,
                          const struct inspect_data_settings *settings, struct string_builder *text)
{
    unsigned indent = settings->all ? 4 : 0;

    if (settings->all)
        string_add_format(text, "\n-- Iteration: %zu", iteration);
    for (size_t i = 0; i < tensors->count; i++) {
        add_blanks(text, indent);
        add_tensor(&tensors->items[i], settings, indent, text);
    }
    if (settings->all)
        string_add_char(text, '\n');
}

static size_t shown(size_t count, const struct inspect_data_settings *settings)
{
    return settings->all || count == 0 ? count : 1;
}

void inspect_data_to_text(const struct data_file *file, const struct inspect_data_settings *settings,
                          struct string_builder *text)
{
    const struct run_results *results = &file->results;
    const struct feed_dicts *feeds = &file->feeds;

    if (!file->holds_results) {
        string_add_format(text, "==== Data (%zu iterations) ====\n", feeds->count);
        for (size_t i = 0; i < shown(feeds->count, settings); i++)
            add_iteration(&feeds->items[i], i, settings, text);
        return;
    }
    string_add_format(text, "==== Run Results (%zu runners) ====\n", results->count);
    for (size_t k = 0; k < results->count; k++) {
        const struct runner_results *runner = &results->items[k];

        string_add_format(text, "\n---- %s (%zu iterations) ----\n", runner->name, runner->count);
        for (size_t i = 0; i < shown(runner->count, settings); i++)
            add_iteration(&runner->items[i].outputs, i, settings, text);
    }
}

/* ---- JSON ---- */

static void write_number(struct json_writer *writer, const char *key, double value)
{
    json_writer_key(writer, key);
    json_writer_number(writer, value);
}

static void write_statistics(struct json_writer *writer, const struct statistics *statistics)
{
    json_writer_key(writer, "statistics");
    json_writer_begin_object(writer);
    write_number(writer, "mean", statistics->mean);
    write_number(writer, "std_dev", statistics->standard_deviation);
    write_number(writer, "var", statistics->variance);
    write_number(writer, "median", statistics->median);
    write_number(writer, "min", statistics->minimum);
    write_number(writer, "max", statistics->maximum);
    write_number(writer, "avg_magnitude", statistics->average_magnitude);
    if (statistics->has_percentiles) {
        write_number(writer, "p90", statistics->p90);
        write_number(writer, "p95", statistics->p95);
        write_number(writer, "p99", statistics->p99);
    }
    json_writer_end_object(writer);
}

static void write_histogram(struct json_writer *writer, const struct tensor *tensor)
{
    struct histogram histogram;

    compute_histogram(tensor, &histogram);
    json_writer_key(writer, "histogram");
    json_writer_begin_array(writer);
    for (size_t i = 0; i < HISTOGRAM_BINS; i++) {
        json_writer_begin_object(writer);
        write_number(writer, "from", histogram.edges[i]);
        write_number(writer, "to", histogram.edges[i + 1]);
        json_writer_key(writer, "count");
        json_writer_integer(writer, (int64_t)histogram.counts[i]);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

static void write_tensor(struct json_writer *writer, const struct named_tensor *item,
                         const struct inspect_data_settings *settings)
{
    const struct tensor *tensor = &item->tensor;
    struct statistics statistics;

    json_writer_begin_object(writer);
    json_writer_key(writer, "name");
    json_writer_string(writer, item->name);
    tensor_json_type(writer, tensor);
    if (statistics_compute(tensor, &statistics, NULL) == 0) {
        write_statistics(writer, &statistics);
        if (settings->histogram)
            write_histogram(writer, tensor);
    }
    if (settings->values)
        tensor_json_values(writer, tensor);
    json_writer_end_object(writer);
}

static void write_iteration(struct json_writer *writer, const struct tensor_list *tensors,
                            const struct inspect_data_settings *settings)
{
    json_writer_begin_array(writer);
    for (size_t i = 0; i < tensors->count; i++)
        write_tensor(writer, &tensors->items[i], settings);
    json_writer_end_array(writer);
}

static void begin_iterations(struct json_writer *writer, size_t count)
{
    json_writer_key(writer, "iteration_count");
    json_writer_integer(writer, (int64_t)count);
    json_writer_key(writer, "iterations");
    json_writer_begin_array(writer);
}

static void write_feeds(struct json_writer *writer, const struct feed_dicts *feeds,
                        const struct inspect_data_settings *settings)
{
    begin_iterations(writer, feeds->count);
    for (size_t i = 0; i < shown(feeds->count, settings); i++)
        write_iteration(writer, &feeds->items[i], settings);
    json_writer_end_array(writer);
}

static void write_runner(struct json_writer *writer, const struct runner_results *runner,
                         const struct inspect_data_settings *settings)
{
    json_writer_begin_object(writer);
    json_writer_key(writer, "name");
    json_writer_string(writer, runner->name);
    begin_iterations(writer, runner->count);
    for (size_t i = 0; i < shown(runner->count, settings); i++)
        write_iteration(writer, &runner->items[i].outputs, settings);
    json_writer_end_array(writer);
    json_writer_end_object(writer);
}

int inspect_data_save(const struct data_file *file, const struct inspect_data_settings *settings, const char *path,
                      struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc == 0) {
        json_writer_begin_object(&writer);
        json_writer_key(&writer, "kind");
        json_writer_string(&writer, file->holds_results ? "results" : "inputs");
        if (file->holds_results) {
            json_writer_key(&writer, "runners");
            json_writer_begin_array(&writer);
            for (size_t i = 0; i < file->results.count; i++)
                write_runner(&writer, &file->results.items[i], settings);
            json_writer_end_array(&writer);
        } else {
            write_feeds(&writer, &file->feeds, settings);
        }
        json_writer_end_object(&writer);
        rc = json_writer_commit(&writer, FILE_DURABLE, err);
    }
    json_writer_release(&writer);
    return rc;
}
