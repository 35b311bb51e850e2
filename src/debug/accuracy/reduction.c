/* debug/accuracy/reduction.c: what is the smallest part that fails? */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/intervention.h"
#include "debug/accuracy/questions.h"
#include "debug/accuracy/repetition.h"
#include "debug/accuracy/values.h"

#define MOST_RUNS_OF_A_CHECK 100

/* Parts are compared by the tolerance for layers where the whole model fails by it, too: that of the user may be made
 * for the scale of the outputs alone. */
static int choose_tolerance(struct investigation *investigation, struct words *ret, struct error *err)
{
    struct failing_case strict = investigation->whole;
    struct experiment *experiment;
    struct call call;
    int rc;

    *ret = investigation->whole.tolerance;
    if (investigation->refused || investigation->settings->tolerance.count == 0)
        return 0;
    strict.tolerance = investigation->layer_tolerance;
    call_begin_comparison(&call, investigation, &strict, "tolerance", "Does it fail by the tolerance for layers, too?");
    call_add_words(&call, investigation->settings->suspect);
    rc = call_judge(&call, &experiment, err);
    if (rc == 0 && experiment->agreement == DIFFERS)
        *ret = investigation->layer_tolerance;
    return rc;
}

/* How often a check runs its candidate: where some runs fail, so often that half of the rate that was seen would be
 * missed by one check of ten thousand. A single check that is wrong leads the search anywhere. */
static int64_t runs_of_a_check(const struct investigation *investigation)
{
    double runs;

    if (investigation->occurrence != OCCURS_BY_RUN)
        return 1;
    runs = ceil(log(1e-4) / log1p(-investigation->failure_rate / 2));
    return (int64_t)fmax(RUNS_OF_ONE_BUILD, fmin(runs, MOST_RUNS_OF_A_CHECK));
}

static int reduce(struct investigation *investigation, struct words tolerance, const char *output,
                  struct experiment **ret, struct error *err)
{
    const struct accuracy_settings *settings = investigation->settings;
    /* Golden values would be ONNX Runtime's, and are those of a single run. */
    bool runs_reference = !settings->reference_is_onnxrt || investigation->occurrence == OCCURS_BY_RUN;
    const char *folder, *candidate, *inputs, *golden;
    struct call call;

    call_begin(&call, investigation, "reduce", "The smallest part that fails");
    folder = call_folder(&call);
    call.replay = investigation_text(investigation, "%s/replay.json", folder);
    candidate = investigation_text(investigation, "%s/candidate.onnx", folder);
    inputs = investigation_text(investigation, "%s/inputs.json", folder);
    golden = investigation_text(investigation, "%s/golden.json", folder);
    call_add(&call, "debug", "reduce", settings->model, "-o", output, "--mode", "minimal", "--load-inputs",
             investigation->layerwise, "--iter-artifact", candidate, "--iter-inputs", inputs, "--save-debug-replay",
             call.replay, "--check-timeout", "auto", "--hide-fail-output", NULL);
    call_add_words(&call, settings->loading);
    call_add_budget(&call);
    if (investigation->occurrence == OCCURS_BY_BUILD)
        call_add(&call, "--flaky", NULL);
    if (investigation->occurrence == OCCURS_BY_RUN) /* a check of many runs seldom passes what is wrong */
        call_add(&call, "--flaky", "--no-false-failures", NULL);
    if (!runs_reference)
        call_add(&call, "--iter-golden", golden, NULL);
    call_add(&call, "--check", "polygraphy", "run", candidate, NULL);
    if (runs_reference)
        call_add_words(&call, settings->reference);
    call_add_words(&call, settings->suspect);
    call_add(&call, "--load-inputs", NULL);
    for (int64_t i = 0; i < runs_of_a_check(investigation); i++)
        call_add(&call, inputs, NULL);
    if (!runs_reference)
        call_add(&call, "--load-outputs", golden, NULL);
    call_add_words(&call, tolerance);
    return call_run(&call, ret, err);
}

/* The names of its nodes, and a sentence about them. */
static void take_nodes(struct investigation *investigation, struct experiment *experiment)
{
    const json_t *nodes = result_find(experiment->result.root, "nodes"), *node;
    struct cause *cause = &investigation->cause;
    struct call names, operators;
    const char *described;
    size_t i;

    call_begin_words(&names, investigation);
    call_begin_words(&operators, investigation);
    json_array_foreach (nodes, i, node) {
        call_add(&names, result_text(experiment, node, "name"), NULL);
        call_add(&operators, result_text(experiment, node, "op_type"), NULL);
    }
    cause->nodes = call_keep(&names);
    described = investigation_list(investigation, cause->nodes, call_keep(&operators));
    cause->kind = cause->nodes.count == 1 ? CAUSE_NODE : CAUSE_PART;
    if (investigation->refused)
        cause->kind = CAUSE_REFUSED;
    else if (investigation->occurrence == OCCURS_BY_RUN)
        cause->kind = CAUSE_RACE;
    cause->sentence =
        cause->kind == CAUSE_REFUSED ? investigation_text(investigation, "the suspect does not run %s", described)
        : cause->kind == CAUSE_RACE
            ? investigation_text(investigation, "%s: computed otherwise from run to run", described)
        : cause->kind == CAUSE_NODE
            ? investigation_text(investigation, "%s is computed wrongly", described)
            : investigation_text(investigation, "%s fail together, none of them without the others", described);
}

