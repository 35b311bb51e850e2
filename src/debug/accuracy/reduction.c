/* debug/accuracy/reduction.c: what is the smallest subgraph that fails? */
#include <math.h>
#include <string.h>

#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

#define MOST_RUNS_OF_CHECK 100
#define MOST_PLACES 16 /* of one model that are looked for where it does not run */

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

/* Reduces `model` to the file `output`; NULL: one of the step's folder. */
static struct study_step *reduce_model(struct study *study, const char *model, const char *why, struct words tolerance,
                                       const char *output)
{
    const struct accuracy_settings *settings = study->settings;
    /* Golden values would be ONNX Runtime's, and are those of a single run. */
    bool runs_reference = !settings->reference_is_onnxrt || study->pattern == FAILS_BY_RUN;
    struct study_step *step = step_begin(study, "reduce", why);
    const char *candidate = step_path(step, "candidate.onnx"), *inputs = step_path(step, "inputs.json");
    const char *golden = step_path(step, "golden.json");

    output = output != NULL ? output : step_path(step, "reduced.onnx");
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
    return step;
}

static bool is_reduced(struct study_step *step)
{
    return step->exit_status == 0 && step->has_result && strcmp(step_text(step, "outcome"), "reduced") == 0;
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

/* Adds the nodes of the model that a part was cut out of, which make the same tensors. False where there are none. */
static bool find_nodes_of_part(struct study *study, const char *path, struct bitset *ret)
{
    struct model *part = NULL;

    if (study_has_failed(study) || model_open(path, study->settings->external_data_dir, &part, &study->error) < 0)
        return false;
    for (uint32_t i = 0; i < part->nodes.count; i++) {
        uint32_t made = node_output(part, &part->nodes.items[i], 0);
        uint32_t value =
            made != VALUE_NONE ? model_find_value(study->model, part->values.items[made].name) : VALUE_NONE;

        if (model_producer(study->model, value) != NULL)
            bitset_add(ret, study->model->values.items[value].producer);
    }
    model_free(part);
    return bitset_count(ret) > 0;
}

/* `rest` is the model without these nodes, which does not run either: the same may stand in other places. What is left
 * is reduced until it runs; nodes of all places are added to `nodes`. */
static enum agreement find_other_places(struct study *study, struct words tolerance, struct bitset *nodes,
                                        const char *rest)
{
    enum agreement agreement = REFUSES;
    size_t places = 1;

    while (agreement == REFUSES && rest != NULL && places < MOST_PLACES) {
        struct study_step *step = reduce_model(study, rest, "What else does not run", tolerance, NULL);
        SCOPED_BITSET(place);

        bitset_init(&place, study->model->nodes.count);
        if (!is_reduced(step) || !find_nodes_of_part(study, step_path(step, "reduced.onnx"), &place))
            break;
        study_add_evidence(study, "neither does it run %s", describe_nodes(study, &place));
        bitset_unite(nodes, &place);
        places++;
        agreement = study_replace_nodes(study, nodes, NULL, &rest);
    }
    if (places > 1)
        study->cause.sentence =
            study_text(study, "%s, nor %zu other part%s", study->cause.sentence, places - 1, places > 2 ? "s" : "");
    if (agreement != REFUSES && !study_has_failed(study))
        study_add_evidence(study, "with the reference's values for what these %zu parts make the rest runs", places);
    return agreement;
}

/* What fails alone need not be why the whole model fails: that has to agree once these nodes are right. */
static void confirm_reduced_nodes(struct study *study, struct words tolerance)
{
    struct cause *cause = &study->cause;
    const char *makes = cause->nodes.count == 1 ? "it makes" : "they make", *model, *how_sure;
    enum agreement agreement;
    SCOPED_BITSET(nodes);

    if (!study_open_model(study))
        return;
    bitset_init(&nodes, study->model->nodes.count);
    if (!find_labelled_nodes(study, cause->nodes, &nodes))
        return;
    agreement = study_replace_nodes(study, &nodes, NULL, &model);
    if (study_has_failed(study))
        return;
    if (study->refused && agreement == REFUSES)
        agreement = find_other_places(study, tolerance, &nodes, model);
    if (study_has_failed(study))
        return;
    if (study->refused) {
        cause->whole_agrees = agreement != REFUSES;
    } else if (agreement == AGREES && model == NULL) {
        cause->whole_agrees = true;
        study_add_evidence(study, "%s all outputs of the model", makes);
    } else if (agreement == AGREES) {
        cause->whole_agrees = study_is_sure(study, study_enough_comparisons(study), &how_sure);
        study_add_evidence(study, "with the reference's values for what %s the whole model agrees%s", makes, how_sure);
    } else if (agreement == DIFFERS) {
        study_log(study, "The whole model also fails without them: there is another cause");
    }
}

void accuracy_test_reduction(struct study *study)
{
    const char *output = study_path(study, "minimal.onnx");
    struct words tolerance = choose_tolerance(study);
    struct study_step *step;

    if (!study_make_values(study))
        return;
    step = reduce_model(study, study->settings->model, "The smallest failing subgraph", tolerance, output);
    if (study_has_failed(study))
        return;
    if (!is_reduced(step)) {
        step->outcome = step->complaint != NULL ? step->complaint : "nothing smaller was found";
        study_log(study, "%s", step->outcome);
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
