/* debug/accuracy/simplification.c: do transformations of the model cause it? The reference's own optimizations are
 * disabled, ONNX Runtime is kept from products that saturate, default values of inputs become constants, and constants
 * are folded beforehand.
 */
#include <string.h>

#include "base/text/names.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"
#include "debug/quantization/saturation.h"

#define LEVEL "--onnxrt-optimization-level"

/* ---- Another reference ---- */

/* A reference with one more option. */
struct changed_reference {
    const char *name, *why, *suspect_name; /* of the two experiments */
    struct words options;
    const char *golden; /* name of a file for its outputs */
    const char *with;   /* "with" or "without" what, for the evidence */
};

/* Whether the option changes the outputs of the reference (`*ret_changes`), and the suspect agrees with these. */
static bool change_reference(struct study *study, const struct changed_reference *changed, bool *ret_changes)
{
    struct failing_case other = study->whole;
    struct study_step *step = step_begin_control(study, &study->whole, changed->name, changed->why);

    other.golden = study_path(study, changed->golden);
    step_add_words(step, changed->options);
    step_add(step, "--save-outputs", other.golden, NULL);
    *ret_changes = step_judge(step) == DIFFERS;
    if (!*ret_changes)
        return false;
    step = step_begin_suspect(study, &other, changed->suspect_name, "The suspect against that");
    if (step_judge(step) != AGREES)
        return false;
    study_add_evidence(study, "%s the reference gives other outputs", changed->with);
    study_add_evidence(study, "the suspect agrees with these");
    return true;
}

/* The options of the reference without which it is right. */
static const char *remedy_of(struct study_step *step)
{
    const json_t *item;
    size_t i;

    json_array_foreach (result_find(step->result.root, "remedies"), i, item)
        if (strcmp(result_text(step, item, "form"), "polygraphy") == 0)
            return result_text(step, item, "line");
    return NULL;
}

/* `debug passes` names it. */
static void name_optimization(struct study *study)
{
    struct cause *cause = &study->cause;
    struct study_step *step = step_begin(study, "passes", "debug passes: which of the reference's optimizations it is");
    const char *remedy;
    struct words evidence;

    step->is_control = true;
    step->has_budget = true;
    step_add(step, "debug", "passes", study->settings->model, "-o", step_path(step, "rewritten"), NULL);
    step_add_words(step, study->settings->loading);
    step_add_words(step, study->settings->reference);
    step_add_inputs(step, study->whole.inputs, 1);
    step_add_words(step, study->whole.tolerance);
    step_run(step);
    if (study_has_failed(study))
        return;
    step->outcome = step->has_result ? step_text(step, "answer") : step->complaint;
    if (step->exit_status != 0 || strcmp(step_text(step, "outcome"), "found") != 0) {
        study_add_not_tested(study, "which of the reference's optimizations it is: debug passes does not find it%s%s",
                             step->outcome != NULL ? ": " : "", step->outcome != NULL ? step->outcome : "");
        return;
    }
    cause->nodes = result_words(step, result_find(step->result.root, "nodes_without"), "name");
    cause->sentence =
        study_text(study, "%s of the reference changes its outputs; without it the suspect agrees with the reference",
                   study_list(study, result_words(step, result_find(step->result.root, "off"), ""), (struct words){0}));
    evidence = result_words(step, result_find(step->result.root, "evidence"), "");
    for (size_t i = 0; i < evidence.count; i++)
        study_add_evidence(study, "debug passes: %s", evidence.items[i]);
    remedy = remedy_of(step);
    if (remedy != NULL)
        study_add_note(study, "the reference is right with %s", remedy);
}

void accuracy_test_optimizations(struct study *study)
{
    const struct changed_reference plain = {.name = "plain-reference",
                                            .why = "The reference without its optimizations",
                                            .suspect_name = "plain",
                                            .options = study_words(study, LEVEL, "none", NULL),
                                            .golden = "golden_plain.json",
                                            .with = "without its optimizations (" LEVEL " none)"};
    struct cause *cause = &study->cause;
    bool changes;

    if (change_reference(study, &plain, &changes)) {
        cause->kind = CAUSE_REFERENCE;
        cause->whole_agrees = true;
        cause->sentence =
            "the reference's own optimizations change its outputs; without them the suspect agrees with it";
        name_optimization(study);
    } else if (changes && !study_has_failed(study)) {
        log_message(study->log, LOG_WARNING,
                    "The reference has other outputs without its optimizations, and the suspect agrees with neither: "
                    "the reference with optimizations is used from here on");
    }
}

/* ---- Products that saturate ---- */

static bool test_saturating_suspect(struct study *study, struct words options)
{
    struct study_step *step =
        step_begin_suspect(study, &study->whole, "saturation", "The suspect with " SATURATION_SETTING);

    step_add_words(step, options);
    if (step_judge(step) != AGREES)
        return false;
    study_add_evidence(study, "with " SATURATION_SETTING " the suspect agrees with the reference");
    study->cause.fix = (struct cause_fix){.what = SATURATION_SETTING, .options = options};
    return true;
}

static bool test_saturating_reference(struct study *study, struct words options)
{
    const struct changed_reference unsaturated = {.name = "saturation-reference",
                                                  .why = "The reference with " SATURATION_SETTING,
                                                  .suspect_name = "saturation",
                                                  .options = options,
                                                  .golden = "golden_unsaturated.json",
                                                  .with = "with " SATURATION_SETTING};
    bool changes;

    return study->cause.whole_agrees = change_reference(study, &unsaturated, &changes);
}

