/* debug/accuracy/occurrence.c: does it fail, and how: always, by build, by run, never? */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "debug/accuracy/questions.h"

/* What the runs of one build said. */
struct runs {
    int64_t count, failed;
    bool refused;
};

/* A run is an iteration, and has failed when one of its outputs has. */
static int count_runs(struct investigation *investigation, struct experiment *experiment, int64_t times,
                      struct runs *ret, struct error *err)
{
    const json_t *comparisons = result_find(experiment->result.root, "comparisons");
    int64_t last = -1;
    bool *failed;
    size_t i;
    const json_t *item;

    json_array_foreach (comparisons, i, item) {
        int64_t iteration = (int64_t)result_number(experiment, item, "iteration", 0);

        last = iteration > last && iteration < INT32_MAX ? iteration : last;
    }
    if (last < 0 || (last + 1) % times != 0)
        return error_set(err, ERR_CORRUPT, "'%s' does not have %lld runs of the same data", experiment->name,
                         (long long)times);
    failed = memory_alloc_zero((size_t)times, sizeof(*failed));
    json_array_foreach (comparisons, i, item) {
        int64_t iteration = (int64_t)result_number(experiment, item, "iteration", 0);

        if (iteration >= 0 && iteration <= last && !json_is_true(result_find(item, "passed")))
            failed[iteration / ((last + 1) / times)] = true;
    }
    *ret = (struct runs){.count = times};
    for (int64_t k = 0; k < times; k++)
        ret->failed += failed[k];
    free(failed);
    experiment->checks = times;
    experiment->outcome =
        investigation_text(investigation, "%lld of %lld runs fail", (long long)ret->failed, (long long)ret->count);
    return 0;
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
    call_add_inputs(call, times);
    call_add(call, "--load-outputs", investigation->repeated_golden, NULL);
    call_add_words(call, investigation->whole.tolerance);
    rc = call_judge(call, &experiment, err);
    if (rc < 0)
        return rc;
    *ret = (struct runs){.count = times, .failed = times, .refused = experiment->agreement == REFUSES};
    return ret->refused ? 0 : count_runs(investigation, experiment, times, ret, err);
}

/* ---- What the builds say together ---- */

struct builds {
    struct runs runs;                       /* of all of them */
    int64_t passed, failed, mixed, refused; /* builds */
};

static void add_build(struct builds *builds, const struct runs *runs)
{
    builds->runs.count += runs->count;
    builds->runs.failed += runs->failed;
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

static void conclude_that_nothing_fails(struct investigation *investigation, const struct builds *builds)
{
    double runs = (double)builds->runs.count;

    /* With no failure in n runs, a rate above 1 - 0.05^(1/n) is excluded with 95 % confidence. */
    investigation_conclude(investigation, OUTCOME_NOTHING_FAILS,
                           "Nothing fails: %lld runs of %lld builds agree with the reference; a failure in more than "
                           "%.0f %% of runs would have been seen with 95 %% confidence",
                           (long long)builds->runs.count, (long long)builds->passed,
                           ceil(100 * (1 - pow(0.05, 1 / runs))));
}

int accuracy_ask_occurrence(struct investigation *investigation, struct error *err)
{
    static const char *const sentences[] = {[OCCURS_NEVER] = "It does not fail",
                                            [OCCURS_ALWAYS] = "It always fails",
                                            [OCCURS_BY_BUILD] = "Some builds fail, and others do not",
                                            [OCCURS_BY_RUN] = "Some runs fail, and others of the same build do not"};
    const struct accuracy_settings *settings = investigation->settings;
    struct builds builds = {0};
    struct call call;
    struct runs runs;

    investigation_begin_step(investigation, "Does it fail, and how?");
    for (int64_t i = 0; i <= settings->builds; i++) {
        bool is_last = i == settings->builds;
        int64_t times = is_last ? RUNS_OF_ONE_BUILD : settings->runs;
        int rc;

        if (is_last && builds.refused > 0)
            break;
        call_begin(&call, investigation, "build",
                   investigation_text(investigation, "Build %lld, %lld runs", (long long)i + 1, (long long)times));
        rc = build_and_run(investigation, &call, times, &runs, err);
        if (rc < 0)
            return rc;
        add_build(&builds, &runs);
    }
    if (builds.refused > 0) {
        investigation->refused = true;
        investigation->occurrence = builds.refused == settings->builds ? OCCURS_ALWAYS : OCCURS_BY_BUILD;
        log_message(investigation->log, LOG_INFO, "    The suspect does not run the model");
        return 0;
    }
    investigation->occurrence = occurrence_of(&builds);
    if (investigation->occurrence == OCCURS_NEVER && settings->suspect_is_builtin) {
        struct exploration exploration;
        int rc;

        /* Builds that choose among more tactics than the fastest show what those of one machine and one day do not. */
        rc = accuracy_explore(investigation, &investigation->whole, settings->explored_builds, &exploration, err);
        if (rc < 0)
            return rc;
        builds.passed += exploration.passed;
        builds.failed += exploration.failed;
        builds.runs.count += exploration.passed + exploration.failed;
        builds.runs.failed += exploration.failed;
        investigation->occurrence = occurrence_of(&builds);
    }
    investigation->failure_rate = (double)builds.runs.failed / (double)builds.runs.count;
    log_message(investigation->log, LOG_INFO, "    %s: %lld of %lld runs of %lld builds",
                sentences[investigation->occurrence], (long long)builds.runs.failed, (long long)builds.runs.count,
                (long long)(builds.passed + builds.failed + builds.mixed));
    if (investigation->occurrence == OCCURS_NEVER)
        conclude_that_nothing_fails(investigation, &builds);
    return 0;
}
