/* debug/accuracy/failure.c: how often does it fail: always, by build, by run, never? What fails now and then is
 * repeated until a pass is not by chance.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/shell_line.h"
#include "debug/accuracy/hypotheses.h"
#include "format/tensorrt/layer_info.h"

/* Times as many builds as else, where all of them fail. */
#define BUILDS_TO_BE_SURE 3

#define RUNS_TO_MEASURE 30 /* a rate of 20 % is missed by one in 800 */
#define MOST_RUNS 150
#define MOST_DRAWS 30 /* which exclude a rate of 9.5 % */

/* ---- Rates ---- */

double rate_excluded(int64_t runs)
{
    return 1 - pow(0.05, 1 / (double)runs);
}

/* What is random in one comparison of the whole model: its build, or each of its runs. */
static int64_t draws_of_comparison(const struct study *study)
{
    return study->pattern == FAILS_BY_RUN ? RUNS_OF_ONE_BUILD : 1;
}

int64_t study_enough_comparisons(const struct study *study)
{
    double draws;

    if (study->pattern == FAILS_ALWAYS)
        return 1;
    /* (1 - rate)^draws <= 0.05, the inverse of rate_excluded() */
    draws = ceil(log(0.05) / log1p(-study->failure_rate));
    return (int64_t)ceil(fmax(1, fmin(draws, MOST_DRAWS)) / (double)draws_of_comparison(study));
}

bool study_is_sure(struct study *study, int64_t comparisons, const char **ret_text)
{
    int64_t draws = comparisons * draws_of_comparison(study);
    double excluded = rate_excluded(draws);

    *ret_text = "";
    if (study->pattern == FAILS_ALWAYS)
        return true;
    *ret_text = study_text(
        study,
        ", in all of %lld %s; a failure in more than %.2g %% of them would have been observed with 95 %% confidence",
        (long long)draws, study->pattern == FAILS_BY_RUN ? "runs" : "builds", 100 * excluded);
    return excluded <= study->failure_rate;
}

int64_t study_count_failed_runs(struct study_step *step, int64_t times)
{
    const json_t *comparisons = result_find(step->result.root, "comparisons");
    int64_t last = -1, count = 0;
    bool *failed;
    size_t i;
    const json_t *item;

    json_array_foreach (comparisons, i, item) {
        int64_t iteration = result_count(step, item, "iteration");

        last = iteration > last && iteration < INT32_MAX ? iteration : last;
    }
    if (last < 0 || (last + 1) % times != 0) {
        error_set(&step->study->error, ERR_CORRUPT, "'%s' does not have %lld runs of the same data", step->name,
                  (long long)times);
        return 0;
    }
    failed = memory_alloc_zero((size_t)times, sizeof(*failed));
    json_array_foreach (comparisons, i, item) {
        int64_t iteration = result_count(step, item, "iteration");

        if (iteration <= last && !json_is_true(result_find(item, "passed")))
            failed[iteration / ((last + 1) / times)] = true;
    }
    for (int64_t k = 0; k < times; k++)
        count += failed[k];
    free(failed);
    step->checks = times;
    step->outcome = study_text(step->study, "%lld of %lld runs fail", (long long)count, (long long)times);
    return count;
}

/* ---- Repeated runs ---- */

struct failing_case study_repeated_whole(const struct study *study)
{
    struct failing_case ret = study->whole;

    if (study->pattern != FAILS_BY_RUN)
        return ret;
    ret.golden = study->repeated_golden;
    ret.runs = RUNS_OF_ONE_BUILD;
    return ret;
}

void step_add_repeated_whole(struct study_step *step, int64_t times)
{
    const struct study *study = step->study;

    step_add_inputs(step, study->whole.inputs, times);
    step_add(step, "--load-outputs", study->repeated_golden, NULL);
    step_add_words(step, study->whole.tolerance);
}

/* Golden outputs for so many runs. */
static bool repeat_golden(struct study *study, struct failing_case *subject, int64_t runs)
{
    struct study_step *step = step_begin(
        study, "golden-repeated", study_text(study, "Golden outputs of the minimal case, %lld times", (long long)runs));

    subject->golden = study_path(study, "minimal_golden_repeated.json");
    subject->runs = runs;
    step_add(step, "run", subject->model, NULL);
    step_add_words(step, study->settings->reference);
    step_add_inputs(step, subject->inputs, runs);
    step_add(step, "--save-outputs", subject->golden, NULL);
    return step_require(step);
}

/* How many runs of it fail. */
static int64_t measure_minimal(struct study *study, const struct failing_case *subject)
{
    struct study_step *step =
        step_begin_suspect(study, subject, "minimal-repeated", "How often the minimal case fails");
    enum agreement agreement = step_judge(step);
    int64_t failed;

    if (agreement == UNKNOWN || agreement == REFUSES)
        return 0;
    failed = study_count_failed_runs(step, subject->runs);
    study_log(study, "    %s", step->outcome);
    return failed;
}

