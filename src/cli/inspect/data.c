/* cli/inspect/data.c: the contents of a file with inputs or outputs. */
#include <math.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "cli/commands.h"
#include "comparator/compare/accuracy.h"
#include "format/data/file.h"
#include "format/json/tensor.h"
#include "cli/options/groups.h"
#include "tensor/statistics/histogram.h"
#include "tensor/statistics/statistics.h"
#include "tensor/values/text.h"

struct inspect_data_settings {
    struct common_settings common;
    struct json_values json;

    /* its own */
    const char *path;
    bool all;               /* iterations, not just the first */
    bool values, histogram; /* in addition to statistics */
    struct tensor_text_options layout;
};

static int convert_num_items(struct parse *parse, const char *spelling, struct words words, void *field,
                             struct error *err)
{
    struct tensor_text_options *layout = field;
    int64_t count = 0;

    (void)parse, (void)spelling;
    number_parse_integer(text_of(words.items[0]), &count);
    if (count < -1)
        return error_set(err, ERR_INVALID, "--num-items: %lld is not valid; give a number of items, or -1 for all",
                         (long long)count);
    layout->threshold = count < 0 ? SIZE_MAX : TENSOR_TEXT_DEFAULTS.threshold;
    layout->edge_items = count < 0 ? TENSOR_TEXT_DEFAULTS.edge_items : (size_t)count;
    return 0;
}

static int convert_line_width(struct parse *parse, const char *spelling, struct words words, void *field,
                              struct error *err)
{
    int64_t width = 0;

    (void)parse, (void)spelling;
    number_parse_integer(text_of(words.items[0]), &width);
    if (width < -1)
        return error_set(err, ERR_INVALID,
                         "--line-width: %lld is not valid; give a number of characters, or -1 for no limit",
                         (long long)width);
    *(size_t *)field = width < 0 ? SIZE_MAX : (size_t)width;
    return 0;
}