static bool model_may_saturate(struct study *study)
{
    const struct accuracy_settings *settings = study->settings;
    struct model *model;
    bool ret;

    if (!settings->products_saturate || (!settings->suspect_is_onnxrt && !settings->reference_is_onnxrt) ||
        model_open(study->whole.model, study->settings->external_data_dir, &model, &study->error) < 0)
        return false;
    ret = saturation_is_possible(model);
    model_free(model);
    return ret;
}

void accuracy_test_saturation(struct study *study)
{
    const struct words options = study_words(study, "--session-config", SATURATION_SETTING, NULL);

    if (!model_may_saturate(study))
        return;
    study_begin_hypothesis(study, "Do uint8 x int8 products saturate?");
    if (study->settings->suspect_is_onnxrt ? test_saturating_suspect(study, options)
                                           : test_saturating_reference(study, options)) {
        study->cause.kind = CAUSE_SATURATION;
        study->cause.sentence = SATURATION_SENTENCE;
    }
}

/* ---- Constants ---- */

/* Makes a file in the folder by `surgeon sanitize`, which leaves out default values of inputs in any case; NULL where
 * that fails. */
static const char *make_sanitized_model(struct study *study, const char *file, struct study_step *step,
                                        const char *option)
{
    const char *path = study_path(study, file);

    step_add(step, "surgeon", "sanitize", study->settings->model, "-o", path, option, NULL);
    step_add_words(step, study->settings->loading);
    return step_make(step, path, "done", "that is not possible");
}

/* The nodes that are left out of the folded model. */
static void find_folded_nodes(struct study *study, const char *path, struct bitset *ret)
{
    const struct model *model = study->model;
    struct model *folded;

    if (model_open(path, NULL, &folded, &study->error) < 0)
        return;
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        bool is_left = false;

        for (size_t k = 0; !is_left && k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k), other;

            if (value == VALUE_NONE)
                continue;
            other = model_find_tensor(folded, model->values.items[value].name);
            is_left = other != VALUE_NONE && folded->values.items[other].producer != NODE_NONE;
        }
        if (!is_left)
            bitset_add(ret, i);
    }
    model_free(folded);
}

static void conclude_folding(struct study *study, const char *path, const struct bitset *nodes)
{
    struct cause *cause = &study->cause;

    cause->fix = (struct cause_fix){.what = "constants folded beforehand", .model = path};
    if (cause->kind != CAUSE_UNKNOWN)
        return;
    cause->kind = study->refused ? CAUSE_REFUSED : CAUSE_PART;
    cause->nodes = node_labels(study, nodes);
    cause->sentence = study_text(study, "it fails because of nodes that can be folded into constants: %s",
                                 describe_nodes(study, nodes));
    study_add_evidence(study, "the suspect agrees if these nodes are constants, with nothing else changed");
}

/* ---- Inputs with default values ---- */

static void conclude_default_inputs(struct study *study, const char *path)
{
    const struct model *model = study->model;
    struct cause *cause = &study->cause;
    SCOPED_STRING(names);
    SCOPED_BITSET(readers);
    struct short_list list = {.text = &names, .most = 5};

    bitset_init(&readers, model->nodes.count);
    for (size_t i = 0; i < model->default_inputs.count; i++) {
        uint32_t value = model->default_inputs.items[i];

        short_list_add(&list, arena_text(&study->arena, model->values.items[value].name));
        for (uint32_t k = 0; k < model->nodes.count; k++)
            for (size_t n = 0; n < model->nodes.items[k].inputs.count; n++)
                if (model_edge(model, model->nodes.items[k].inputs, n) == value)
                    bitset_add(&readers, k);
    }
    short_list_end(&list);
    cause->fix = (struct cause_fix){.what = "initializers that are not inputs as well", .model = path};
    if (cause->kind != CAUSE_UNKNOWN)
        return;
    cause->kind = study->refused ? CAUSE_REFUSED : CAUSE_PART;
    cause->nodes = node_labels(study, &readers);
    cause->sentence =
        study_text(study, "%s because of initializers that are inputs of the model as well (their default values): %s",
                   study->refused ? "the suspect does not run the model" : "it fails", names.data);
    study_add_evidence(study, "on the model in which these are initializers only the suspect agrees");
}

/* Whether the suspect agrees on the model with these as constants. */
static bool test_default_inputs(struct study *study)
{
    struct failing_case subject = study->whole;

    if (study->model->default_inputs.count == 0)
        return false;
    subject.model = make_sanitized_model(
        study, "constant_defaults.onnx",
        step_begin(study, "constant-defaults", "The model without default values of inputs"), NULL);
    if (subject.model == NULL ||
        step_try(step_begin_suspect(study, &subject, "constant-defaults-suspect", "The suspect on that")) != AGREES)
        return false;
    conclude_default_inputs(study, subject.model);
    return true;
}

void accuracy_test_folding(struct study *study)
{
    struct failing_case subject = study->whole;
    SCOPED_BITSET(nodes);

    if (!study_open_model(study))
        return;
    if (test_default_inputs(study))
        return;
    subject.model = make_sanitized_model(
        study, "folded.onnx", step_begin(study, "fold", "The model with its constants folded"), "--fold-constants");
    if (subject.model == NULL)
        return;
    bitset_init(&nodes, study->model->nodes.count);
    find_folded_nodes(study, subject.model, &nodes);
    if (bitset_count(&nodes) == 0)
        study_log(study, "There was nothing to fold");
    else if (step_try(step_begin_suspect(study, &subject, "folded", "The suspect on that")) == AGREES)
        conclude_folding(study, subject.model, &nodes);
}
