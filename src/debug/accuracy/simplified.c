/* debug/accuracy/simplified.c: is it what somebody makes of the model? The reference's own optimizations are switched
 * off, ONNX Runtime is kept from products that saturate, and constants are folded beforehand.
 */
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/part.h"
#include "debug/accuracy/questions.h"
#include "debug/quantization/saturation.h"

#define LEVEL "--onnxrt-optimization-level"

/* ---- The reference's optimizations ---- */

static bool level_is_given(const struct accuracy_settings *settings)
{
    for (size_t i = 0; i < settings->reference.count; i++)
        if (strncmp(settings->reference.items[i], LEVEL, strlen(LEVEL)) == 0)
            return true;
    return false;
}

/* Ends a comparison with what the reference said first: the reference with one more option, whose outputs go to
 * `golden`. */
static int run_changed_reference(struct call *call, const char *const option[2], const char *golden,
                                 struct experiment **ret, struct error *err)
{
    int rc;

    call_add_words(call, call->investigation->settings->reference);
    call_add(call, option[0], option[1], "--save-outputs", golden, NULL);
    rc = call_judge(call, ret, err);
    if (rc == 0)
        (*ret)->checks = (*ret)->builds = 0; /* not of the suspect */
    return rc;
}

int accuracy_ask_optimizations(struct investigation *investigation, struct error *err)
{
    static const char *const option[] = {LEVEL, "none"};
    const struct accuracy_settings *settings = investigation->settings;
    struct failing_case plain = investigation->whole;
    struct cause *cause = &investigation->cause;
    struct experiment *experiment;
    struct call call;
    int rc;

    if (level_is_given(settings))
        return 0;
    investigation_begin_step(investigation, "Is it the reference's own optimizations?");
    plain.golden = investigation_path(investigation, "golden_plain.json");
    call_begin_comparison(&call, investigation, &investigation->whole, "plain-reference",
                          "The reference without its optimizations");
    rc = run_changed_reference(&call, option, plain.golden, &experiment, err);
    if (rc < 0 || experiment->agreement != DIFFERS)
        return rc;
    call_begin_comparison(&call, investigation, &plain, "plain", "The suspect against that");
    call_add_words(&call, settings->suspect);
    rc = call_judge(&call, &experiment, err);
    if (rc < 0)
        return rc;
    if (experiment->agreement != AGREES) {
        log_message(investigation->log, LOG_WARNING,
                    "The reference itself says something else without its optimizations, and the suspect agrees with "
                    "neither: what follows believes in it with them");
        return 0;
    }
    cause_add_proof(investigation, "without its optimizations (" LEVEL " none) the reference gives other outputs");
    cause_add_proof(investigation, "the suspect agrees with these");
    cause->kind = CAUSE_REFERENCE;
    cause->sentence = "the reference's own optimizations change its outputs; without them the suspect agrees with it";
    return 0;
}

/* ---- Products that saturate ---- */

static const char *const saturation_option[] = {"--session-config", SATURATION_SETTING};

/* Whether the model with the setting in the suspect agrees with the reference. */
static int ask_suspect_about_saturation(struct investigation *investigation, bool *ret, struct error *err)
{
    const struct words options = {.items = saturation_option, .count = ARRAY_LEN(saturation_option)};
    struct experiment *experiment;
    struct call call;
    int rc;

    call_begin_comparison(&call, investigation, &investigation->whole, "saturation",
                          "The suspect with " SATURATION_SETTING);
    call_add_words(&call, investigation->settings->suspect);
    call_add_words(&call, options);
    rc = call_judge(&call, &experiment, err);
    *ret = rc == 0 && experiment->agreement == AGREES;
    if (*ret) {
        cause_add_proof(investigation, "with " SATURATION_SETTING " the suspect agrees with the reference");
        investigation->cause.mend = (struct mend){.what = SATURATION_SETTING, .options = options};
    }
    return rc;
}

/* Whether the setting changes the outputs of the reference, and the suspect agrees with these. */
static int ask_reference_about_saturation(struct investigation *investigation, bool *ret, struct error *err)
{
    struct failing_case changed = investigation->whole;
    struct experiment *experiment;
    struct call call;
    int rc;

    *ret = false;
    changed.golden = investigation_path(investigation, "golden_unsaturated.json");
    call_begin_comparison(&call, investigation, &investigation->whole, "saturation-reference",
                          "The reference with " SATURATION_SETTING);
    rc = run_changed_reference(&call, saturation_option, changed.golden, &experiment, err);
    if (rc < 0 || experiment->agreement != DIFFERS)
        return rc;
    call_begin_comparison(&call, investigation, &changed, "saturation", "The suspect against that");
    call_add_words(&call, investigation->settings->suspect);
    rc = call_judge(&call, &experiment, err);
    *ret = rc == 0 && experiment->agreement == AGREES;
    if (*ret) {
        cause_add_proof(investigation, "with " SATURATION_SETTING " the reference gives other outputs");
        cause_add_proof(investigation, "the suspect agrees with these");
        investigation->cause.whole_agrees = true;
    }
    return rc;
}

