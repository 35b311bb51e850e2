/* debug/accuracy/occurrence.c: does it fail, and how: always, by build, by run, never? */
#include <math.h>

#include "base/text/shell_line.h"
#include "debug/accuracy/exploration.h"
#include "debug/accuracy/questions.h"
#include "debug/accuracy/repetition.h"

/* Times as many builds as else, where all of them fail. */
#define BUILDS_TO_BE_SURE 3

/* What the runs of one build said. */
struct runs {
    int64_t count, failed;
    bool refused;
    double largest_error; /* relative to the largest magnitude of its output */
};

/* Infinite where an output failed that has no error in numbers, as with NaN on one side. */
static double largest_error(struct experiment *experiment)
{
    double ret = 0;
    size_t i;
    const json_t *item;

    json_array_foreach (result_find(experiment->result.root, "comparisons"), i, item) {
        double error = result_number(experiment, item, "differences/norm_error", NAN);

        if (isnan(error))
            error = json_is_true(result_find(item, "passed")) ? 0 : INFINITY;
        ret = fmax(ret, error);
    }
    return ret;
}

/* One build, run with the same data `times` times. */
static int build_and_run(struct investigation *investigation, struct call *call, int64_t times, struct runs *ret,
                         struct error *err)
{
    const struct accuracy_settings *settings = investigation->settings;
    struct experiment *experiment;
    int rc;

    call_add(call, "run", settings->model, NULL);
    call_add_words(call, settings->loading);
    call_add_words(call, settings->suspect);
    if (settings->suspect_has_engine) {
        investigation->layers = investigation_text(investigation, "%s/layers.json", call_folder(call));
        call_add(call, "--save-layer-info", investigation->layers, NULL);
    }
    call_add_inputs(call, times);
    call_add(call, "--load-outputs", investigation->repeated_golden, NULL);
    call_add_words(call, investigation->whole.tolerance);
    rc = call_judge(call, &experiment, err);
    if (rc < 0)
        return rc;
    if (investigation_checks(investigation) == experiment->checks) /* the first one: the others say the same */
        for (size_t i = 0; i < experiment->warnings.count; i++)
            log_message(investigation->log, LOG_WARNING, "%s", experiment->warnings.items[i]);
    *ret = (struct runs){.count = times, .failed = times, .refused = experiment->agreement == REFUSES};
    if (!ret->refused)
        ret->largest_error = largest_error(experiment);
    return ret->refused ? 0 : accuracy_count_failed_runs(investigation, experiment, times, &ret->failed, err);
}

/* ---- What the builds say together ---- */

struct builds {
    int64_t count;
    struct runs runs;                       /* of all of them */
    int64_t passed, failed, mixed, refused; /* builds */
};

static void add_build(struct builds *builds, const struct runs *runs)
{
    builds->runs.count += runs->count;
    builds->runs.failed += runs->failed;
    builds->runs.largest_error = fmax(builds->runs.largest_error, runs->largest_error);
    if (runs->refused)
        builds->refused++;
    else if (runs->failed == 0)
        builds->passed++;
    else if (runs->failed == runs->count)
        builds->failed++;
    else
        builds->mixed++;
}

static enum occurrence occurrence_of(const struct builds *builds)
{
    if (builds->mixed > 0)
        return OCCURS_BY_RUN;
    if (builds->failed == 0)
        return OCCURS_NEVER;
    return builds->passed > 0 ? OCCURS_BY_BUILD : OCCURS_ALWAYS;
}

/* One more, run `times` times. */
static int add_next_build(struct investigation *investigation, int64_t times, struct builds *builds, struct error *err)
{
    struct call call;
    struct runs runs;
    int rc;

    call_begin(
        &call, investigation, "build",
        investigation_text(investigation, "Build %lld, %lld runs", (long long)++builds->count, (long long)times));
    rc = build_and_run(investigation, &call, times, &runs, err);
    if (rc == 0)
        add_build(builds, &runs);
    return rc;
}

/* Several builds, and one that is run more often. Where all of them fail, there are more: a tactic that every other
 * build has is now and then in all of the first few, and what is seen of one build does not hold for the next then. */
