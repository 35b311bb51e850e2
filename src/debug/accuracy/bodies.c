/* debug/accuracy/bodies.c: tools that cut the main graph treat an If, Loop or Scan as one node. If such a node is the
 * cause, or no cause was found, the study is repeated on the model in which these nodes are replaced by what they do on
 * the input data.
 */
#include "base/file/file.h"
#include "base/memory.h"
#include "comparator/reference/control_flow.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

/* Whether a node with a body is to blame, or any node may be. */
static bool may_be_inside(struct study *study)
{
    const struct words names = study->cause.nodes;

    if (!study_open_model(study) || !model_has_control_flow(study->model))
        return false;
    if (names.count == 0)
        return study->cause.kind == CAUSE_UNKNOWN;
    for (uint32_t i = 0; i < study->model->nodes.count; i++)
        if (study->model->nodes.items[i].has_subgraphs && has_word(names, node_label(study, i)))
            return true;
    return false;
}

/* NULL where the model stays as it is. */
static const char *write_inlined_model(struct study *study)
{
    const char *path = study_path(study, "inlined.onnx");
    struct study_step *step = step_begin(study, "inline", "The model with the bodies of If, Loop and Scan inlined");

    step_add(step, "surgeon", "sanitize", study->settings->model, "--inline-bodies", "--load-inputs",
             study->whole.inputs, "-o", path, NULL);
    step_add_words(step, study->settings->loading);
    return step_make(step, path, "done", "that is not possible");
}

static const char *describe_outer_cause(struct study *study)
{
    return study->cause.kind == CAUSE_UNKNOWN ? "" : study_text(study, "; in the original: %s", study->cause.sentence);
}

/* A compiler may make a mistake in a body only, and the mistake is gone in the inlined model: what fails there is
 * another failure then. It is the same one where the outputs of the suspect for both models agree, or differ by much
 * less than both are wrong. `tried`: the suspect on the inlined model, whose outputs are `values`. */
static bool is_same_failure(struct study *study, struct study_step *tried, const char *values)
{
    const double much_less = 0.1;
    double error = comparison_error(tried), difference = 0;
    enum agreement agreement = study->suspect_outputs == NULL
                                   ? REFUSES
                                   : compare_output_files(study, study->suspect_outputs, values,
                                                          "Are these the outputs for the original?", &difference);

    if (agreement == AGREES)
        return true;
    if (agreement == DIFFERS && difference < much_less * error) {
        study_add_not_tested(study,
                             "a part of the error: the outputs of the suspect for the original and for the inlined "
                             "model differ by %.3g of the largest magnitude (its error is %.3g)",
                             difference, error);
        return true;
    }
    if (agreement == DIFFERS)
        study_add_not_tested(study,
                             "nodes inside of If, Loop and Scan: with these inlined the suspect fails in another way "
                             "(its outputs for both models differ by %.3g of the largest magnitude, its error is %.3g)",
                             difference, error);
    else if (agreement == REFUSES)
        study_add_not_tested(study,
                             "nodes inside of If, Loop and Scan: the outputs of the suspect for the original and "
                             "for the inlined model cannot be compared");
    return false;
}

bool study_enter_bodies(struct study *study)
{
    struct accuracy_settings *settings;
    struct failing_case inlined = study->whole;
    struct study_step *tried;
    const char *values;
    enum agreement agreement;

    if (study->pattern != FAILS_ALWAYS || study->refused || study_has_failed(study) || !may_be_inside(study))
        return false;
    study_begin_hypothesis(study, "Which node inside of If, Loop or Scan causes it?");
    inlined.model = write_inlined_model(study);
    if (inlined.model == NULL)
        return false;
    tried = step_begin_suspect(study, &inlined, "inlined", "The suspect on that");
    values = step_path(tried, "outputs.json");
    step_add(tried, "--save-outputs", values, NULL);
    agreement = step_try(tried);
    if (agreement == AGREES)
        study_add_note(study, "with the bodies of If, Loop and Scan inlined ('%s') the suspect does not fail",
                       inlined.model);
    else if (agreement != DIFFERS)
        study_add_not_tested(study, "nodes inside of If, Loop and Scan: the suspect does not run '%s'", inlined.model);
    if (agreement != DIFFERS || !is_same_failure(study, tried, values))
        return false;
    settings = arena_alloc_zero(&study->arena, 1, sizeof(*settings));
    *settings = *study->settings;
    settings->model = inlined.model;
    settings->external_data_dir = NULL;
    settings->folder = study_path(study, "inlined");
    settings->data = study_words(study, "--load-inputs", inlined.inputs, NULL);
    settings->data_are_given = true;
    if (file_make_folders(settings->folder, &study->error) < 0)
        return false;
    study_add_note(study, "names of nodes are those of '%s', in which the bodies of If, Loop and Scan are inlined%s",
                   inlined.model, describe_outer_cause(study));
    study_forget_answers(study);
    study->settings = settings;
    study->cause = (struct cause){0};
    study->found_by = NULL;
    study->outcome = OUTCOME_OPEN;
    return true;
}