void study_repeat_minimal(struct study *study)
{
    struct failing_case subject = study->minimal;
    int64_t failed;
    double runs;

    if (!repeat_golden(study, &subject, RUNS_TO_MEASURE))
        return;
    failed = measure_minimal(study, &subject);
    if (failed == 0)
        return;
    study_add_evidence(study, "%lld of %lld runs of the minimal case fail, in one process with the same data",
                       (long long)failed, (long long)subject.runs);
    /* (1 - rate)^runs < 0.001 */
    runs = failed == subject.runs ? 1 : ceil(log(0.001) / log1p(-(double)failed / (double)subject.runs));
    if (runs <= (double)subject.runs || repeat_golden(study, &subject, (int64_t)fmin(MOST_RUNS, runs)))
        study->minimal = subject;
}

/* ---- Builds of the suspect ---- */

struct build_counts {
    int64_t builds;                         /* so many were begun */
    int64_t passed, failed, mixed, refused; /* builds */
    int64_t runs, failed_runs;
    double largest_error; /* relative to the largest magnitude of its output */
};

/* Infinite where an output failed without a numeric error, as with NaN on one side. */
static double largest_error_of(struct study_step *step)
{
    double ret = 0;
    size_t i;
    const json_t *item;

    json_array_foreach (result_find(step->result.root, "comparisons"), i, item)
        ret = fmax(ret, comparison_norm_error(step, item));
    return ret;
}

/* One more build, run with the same data `times` times. */
static void add_build(struct study *study, int64_t times, struct build_counts *counts)
{
    const char *why = study_text(study, "Build %lld, %lld runs", (long long)++counts->builds, (long long)times);
    struct study_step *step = step_begin_model(study, "build", why, study->settings->suspect);
    int64_t failed = times;

    if (study->settings->suspect_has_engine) {
        study->layers = step_path(step, "layers.json");
        step_add(step, "--save-layer-info", study->layers, NULL);
    }
    step_add_repeated_whole(step, times);
    if (study->suspect_outputs == NULL) {
        study->suspect_outputs = step_path(step, "outputs.json");
        step_add(step, "--save-outputs", study->suspect_outputs, NULL);
    }
    if (step_judge(step) == UNKNOWN)
        return;
    if (study_checks(study) == step->checks) /* the first one: the others say the same */
        for (size_t i = 0; i < step->warnings.count; i++)
            log_message(study->log, LOG_WARNING, "%s", step->warnings.items[i]);
    if (step->agreement != REFUSES) {
        counts->largest_error = fmax(counts->largest_error, largest_error_of(step));
        failed = study_count_failed_runs(step, times);
    }
    counts->runs += times;
    counts->failed_runs += failed;
    if (step->agreement == REFUSES)
        counts->refused++;
    else
        *(failed == 0 ? &counts->passed : failed == times ? &counts->failed : &counts->mixed) += 1;
}

static enum failure_pattern failure_pattern_of(const struct build_counts *counts)
{
    if (counts->mixed > 0)
        return FAILS_BY_RUN;
    if (counts->failed == 0)
        return FAILS_NEVER;
    return counts->passed > 0 ? FAILS_BY_BUILD : FAILS_ALWAYS;
}

/* Several builds, and one that is run more often. Where all of them fail, there are more: a tactic that every other
 * build has is now and then in all of the first few, and what holds for one build does not hold for the next then. */
static bool needs_another_build(const struct accuracy_settings *settings, const struct build_counts *counts)
{
    if (counts->builds < settings->builds)
        return true;
    if (counts->refused > 0)
        return false;
    return counts->builds == settings->builds ||
           (settings->suspect_is_builtin && failure_pattern_of(counts) == FAILS_ALWAYS &&
            counts->builds < BUILDS_TO_BE_SURE * settings->builds);
}

static bool has_type(const struct layer_info_tensors *tensors, enum data_type type)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (tensors->items[i].type == type)
            return true;
    return false;
}

/* A build with --fp16 whose layers all stay in float32 says nothing about float16. */
static void note_unused_precision(struct study *study)
{
    const char *precision = study->settings->precision;
    enum data_type type = data_type_parse(text_of(precision));
    struct layer_info info;
    struct error err;
    bool is_used = false;

    if (study->layers == NULL || (type != DATA_FLOAT16 && type != DATA_BFLOAT16))
        return;
    if (layer_info_open(&info, study->layers, &err) < 0) {
        study_add_not_tested(study, "whether a layer computes in %s: %s", precision, err.message);
        return;
    }
    for (size_t i = 0; i < info.layers.count && !is_used; i++)
        is_used = has_type(&info.layers.items[i].inputs, type) || has_type(&info.layers.items[i].outputs, type);
    if (!is_used)
        study_add_not_tested(study,
                             "%s: no layer of the engine reads or writes it. Nodes inside of If, Loop and Scan are "
                             "lowered in the model that `polygraphy surgeon sanitize --inline-bodies` makes",
                             precision);
    layer_info_release(&info);
}