#define ROW(member, ...) OPTION_ROW(struct inspect_data_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(path, .names = {"path"}, .kind = OPTION_ONE, .value_name = "DATA", .file = OPTION_READS_DATA,
        .help = "file with results or input data: saved by `run`, or in any format of `run --load-inputs`, such as "
                ".npy, .npz, or raw data as in in.bin:float32:1x3x224x224"),
    ROW(all, .names = {"-a", "--all"}, .kind = OPTION_FLAG, .help = "show all iterations, not only the first one"),
    ROW(values, .names = {"-s", "--show-values"}, .kind = OPTION_FLAG,
        .help = "show the values in addition to statistics"),
    ROW(histogram, .names = {"--histogram"}, .kind = OPTION_FLAG, .help = "show a histogram of the values"),
    ROW(layout, .names = {"-n", "--num-items"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "3", .convert = convert_num_items,
        .help = "number of values shown at each end of a long dimension; -1: all"),
    ROW(layout.line_width, .names = {"--line-width"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "75", .convert = convert_line_width, .help = "characters per line of values; -1: no limit"),
};

static const struct option_group inspect_data_options = {
    .title = "Data",
    OPTION_ROWS(options),
};

/* ---- Text ---- */

static void add_indent(struct string_builder *text, unsigned count)
{
    string_add_format(text, "%*s", (int)count, "");
}

/* Adds a line break and the indented block. */
static void add_block(struct string_builder *text, unsigned indent, const struct string_builder *block)
{
    string_add_char(text, '\n');
    add_indent(text, indent);
    for (size_t i = 0; i < block->size; i++) {
        string_add_char(text, block->data[i]);
        if (block->data[i] == '\n')
            add_indent(text, indent);
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
    SCOPED_STRING(block);

    compute_histogram(tensor, &histogram);
    string_add(&block, "---- Histogram ----\n");
    histogram_to_text(&histogram, &block);
    string_truncate(&block, block.size - 1);
    add_block(text, indent, &block);
}

static void add_array(const struct named_tensor *item, const struct inspect_data_settings *settings, unsigned indent,
                      struct string_builder *text)
{
    const struct tensor *tensor = &item->tensor;
    struct statistics statistics;
    SCOPED_STRING(block);

    string_add_char(text, '\n');
    add_indent(text, indent);
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
        tensor_to_text(tensor, &settings->layout, &block);
        add_block(text, indent + 4, &block);
    }
}

/* Polygraphy writes four blanks before each array's line break. */
static void add_iteration(const struct tensor_list *tensors, size_t iteration,
                          const struct inspect_data_settings *settings, struct string_builder *text)
{
    unsigned indent = settings->all ? 4 : 0;

    if (settings->all)
        string_add_format(text, "\n-- Iteration: %zu", iteration);
    for (size_t i = 0; i < tensors->count; i++) {
        add_indent(text, indent);
        add_array(&tensors->items[i], settings, indent, text);
    }
    if (settings->all)
        string_add_char(text, '\n');
}

static size_t count_shown(size_t count, const struct inspect_data_settings *settings)
{
    return settings->all || count == 0 ? count : 1;
}

static void inspect_data_to_text(const struct data_file *file, const struct inspect_data_settings *settings,
                                 struct string_builder *text)
{
    const struct run_results *results = &file->results;
    const struct feed_dicts *feeds = &file->feeds;

    if (!file->holds_results) {
        string_add_format(text, "==== Data (%zu iterations) ====\n", feeds->count);
        for (size_t i = 0; i < count_shown(feeds->count, settings); i++)
            add_iteration(&feeds->items[i], i, settings, text);
        return;
    }
    string_add_format(text, "==== Run Results (%zu runners) ====\n", results->count);
    VECTOR_EACH (const struct runner_results, runner, *results) {
        string_add_format(text, "\n---- %s (%zu iterations) ----\n", runner->name, runner->count);
        for (size_t i = 0; i < count_shown(runner->count, settings); i++)
            add_iteration(&runner->items[i].outputs, i, settings, text);
    }
}

/* ---- Accuracy ---- */

static void add_accuracy_output(const struct accuracy_output *output, struct string_builder *text)
{
    const char *separator = " | ";

    string_add_format(text, "        \n        %s | %s", output->name,
                      accuracy_output_passed(output) ? "PASSED" : "FAILED");
    for (size_t i = 0; output->kind != ACCURACY_PLAIN && accuracy_value_name(output->kind, i) != NULL; i++) {
        char number[NUMBER_TEXT_SIZE];

        if (!output->known[i])
            continue;
        string_add_format(text, "%s%s=%s", separator, accuracy_value_name(output->kind, i),
                          number_to_text_rounded(output->values[i], 'g', 5, number));
        separator = ", ";
    }
}

static void add_accuracy_pair(const struct accuracy_pair *pair, const struct inspect_data_settings *settings,
                              struct string_builder *text)
{
    string_add_format(text, "\n%s vs. %s | %zu/%zu iteration(s) matched", pair->first, pair->second,
                      accuracy_count_passed(pair), pair->count);
    for (size_t i = 0; i < count_shown(pair->count, settings); i++) {
        string_add_format(text, "    \n    -- Iteration: %zu", i);
        for (size_t k = 0; k < pair->items[i].count; k++)
            add_accuracy_output(&pair->items[i].items[k], text);
    }
    string_add_char(text, '\n');
}

static int inspect_accuracy(const struct command_context *context, const struct inspect_data_settings *settings,
                            struct error *err)
{
    struct accuracy_results results = {0};
    SCOPED_STRING(text);
    int rc;

    if (settings->json.path != NULL)
        return error_set(err, ERR_UNSUPPORTED, "--json: '%s' is JSON with everything that is shown", settings->path);
    rc = accuracy_results_load(&results, settings->path, err);
    if (rc < 0)
        return rc;
    string_add_format(&text, "==== Accuracy Results (%zu comparison(s)) ====\n", results.count);
    for (size_t r = 0; r < results.count; r++) {
        string_add_format(&text, "\n---- Aggregation: %s ----\n", results.items[r].average ? "average" : "per_sample");
        for (size_t p = 0; p < results.items[r].count; p++)
            add_accuracy_pair(&results.items[r].items[p], settings, &text);
    }
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    accuracy_results_release(&results);
    return 0;
}

/* ---- JSON ---- */

static void write_statistics(struct json_writer *writer, const struct statistics *statistics)
{
    json_writer_begin_object_member(writer, "statistics");
    json_writer_add_number(writer, "mean", statistics->mean);
    json_writer_add_number(writer, "std_dev", statistics->standard_deviation);
    json_writer_add_number(writer, "var", statistics->variance);
    json_writer_add_number(writer, "median", statistics->median);
    json_writer_add_number(writer, "min", statistics->minimum);
    json_writer_add_number(writer, "max", statistics->maximum);
    json_writer_add_number(writer, "avg_magnitude", statistics->average_magnitude);
    if (statistics->has_percentiles) {
        json_writer_add_number(writer, "p90", statistics->p90);
        json_writer_add_number(writer, "p95", statistics->p95);
        json_writer_add_number(writer, "p99", statistics->p99);
    }
    json_writer_end_object(writer);
}

static void write_histogram(struct json_writer *writer, const struct tensor *tensor)
{
    struct histogram histogram;

    compute_histogram(tensor, &histogram);
    json_writer_begin_array_member(writer, "histogram");
    for (size_t i = 0; i < HISTOGRAM_BINS; i++) {
        json_writer_begin_object(writer);
        json_writer_add_number(writer, "from", histogram.edges[i]);
        json_writer_add_number(writer, "to", histogram.edges[i + 1]);
        json_writer_add_count(writer, "count", histogram.counts[i]);
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
    json_writer_add_string(writer, "name", item->name);
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
    json_writer_add_count(writer, "iteration_count", count);
    json_writer_begin_array_member(writer, "iterations");
}

static void write_feeds(struct json_writer *writer, const struct feed_dicts *feeds,
                        const struct inspect_data_settings *settings)
{
    begin_iterations(writer, feeds->count);
    for (size_t i = 0; i < count_shown(feeds->count, settings); i++)
        write_iteration(writer, &feeds->items[i], settings);
    json_writer_end_array(writer);
}

static void write_runner(struct json_writer *writer, const struct runner_results *runner,
                         const struct inspect_data_settings *settings)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", runner->name);
    begin_iterations(writer, runner->count);
    for (size_t i = 0; i < count_shown(runner->count, settings); i++)
        write_iteration(writer, &runner->items[i].outputs, settings);
    json_writer_end_array(writer);
    json_writer_end_object(writer);
}

static int inspect_data_save(const struct data_file *file, const struct inspect_data_settings *settings,
                             const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "kind", file->holds_results ? "results" : "inputs");
    if (file->holds_results) {
        json_writer_begin_array_member(&writer, "runners");
        for (size_t i = 0; i < file->results.count; i++)
            write_runner(&writer, &file->results.items[i], settings);
        json_writer_end_array(&writer);
    } else {
        write_feeds(&writer, &file->feeds, settings);
    }
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}

