/* debug/accuracy/reduction.c: what is the smallest subgraph that fails? */
#include <math.h>
#include <string.h>

#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

#define MOST_RUNS_OF_CHECK 100

/* Subgraphs are compared by the tolerance for layers where the whole model fails by it, too: that of the user may be
 * made for the scale of the outputs alone. */
static struct words choose_tolerance(struct study *study)
{
    struct failing_case strict = study->whole;

    if (study->refused || study->settings->tolerance.count == 0)
        return study->whole.tolerance;
    strict.tolerance = study->layer_tolerance;
    return step_judge(step_begin_suspect(study, &strict, "tolerance",
                                         "Does it fail by the tolerance for layers, too?")) == DIFFERS
               ? study->layer_tolerance
               : study->whole.tolerance;
}

/* How often a check runs its candidate: where some runs fail, so often that half of the rate that was measured would be
 * missed by one check of ten thousand. A single check that is wrong leads the search anywhere. */
static int64_t runs_of_check(const struct study *study)
{
    double runs;

    if (study->pattern != FAILS_BY_RUN)
        return 1;
    runs = ceil(log(1e-4) / log1p(-study->failure_rate / 2));
    return (int64_t)fmax(RUNS_OF_ONE_BUILD, fmin(runs, MOST_RUNS_OF_CHECK));
}

/* Of the search that was run. */
static int64_t count_checks(struct study_step *step)
{
    return step_count(step, "failed") + step_count(step, "passed") + step_count(step, "skipped");
}

static bool is_reduced(struct study_step *step)
{
    return step->exit_status == 0 && step->has_result && strcmp(step_text(step, "outcome"), "reduced") == 0;
}

bool study_reduce(struct study *study, const char *model, const char *why, struct words tolerance, const char *output,
                  struct study_step **ret)
{
    const struct accuracy_settings *settings = study->settings;
    /* Golden values would be ONNX Runtime's, and are those of a single run. */
    bool runs_reference = !settings->reference_is_onnxrt || study->pattern == FAILS_BY_RUN;
    struct study_step *step = *ret = step_begin(study, "reduce", why);
    const char *candidate = step_path(step, "candidate.onnx"), *inputs = step_path(step, "inputs.json");
    const char *golden = step_path(step, "golden.json");

    step->replay = step_path(step, "replay.json");
    step->has_budget = true;
    step_add(step, "debug", "reduce", model, "-o", output, "--mode", "minimal", "--load-inputs", study->layerwise,
             "--iter-artifact", candidate, "--iter-inputs", inputs, "--save-debug-replay", step->replay,
             "--check-timeout", "auto", "--hide-fail-output", NULL);
    step_add_words(step, settings->loading);
    if (study->pattern == FAILS_BY_BUILD)
        step_add(step, "--flaky", NULL);
    if (study->pattern == FAILS_BY_RUN) /* a check of many runs seldom passes what is wrong */
        step_add(step, "--flaky", "--no-false-failures", NULL);
    if (!runs_reference)
        step_add(step, "--iter-golden", golden, NULL);
    step_add(step, "--check", "polygraphy", "run", candidate, NULL);
    if (runs_reference)
        step_add_words(step, settings->reference);
    step_add_words(step, settings->suspect);
    step_add_inputs(step, inputs, runs_of_check(study));
    if (!runs_reference)
        step_add(step, "--load-outputs", golden, NULL);
    step_add_words(step, tolerance);
    step_run(step);
    step->checks = count_checks(step) * runs_of_check(study);
    step->builds = settings->suspect_is_built ? count_checks(step) : 0;
    return is_reduced(step);
}

/* The names of its nodes, and a sentence about them. */
static void read_reduced_nodes(struct study *study, struct study_step *step)
{
    const json_t *nodes = result_find(step->result.root, "nodes");
    struct cause *cause = &study->cause;
    const char *described;

    cause->nodes = result_words(step, nodes, "name");
    described = study_list(study, cause->nodes, result_words(step, nodes, "op_type"));
    if (study->refused) {
        cause->kind = CAUSE_REFUSED;
        cause->sentence = study_text(study, "the suspect does not run %s", described);
    } else if (study->pattern == FAILS_BY_RUN) {
        cause->kind = CAUSE_RACE;
        cause->sentence = study_text(study, "%s: outputs differ from run to run", described);
    } else if (cause->nodes.count == 1) {
        cause->kind = CAUSE_NODE;
        cause->sentence = study_text(study, "%s is computed wrongly", described);
    } else {
        cause->kind = CAUSE_PART;
        cause->sentence = study_text(study, "%s fail together, none of them without the others", described);
    }
}

/* What fails alone need not be why the whole model fails: that has to agree once these nodes are right. */
static void confirm_reduced_nodes(struct study *study, struct words tolerance)
{
    struct cause *cause = &study->cause;
    const char *makes = cause->nodes.count == 1 ? "it makes" : "they make", *model = NULL, *how_sure;
    enum agreement agreement;
    SCOPED_BITSET(nodes);

    if (!study_open_model(study))
        return;
    bitset_init(&nodes, study->model->nodes.count);
    if (!find_labelled_nodes(study, cause->nodes, &nodes))
        return;
    if (study->pattern == FAILS_ALWAYS && !study->refused &&
        !study_suspect_returns_outputs(study, &nodes, study->minimal.model))
        return;
    agreement = study_replace_nodes(study, &nodes, NULL, &model);
    if (study_find_other_places(study, &nodes, tolerance, agreement) || study_has_failed(study))
        return;
    if (study->refused) {
        cause->whole_agrees = agreement != REFUSES;
    } else if (agreement == AGREES && model == NULL) {
        cause->whole_agrees = true;
        study_add_evidence(study, "%s all outputs of the model", makes);
    } else if (agreement == AGREES) {
        cause->whole_agrees = study_is_sure(study, study_enough_comparisons(study), &how_sure);
        study_add_evidence(study, "with the reference's values for what %s the whole model agrees%s", makes, how_sure);
    }
}

void accuracy_test_reduction(struct study *study)
{
    const char *output = study_path(study, "minimal.onnx");
    struct words tolerance = choose_tolerance(study);
    struct study_step *step;
    bool is_smaller;

    if (!study_make_values(study))
        return;
    is_smaller = study_reduce(study, study->settings->model, "The smallest failing subgraph", tolerance, output, &step);
    if (study_has_failed(study))
        return;
    if (!is_smaller) {
        step->outcome = step->complaint != NULL ? step->complaint : "nothing smaller was found";
        study_log(study, "%s", step->outcome);
        if (step->complaint != NULL)
            study_add_not_tested(study, "the smallest failing subgraph: %s", step->complaint);
        return;
    }
    read_reduced_nodes(study, step);
    step->outcome = study_text(study, "%.0f nodes became %zu",
                               result_number(step, step->result.root, "original_nodes", 0), study->cause.nodes.count);
    if (step_says(step, "one_minimal"))
        study_add_evidence(study,
                           study->cause.nodes.count == 1 ? "it fails alone, and subgraphs without it pass (%lld checks)"
                                                         : "without any one of them the others pass (%lld checks)",
                           (long long)count_checks(step));
    study->minimal = study_make_case(study, output, "minimal");
    study->minimal.tolerance = tolerance;
    confirm_reduced_nodes(study, tolerance);
}
