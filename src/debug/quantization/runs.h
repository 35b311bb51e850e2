/* debug/quantization/runs.h: runs of the models of a study on its data.
 *
 *   rc = study_runs_begin(&runs, &study, samples, err);
 *   rc = study_runs_switched(&runs, sample, &on, NULL, &outputs, err);
 *   study_runs_end(&runs);
 *
 * The model with switches runs repeatedly, and each run is reported to the study's progress. The unmodified model and
 * the float model run once for each sample.
 *
 * If the backend runs in a separate process (backend/onnxrt/apart/backend.h), a run that terminates that process is an
 * error for which bounded_process_is_end() is true; further runs may follow.
 */
#ifndef DEBUG_QUANTIZATION_RUNS_H
#define DEBUG_QUANTIZATION_RUNS_H

#include "comparator/data/loader.h"
#include "comparator/reference/value_store.h"
#include "debug/session/progress.h"
#include "debug/quantization/switched_model.h"

/* ONNX Runtime's optimizer that quantizes float weights and biases. Source: its log, as in backend/onnxrt/optimizers.c.
 */
#define QUANTIZATION_BIAS_OPTIMIZER "WeightBiasQuantization"

struct quantization_study {
    const struct quantization_subject *subject;
    const struct backend *backend;
    struct backend_request request; /* of the quantized model */
    const char *float_path;         /* NULL: none */
    struct data_loader *loader;
    struct log *log;
    void (*progress)(void *data, const struct session_progress *progress); /* may be NULL */
    void *progress_data;
};

struct study_runs {
    const struct quantization_study *study;
    struct switched_model *switched;
    struct tensor_list *feeds; /* input data of each sample for the quantized model */
    struct value_store store;
    /* Outputs of each sample, on disk; NULL: the unmodified model does not run; no float model. */
    struct tensor_list *as_run, *of_float;
    struct error why_not_run;       /* error of the unmodified model; no code: it runs */
    bool is_lost;                   /* the session of the model with switches was lost with its process */
    size_t samples, done, expected; /* runs of the model with switches; the caller sets `expected` */
    double begun;
};

/* Runs the models that run once, and loads the model with switches. Errors are those of the data loader and of the
 * backend; call study_runs_end() in any case. */
int study_runs_begin(struct study_runs *ret, const struct quantization_study *study, size_t samples, struct error *err);
void study_runs_end(struct study_runs *runs);

/* Runs a model once for each sample, in a separate session. `in_float`: without integer kernels. `*ret`: the outputs of
 * each sample, on disk until study_runs_end(); free them with study_outputs_free(). */
int study_runs_record(struct study_runs *runs, const struct backend_model *model, bool in_float,
                      struct tensor_list **ret, struct error *err);
/* The same for the unmodified model, with QUANTIZATION_BIAS_OPTIMIZER disabled. ERR_UNSUPPORTED if
 * the user's settings already disable optimizers. */
int study_runs_record_biases(struct study_runs *runs, struct tensor_list **ret, struct error *err);
void study_outputs_free(struct tensor_list *outputs, size_t samples); /* NULL is fine */

/* Turns a crash in `err` into an error that says that `what` is required, with advice. Returns ERR_BACKEND. */
int study_runs_refuse_crash(struct error *err, const char *what);

/* Same as switched_model_run(). ERR_INTERRUPTED after a signal. */
int study_runs_switched(struct study_runs *runs, size_t sample, const struct bitset *on, const struct words *wanted,
                        struct tensor_list *ret, struct error *err);

#endif