static int inspect_data_run(const struct command_context *context, const struct inspect_data_settings *settings,
                            struct error *err)
{
    const struct json_values *json = &settings->json;
    struct data_file file SCOPED(data_file_release) = {0};
    SCOPED_STRING(text);
    int rc;

    if (accuracy_results_recognize(settings->path))
        return inspect_accuracy(context, settings, err);
    rc = data_file_load(&file, settings->path, err);
    if (rc < 0)
        return rc;
    inspect_data_to_text(&file, settings, &text);
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    if (json->path != NULL)
        rc = inspect_data_save(&file, settings, json->path, err);
    return rc;
}

DEFINE_COMMAND_RUN(inspect_data_run, struct inspect_data_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct inspect_data_settings, common.logging, logging_options),
    {&inspect_data_options, 0},
    COMMAND_GROUP(struct inspect_data_settings, json, json_options),
};

const struct command cmd_inspect_data = {
    .name = "data",
    .summary = "show the contents of a file with inputs or outputs",
    .description = "Shows names, types, shapes and statistics of the arrays in a file that `run` saves or loads, "
                   "optionally with their values.\n\n--json writes the same: for each runner and each iteration the "
                   "arrays with \"name\", \"dtype\", \"shape\" and \"statistics\"; with --show-values their \"values\" "
                   "as one flat list; with --histogram the bins.",
    .example = "polygraphy inspect data outputs.json --show-values --histogram",
    COMMAND_GROUPS(groups),
    COMMAND_RUN(inspect_data_run),
};
