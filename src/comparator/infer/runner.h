/* comparator/infer/runner.h: a model in a backend, under a name, run on every iteration of the data. */
#ifndef COMPARATOR_INFER_RUNNER_H
#define COMPARATOR_INFER_RUNNER_H

#include <time.h>

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "format/polygraphy/run_results.h"

struct runner {
    const struct backend *backend;
    const char *name;

    /* Says what to load. Called when the runner starts to work, so that nothing is loaded before its turn. */
    int (*prepare)(void *data, struct backend_request *ret, struct error *err);
    void *data;
};

/* "onnxrt-runner-N0-11/21/26-07:46:55", malloc'd: the `index`th runner with this prefix, made at `now` (local time). */
char *runner_make_name(const char *prefix, size_t index, time_t now);

struct runner_settings {
    int64_t warm_up;         /* runs on the first feed dict beforehand, which nobody times */
    bool keep_feeds;         /* other runners will want the same data */
    const char *save_inputs; /* where to write the feed dicts; NULL: nowhere */

    /* What happens to the outputs of an iteration: they are written (NULL: not), and they are kept in the results or
     * released at once. */
    struct run_results_writer *writer;
    int64_t runners; /* that write one after the other, for the writer to make room */
    bool keep_outputs;
    struct log *log;
};

/* Loads the model, runs all iterations and appends them to `ret` as one runner. Outputs that are no tensors are left
 * out, with a warning. On an error `ret` is as before; ERR_INTERRUPTED when a signal asked to end. */
int runner_run(const struct runner *runner, struct data_loader *loader, const struct runner_settings *settings,
               struct run_results *ret, struct error *err);

/* The lines that a runner's work leaves in the log: what goes in and comes out ("Input", "Output"), once, and the
 * end. */
void runner_log_metadata(struct log *log, const char *runner, const char *what, const struct tensor_list *tensors);
void runner_log_completion(struct log *log, const char *runner, double seconds, int64_t iterations);

#endif
