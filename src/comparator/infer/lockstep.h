/* comparator/infer/lockstep.h: several runners side by side, a group of tensors at a time.
 *
 * What runner_run() and comparison_run() do one after the other is done for each group of a layerwise run: all runners
 * compute it, it is written, validated and compared, and released. The results are the same, and so is the log, which
 * is therefore written at the end.
 */
#ifndef COMPARATOR_INFER_LOCKSTEP_H
#define COMPARATOR_INFER_LOCKSTEP_H

#include "comparator/compare/comparison.h"
#include "comparator/compare/run_report.h"
#include "comparator/infer/runner.h"
#include "onnx/model/model.h"

struct lockstep_settings {
    /* Loads the model, as layerwise_plan() wants it; it stays the caller's. Called once, in the first runner's turn. */
    int (*load)(void *data, struct log *log, struct model **ret, struct error *err);
    void *load_data;
    struct model *model;          /* as layerwise_plan() wants it */
    const struct runner *runners; /* `prepare` gives the options; the model in the request is not used */
    size_t count;
    uint64_t memory; /* bytes, for the outputs of all runners together */
    int64_t warm_up;
    const char *save_inputs;           /* NULL: nowhere */
    struct run_results_writer *writer; /* NULL, or safetensors, or for a single runner */
    struct comparison_settings comparison;
    bool validate;
    struct run_report *report; /* told of what is validated; may be NULL */

    /* Told of each output that validation objects to; may be NULL. `data` is that of the comparison's on_verdict. */
    void (*on_invalid)(void *data, const char *runner, const char *output);

    /* Changes outputs before they are compared and validated; may be NULL. */
    int (*postprocess)(void *data, struct tensor_list *outputs, struct error *err);
    void *postprocess_data;
    struct log *log;
};

/* `loaded` are results to be compared with, too. They are taken over. */
int lockstep_run(const struct lockstep_settings *settings, struct data_loader *loader, struct run_results *loaded,
                 bool *ret_passed, struct error *err);

#endif
