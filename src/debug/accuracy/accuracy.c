/* debug/accuracy/accuracy.c: the order of the hypotheses, and whether the answer holds. See accuracy.h. */
#include "debug/accuracy/accuracy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/command/resident.h"
#include "base/memory.h"
#include "base/process/fork_server.h"
#include "base/process/guard.h"
#include "base/system.h"
#include "debug/accuracy/folder.h"
#include "debug/accuracy/exact_value.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

#define LEAST_EXPLAINED 10   /* the suspect's error, divided by what the blamed nodes make of it, is less */
#define LEAST_FIXED_BUILDS 2 /* with the fix: one may pass by the tactics that it draws */

int accuracy_begin(const struct accuracy_settings *settings, struct log *log, struct study **ret, struct error *err)
{
    struct study *study = memory_alloc_zero(1, sizeof(*study));
    struct words runners;
    int rc;

    *study = (struct study){.settings = settings,
                            .question = settings,
                            .log = log,
                            .start = stopwatch_now(),
                            .lock = {.fd = -1},
                            .family_lock = -1,
                            .smallest_output = INFINITY,
                            .verdict = ""};
    arena_init(&study->arena);
    rc = accuracy_folder_open(study, err);
    if (rc < 0) {
        study_free(study);
        return rc;
    }
    process_guard_start();
    runners = study_add_words(study, settings->reference, settings->suspect);
    rc = command_host_start(runners, &study->host, err);
    if (rc < 0) {
        study_free(study);
        return rc;
    }
    study->server = fork_server_start(settings->self_main, settings->self_prepare, (void *)runners.items);
    *ret = study;
    return 0;
}

/* ---- Confirmation: the answer is tested again, each time in a fresh process ---- */

/* What the exact value says of the minimal case, where nothing was said of its nodes before: nodes that the reference
 * computes wrongly, or that only round otherwise, are not what the suspect computes wrongly. */
static void judge_minimal(struct study *study, const char *suspect_outputs)
{
    struct cause *cause = &study->cause;
    bool is_wrong = cause->kind == CAUSE_NODE || cause->kind == CAUSE_PART || cause->kind == CAUSE_FUSION;
    const char *described = study_list(study, cause->nodes, (struct words){0});
    struct exact_judgement judgement;

    study_judge(study, &study->minimal, suspect_outputs, &judgement);
    if (is_wrong || judgement.side != SIDE_NOT_KNOWN)
        study_add_judgement(study, is_wrong ? described : "the minimal case", &judgement);
    if (cause->kind == CAUSE_PART && judgement.side == SIDE_NOT_KNOWN)
        cause->sentence = study_text(study, "%s; which side is wrong is not known", cause->sentence);
    if (cause->kind == CAUSE_PART && judgement.side == SUSPECT_IS_WRONG && cause->small_error_node != NULL) {
        cause->sentence =
            study_text(study,
                       "'%s' is computed wrongly, by less than the tolerance of its own outputs: in '%s' "
                       "the error is %.2g of the largest magnitude, where rounding makes %.2g",
                       cause->small_error_node, judgement.output, judgement.suspect_error, judgement.suspect_rounding);
    } else if (is_wrong && judgement.side == REFERENCE_IS_WRONG) {
        cause->kind = CAUSE_REFERENCE;
        cause->fix = (struct cause_fix){0};
        cause->sentence = study_text(study,
                                     "the reference computes %s wrongly: its error is %.2g of the largest magnitude of "
                                     "the exact value, the suspect's %.2g",
                                     described, judgement.reference_error, judgement.suspect_error);
    } else if (is_wrong && judgement.side == BOTH_ROUND) {
        cause->kind = CAUSE_CONDITION;
        cause->sentence =
            study_text(study,
                       "neither side is wrong: the two round differently in %s, and the error grows beyond the "
                       "tolerance there or behind; rounding alone makes an error of %.2g of the largest "
                       "magnitude there",
                       described, judgement.reference_rounding);
    }
}

