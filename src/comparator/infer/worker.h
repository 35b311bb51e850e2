/* comparator/infer/worker.h: one runner at work on a model: loading it, running it on input data, and what the log says
 * of that.
 */
#ifndef COMPARATOR_INFER_WORKER_H
#define COMPARATOR_INFER_WORKER_H

#include <time.h>

#include "comparator/infer/layerwise.h"
#include "format/polygraphy/run_results.h"

/* A backend under a name of its own. */
struct runner {
    const struct backend *backend;
    const char *name;
    const void *settings; /* of the backend; NULL: those that come with what is loaded */
};

/* "onnxrt-runner-N0-11/21/26-07:46:55", malloc'd: the `index`th runner with this prefix, made at `now` (local time). */
char *runner_make_name(const char *prefix, size_t index, time_t now);

/* A copy of `loaded`, with the runner's own settings where it has some. */
struct backend_request runner_request(const struct runner *runner, const struct backend_request *loaded);

/* Lines go to the request's log. */
struct worker {
    const struct runner *runner;
    struct backend_request request; /* what to load, and options; without the runner's settings */
    struct runner_results *results; /* in the current iteration: all names, tensors as they come */
    double total;                   /* seconds of all iterations */

    /* The whole model, in one session for all iterations; NULL: groups of its nodes. */
    struct backend_session *session;
    const char **wanted; /* the outputs that are tensors */
    size_t wanted_count;

    /* Of the current iteration: */
    struct layerwise_run run;     /* of groups */
    int64_t warm_up;              /* runs beforehand, at which nobody looks */
    size_t arrived;               /* outputs that have come */
    size_t released;              /* of them, from the front */
    struct tensor_list described; /* their types and shapes; no data */
    double seconds;

    size_t bad; /* side by side: outputs that validation objected to */
    char *first_bad;
};

/* Loads the whole model, and decides on its outputs: those that are tensors, and
 * not hidden. ERR_UNSUPPORTED when none is. */
int worker_open(struct worker *worker, struct error *err);

/* Ends the session, or the iteration that is not over. */
void worker_close(struct worker *worker);

/* Adds the names of all outputs, in the order in which they will come. */
void worker_list_outputs(const struct worker *worker, struct tensor_list *ret);

/* Before the steps of iteration `index`, and behind them. `plan`: the groups of this iteration; whoever has a session
 * does not use it. */
void worker_begin_iteration(struct worker *worker, size_t index, int64_t warm_up, const struct layerwise *plan);
void worker_end_iteration(struct worker *worker);

/* Runs a step: the whole model, or group `step`. Fills `ret`, which is empty on entry, and `seconds`. ERR_INTERRUPTED
 * when a signal asked to end. */
int worker_run_step(struct worker *worker, size_t step, const struct tensor_list *feed, struct tensor_list *ret,
                    struct error *err);

/* What goes in ("Input") and comes out ("Output"), once; and that all iterations are done. */
void worker_log_tensors(const struct worker *worker, const char *what, const struct tensor_list *tensors);
void worker_log_completion(const struct worker *worker, size_t iterations);

#endif