int accuracy_ask_saturation(struct investigation *investigation, struct error *err)
{
    const struct accuracy_settings *settings = investigation->settings;
    struct model *model;
    bool is_possible, is_cause = false;
    int rc;

    if (!settings->products_saturate || (!settings->suspect_is_onnxrt && !settings->reference_is_onnxrt))
        return 0;
    rc = model_open(investigation->whole.model, NULL, &model, err);
    if (rc < 0)
        return rc;
    is_possible = saturation_is_possible(model);
    model_free(model);
    if (!is_possible)
        return 0;
    investigation_begin_step(investigation, "Do uint8 x int8 products saturate?");
    rc = settings->suspect_is_onnxrt ? ask_suspect_about_saturation(investigation, &is_cause, err)
                                     : ask_reference_about_saturation(investigation, &is_cause, err);
    if (is_cause) {
        investigation->cause.kind = CAUSE_SATURATION;
        investigation->cause.sentence = SATURATION_SENTENCE;
    }
    return rc;
}

/* ---- Constants ---- */

static int fold(struct investigation *investigation, const char **ret, struct error *err)
{
    const char *path = investigation_path(investigation, "folded.onnx");
    struct experiment *experiment;
    struct call call;
    int rc;

    *ret = NULL;
    call_begin(&call, investigation, "fold", "The model with its constants folded");
    call.has_result = false;
    call_add(&call, "surgeon", "sanitize", investigation->settings->model, "--fold-constants", "-o", path, NULL);
    call_add_words(&call, investigation->settings->loading);
    rc = call_run(&call, &experiment, err);
    if (rc == 0 && experiment->exit_status == 0)
        *ret = path;
    if (rc == 0)
        experiment->outcome = *ret != NULL ? "done" : "that is not possible";
    return rc;
}

/* The nodes that are left out of the folded model. */
static int find_folded(struct parts *parts, const char *path, struct bitset *ret, struct error *err)
{
    struct model *folded;
    int rc = model_open(path, NULL, &folded, err);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < parts->model->nodes.count; i++) {
        const struct node *node = &parts->model->nodes.items[i];
        bool is_left = false;

        for (size_t k = 0; !is_left && k < node->outputs.count; k++) {
            uint32_t value = model_edge(parts->model, node->outputs, k), other;

            if (value == VALUE_NONE)
                continue;
            other = model_find_tensor(folded, parts->model->values.items[value].name);
            is_left = other != VALUE_NONE && folded->values.items[other].producer != NODE_NONE;
        }
        if (!is_left)
            bitset_add(ret, i);
    }
    model_free(folded);
    return 0;
}

static void conclude_folding(struct parts *parts, const char *path, const struct bitset *nodes)
{
    struct cause *cause = &parts->investigation->cause;

    cause->mend = (struct mend){.what = "constants folded beforehand", .model = path};
    if (cause->kind != CAUSE_UNKNOWN)
        return;
    cause->kind = parts->investigation->refused ? CAUSE_REFUSED : CAUSE_PART;
    cause->nodes = parts_names(parts, nodes);
    cause->sentence =
        investigation_text(parts->investigation, "it fails because of nodes that can be folded into constants: %s",
                           parts_describe(parts, nodes));
    cause_add_proof(parts->investigation, "with nothing changed but these nodes being constants the suspect agrees");
}

static int try_folding(struct parts *parts, struct bitset *nodes, struct error *err)
{
    struct investigation *investigation = parts->investigation;
    struct failing_case subject = investigation->whole;
    struct experiment *experiment;
    enum agreement agreement;
    struct call call;
    int rc = fold(investigation, &subject.model, err);

    if (rc < 0 || subject.model == NULL)
        return rc;
    rc = find_folded(parts, subject.model, nodes, err);
    if (rc < 0)
        return rc;
    if (bitset_count(nodes) == 0) {
        log_message(investigation->log, LOG_INFO, "    There was nothing to fold");
        return 0;
    }
    call_begin_comparison(&call, investigation, &subject, "folded", "The suspect on that");
    call_add_words(&call, investigation->settings->suspect);
    rc = part_judge(&call, &experiment, &agreement, err);
    if (rc == 0 && agreement == AGREES)
        conclude_folding(parts, subject.model, nodes);
    return rc;
}

int accuracy_ask_simplified(struct investigation *investigation, struct error *err)
{
    struct parts parts;
    struct bitset nodes;
    int rc;

    investigation_begin_step(investigation, "Does a simpler model cure it?");
    rc = parts_open(&parts, investigation, err);
    if (rc < 0)
        return rc;
    bitset_init(&nodes, parts.model->nodes.count);
    rc = try_folding(&parts, &nodes, err);
    bitset_release(&nodes);
    parts_close(&parts);
    return rc;
}
