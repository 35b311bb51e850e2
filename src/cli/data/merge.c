/* cli/data/merge.c: `data merge`, up to Polygraphy 0.49 `data to-input`: merges inputs and outputs into input data. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/data/description.h"
#include "cli/options/groups.h"

struct merge_settings {
    struct common_settings common;
    struct json_values json;

    /* its own */
    struct words paths;
    const char *output;
    struct words only; /* items is NULL: all */
};

#define ROW(member, ...) OPTION_ROW(struct merge_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(paths, .names = {"paths"}, .kind = OPTION_MANY, .value_name = "DATA", .file = OPTION_READS_DATA,
        .help = "files with inputs or results, in any format of `run --load-inputs`. NAME:FILE names a single array; "
                "of two arrays with the same name the later one is used"),
    ROW(output, .names = {"-o", "--output"}, .kind = OPTION_ONE, .required = true, .value_name = "PATH",
        .file = OPTION_WRITES_DATA,
        .help = "where to write the input data, for --load-inputs. The extension selects the format: .npz, .npy for a "
                "single array, .safetensors, '/' for a folder of .npy, otherwise Polygraphy's JSON"),
    ROW(only, .names = {"--only"}, .yields = true, .kind = OPTION_ANY, .value_name = "NAME",
        .help = "write only these arrays, which must exist: for example the inputs of a subgraph"),
};

static const struct option_group merge_options = {
    .title = "Data",
    OPTION_ROWS(options),
};

/* Moves the arrays of `from` to `to`, and replaces those with the same name in place. Returns the name of one that was
 * replaced; NULL: none was. */
static const char *merge_tensors(struct tensor_list *to, struct tensor_list *from)
{
    const char *replaced = NULL;

    VECTOR_EACH (struct named_tensor, item, *from) {
        struct named_tensor *known = tensor_list_find(to, text_of(item->name));

        if (known == NULL) {
            tensor_list_add(to, text_of(item->name), &item->tensor);
        } else {
            tensor_release(&known->tensor);
            known->tensor = item->tensor;
            replaced = known->name;
        }
        item->tensor = (struct tensor){0};
    }
    return replaced;
}

static void merge_iteration(struct log *log, const char *path, size_t iteration, struct tensor_list *from,
                            struct feed_dicts *merged)
{
    const char *replaced;

    while (merged->count <= iteration)
        *VECTOR_APPEND(merged) = (struct tensor_list){0};
    replaced = merge_tensors(&merged->items[iteration], from);
    if (replaced != NULL)
        log_once(log, LOG_WARNING,
                 "Overwriting input '%s' while merging data from %s. If you intended to concatenate iterations, "
                 "consider using `data concat` instead.",
                 replaced, path);
}

/* Iterations of one runner, or of a list of feed dicts. */
static void check_count(struct log *log, const char *path, size_t count, bool first, size_t before)
{
    if (!first && count != before)
        log_message(log, LOG_WARNING,
                    "'%s' has %zu iteration(s), the files before it %zu: some iterations will lack arrays", path, count,
                    before);
}

static void merge_file(struct log *log, const char *path, struct data_file *file, bool first, struct feed_dicts *merged)
{
    if (!file->holds_results) {
        check_count(log, path, file->feeds.count, first, merged->count);
        for (size_t i = 0; i < file->feeds.count; i++)
            merge_iteration(log, path, i, &file->feeds.items[i], merged);
    }
    for (size_t k = 0; file->holds_results && k < file->results.count; k++) {
        struct runner_results *runner = &file->results.items[k];

        check_count(log, path, runner->count, first && k == 0, merged->count);
        for (size_t i = 0; i < runner->count; i++)
            merge_iteration(log, path, i, &runner->items[i].outputs, merged);
    }
}

/* Keeps the arrays of these names, in their order. */
static int keep_only(struct tensor_list *list, struct words names, struct error *err)
{
    struct tensor_list kept = {0};
    int rc = 0;

    for (size_t i = 0; i < names.count && rc == 0; i++) {
        struct named_tensor *item = tensor_list_find(list, text_of(names.items[i]));

        if (item == NULL) {
            rc = error_set(err, ERR_MISSING, "--only: no file contains an array '%s'", names.items[i]);
        } else {
            tensor_list_add(&kept, text_of(item->name), &item->tensor);
            item->tensor = (struct tensor){0};
        }
    }
    tensor_list_release(list);
    *list = kept;
    return rc;
}

/* ---- The command ---- */

static int data_merge_run(const struct command_context *context, const struct merge_settings *settings,
                          struct error *err)
{
    struct result_file result SCOPED(result_file_close) = {0};
    struct feed_dicts merged SCOPED(feed_dicts_release) = {0};
    int rc = result_file_open(&result, context, &settings->json, NULL, err);

    if (rc < 0)
        return rc;
    json_writer_begin_array_member(&result.json, "read");
    for (size_t i = 0; i < settings->paths.count && rc == 0; i++) {
        const char *path = settings->paths.items[i];
        struct data_file file SCOPED(data_file_release) = {0};

        rc = data_file_load(&file, path, err);
        if (rc < 0)
            break;
        describe_data_read(&result, path, &file);
        merge_file(context->log, path, &file, i == 0, &merged);
    }
    json_writer_end_array(&result.json);
    for (size_t i = 0; settings->only.items != NULL && i < merged.count && rc == 0; i++)
        rc = keep_only(&merged.items[i], settings->only, err);
    if (rc < 0)
        return rc;
    log_message(context->log, LOG_INFO, "Saving input file containing %zu iteration(s) to %s", merged.count,
                settings->output);
    rc = data_file_save(&merged, settings->output, err);
    if (rc < 0)
        return rc;
    describe_inputs_written(&result, settings->output, &merged);
    return result_file_save(&result, NULL, err);
}

DEFINE_COMMAND_RUN(data_merge_run, struct merge_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct merge_settings, common.logging, logging_options),
    {&merge_options, 0},
    COMMAND_GROUP(struct merge_settings, json, json_options),
};

static const char description[] =
    "Merges files with input data and files with results into one file with input data. The first iteration of every "
    "file goes into the first iteration of the new one, and so on; `data concat` appends iterations.\n\nUse it to give "
    "a subgraph the data that it gets in the whole model.";

static const char example[] =
    "# feed the outputs of the first half of a model to the second half\npolygraphy run model.onnx --onnxrt "
    "--onnx-outputs mark all --save-inputs in.json --save-outputs all.json\npolygraphy data merge in.json all.json -o "
    "layerwise.json\npolygraphy run second_half.onnx --onnxrt --load-inputs layerwise.json";

const struct command cmd_data_merge = {
    .name = "merge",
    .summary = "merge inputs and outputs into input data",
    .description = description,
    .example = example,
    COMMAND_GROUPS(groups),
    COMMAND_RUN(data_merge_run),
};

const struct command cmd_data_to_input = {
    .name = "to-input",
    .summary = "the name of `merge` up to Polygraphy 0.49",
    .description = description,
    .example = example,
    COMMAND_GROUPS(groups),
    COMMAND_RUN(data_merge_run),
};
