/* debug/accuracy/control.c: does a runner compute the model that it is given? A command may read another file than
 * {model}, an engine of yesterday, or nothing at all; what it gives out is compared with what it gives for a model in
 * which one output is negated.
 */
#include <string.h>

#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

/* The first output whose negation is another number; VALUE_NONE: there is none. */
static uint32_t find_negatable_output(const struct study *study)
{
    const struct model *model = study->model;

    for (size_t i = 0; i < model->outputs.count; i++) {
        struct value_type type;

        subgraph_type(&study->graph, model->outputs.items[i], &type);
        if (type.element == DATA_FLOAT32 || type.element == DATA_FLOAT16 || type.element == DATA_INT64)
            return model->outputs.items[i];
    }
    return VALUE_NONE;
}

/* A command that adds a node behind a tensor, which gets its name. */
static void add_insertion(struct study_step *step, const char *model, const char *path, const char *operator,
                          const char * tensor)
{
    step_add(step, "surgeon", "insert", model, "-o", path, "--op", operator, NULL);
    step_add_option(step, "--inputs", study_words(step->study, tensor, NULL));
    step_add_option(step, "--outputs", study_words(step->study, tensor, NULL));
}

/* The model with one more node behind the output; NULL where it cannot be made. */
static const char *make_control_model(struct study *study, const char *output, const char *operator)
{
    bool is_negated = strcmp(operator, "Neg") == 0;
    struct study_step *step =
        step_begin(study, "control",
                   is_negated ? study_text(study, "A model that negates '%s'", output)
                              : study_text(study, "A model with %s behind '%s'", operator, output));
    const char *ret = step_path(step, is_negated ? "negated.onnx" : "control.onnx");

    add_insertion(step, study->settings->model, ret, operator, output);
    step_add_words(step, study->settings->loading);
    return step_make(step, ret, "done", "cannot be made");
}

/* What the runner gives for the control model, in a file; NULL where it does not run. */
static const char *run_control_model(struct study *study, const char *model, struct words runner)
{
    struct study_step *step = step_begin(study, "control-run", "The runner with that model");
    const char *ret = step_path(step, "outputs.json");

    step_add(step, "run", model, NULL);
    step_add_words(step, study->settings->loading);
    step_add_words(step, runner);
    step_add_inputs(step, study->whole.inputs, 1);
    step_add(step, "--save-outputs", ret, NULL);
    step_run(step);
    step->outcome = step->exit_status == 0 ? "runs" : "does not run";
    return step->exit_status == 0 ? ret : NULL;
}

/* An output of zeros is the same when it is negated. */
static bool has_other_than_zeros(struct study_step *step, const char *output)
{
    const json_t *item;
    size_t i;

    json_array_foreach (result_find(step->result.root, "comparisons"), i, item)
        if (strcmp(result_text(step, item, "output"), output) == 0 &&
            result_number(step, item, "first/finite/zeros", 0) < result_number(step, item, "first/elements", 0))
            return true;
    return false;
}

static bool are_identical(struct study *study, const char *outputs, const char *control, const char *output)
{
    struct study_step *step =
        step_begin(study, "control-compare", "Are its outputs equal bit for bit to those for the model?");

    step->is_control = true;
    step_add(step, "run", "--load-outputs", outputs, control, "--atol", "0", "--rtol", "0", NULL);
    return step_try(step) == AGREES && has_other_than_zeros(step, output);
}

/* A runner that reads its model may compute one operator wrongly: Neg as Identity, say. So another control says the
 * same, with an operator that changes more: an exponential is never what it is of. */
static bool ignores_another_node(struct study *study, struct words runner, const char *outputs, uint32_t output)
{
    struct value_type type;
    const char *name = tensor_label(study, output), *model, *made;

    subgraph_type(&study->graph, output, &type);
    model = make_control_model(study, name, type.element == DATA_INT64 ? "Sign" : "Exp");
    made = model != NULL ? run_control_model(study, model, runner) : NULL;
    return made != NULL && are_identical(study, outputs, made, name);
}

bool study_runner_ignores_model(struct study *study, struct words runner, const char *outputs, const char *role)
{
    const char *name, *model, *negated;
    uint32_t output;

    if (!study_open_model(study))
        return false;
    output = find_negatable_output(study);
    name = output != VALUE_NONE ? tensor_label(study, output) : NULL;
    model = name != NULL ? make_control_model(study, name, "Neg") : NULL;
    negated = model != NULL ? run_control_model(study, model, runner) : NULL;
    if (negated == NULL) {
        study_add_not_tested(
            study, "whether the %s reads its model: it does not run a control model with one output negated", role);
        return false;
    }
    if (!are_identical(study, outputs, negated, name) || !ignores_another_node(study, runner, outputs, output))
        return false;
    study_add_evidence(study,
                       "outputs for the model and for '%s', in which '%s' is negated, are equal bit for bit, and so "
                       "they are for a model with another operator there",
                       model, name);
    study_conclude(study, OUTCOME_NO_QUESTION,
                   "The %s ignores the model: its outputs are the same for a model in which '%s' is negated. Check "
                   "that its command loads {model}, or {engine}, and not an older file",
                   role, name);
    return true;
}

