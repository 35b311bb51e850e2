/* comparator/infer/saving.h: writes input data and outputs while they are produced, iteration by iteration.
 *
 * A path without extension is a folder with a file for each iteration (format/data/iteration_folder.h). If a run ends
 * early, complete files stay there, and input data are complete; a single file of outputs is not written.
 */
#ifndef COMPARATOR_INFER_SAVING_H
#define COMPARATOR_INFER_SAVING_H

#include "base/log.h"
#include "comparator/infer/worker.h"
#include "format/data/writer.h"

/* Paths; NULL: not saved. */
struct saving_paths {
    const char *inputs, *outputs;
    const char *input_blobs; /* a folder: "<iteration, 10 digits>/<input>.bin" with the bytes of each input */
};

struct saving {
    /* Set by the caller; what they refer to must outlive the struct. `log` may be NULL. */
    struct saving_paths paths;
    const struct runner *runners;
    size_t runner_count;
    size_t iterations; /* expected */
    struct log *log;

    size_t inputs, outputs; /* complete iterations so far */
    struct data_writer input_writer;
    bool has_failed, has_committed_inputs;
    bool is_folder; /* of outputs */
    bool is_open;   /* the writer of outputs */
    struct run_results_writer writer;
};

/* Creates folders and temporary files. The members at the start are set by the caller. ERR_EXISTS for a folder that is
 * not empty. */
int saving_open(struct saving *saving, struct error *err);

int saving_add_inputs(struct saving *saving, const struct tensor_list *feed, struct error *err);

/* Saves the input data of all iterations at once, as a sequential run does in the process that has them. */
int saving_write_inputs(const struct saving_paths *paths, const struct feed_dicts *feeds, struct log *log,
                        struct error *err);

/* The outputs of an iteration: begun for all runners, added in any order, ended for each runner in order. `expected`
 * has the names of the first runner's outputs. Do nothing if outputs are not saved. */
int saving_begin_iteration(struct saving *saving, const struct tensor_list *expected, struct error *err);
int saving_add_output(struct saving *saving, size_t runner, const struct named_tensor *output, struct error *err);
int saving_end_iteration(struct saving *saving, size_t runner, double seconds, struct error *err);

/* The outputs of an iteration of all runners, at once. */
int saving_add_results(struct saving *saving, const struct run_results *results, size_t iteration, struct error *err);

/* Completes single files. Input data are also completed once all iterations are there, so that a runner that crashes
 * leaves them; and by saving_commit_inputs() after an error. */
int saving_commit(struct saving *saving, struct error *err);
int saving_commit_inputs(struct saving *saving, struct error *err);

/* Logs what is complete after an interrupted run, and how to resume; nothing if no iteration is. `seed`: of the data,
 * which were generated; -1: loaded. */
void saving_log_incomplete(const struct saving *saving, int64_t seed);

/* Single files that were not committed are not written. */
void saving_release(struct saving *saving);

#endif
