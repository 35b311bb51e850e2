/* debug/candidate_data.c: see candidate_data.h. */
#include "debug/candidate_data.h"

#include "base/file.h"
#include "base/memory.h"
#include "format/feed_dicts.h"
#include "format/run_results.h"

#define RUNNER_NAME "golden"

struct border {
    const struct reference_values *reference;
    const struct subgraph *candidate;
};

/* The tensors belong to the reference values. */
static void list_values(const struct border *border, const struct value_list *values, size_t sample,
                        struct tensor_list *ret)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct tensor *value = reference_values_in(border->reference, values->items[i], sample);
        struct tensor borrowed;

        tensor_borrow(value->type, &value->shape, value->data, value->size, &borrowed);
        tensor_list_add(ret, border->candidate->model->values.items[values->items[i]].name, &borrowed);
    }
}

static int save_inputs(void *data, const char *path, struct error *err)
{
    const struct border *border = data;
    struct feed_dicts feeds = {0};
    int rc;

    for (size_t i = 0; i < reference_values_samples(border->reference); i++) {
        struct tensor_list *feed = VECTOR_APPEND(&feeds);

        *feed = (struct tensor_list){0};
        list_values(border, &border->candidate->inputs, i, feed);
    }
    rc = feed_dicts_save(&feeds, path, err);
    feed_dicts_release(&feeds);
    return rc;
}

static int save_golden(void *data, const char *path, struct error *err)
{
    const struct border *border = data;
    struct run_results results = {0};
    struct runner_results *runner = run_results_add_runner(&results, TEXT(RUNNER_NAME));
    int rc;

    for (size_t i = 0; i < reference_values_samples(border->reference); i++) {
        struct iteration_result *iteration = runner_results_add_iteration(runner, 0);

        list_values(border, &border->candidate->outputs, i, &iteration->outputs);
    }
    rc = run_results_save(&results, path, err);
    run_results_release(&results);
    return rc;
}

static int reserve(const struct temporary_file *file, bool resumes, struct error *err)
{
    if (file->path == NULL || !file_exists(file->path) || (resumes && temporary_file_take_over(file)))
        return 0;
    return error_set(
        err, ERR_EXISTS,
        "'%s' already exists, refusing to overwrite: it is written anew for each candidate, and removed in "
        "the end",
        file->path);
}

int candidate_data_reserve(const struct candidate_data *data, bool resumes, struct error *err)
{
    int rc = reserve(&data->inputs, resumes, err);

    return rc == 0 ? reserve(&data->golden, resumes, err) : rc;
}

int candidate_data_write(struct candidate_data *data, struct reference_values *reference,
                         const struct subgraph *candidate, struct error *err)
{
    struct border border = {reference, candidate};
    int rc = 0;

    if (data->inputs.path != NULL)
        rc = reference_values_record(reference, &candidate->inputs, err);
    if (rc == 0 && data->golden.path != NULL)
        rc = reference_values_record(reference, &candidate->outputs, err);
    if (rc == 0)
        rc = temporary_file_write(&data->inputs, save_inputs, &border, err);
    if (rc == 0)
        rc = temporary_file_write(&data->golden, save_golden, &border, err);
    return rc;
}

void candidate_data_remove(struct candidate_data *data, struct log *log)
{
    struct temporary_file *files[] = {&data->inputs, &data->golden};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (!temporary_file_remove(files[i]))
            log_message(log, LOG_WARNING, "Could not clean up: %s", files[i]->path);
}
