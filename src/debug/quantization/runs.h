/* debug/quantization/runs.h: the models of a study, run on its data.
 *
 *   rc = study_runs_begin(&runs, &study, samples, err);
 *   rc = study_runs_switched(&runs, sample, &on, NULL, &outputs, err);
 *   study_runs_end(&runs);
 *
 * The model with switches is run again and again, and each run is told to the study's progress. The model as it is,
 * and the float model, are run once for each sample.
 *
 * Where the backend is at work in a process of its own (backend/onnxrt/apart/backend.h), a run that ends that process
 * is an error for which bounded_process_is_end() holds, and further runs can follow it.
 */
#ifndef DEBUG_QUANTIZATION_RUNS_H
#define DEBUG_QUANTIZATION_RUNS_H

#include "comparator/data/loader.h"
#include "comparator/reference/value_store.h"
#include "debug/session/progress.h"
#include "debug/quantization/switched_model.h"

struct quantization_study {
    const struct quantization_subject *subject;
    const struct backend *backend;
    struct backend_request request; /* of the quantized model */
    const char *float_path;         /* NULL: none was given */
    struct data_loader *loader;
    struct log *log;
    void (*progress)(void *data, const struct session_progress *progress); /* may be NULL */
    void *progress_data;
};

struct study_runs {
    const struct quantization_study *study;
    struct switched_model *switched;
    struct tensor_list *feeds; /* of each sample: what the quantized model is fed */
    struct value_store store;
    /* Outputs of each sample, on the disk; NULL: the model does not run as it is, there is no float model. */
    struct tensor_list *as_run, *of_float;
    struct error why_not_run;       /* as it is; no code: it does */
    bool is_lost;                   /* the session of the model with switches, with the process that it was in */
    size_t samples, done, expected; /* runs of the model with switches; `expected` is for the caller to set */
    double begun;
};

/* Runs what is run once, and loads the model with switches. Errors are those of the data loader and of the backend;
 * study_runs_end() is to be called in any case. */
int study_runs_begin(struct study_runs *ret, const struct quantization_study *study, size_t samples, struct error *err);
void study_runs_end(struct study_runs *runs);

/* Says of a crash in `err` that `what` is needed, and what to do about it. Returns ERR_BACKEND. */
int study_runs_refuse_crash(struct error *err, const char *what);

/* As switched_model_run(). ERR_INTERRUPTED when a signal has asked to end. */
int study_runs_switched(struct study_runs *runs, size_t sample, const struct bitset *on, const struct words *wanted,
                        struct tensor_list *ret, struct error *err);

#endif