/* Runs of one build say nothing of others. The error is not that of explored builds. */
static void conclude_that_nothing_fails(struct study *study, const struct build_counts *counts)
{
    const struct words *words = &study->whole.tolerance;
    SCOPED_STRING(tolerance);

    for (size_t i = 0; i < words->count; i++)
        shell_add_argument(&tolerance, words->items[i]);
    if (study->settings->tolerance.count > 0 && has_word(*words, "--norm-tolerance") && !has_word(*words, "--atol"))
        string_add(&tolerance, ", where an absolute difference of 1e-5 is tolerated, too (default of --atol)");
    study_conclude(study, OUTCOME_NOTHING_FAILS,
                   "Nothing fails: %lld runs of %lld builds agree with the reference by %s, with errors of up to %.2g "
                   "of an output's largest magnitude; a failure in more than %.0f %% of builds, or of the runs of "
                   "each, would have been observed with 95 %% confidence",
                   (long long)counts->runs, (long long)counts->passed, tolerance.data, counts->largest_error,
                   ceil(100 * rate_excluded(counts->passed)));
    note_unused_precision(study);
    study_note_unused_bodies(study);
    if (strcmp(study->settings->precision, format_float16.name) != 0)
        return;
    study_note_inner_sums(study, &format_float16);
    study_note_constants_beyond(study, &format_float16);
}

/* Builds that choose among more tactics than the fastest show what those of one machine and one day do not. */
static void add_explored_builds(struct study *study, struct build_counts *counts)
{
    struct tactic_exploration exploration =
        study_explore_tactics(study, &study->whole, study->settings->excluded, NULL);

    counts->passed += exploration.passed;
    counts->failed += exploration.failed;
    counts->runs += exploration.passed + exploration.failed;
    counts->failed_runs += exploration.failed;
}

void accuracy_test_failure(struct study *study)
{
    static const char *const sentences[] = {[FAILS_NEVER] = "The suspect does not fail",
                                            [FAILS_ALWAYS] = "The suspect always fails",
                                            [FAILS_BY_BUILD] = "Some builds fail, and others do not",
                                            [FAILS_BY_RUN] = "Some runs fail, and others of the same build do not"};
    const struct accuracy_settings *settings = study->settings;
    struct build_counts counts = {0};

    while (!study_has_failed(study) && needs_another_build(settings, &counts)) {
        add_build(study, counts.builds == settings->builds ? RUNS_OF_ONE_BUILD : settings->runs, &counts);
        if (counts.builds == 1 && counts.refused == 0 && settings->suspect_is_command &&
            study_runner_ignores_model(study, settings->suspect, study->suspect_outputs, "suspect"))
            return;
    }
    if (failure_pattern_of(&counts) == FAILS_NEVER && counts.refused == 0 && settings->suspect_is_builtin)
        add_explored_builds(study, &counts);
    if (study_has_failed(study))
        return;
    if (study->slice != NULL && (counts.refused > 0 || counts.failed + counts.mixed == 0)) {
        study_conclude(study, OUTCOME_NO_CAUSE,
                       "Not decided: %s. With that slice as an output of its own the suspect %s", study->slice,
                       counts.refused > 0 ? "does not run the model" : "agrees");
        return;
    }
    if (counts.refused > 0) {
        study->refused = true;
        study->pattern = counts.refused == settings->builds ? FAILS_ALWAYS : FAILS_BY_BUILD;
        study->failure_rate = (double)counts.refused / (double)counts.builds;
        study_log(study, "The suspect does not run the model");
        return;
    }
    study->pattern = failure_pattern_of(&counts);
    study->largest_error = counts.largest_error;
    study->failure_rate = study->pattern == FAILS_BY_BUILD
                              ? (double)counts.failed / (double)(counts.failed + counts.passed)
                              : (double)counts.failed_runs / (double)counts.runs;
    study_log(study, "%s: %lld of %lld runs of %lld builds", sentences[study->pattern], (long long)counts.failed_runs,
              (long long)counts.runs, (long long)(counts.passed + counts.failed + counts.mixed));
    if (study->pattern == FAILS_ALWAYS && study_outputs_are_exchanged(study))
        return;
    if (!study_compare_slices(study))
        return;
    if (study->pattern == FAILS_NEVER)
        conclude_that_nothing_fails(study, &counts);
}
