/* comparator/infer/saving.c: see saving.h. */
#include "comparator/infer/saving.h"

#include <string.h>

#include "base/memory.h"
#include "format/data/iteration_folder.h"
#include "onnx/external/data.h"

static void log_destination(const struct saving *saving, const char *what, const char *path)
{
    log_message(saving->log, LOG_INFO, "Saving %s to a %s: %s", what,
                iteration_folder_is_name(path) ? "directory of per-iteration files" : "single file", path);
}

static int open_outputs(struct saving *saving, const char *path, struct error *err)
{
    int rc;

    saving->is_open = true;
    rc = run_results_writer_open(&saving->writer, path, err);
    for (size_t r = 0; r < saving->runner_count && rc == 0; r++)
        rc = run_results_writer_begin_runner(&saving->writer, saving->runners[r].name, err);
    return rc;
}

int saving_open(struct saving *saving, struct error *err)
{
    const struct saving_paths *paths = &saving->paths;
    int rc = 0;

    if (paths->inputs != NULL) {
        log_destination(saving, "inference input data", paths->inputs);
        rc = data_writer_open(&saving->input_writer, paths->inputs, true, saving->iterations, err);
    }
    if (rc == 0 && paths->input_blobs != NULL) {
        log_message(saving->log, LOG_INFO, "Saving raw inference input tensors to: %s", paths->input_blobs);
        rc = file_make_folders(paths->input_blobs, err);
    }
    if (rc < 0 || paths->outputs == NULL)
        return rc;
    log_destination(saving, "inference results", paths->outputs);
    saving->is_folder = iteration_folder_is_name(paths->outputs);
    return saving->is_folder ? iteration_folder_create(paths->outputs, err) : open_outputs(saving, paths->outputs, err);
}

/* ---- Inputs ---- */

static int save_blob(const struct named_tensor *input, const char *folder, struct error *err)
{
    SCOPED_STRING(path);

    if (external_data_leads_out(input->name))
        return error_set(err, ERR_INVALID,
                         "--save-input-blob: a file for the input '%s' would be outside of '%s': rename the input",
                         input->name, folder);
    if (input->tensor.type == DATA_STRING)
        return error_set(err, ERR_UNSUPPORTED, "--save-input-blob: strings, such as input '%s', have no raw bytes",
                         input->name);
    string_add_format(&path, "%s/%s.bin", folder, input->name);
    return file_write(path.data, input->tensor.data, input->tensor.size, FILE_INTERMEDIATE, err);
}

static int save_blobs(const struct saving *saving, const struct tensor_list *feed, struct error *err)
{
    SCOPED_STRING(folder);
    int rc;

    string_add_format(&folder, "%s/%010zu", saving->paths.input_blobs, saving->inputs);
    rc = file_make_folders(folder.data, err);
    for (size_t i = 0; i < feed->count && rc == 0; i++)
        rc = save_blob(&feed->items[i], folder.data, err);
    return rc;
}

int saving_commit_inputs(struct saving *saving, struct error *err)
{
    const char *path = saving->paths.inputs;

    int rc;

    if (path == NULL || saving->has_failed || saving->has_committed_inputs)
        return 0;
    if (!iteration_folder_is_name(path))
        log_message(saving->log, LOG_INFO, "Saving inference input data to %s", path);
    rc = data_writer_commit(&saving->input_writer, err);
    saving->has_committed_inputs = rc == 0;
    return rc;
}

int saving_add_inputs(struct saving *saving, const struct tensor_list *feed, struct error *err)
{
    const char *path = saving->paths.inputs;
    int rc = 0;

    if (path != NULL && iteration_folder_is_name(path)) {
        char *file SCOPED_FREE = iteration_folder_file(path, saving->inputs);

        log_message(saving->log, LOG_INFO, "Saving inference input data to %s", file);
    }
    if (path != NULL)
        rc = data_writer_add(&saving->input_writer, feed, err);
    if (rc == 0 && saving->paths.input_blobs != NULL)
        rc = save_blobs(saving, feed, err);
    saving->has_failed = rc < 0;
    if (rc < 0)
        return rc;
    saving->inputs++;
    return saving->inputs == saving->iterations ? saving_commit_inputs(saving, err) : 0;
}

/* ---- Outputs ---- */

/* All iterations of all runners will have as many outputs as the first one. */
static void expect_outputs(struct saving *saving, const struct tensor_list *outputs)
{
    size_t name_bytes = 16 * outputs->count; /* numbers of the runner and the iteration */
    size_t times = saving->runner_count * (saving->is_folder ? 1 : saving->iterations);

    for (size_t i = 0; i < outputs->count; i++)
        name_bytes += strlen(outputs->items[i].name);
    for (size_t i = 0; i < times; i++)
        run_results_writer_expect(&saving->writer, outputs->count, name_bytes);
}

static int begin_file(struct saving *saving, struct error *err)
{
    char *file SCOPED_FREE = iteration_folder_file(saving->paths.outputs, saving->outputs);
    return open_outputs(saving, file, err);
}

int saving_begin_iteration(struct saving *saving, const struct tensor_list *expected, struct error *err)
{
    int rc = 0;

    if (saving->paths.outputs == NULL)
        return 0;
    if (saving->is_folder)
        rc = begin_file(saving, err);
    if (rc < 0)
        return rc;
    if (saving->outputs == 0 || saving->is_folder)
        expect_outputs(saving, expected);
    for (size_t r = 0; r < saving->runner_count && rc == 0; r++) {
        run_results_writer_select(&saving->writer, r);
        rc = run_results_writer_begin_iteration(&saving->writer, err);
    }
    return rc;
}

