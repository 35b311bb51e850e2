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

bool study_enter_bodies(struct study *study)
{
    struct accuracy_settings *settings;
    struct failing_case inlined = study->whole;
    enum agreement agreement;

    if (study->pattern != FAILS_ALWAYS || study->refused || study_has_failed(study) || !may_be_inside(study))
        return false;
    study_begin_hypothesis(study, "Which node inside of If, Loop or Scan causes it?");
    inlined.model = write_inlined_model(study);
    if (inlined.model == NULL)
        return false;
    agreement = step_try(step_begin_suspect(study, &inlined, "inlined", "The suspect on that"));
    if (agreement == AGREES)
        study_add_note(study, "with the bodies of If, Loop and Scan inlined ('%s') the suspect does not fail",
                       inlined.model);
    else if (agreement != DIFFERS)
        study_add_not_tested(study, "nodes inside of If, Loop and Scan: the suspect does not run '%s'", inlined.model);
    if (agreement != DIFFERS)
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
