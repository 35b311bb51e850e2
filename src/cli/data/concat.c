/* cli/data/concat.c: `data concat`: appends the iterations of one file to those of another. */
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/data/description.h"
#include "cli/options/groups.h"

struct concat_settings {
    struct common_settings common;
    struct json_values json;

    /* its own */
    struct words paths;
    const char *output;
};

#define ROW(member, ...) OPTION_ROW(struct concat_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(paths, .names = {"paths"}, .kind = OPTION_MANY, .value_name = "DATA", .file = OPTION_READS_DATA,
        .help = "files with inputs, or files with results, in any format of `run --load-inputs`; not both"),
    ROW(output, .names = {"-o", "--output"}, .kind = OPTION_ONE, .required = true, .value_name = "PATH",
        .file = OPTION_WRITES_DATA,
        .help = "where to write the data. The extension selects the format, as for `run --save-inputs` and "
                "--save-outputs; results need .json or .safetensors"),
};

static const struct option_group concat_options = {
    .title = "Data",
    OPTION_ROWS(options),
};

/* ---- Names that differ between iterations ---- */

static bool names_are_equal(const struct tensor_list *a, const struct tensor_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].name, b->items[i].name) != 0)
            return false;
    return true;
}

static void list_tensor_names(const struct tensor_list *tensors, struct string_builder *ret)
{
    string_add(ret, "[");
    for (size_t i = 0; i < tensors->count; i++) {
        string_add(ret, i > 0 ? ", " : "");
        string_add_quoted(ret, tensors->items[i].name);
    }
    string_add(ret, "]");
}

static void warn_of_other_names(struct log *log, const char *path, size_t iteration, const struct tensor_list *expected,
                                const struct tensor_list *found)
{
    SCOPED_STRING(of_expected);
    SCOPED_STRING(of_found);

    if (names_are_equal(expected, found))
        return;
    list_tensor_names(expected, &of_expected);
    list_tensor_names(found, &of_found);
    log_message(log, LOG_WARNING,
                "Iteration %zu from %s contains different tensor names than earlier iterations.\nNote: Expected "
                "names: %s, but got: %s.",
                iteration, path, of_expected.data, of_found.data);
}

/* ---- Appending ---- */

/* Moves the iterations of `from` behind those of `to`. */
static void append_inputs(struct log *log, const char *path, struct feed_dicts *from, struct feed_dicts *to)
{
    for (size_t i = 0; i < from->count; i++) {
        if (to->count > 0)
            warn_of_other_names(log, path, i, &to->items[0], &from->items[i]);
        *VECTOR_APPEND(to) = from->items[i];
        from->items[i] = (struct tensor_list){0};
    }
}

/* A runner that `to` does not contain is added; its iterations are not aligned with those of others. */
static void append_results(struct log *log, const char *path, struct run_results *from, struct run_results *to)
{
    for (size_t i = 0; i < from->count; i++) {
        struct runner_results *source = &from->items[i], *target = NULL;

        for (size_t k = 0; k < to->count && target == NULL; k++)
            if (strcmp(to->items[k].name, source->name) == 0)
                target = &to->items[k];
        if (target == NULL)
            target = run_results_add_runner(to, text_of(source->name));
        for (size_t k = 0; k < source->count; k++) {
            if (target->count > 0)
                warn_of_other_names(log, path, k, &target->items[0].outputs, &source->items[k].outputs);
            *VECTOR_APPEND(target) = source->items[k];
            source->items[k] = (struct iteration_result){0};
        }
    }
}

/* ---- The command ---- */

static int save_concatenated(struct log *log, const char *path, const struct data_file *data, struct error *err)
{
    if (!data->holds_results) {
        log_message(log, LOG_INFO, "Saving input file containing %zu iteration(s) to %s", data->feeds.count, path);
        return data_file_save(&data->feeds, path, err);
    }
    if (data_file_holds_arrays_only(path))
        return error_set(err, ERR_INVALID,
                         "--output: the format of '%s' cannot store runners and iterations: choose a name that ends in "
                         ".json or .safetensors",
                         path);
    log_message(log, LOG_INFO, "Saving output file containing concatenated iteration(s) to %s", path);
    return run_results_save(&data->results, path, err);
}

static int data_concat_run(const struct command_context *context, const struct concat_settings *settings,
                           struct error *err)
{
    struct result_file result SCOPED(result_file_close) = {0};
    struct data_file all SCOPED(data_file_release) = {0};
    int rc = result_file_open(&result, context, &settings->json, NULL, err);

    if (rc < 0)
        return rc;
    json_writer_begin_array_member(&result.json, "read");
    for (size_t i = 0; i < settings->paths.count; i++) {
        const char *path = settings->paths.items[i];
        struct data_file file SCOPED(data_file_release) = {0};

        rc = data_file_load(&file, path, err);
        if (rc < 0)
            return rc;
        if (i == 0)
            all.holds_results = file.holds_results;
        if (file.holds_results != all.holds_results)
            return error_set(err, ERR_INVALID,
                             "Cannot concatenate input data with output data. Please provide files of the same type.");
        describe_data_read(&result, path, &file);
        append_inputs(context->log, path, &file.feeds, &all.feeds);
        append_results(context->log, path, &file.results, &all.results);
    }
    json_writer_end_array(&result.json);
    rc = save_concatenated(context->log, settings->output, &all, err);
    if (rc < 0)
        return rc;
    if (all.holds_results)
        describe_results_written(&result, settings->output, &all.results);
    else
        describe_inputs_written(&result, settings->output, &all.feeds);
    return result_file_save(&result, NULL, err);
}

DEFINE_COMMAND_RUN(data_concat_run, struct concat_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct concat_settings, common.logging, logging_options),
    {&concat_options, 0},
    COMMAND_GROUP(struct concat_settings, json, json_options),
};

const struct command cmd_data_concat = {
    .name = "concat",
    .summary = "append the iterations of data files",
    .description = "Writes the iterations of several files with input data, one file after the other, or those of "
                   "several files with results, runner by runner. `data merge` merges the arrays of iterations "
                   "instead.",
    .example = "# one data set of two\npolygraphy data concat first.json second.json -o inputs.json\npolygraphy run "
               "model.onnx --onnxrt --load-inputs inputs.json",
    COMMAND_GROUPS(groups),
    COMMAND_RUN(data_concat_run),
};
