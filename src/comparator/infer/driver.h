/* comparator/infer/driver.h: what `run` does: models are run, and their results saved, compared and validated.
 *
 * One loop over turns, iterations, steps and the runners of the turn. A step is the whole model, or a group of its
 * nodes (infer/layerwise.h).
 *
 * Usually each runner has a turn of its own: it loads the model, runs it on all iterations of the data, and releases it
 * before the next one begins. Results are compared and validated when all are there, also with those that were loaded
 * from files.
 *
 * Side by side, all runners share one turn, and what a step gives is written, validated, compared and released before
 * the next step. The results are the same, and so is the log, which is therefore written at the end.
 *
 * The module comparator/infer/ runs models on input data: a backend, data and what to do with the results come in,
 * results and a verdict go out. It may use the module data/ and compare/ beside it.
 */
#ifndef COMPARATOR_INFER_DRIVER_H
#define COMPARATOR_INFER_DRIVER_H

#include "comparator/compare/comparison.h"
#include "comparator/compare/run_report.h"
#include "comparator/data/loader.h"
#include "comparator/infer/output_rules.h"
#include "comparator/infer/worker.h"
#include "tensor/compare/ranking.h"

struct driver_settings {
    const struct runner *runners;
    size_t count; /* 0: only loaded results are compared */

    /* Says what to load. Called when a runner starts to work, so that nothing is loaded before its turn. It may give a
     * model, as layerwise_plan() takes it, in place of the request's: steps are groups of its nodes then. The model
     * stays the caller's, and is the same each time. `ret_model` is NULL on entry. */
    int (*load)(void *data, struct log *log, struct backend_request *ret, struct model **ret_model, struct error *err);
    void *load_data;

    bool side_by_side;           /* all runners share one turn */
    const struct backend *types; /* of groups: who is asked what tensors are like */
    uint64_t memory;             /* of groups: bytes, for the outputs of all runners together */
    bool use_subprocess;         /* each runner has a process of its own; not side by side */
    int64_t warm_up;             /* runs on the first feed dict beforehand, which nobody times */
    bool keep_outputs;           /* in the results, whether or not anything here needs them; not side by side */

    /* Paths; NULL: nowhere. Outputs of several runners side by side are written to safetensors only. */
    const char *save_inputs, *save_outputs;
    const char *const *load_outputs; /* results to compare with, behind those of the runners */
    size_t load_count;

    /* A rule that no output has a name for is worth a warning. */
    const struct output_rules *rules;
    size_t rule_count;

    /* Turn outputs into rankings before they are compared and validated. */
    const struct top_k_rule *postprocess;
    size_t postprocess_count;

    struct comparison_settings comparison; /* `release` and `log` are the driver's */
    bool validate;                         /* look for NaN and infinities */
    struct run_report *report;             /* told of what is validated, and of a runner's outputs when it is alone */
    struct log *log;
};

/* Does all of that with the data of `loader` (NULL without runners). `ret`, empty on entry, gets what was run and
 * loaded, as far as it was kept; `ret_passed` tells whether all that was compared matched and all that was validated
 * is numbers, also after an error. An error before anything was compared leaves `ret` empty: ERR_BACKEND,
 * ERR_INTERRUPTED when a signal asked to end, ERR_UNSUPPORTED for a model without tensors among its outputs.
 * ERR_INVALID with results in `ret`: there was nothing to compare. */
int driver_run(const struct driver_settings *settings, struct data_loader *loader, struct run_results *ret,
               bool *ret_passed, struct error *err);

#endif