static bool needs_another(const struct accuracy_settings *settings, const struct builds *builds)
{
    if (builds->count < settings->builds)
        return true;
    if (builds->refused > 0)
        return false;
    return builds->count == settings->builds ||
           (settings->suspect_is_builtin && occurrence_of(builds) == OCCURS_ALWAYS &&
            builds->count < BUILDS_TO_BE_SURE * settings->builds);
}

static int add_builds(struct investigation *investigation, struct builds *builds, struct error *err)
{
    const struct accuracy_settings *settings = investigation->settings;

    while (needs_another(settings, builds)) {
        int64_t times = builds->count == settings->builds ? RUNS_OF_ONE_BUILD : settings->runs;
        int rc = add_next_build(investigation, times, builds, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Runs of one build say nothing of others. The error is not that of builds that were explored. */
static void conclude_that_nothing_fails(struct investigation *investigation, const struct builds *builds)
{
    const struct words *words = &investigation->whole.tolerance;
    struct string_builder tolerance;

    string_init(&tolerance);
    for (size_t i = 0; i < words->count; i++)
        shell_add_argument(&tolerance, words->items[i]);
    investigation_conclude(investigation, OUTCOME_NOTHING_FAILS,
                           "Nothing fails: %lld runs of %lld builds agree with the reference by %s, with errors of up "
                           "to %.2g of an output's largest magnitude; what fails in more than %.0f %% of builds, or of "
                           "the runs of each, would have been seen with 95 %% confidence",
                           (long long)builds->runs.count, (long long)builds->passed, tolerance.data,
                           builds->runs.largest_error, ceil(100 * accuracy_rate_excluded(builds->passed)));
    string_release(&tolerance);
}

int accuracy_ask_occurrence(struct investigation *investigation, struct error *err)
{
    static const char *const sentences[] = {[OCCURS_NEVER] = "It does not fail",
                                            [OCCURS_ALWAYS] = "It always fails",
                                            [OCCURS_BY_BUILD] = "Some builds fail, and others do not",
                                            [OCCURS_BY_RUN] = "Some runs fail, and others of the same build do not"};
    const struct accuracy_settings *settings = investigation->settings;
    struct builds builds = {0};
    int rc;

    investigation_begin_step(investigation, "Does it fail, and how?");
    rc = add_builds(investigation, &builds, err);
    if (rc < 0)
        return rc;
    if (builds.refused > 0) {
        investigation->refused = true;
        investigation->occurrence = builds.refused == settings->builds ? OCCURS_ALWAYS : OCCURS_BY_BUILD;
        investigation->failure_rate = (double)builds.refused / (double)builds.count;
        log_message(investigation->log, LOG_INFO, "    The suspect does not run the model");
        return 0;
    }
    investigation->occurrence = occurrence_of(&builds);
    if (investigation->occurrence == OCCURS_NEVER && settings->suspect_is_builtin) {
        struct exploration exploration = {
            .subject = &investigation->whole, .excluded = settings->excluded, .builds = settings->explored_builds};

        /* Builds that choose among more tactics than the fastest show what those of one machine and one day do not. */
        rc = accuracy_explore(investigation, &exploration, err);
        if (rc < 0)
            return rc;
        builds.passed += exploration.passed;
        builds.failed += exploration.failed;
        builds.runs.count += exploration.passed + exploration.failed;
        builds.runs.failed += exploration.failed;
        investigation->occurrence = occurrence_of(&builds);
    }
    investigation->largest_error = builds.runs.largest_error;
    investigation->failure_rate = investigation->occurrence == OCCURS_BY_BUILD
                                      ? (double)builds.failed / (double)(builds.failed + builds.passed)
                                      : (double)builds.runs.failed / (double)builds.runs.count;
    log_message(investigation->log, LOG_INFO, "    %s: %lld of %lld runs of %lld builds",
                sentences[investigation->occurrence], (long long)builds.runs.failed, (long long)builds.runs.count,
                (long long)(builds.passed + builds.failed + builds.mixed));
    if (investigation->occurrence == OCCURS_NEVER)
        conclude_that_nothing_fails(investigation, &builds);
    return 0;
}
