/* debug/accuracy/question.c: is the question sound? */
#include <string.h>

#include "debug/accuracy/questions.h"
#include "debug/accuracy/tolerance.h"

/* ---- Tolerances ---- */

/* Below the least absolute tolerance are what is left where values of about 1 cancel, and reference values that are all
 * 0; the default of `run`, 1e-5, would hide the errors of small tensors. Infinities that both have are masks. */
static struct words norm_tolerance(struct investigation *investigation, double tolerance)
{
    struct call call;

    call_begin_words(&call, investigation);
    call_add(&call, "--norm-tolerance", investigation_text(investigation, "%.2g", tolerance), "--atol", "1e-7",
             "--infinities-compare-equal", NULL);
    return call_keep(&call);
}

static int decide_tolerances(struct investigation *investigation, struct error *err)
{
    const struct accuracy_settings *settings = investigation->settings;
    struct rounding_paths paths, of_a_node;
    struct model *model;
    double tolerance;
    int rc = model_open(settings->model, NULL, &model, err);

    if (rc < 0)
        return rc;
    rounding_paths_of(model, &paths);
    model_free(model);
    tolerance = rounding_tolerance(settings->unit_roundoff, &paths);
    of_a_node = (struct rounding_paths){.depth = 1, .terms = paths.terms};
    investigation->part_tolerance =
        norm_tolerance(investigation, rounding_tolerance(settings->unit_roundoff, &of_a_node));
    investigation->layer_tolerance = norm_tolerance(investigation, tolerance);
    if (settings->tolerance.count > 0) {
        investigation->whole.tolerance = settings->tolerance;
        investigation->tolerance_why = "as given";
        return 0;
    }
    investigation->whole.tolerance = investigation->layer_tolerance;
    investigation->tolerance_why = investigation_text(
        investigation,
        "%s %s %s %s: of the largest magnitude of an output; 8 (u sqrt(depth) + v sqrt(depth terms)) with the unit "
        "roundoff "
        "u = %.2g of %s, v = 6e-08 of float32, %zu nodes on the longest path, and sums of up to %zu products",
        investigation->layer_tolerance.items[0], investigation->layer_tolerance.items[1],
        investigation->layer_tolerance.items[2], investigation->layer_tolerance.items[3], settings->unit_roundoff,
        settings->precision, paths.depth, paths.terms);
    log_message(investigation->log, LOG_INFO, "    Tolerance: %s", investigation->tolerance_why);
    return 0;
}

/* ---- The reference ---- */

static void begin_reference(struct call *ret, struct investigation *investigation, const char *name, const char *why)
{
    call_begin(ret, investigation, name, why);
    call_add(ret, "run", investigation->settings->model, NULL);
    call_add_words(ret, investigation->settings->loading);
    call_add_words(ret, investigation->settings->reference);
}

/* What makes input data makes the first golden outputs, too. */
static int run_reference(struct investigation *investigation, struct experiment **ret, struct error *err)
{
    struct call call;

    begin_reference(&call, investigation, "reference", "The model runs in the reference");
    call_add_words(&call, investigation->settings->data);
    call_add(&call, "--save-inputs", investigation->whole.inputs, "--save-outputs", investigation->whole.golden,
             "--validate", NULL);
    return call_run(&call, ret, err);
}

static int lint(struct investigation *investigation, bool has_data, struct error *err)
{
    struct experiment *experiment;
    struct call call;
    int rc;

    call_begin(&call, investigation, "lint", "Nothing is wrong with the model itself");
    call_add(&call, "check", "lint", investigation->settings->model, NULL);
    call_add_words(&call, investigation->settings->loading);
    if (has_data)
        call_add(&call, "--load-inputs", investigation->whole.inputs, NULL);
    rc = call_run(&call, &experiment, err);
    if (rc < 0)
        return rc;
    experiment->outcome = experiment->exit_status == 0 ? "no mistakes" : "finds mistakes in the model";
    if (experiment->exit_status != 0)
        log_message(investigation->log, LOG_WARNING, "check lint finds mistakes in the model: see %s/log.txt",
                    experiment->folder);
    return 0;
}

/* Another process, each input several times in it, and compared with a third one. */
static int run_reference_again(struct investigation *investigation, struct error *err)
{
    struct experiment *experiment;
    struct call call;
    int rc;

    begin_reference(&call, investigation, "reference-repeated", "The same data, several times");
    call_add_inputs(&call, RUNS_OF_ONE_BUILD);
    call_add(&call, "--save-outputs", investigation->repeated_golden, NULL);
    rc = call_succeed(&call, &experiment, err);
    if (rc < 0)
        return rc;
    begin_reference(&call, investigation, "reference-again", "The reference says the same again");
    call_add_inputs(&call, RUNS_OF_ONE_BUILD);
    call_add(&call, "--load-outputs", investigation->repeated_golden, NULL);
    call_add_words(&call, investigation->whole.tolerance);
    rc = call_judge(&call, &experiment, err);
    if (rc < 0)
        return rc;
    experiment->checks = experiment->builds = 0; /* not of the suspect */
    if (experiment->agreement != AGREES)
        investigation_conclude(investigation, OUTCOME_NO_QUESTION,
                               "The reference itself gives other outputs from run to run, so there is nothing to "
                               "compare with: look for random operators, or take another reference");
    return 0;
}

/* The outputs hold infinities alone, and these are said to be meant. */
static bool infinities_are_meant(struct investigation *investigation, struct experiment *reference)
{
    const struct words *tolerance = &investigation->settings->tolerance;
    const json_t *item;
    bool ret = false;
    size_t i;

    for (i = 0; i < tolerance->count; i++)
        ret |= strcmp(tolerance->items[i], "--infinities-compare-equal") == 0;
    json_array_foreach (result_find(reference->result.root, "validation"), i, item)
        ret = ret && result_number(reference, item, "nans", 1) == 0;
    return ret;
}

int accuracy_ask_question(struct investigation *investigation, struct error *err)
{
    struct experiment *experiment;
    int rc;

    investigation_begin_step(investigation, "Is the question sound?");
    rc = decide_tolerances(investigation, err);
    if (rc < 0)
        return rc;
    investigation->whole.model = investigation->settings->model;
    investigation->whole.inputs = investigation_path(investigation, "inputs.json");
    investigation->whole.golden = investigation_path(investigation, "golden.json");
    investigation->repeated_golden = investigation_path(investigation, "golden_repeated.json");
    if (!investigation->settings->data_are_given)
        log_message(investigation->log, LOG_WARNING,
                    "Input data are made up, and may not show what real ones do: give those that fail with "
                    "--load-inputs");
    rc = run_reference(investigation, &experiment, err);
    if (rc < 0)
        return rc;
    if (experiment->exit_status == 0 ||
        (experiment->exit_status == 1 && experiment->has_result && infinities_are_meant(investigation, experiment))) {
        experiment->outcome = experiment->exit_status == 0 ? "runs; its outputs are numbers" : "runs, with infinities";
        rc = lint(investigation, true, err);
        return rc < 0 ? rc : run_reference_again(investigation, err);
    }
    if (experiment->exit_status == 1 && experiment->has_result) {
        experiment->outcome = "its outputs hold NaN or infinities";
        return accuracy_ask_nan(investigation, err);
    }
    experiment->outcome = "does not run";
    investigation_conclude(investigation, OUTCOME_NO_QUESTION,
                           "The model does not run in the reference, so there is nothing to compare with: %s",
                           experiment->complaint != NULL ? experiment->complaint : experiment->command);
    return lint(investigation, false, err);
}
