/* cli/run/step_runs.h: runs of iterations of a decoder, of which is seen which ones fail. */
#ifndef CLI_RUN_STEP_RUNS_H
#define CLI_RUN_STEP_RUNS_H

#include "cli/run/model.h"
#include "comparator/infer/driver.h"

#define MOST_OUTPUTS 10 /* that fail, in the log */

/* What is seen of the iterations of a run. */
struct step_observer {
    size_t count;
    bool *failed; /* of each iteration */
    void (*next)(void *data, const struct compared_outputs *compared);
    void *next_data;
    struct string_builder outputs; /* the first that fail in the first iteration that fails */
    size_t outputs_of, output_count;
};

/* Runs these iterations, with the settings for what is reported. `observer` gets what failed; its `outputs` are to be
 * released. */
int step_runs_make(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                   struct step_observer *observer, bool *ret_passed, struct error *err);

/* The first iteration that failed; SIZE_MAX: none. */
size_t step_first_failed(const bool *failed, size_t count);

#endif