/* ---- A second pass ---- */

static bool has_same_words(struct words a, struct words b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (!has_word(b, a.items[i]))
            return false;
    return true;
}

/* The nodes are looked for once more, with other builds, as if nothing were known. False where the answer is another
 * one: then both are the answer. */
static bool repeat_search(struct study *study)
{
    const struct cause first = study->cause;
    const struct failing_case minimal = study->minimal;
    size_t before = study->steps.count;
    struct cause second;

    if (study->found_by != accuracy_test_layers)
        return true;
    if (study->settings->deadline > 0 || study->settings->max_checks > 0) {
        study_add_not_tested(study, "whether a second search finds the same: leave out --deadline and --max-checks");
        return true;
    }
    study->cause = (struct cause){0};
    accuracy_test_layers(study);
    second = study->cause;
    study->cause = first;
    study->minimal = minimal;
    free(second.evidence.items);
    if (study_has_failed(study))
        return true;
    /* The second search ends with the nodes; the first may have gone on to their kernel. */
    if ((second.kind == first.kind || first.kind == CAUSE_TACTIC) && has_same_words(second.nodes, first.nodes)) {
        study_add_evidence(study, "a second search, with other builds, finds the same (%zu experiments)",
                           study->steps.count - before);
        return true;
    }
    study_conclude(study, OUTCOME_NO_CAUSE,
                   "Not reproducible: a first search found: %s; a second one, with other builds, %s%s", first.sentence,
                   second.kind == CAUSE_UNKNOWN ? "found nothing" : "found: ",
                   second.kind == CAUSE_UNKNOWN ? "" : second.sentence);
    return false;
}

/* ---- Confirmation ---- */

/* The minimal case fails again. */
static bool confirm_minimal(struct study *study)
{
    struct study_step *step =
        step_begin_comparison(study, &study->minimal, "minimal", "The minimal case again, in a fresh process");
    enum cause_kind kind = study->cause.kind;
    const char *outputs = step_path(step, "outputs.json");

    step->is_fresh = true;
    step->is_control = kind == CAUSE_NAN;
    step_add_blamed_runner(step);
    step_add(step, "--save-outputs", outputs, NULL);
    if (step_judge(step) != (kind == CAUSE_REFUSED ? REFUSES : DIFFERS))
        return false;
    study_add_evidence(study, "the minimal case fails in a fresh process");
    if (kind != CAUSE_NAN && kind != CAUSE_REFUSED && !study->cause.is_judged)
        judge_minimal(study, outputs);
    return true;
}

/* Where the nodes to blame are wrong, and the network behind them fails by rounding alone, a note adds that. */
static void test_condition_behind(struct study *study)
{
    struct cause *cause = &study->cause;
    double error;
    SCOPED_BITSET(nodes);

    if ((cause->kind != CAUSE_NODE && cause->kind != CAUSE_PART) || study->pattern != FAILS_ALWAYS ||
        !study_make_values(study) || !study_open_model(study))
        return;
    bitset_init(&nodes, study->model->nodes.count);
    if (!find_labelled_nodes(study, cause->nodes, &nodes) || !study_is_ill_conditioned(study, &nodes, &error))
        return;
    study_add_note(
        study,
        "the network behind %s is ill-conditioned: one unit in the last place (float32) of what the reference "
        "makes there becomes %.2g of the largest magnitude of an output, beyond the tolerance",
        describe_nodes(study, &nodes), error);
}

/* What always failed fails in one more build, from a fresh process. False where it passes: then it is about as large as
 * the tolerance, or depends on what a build draws, and no experiment in between says anything for sure. */
static bool confirm_failure(struct study *study)
{
    struct study_step *step;

    if (study->pattern != FAILS_ALWAYS || study->cause.kind == CAUSE_NAN)
        return true;
    step = step_begin_suspect(study, &study->whole, "whole", "The whole model in another build");
    step->is_fresh = true;
    if (step_judge(step) == (study->refused ? REFUSES : DIFFERS) || study_has_failed(study)) {
        study->cause.whole_error = comparison_error(step);
        return true;
    }
    study_conclude(
        study, OUTCOME_NO_CAUSE,
        "Not reproducible: the whole model failed in all builds, and passes in one more of the same options; "
        "what was found before that: %s",
        study->cause.sentence);
    return false;
}

