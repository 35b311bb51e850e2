/* debug/reduce/candidate_data.c: see candidate_data.h. */
#include "debug/reduce/candidate_data.h"

#include "base/memory.h"
#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"

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

static int save_inputs(const struct border *border, const char *path, struct error *err)
{
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

static int save_golden(const struct border *border, const char *path, struct error *err)
{
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

int candidate_data_write(const struct reference_values *reference, const struct subgraph *candidate,
                         const struct candidate_paths *paths, struct error *err)
{
    const struct border border = {reference, candidate};
    int rc = 0;

    if (paths->items[CANDIDATE_INPUTS] != NULL)
        rc = save_inputs(&border, paths->items[CANDIDATE_INPUTS], err);
    if (rc == 0 && paths->items[CANDIDATE_GOLDEN] != NULL)
        rc = save_golden(&border, paths->items[CANDIDATE_GOLDEN], err);
    return rc;
}
