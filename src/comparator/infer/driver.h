/* comparator/infer/driver.h: implements `run`: runs models, and saves, compares and validates their results.
 *
 * One loop over turns, iterations, steps and the runners of the turn. A step is the whole model, or a group of its
 * nodes (infer/layerwise.h).
 *
 * Usually all runners share one turn: the outputs of an iteration, and those loaded from files, are written, validated,
 * compared and released before the next iteration. So memory does not depend on the number of iterations. In groups of
 * nodes this happens with the outputs of each step; log lines are then shown at the end of the iteration.
 *
 * Sequentially, each runner has a separate turn: it loads the model, runs all iterations, and releases it before the
 * next runner starts. Then all results are saved, compared and validated.
 *
 * The module comparator/infer/ runs models with backends on input data and collects results and verdicts. It depends on
 * comparator/data/ and comparator/compare/.
 */
#ifndef COMPARATOR_INFER_DRIVER_H
#define COMPARATOR_INFER_DRIVER_H

#include "comparator/compare/comparison.h"
#include "comparator/compare/run_report.h"
#include "comparator/data/loader.h"
#include "comparator/infer/decoder_steps.h"
#include "comparator/infer/output_rules.h"
#include "comparator/infer/saving.h"
#include "comparator/infer/worker.h"
#include "tensor/compare/ranking.h"

struct driver_settings {
    const struct runner *runners;
    size_t count; /* 0: only loaded results are compared */

    /* Returns what to load. Called when a runner starts, so that nothing is loaded before its turn. It may return a
     * model for layerwise_plan() instead of the request's: then steps are groups of its nodes. The caller keeps
     * ownership of the model, which must be the same each time. `ret_model` is NULL on entry. */
    int (*load)(void *data, struct log *log, struct backend_request *ret, struct model **ret_model, struct error *err);
    void *load_data;

    bool sequential;             /* each runner has a separate turn, and results are kept until all have run */
    bool keep_outputs;           /* sequential: keep outputs in the results, even if not needed here */
    bool in_groups;              /* load() returns a model; not sequential */
    const struct backend *types; /* of groups: the backend for type inference */
    uint64_t memory;             /* of groups: bytes, for the outputs of all runners together */
    bool use_subprocess;         /* each runner in a separate process; sequential */
    int64_t warm_up;             /* untimed runs on the first feed dict before the others */
    struct saving_paths save;
    int64_t seed;                    /* of generated data, for advice; -1: loaded */
    const char *const *load_outputs; /* results to compare with, after those of the runners */
    size_t load_count;

    struct decoder_steps *steps; /* iterations are steps of a decoder, not sequential; NULL: they have own data */
    size_t first_loaded;         /* the iteration of loaded results that belongs to iteration 0 */

    /* A rule that matches no output causes a warning. */
    const struct output_rules *rules;
    size_t rule_count;

    /* Turn outputs into rankings before they are compared and validated. */
    const struct top_k_rule *postprocess;
    size_t postprocess_count;

    struct comparison_settings comparison; /* `release` and `log` are the driver's */
    bool validate;                         /* check for NaN and infinities */
    struct run_report *report;             /* receives validations, and the outputs of a single runner */
    struct log *log;
};

/* Runs everything with the data of `loader` (NULL without runners). `ret`, empty on entry, gets the computed and loaded
 * results if the runners are sequential; `ret_passed`: whether all comparisons matched and all validated outputs are
 * finite, also after an error. After an error before the comparison `ret` is empty: ERR_BACKEND, ERR_INTERRUPTED after
 * a signal, ERR_UNSUPPORTED for a model without tensor outputs. ERR_INVALID with results in `ret`: there was nothing
 * to compare. */
int driver_run(const struct driver_settings *settings, struct data_loader *loader, struct run_results *ret,
               bool *ret_passed, struct error *err);

#endif