/* With the fix the whole model passes: not by chance, where it fails only now and then. */
static void confirm_fix(struct study *study)
{
    struct cause_fix *fix = &study->cause.fix;
    struct failing_case fixed = study_repeated_whole(study);
    int64_t builds = 0, least = study->settings->suspect_is_built ? LEAST_FIXED_BUILDS : 1;
    const char *how_sure;

    if (fix->model != NULL)
        fixed.model = fix->model;
    do {
        struct study_step *step =
            step_begin_suspect(study, &fixed, "fixed", study_text(study, "The whole model with %s", fix->what));

        step->is_fresh = true;
        step_add_words(step, fix->options);
        if (step_judge(step) != AGREES) {
            if (builds > 0 && !study_has_failed(study))
                study_add_note(study, "with %s the whole model passed in one build, and fails in another", fix->what);
            return;
        }
        fix->comparisons++;
        builds++;
    } while (fix->comparisons < study_enough_comparisons(study) || builds < least);
    fix->holds = study_is_sure(study, fix->comparisons, &how_sure);
    study_add_evidence(study, "with %s the whole model passes%s", fix->what, how_sure);
}

/* Nodes that are cut out of a pattern are not fused any more: the whole agrees without them although a wrong fusion
 * makes most of the error. Whether what the suspect makes in the nodes is enough for it. */
static bool explains_error(struct study *study)
{
    struct cause *cause = &study->cause;
    bool is_of_nodes = cause->kind == CAUSE_NODE || cause->kind == CAUSE_PART || cause->kind == CAUSE_FUSION ||
                       (cause->kind == CAUSE_REFERENCE && cause->nodes.count > 0);

    if (is_of_nodes && study->pattern == FAILS_ALWAYS && !study->refused &&
        (cause->explained_error == 0 || !isfinite(cause->whole_error)))
        study_add_not_tested(study, "whether the whole error is made there: a wrong fusion with other nodes would "
                                    "disappear, too, where the model is cut");
    if (cause->explained_error == 0 || !isfinite(cause->whole_error) ||
        cause->explained_error * LEAST_EXPLAINED > cause->whole_error)
        return true;
    cause->sentence =
        study_text(study,
                   "%s; but that makes an error of %.2g of the largest magnitude of an output, and the two sides "
                   "differ by %.2g: something else is wrong, such as a fusion of these nodes with others",
                   cause->sentence, cause->explained_error, cause->whole_error);
    return false;
}

static void confirm_cause(struct study *study)
{
    struct cause *cause = &study->cause;
    bool fails;

    study_begin_hypothesis(study, "Is the answer reproducible?");
    study->runs_anew = true;
    if (!confirm_failure(study) || !repeat_search(study))
        return;
    if (study->pattern == FAILS_BY_RUN && study->minimal.model != NULL && study->minimal.runs == 0)
        study_repeat_minimal(study);
    fails = study->minimal.model == NULL || confirm_minimal(study);
    test_condition_behind(study);
    if (cause->fix.what != NULL)
        confirm_fix(study);
    if (study_has_failed(study))
        return;
    cause->proven =
        fails && explains_error(study) && cause->evidence.count > 0 && (cause->fix.holds || cause->whole_agrees);
    if (cause->proven)
        study_conclude(study, OUTCOME_CAUSE, "Cause: %s", cause->sentence);
    else
        study_conclude(study, OUTCOME_NO_CAUSE, "Not proven: %s", cause->sentence);
}

/* ---- The hypotheses ---- */

static bool applies_always(const struct study *study)
{
    (void)study;
    return true;
}

static bool reference_is_invalid(const struct study *study)
{
    return study->reference_is_invalid;
}