int saving_add_output(struct saving *saving, size_t runner, const struct named_tensor *output, struct error *err)
{
    if (saving->paths.outputs == NULL)
        return 0;
    run_results_writer_select(&saving->writer, runner);
    return run_results_writer_add(&saving->writer, output->name, &output->tensor, err);
}

/* Ends the runners, and the file. */
static int commit_outputs(struct saving *saving, enum file_durability durability, struct error *err)
{
    int rc = 0;

    for (size_t r = 0; r < saving->runner_count && rc == 0; r++)
        rc = run_results_writer_end_runner(&saving->writer, err);
    if (rc == 0)
        rc = run_results_writer_commit(&saving->writer, durability, err);
    run_results_writer_release(&saving->writer);
    saving->is_open = false;
    return rc;
}

int saving_end_iteration(struct saving *saving, size_t runner, double seconds, struct error *err)
{
    int rc;

    if (saving->paths.outputs == NULL)
        return 0;
    run_results_writer_select(&saving->writer, runner);
    rc = run_results_writer_end_iteration(&saving->writer, seconds, saving->runners[runner].name, err);
    if (rc < 0 || runner + 1 < saving->runner_count)
        return rc;
    if (saving->is_folder) {
        char *file SCOPED_FREE = iteration_folder_file(saving->paths.outputs, saving->outputs);

        log_message(saving->log, LOG_INFO, "Saving inference results to %s", file);
        rc = commit_outputs(saving, FILE_INTERMEDIATE, err);
    }
    saving->outputs += rc == 0;
    return rc;
}

static int add_outputs(struct saving *saving, size_t runner, const struct tensor_list *outputs, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < outputs->count && rc == 0; i++)
        rc = saving_add_output(saving, runner, &outputs->items[i], err);
    return rc;
}

int saving_add_results(struct saving *saving, const struct run_results *results, size_t iteration, struct error *err)
{
    int rc = saving_begin_iteration(saving, &results->items[0].items[iteration].outputs, err);

    for (size_t r = 0; r < results->count && rc == 0; r++)
        rc = add_outputs(saving, r, &results->items[r].items[iteration].outputs, err);
    for (size_t r = 0; r < results->count && rc == 0; r++)
        rc = saving_end_iteration(saving, r, results->items[r].items[iteration].runtime, err);
    return rc;
}

/* ---- The end ---- */

int saving_commit(struct saving *saving, struct error *err)
{
    int rc = saving_commit_inputs(saving, err);

    if (rc < 0 || !saving->is_open)
        return rc;
    log_message(saving->log, LOG_INFO, "Saving inference results to %s", saving->paths.outputs);
    return commit_outputs(saving, FILE_DURABLE, err);
}

static void log_saved(const struct saving *saving, const char *path, size_t complete, bool is_written)
{
    if (path != NULL && is_written)
        log_message(saving->log, LOG_WARNING, "'%s' has the %zu complete iterations of %zu", path, complete,
                    saving->iterations);
    else if (path != NULL)
        log_message(saving->log, LOG_WARNING,
                    "'%s' was not written: choose a name without extension, a folder, to keep complete iterations",
                    path);
}

void saving_log_incomplete(const struct saving *saving, int64_t seed)
{
    bool saves_outputs = saving->paths.outputs != NULL;
    size_t complete = saves_outputs ? saving->outputs : saving->inputs;
    const char *inputs = saving->paths.inputs, *path = saves_outputs ? saving->paths.outputs : inputs;

    if (saving->inputs == 0 && saving->outputs == 0) /* perhaps it was not even opened */
        return;
    log_saved(saving, inputs, saving->inputs,
              saving->has_committed_inputs || (inputs != NULL && iteration_folder_is_name(inputs)));
    log_saved(saving, saving->paths.outputs, saving->outputs, saving->is_folder);
    if (path == NULL || !iteration_folder_is_name(path) || complete == 0 || complete >= saving->iterations)
        return;
    if (seed >= 0)
        log_message(saving->log, LOG_WARNING,
                    "For the other iterations, run again with --seed %lld --iterations %zu, "
                    "and save to another folder",
                    (long long)seed + (long long)complete, saving->iterations - complete);
    else
        log_message(saving->log, LOG_WARNING,
                    "For the other iterations, run again with the data from iteration %zu on "
                    "in --load-inputs, and save to another folder",
                    complete);
}

void saving_release(struct saving *saving)
{
    data_writer_release(&saving->input_writer);
    if (saving->is_open)
        run_results_writer_release(&saving->writer);
    *saving = (struct saving){0};
}

int saving_write_inputs(const struct saving_paths *paths, const struct feed_dicts *feeds, struct log *log,
                        struct error *err)
{
    struct saving saving = {
        .paths = {.inputs = paths->inputs, .input_blobs = paths->input_blobs}, .iterations = feeds->count, .log = log};
    int rc = saving_open(&saving, err);

    for (size_t i = 0; i < feeds->count && rc == 0; i++)
        rc = saving_add_inputs(&saving, &feeds->items[i], err);
    if (rc == 0)
        rc = saving_commit(&saving, err);
    saving_release(&saving);
    return rc;
}