/* ---- Tensors of a runner ---- */

#define LARGEST_ROUNDING 0x1p-7                             /* of bfloat16, relative */
#define BEFORE_INSERTED "_polygraphy_surgeon_insert_output" /* what `surgeon insert` calls the tensor in front */

/* An Identity that makes `tensor` of `input`; NULL where it cannot be cut out. */
static const char *make_identity(struct study *study, const char *part, const char *tensor, const char *input)
{
    struct study_step *step = step_begin(study, "identity", study_text(study, "'%s' through an Identity", tensor));
    const char *whole = step_path(step, "inserted.onnx"), *ret;

    add_insertion(step, part, whole, "Identity", tensor);
    if (step_make(step, whole, NULL, NULL) == NULL)
        return NULL;
    step = step_begin(study, "identity", "The Identity alone");
    ret = step_path(step, "identity.onnx");
    step_add(step, "surgeon", "extract", whole, "-o", ret, "--load-inputs", study->layerwise, NULL);
    step_add_option(step, "--inputs", study_words(study, study_text(study, "%s:auto:auto", input), NULL));
    step_add_option(step, "--outputs", study_words(study, study_text(study, "%s:auto", tensor), NULL));
    return step_make(step, ret, NULL, NULL);
}

/* The reference's values of a tensor, under another name; NULL where they cannot be written so. */
static const char *rename_values(struct study *study, const char *tensor, const char *name)
{
    struct study_step *step = step_begin(study, "identity-data", "The reference's values for it");
    const char *array = step_path(step, "array.npy"), *ret = step_path(step, "data.json");

    step_add(step, "data", "to-input", study->layerwise, "-o", array, NULL);
    step_add_option(step, "--only", study_words(study, tensor, NULL));
    if (step_make(step, array, NULL, NULL) == NULL)
        return NULL;
    step = step_begin(study, "identity-data", "The same as its input");
    step_add(step, "data", "to-input", study_text(study, "%s:%s", name, array), "-o", ret, NULL);
    return step_make(step, ret, NULL, NULL);
}

/* The error that the suspect makes where an Identity alone makes a tensor of the reference's values; 0 where it returns
 * them, or that cannot be tested. */
static double error_of_identity(struct study *study, const char *part, const char *tensor)
{
    const char *input = study_text(study, "%s" BEFORE_INSERTED, tensor);
    const char *model = make_identity(study, part, tensor, input);
    const char *data = model != NULL ? rename_values(study, tensor, input) : NULL;
    struct failing_case subject = study_values_case(study, model, study->part_tolerance);
    struct study_step *step;

    if (data == NULL)
        return 0;
    subject.inputs = data;
    step = step_begin_suspect(study, &subject, "identity-suspect", "Does the suspect return it unchanged?");
    return step_try(step) == DIFFERS ? comparison_error(step) : 0;
}

bool study_suspect_returns_outputs(struct study *study, const struct bitset *nodes, const char *model)
{
    struct subgraph part SCOPED(subgraph_release) = {0};
    double error = 0;
    const char *tensor = NULL, *described;

    if (!study->settings->suspect_is_command || study_has_failed(study))
        return true;
    subgraph_init_nodes(&part, &study->graph, nodes);
    for (size_t i = 0; i < part.outputs.count && error == 0; i++) {
        tensor = tensor_label(study, part.outputs.items[i]);
        error = error_of_identity(study, model, tensor);
    }
    if (error == 0)
        return true;
    described = study_list(study, node_labels(study, nodes), (struct words){0});
    if (error < LARGEST_ROUNDING)
        study_add_note(
            study,
            "%s is wrong alone, but so is an Identity in its place: the suspect reads or writes '%s' with an "
            "error of %.2g of its largest magnitude, as a type of lower precision makes it. "
            "--runner-precision declares that",
            described, tensor, error);
    else
        study_add_note(study,
                       "%s is wrong alone, but so is an Identity in its place: the suspect reads or writes '%s' in "
                       "another layout. Check how its command writes tensors of that shape",
                       described, tensor);
    return false;
}

bool study_suspect_repeats_tensor(struct study *study, uint32_t value, const char *suspect_values)
{
    struct failing_case subject;
    struct study_step *step;
    const char *model;

    if (!study->settings->suspect_is_command)
        return true;
    model = study_extract_tensor(study, value);
    if (model == NULL)
        return true;
    subject = study->whole;
    subject.model = model;
    subject.golden = suspect_values;
    subject.tolerance = study->layer_tolerance;
    step = step_begin_suspect(study, &subject, "cut-suspect", "Does the suspect give the same as the only output?");
    step_add(step, "--nans-compare-equal", NULL); /* both sides are the suspect's */
    return step_try(step) != DIFFERS;
}