/* What is measured in one run holds for all of them. */
static bool always_fails(const struct study *study)
{
    return study->pattern == FAILS_ALWAYS && !study->refused;
}

static bool reference_is_optimized(const struct study *study)
{
    const char *const level = "--onnxrt-optimization-level";
    const struct words *reference = &study->settings->reference;
    bool is_given = false;

    for (size_t i = 0; i < reference->count; i++)
        is_given |= strncmp(reference->items[i], level, strlen(level)) == 0;
    return always_fails(study) && study->settings->reference_is_onnxrt && !is_given;
}

static bool is_decoder_in_steps(const struct study *study)
{
    return study->settings->steps.count > 0;
}

/* What does not even run has no lower precision to be wrong in, and a race does not depend on rounding. */
static bool fails_in_lower_precision(const struct study *study)
{
    return study->settings->suspect_in_float.count > 0 && !study->refused && study->pattern != FAILS_BY_RUN;
}

static bool builds_differ_in_lower_precision(const struct study *study)
{
    return study->pattern == FAILS_BY_BUILD && fails_in_lower_precision(study);
}

static bool builds_differ(const struct study *study)
{
    return study->pattern == FAILS_BY_BUILD && !study->refused && study->settings->suspect_is_builtin;
}

static bool outputs_cure(const struct study *study)
{
    return study->outputs_cure;
}

/* Nodes were blamed, and the built-in engine may have other kernels for them. */
static bool nodes_are_blamed(const struct study *study)
{
    enum cause_kind kind = study->cause.kind;

    return (kind == CAUSE_NODE || kind == CAUSE_PART || kind == CAUSE_RACE) && study->minimal.model != NULL &&
           study->settings->suspect_is_builtin;
}

/* A simpler model may do without what was found, or was not. */
static bool lacks_a_fix(const struct study *study)
{
    enum cause_kind kind = study->cause.kind;

    return study->pattern == FAILS_ALWAYS && study->cause.fix.what == NULL &&
           (kind == CAUSE_UNKNOWN || kind == CAUSE_NODE || kind == CAUSE_PART || kind == CAUSE_REFUSED);
}

struct hypothesis {
    const char *title; /* NULL: it logs that itself, if it applies at all */
    bool (*applies)(const struct study *study);
    void (*test)(struct study *study);
    bool is_about_cause; /* tested of a cause that was found, too; the others only until there is one */
    bool is_run_anew;    /* a resumed session does not reuse its experiments: verdicts depend on them */
};

/* The flowchart. One that ends the study is the last one. */
static const struct hypothesis hypotheses[] = {
    {"In which step of the decoder does a difference enter?", is_decoder_in_steps, accuracy_test_steps, false, true},
    {"Are the reference and the check valid?", applies_always, accuracy_test_soundness, false, true},
    {"Which node produces NaN or infinities?", reference_is_invalid, accuracy_test_nan, false, false},
    {"Does the suspect fail, and how often?", applies_always, accuracy_test_failure, false, true},
    {NULL, always_fails, accuracy_test_saturation, false, false},
    {"Do the reference's optimizations cause it?", reference_is_optimized, accuracy_test_optimizations, false, false},
    {"Does the lower precision cause it?", builds_differ_in_lower_precision, accuracy_test_range, false, false},
    {"Which tactic causes it?", builds_differ, accuracy_test_tactics, false, false},
    {"Does the lower precision cause it?", fails_in_lower_precision, accuracy_test_precision, false, false},
    {"Which nodes cause it?", always_fails, accuracy_test_layers, false, false},
    {"With all tensors as outputs it agrees: which fusion causes it?", outputs_cure, accuracy_test_fusion, false,
     false},
    {"What is the smallest failing subgraph?", applies_always, accuracy_test_reduction, false, false},
    {"Which kernel causes it?", nodes_are_blamed, accuracy_test_kernel, true, false},
    {"Does a simpler model fix it?", lacks_a_fix, accuracy_test_folding, true, false},
    {"Is the network ill-conditioned?", always_fails, accuracy_test_condition, false, false},
};

