/* debug/candidate_data.c: see candidate_data.h. */
#include "debug/candidate_data.h"

#include "base/memory.h"
#include "format/feed_dicts.h"
#include "format/run_results.h"

#define RUNNER_NAME "golden"

/* The tensors belong to `reference`. */
static void list_values(const struct reference_values *reference, const struct subgraph *candidate,
                        const struct value_list *values, size_t sample, struct tensor_list *ret)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct tensor *value = reference_values_in(reference, values->items[i], sample);
        struct tensor borrowed;

        tensor_borrow(value->type, &value->shape, value->data, value->size, &borrowed);
        tensor_list_add(ret, candidate->model->values.items[values->items[i]].name, &borrowed);
    }
}

static int save_inputs(const struct reference_values *reference, const struct subgraph *candidate, const char *path,
                       struct error *err)
{
    struct feed_dicts feeds = {0};
    int rc;

    for (size_t i = 0; i < reference_values_samples(reference); i++) {
        struct tensor_list *feed = VECTOR_APPEND(&feeds);

        *feed = (struct tensor_list){0};
        list_values(reference, candidate, &candidate->inputs, i, feed);
    }
    rc = feed_dicts_save(&feeds, path, err);
    feed_dicts_release(&feeds);
    return rc;
}

static int save_golden(const struct reference_values *reference, const struct subgraph *candidate, const char *path,
                       struct error *err)
{
    struct run_results results = {0};
    struct runner_results *runner = run_results_add_runner(&results, TEXT(RUNNER_NAME));
    int rc;

    for (size_t i = 0; i < reference_values_samples(reference); i++) {
        struct iteration_result *iteration = runner_results_add_iteration(runner, 0);

        list_values(reference, candidate, &candidate->outputs, i, &iteration->outputs);
    }
    rc = run_results_save(&results, path, err);
    run_results_release(&results);
    return rc;
}

int candidate_data_save(struct reference_values *reference, const struct subgraph *candidate, const char *inputs_path,
                        const char *golden_path, struct error *err)
{
    int rc = 0;

    if (inputs_path != NULL)
        rc = reference_values_record(reference, &candidate->inputs, err);
    if (rc == 0 && golden_path != NULL)
        rc = reference_values_record(reference, &candidate->outputs, err);
    if (rc == 0 && inputs_path != NULL)
        rc = save_inputs(reference, candidate, inputs_path, err);
    if (rc == 0 && golden_path != NULL)
        rc = save_golden(reference, candidate, golden_path, err);
    return rc;
}
