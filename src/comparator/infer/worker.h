/* comparator/infer/worker.h: runs a model with one runner: loading, running on input data, and logging.
 */
#ifndef COMPARATOR_INFER_WORKER_H
#define COMPARATOR_INFER_WORKER_H

#include <time.h>

#include "comparator/infer/layerwise.h"
#include "format/polygraphy/run_results.h"

/* A backend with a name. */
struct runner {
    const struct backend *backend;
    const char *name;
    const void *settings; /* of the backend; NULL: those of the loaded request */
};

/* "onnxrt-runner-N0-11/21/26-07:46:55", malloc'd: the name of the `index`-th runner with this prefix, created at `now`
 * (local time). */
char *runner_make_name(const char *prefix, size_t index, time_t now);

/* A copy of `loaded`, with the runner's settings if it has any. */
struct backend_request runner_request(const struct runner *runner, const struct backend_request *loaded);

/* Lines go to the request's log. */
struct worker {
    const struct runner *runner;
    struct backend_request request; /* what to load, and options; without the runner's settings */
    double total;                   /* seconds of all iterations */

    /* The session of the whole model for all iterations; NULL: groups of nodes. */
    struct backend_session *session;
    const char **wanted; /* the outputs that are tensors */
    size_t wanted_count;

    /* Of the current iteration: */
    struct tensor_list feed;            /* its inputs */
    struct iteration_result *iteration; /* all names, and tensors as they are computed */
    struct layerwise_run run;           /* of groups */
    int64_t warm_up;                    /* untimed runs whose results are ignored */
    bool logs_inputs;
    size_t arrived;               /* computed outputs */
    size_t released;              /* released outputs, from the front */
    struct tensor_list described; /* their types and shapes; no data */
    double seconds;
};

/* Loads the whole model and selects its outputs: tensors that are not hidden. ERR_UNSUPPORTED if there are none. */
int worker_open(struct worker *worker, struct error *err);

/* Closes the session, or an unfinished iteration. */
void worker_close(struct worker *worker);

/* Adds the names of all outputs, in the order of their computation. */
void worker_list_outputs(const struct worker *worker, struct tensor_list *ret);

/* Called before and after the steps of iteration `index`. `plan`: the groups of this iteration; unused with a
 * session. */
void worker_begin_iteration(struct worker *worker, size_t index, int64_t warm_up, const struct layerwise *plan);
void worker_end_iteration(struct worker *worker);

/* Runs a step: the whole model, or group `step`. Fills `ret`, which is empty on entry, and `seconds`. ERR_INTERRUPTED
 * after a signal. */
int worker_run_step(struct worker *worker, size_t step, struct tensor_list *ret, struct error *err);

/* Appends "{x [dtype=float32, shape=(1, 3)],\n ...}". */
void worker_describe_tensors(const struct tensor_list *tensors, struct string_builder *ret);

/* Log the inputs ("Input") and outputs ("Output") once, and the completion of all iterations. */
void worker_log_tensors(const struct worker *worker, const char *what, const struct tensor_list *tensors);
void worker_log_completion(const struct worker *worker, size_t iterations);

#endif