/* The nodes of the cause in the model; false unless each name is that of one node. */
static bool find_nodes(struct parts *parts, struct words names, struct bitset *ret)
{
    for (size_t k = 0; k < names.count; k++) {
        size_t found = 0;

        for (uint32_t i = 0; i < parts->model->nodes.count; i++)
            if (strcmp(model_node_label(parts->model, i), names.items[k]) == 0) {
                bitset_add(ret, i);
                found++;
            }
        if (found != 1)
            return false;
    }
    return true;
}

/* What fails alone need not be why the whole model fails: that has to agree once these nodes are right. */
static int replace(struct investigation *investigation, struct error *err)
{
    struct cause *cause = &investigation->cause;
    const char *makes = cause->nodes.count == 1 ? "it makes" : "they make", *model, *how_sure;
    enum agreement agreement;
    struct bitset nodes = {0};
    struct parts parts;
    int rc = parts_open(&parts, investigation, err);

    if (rc < 0)
        return rc;
    bitset_init(&nodes, parts.model->nodes.count);
    if (!find_nodes(&parts, cause->nodes, &nodes))
        goto done;
    rc = intervention_replace(&parts, &nodes, NULL, &model, &agreement, err);
    if (rc < 0)
        goto done;
    if (investigation->refused) {
        cause->whole_agrees = agreement != REFUSES;
    } else if (agreement == AGREES && model == NULL) {
        cause->whole_agrees = true;
        cause_add_proof(investigation, "%s all outputs of the model", makes);
    } else if (agreement == AGREES) {
        cause->whole_agrees = accuracy_how_sure(investigation, accuracy_enough_comparisons(investigation), &how_sure);
        cause_add_proof(investigation, "with the reference's values for what %s the whole model agrees%s", makes,
                        how_sure);
    } else if (agreement == DIFFERS)
        log_message(investigation->log, LOG_INFO, "    The whole model fails without them, too: there is more");
done:
    bitset_release(&nodes);
    parts_close(&parts);
    return rc;
}

int accuracy_ask_reduction(struct investigation *investigation, struct error *err)
{
    const char *output = investigation_path(investigation, "minimal.onnx");
    struct experiment *experiment;
    struct words tolerance;
    int64_t checks;
    int rc;

    investigation_begin_step(investigation, "What is the smallest part that fails?");
    rc = choose_tolerance(investigation, &tolerance, err);
    if (rc < 0)
        return rc;
    rc = accuracy_make_values(investigation, err);
    if (rc < 0)
        return rc;
    rc = reduce(investigation, tolerance, output, &experiment, err);
    if (rc < 0)
        return rc;
    checks = result_count(experiment, experiment->result.root, "failed") +
             result_count(experiment, experiment->result.root, "passed") +
             result_count(experiment, experiment->result.root, "skipped");
    experiment->checks = checks * runs_of_a_check(investigation);
    experiment->builds = investigation->settings->suspect_is_built ? checks : 0;
    if (experiment->exit_status != 0 || !experiment->has_result ||
        strcmp(result_text(experiment, experiment->result.root, "outcome"), "reduced") != 0) {
        experiment->outcome = experiment->complaint != NULL ? experiment->complaint : "nothing smaller was found";
        log_message(investigation->log, LOG_INFO, "    %s", experiment->outcome);
        return 0;
    }
    take_nodes(investigation, experiment);
    experiment->outcome = investigation_text(investigation, "%.0f nodes became %zu",
                                             result_number(experiment, experiment->result.root, "original_nodes", 0),
                                             investigation->cause.nodes.count);
    if (json_is_true(result_find(experiment->result.root, "one_minimal")))
        cause_add_proof(investigation,
                        investigation->cause.nodes.count == 1
                            ? "it fails alone, and parts of the model without it pass (%lld checks)"
                            : "without any one of them the others pass (%lld checks)",
                        (long long)checks);
    rc = accuracy_make_case(investigation, output, "minimal", &investigation->minimal, err);
    investigation->minimal.tolerance = tolerance;
    return rc < 0 ? rc : replace(investigation, err);
}