static void test_hypotheses(struct study *study)
{
    enum cause_kind kind;

    for (size_t i = 0; i < ARRAY_LEN(hypotheses) && study->outcome == OUTCOME_OPEN && !study_has_failed(study); i++) {
        const struct hypothesis *hypothesis = &hypotheses[i];

        if ((study->cause.kind != CAUSE_UNKNOWN && !hypothesis->is_about_cause) || !hypothesis->applies(study))
            continue;
        study->runs_anew = hypothesis->is_run_anew;
        if (hypothesis->title != NULL)
            study_begin_hypothesis(study, hypothesis->title);
        kind = study->cause.kind;
        hypothesis->test(study);
        if (study->cause.kind != CAUSE_UNKNOWN && kind == CAUSE_UNKNOWN)
            study->found_by = hypothesis->test;
        if (study->begins_anew)
            i = SIZE_MAX; /* the first one is next */
        study->begins_anew = false;
    }
    if (study->outcome != OUTCOME_OPEN || study_has_failed(study))
        return;
    if (study->cause.kind != CAUSE_UNKNOWN)
        confirm_cause(study);
    else
        study_conclude(study, OUTCOME_NO_CAUSE,
                       study->refused ? "The suspect does not run the model, and no cause was found"
                                      : "It fails, and no cause was found");
}

/* ---- Bodies ---- */

/* The answer about the original again, with all experiments. */
static void restore_answer(struct study *study, const struct study *before)
{
    struct study now = *study;

    study_close_model(study);
    free(study->cause.evidence.items);
    free(study->not_tested.items);
    *study = *before;
    study->arena = now.arena;
    study->steps = now.steps;
    study->inputs = now.inputs;
    study->error = now.error;
    study->out_of_budget = now.out_of_budget;
    study->hypothesis = now.hypothesis;
    study->notes = now.notes;
    study->notes.count = before->notes.count;
    study->model = NULL;
}

/* An answer that ends at a node with a body is not replaced by a weaker one about the nodes of the body. */
static void test_bodies(struct study *study)
{
    struct study outer = *study;

    if (study->outcome != OUTCOME_CAUSE && study->outcome != OUTCOME_NO_CAUSE)
        return;
    if (!study_enter_bodies(study))
        return;
    outer.not_tested = study->not_tested;
    study->not_tested = (struct word_list){0};
    test_hypotheses(study);
    if (study->outcome == OUTCOME_CAUSE ||
        (outer.outcome != OUTCOME_CAUSE && study->cause.kind != CAUSE_UNKNOWN && !study_has_failed(study))) {
        free(outer.cause.evidence.items);
        free(outer.not_tested.items);
        return;
    }
    restore_answer(study, &outer);
    study_add_not_tested(study, "which node inside of the bodies it is: no cause was found with them inlined "
                                "(inlined.onnx)");
    if (study->out_of_budget) {
        study->out_of_budget = false;
        study->error = (struct error){0};
    }
}

int accuracy_run(struct study *study, struct error *err)
{
    int rc;

    test_hypotheses(study);
    test_bodies(study);
    rc = study->error.code;
    if (rc == 0)
        return 0;
    *err = study->error;
    study->error = (struct error){0};
    if (rc == ERR_INTERRUPTED)
        study_conclude(study, OUTCOME_NO_CAUSE, "Interrupted: the results so far are incomplete");
    if (study->out_of_budget) {
        study_conclude(study, OUTCOME_NO_CAUSE,
                       "Budget exhausted (--deadline, --max-checks): the results so far are incomplete");
        return 0;
    }
    /* An experiment that cannot be run is no reason to lose what the others have shown. */
    if (rc != ERR_INTERRUPTED && rc != ERR_IO && study->steps.count > 0) {
        study_conclude(study, OUTCOME_NO_CAUSE, "It cannot go on: %s", err->message);
        return 0;
    }
    return rc;
}
