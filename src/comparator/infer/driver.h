/* comparator/infer/driver.h: what `run` does: models are run, and their results saved, compared and validated.
 *
 * Runners take turns. Each loads the model, runs it on all iterations of the data, and lets go of it before the next
 * one begins; results are compared and validated when all are there, also with those that were loaded from files.
 *
 * In groups, all runners share one turn: they go through the model side by side, a group of tensors at a time
 * (infer/layerwise.h), and each group is written, validated, compared and released. The results are the same, and so
 * is the log, which is therefore written at the end. An ordinary turn is the same with one runner and one group, the
 * whole model.
 *
 * The room comparator/infer/ runs models on input data: a backend, data and what to do with the results come in,
 * results and a verdict go out. It may use the rooms data/ and compare/ beside it.
 */
#ifndef COMPARATOR_INFER_DRIVER_H
#define COMPARATOR_INFER_DRIVER_H

#include "comparator/compare/comparison.h"
#include "comparator/compare/run_report.h"
#include "comparator/data/loader.h"
#include "comparator/infer/worker.h"
#include "tensor/compare/ranking.h"

/* What an option says of outputs, by name. `items` are structs whose first member is a name or a pattern. */
struct output_rules {
    const char *option;
    const void *items;
    size_t count, item_size;
};

struct driver_settings {
    const struct runner *runners;
    size_t count; /* 0: only loaded results are compared */

    /* Says what to load; options only, where a model is wanted. Called when a runner starts to work, so that nothing is
     * loaded before its turn. In groups it also gives the model, as layerwise_plan() takes it, which stays the
     * caller's: the same one each time. */
    int (*load)(void *data, struct log *log, struct backend_request *ret, struct model **ret_model, struct error *err);
    void *load_data;

    bool in_groups;
    const struct backend *types; /* in groups: who is asked what tensors are like */
    uint64_t memory;             /* in groups: bytes, for the outputs of all runners together */
    bool use_subprocess;         /* each runner has a process of its own; not in groups */
    int64_t warm_up;             /* runs on the first feed dict beforehand, which nobody times */
    bool keep_outputs;           /* they stay in the results, whether or not anything here needs them; not in groups */

    /* Paths; NULL: nowhere. Outputs of several runners in groups are written to safetensors only. */
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
