/* debug/accuracy/repetition.c: see repetition.h. */
#include "debug/accuracy/repetition.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define RUNS_TO_MEASURE 30 /* a rate of 20 % is missed by one in 800 */
#define MOST_RUNS 150
#define MOST_DRAWS 30 /* which exclude a rate of 9.5 % */

double accuracy_rate_excluded(int64_t runs)
{
    return 1 - pow(0.05, 1 / (double)runs);
}

int accuracy_count_failed_runs(struct investigation *investigation, struct experiment *experiment, int64_t times,
                               int64_t *ret_failed, struct error *err)
{
    const json_t *comparisons = result_find(experiment->result.root, "comparisons");
    int64_t last = -1, count = 0;
    bool *failed;
    size_t i;
    const json_t *item;

    json_array_foreach (comparisons, i, item) {
        int64_t iteration = result_count(experiment, item, "iteration");

        last = iteration > last && iteration < INT32_MAX ? iteration : last;
    }
    if (last < 0 || (last + 1) % times != 0)
        return error_set(err, ERR_CORRUPT, "'%s' does not have %lld runs of the same data", experiment->name,
                         (long long)times);
    failed = memory_alloc_zero((size_t)times, sizeof(*failed));
    json_array_foreach (comparisons, i, item) {
        int64_t iteration = result_count(experiment, item, "iteration");

        if (iteration <= last && !json_is_true(result_find(item, "passed")))
            failed[iteration / ((last + 1) / times)] = true;
    }
    for (int64_t k = 0; k < times; k++)
        count += failed[k];
    free(failed);
    experiment->checks = times;
    experiment->outcome =
        investigation_text(investigation, "%lld of %lld runs fail", (long long)count, (long long)times);
    *ret_failed = count;
    return 0;
}

/* What is drawn anew in one comparison of the whole model: its build, or each of its runs. */
static int64_t draws_of_a_comparison(const struct investigation *investigation)
{
    return investigation->occurrence == OCCURS_BY_RUN ? RUNS_OF_ONE_BUILD : 1;
}

int64_t accuracy_enough_comparisons(const struct investigation *investigation)
{
    double draws;

    if (investigation->occurrence == OCCURS_ALWAYS)
        return 1;
    /* (1 - rate)^draws <= 0.05, which accuracy_rate_excluded() turns round */
    draws = ceil(log(0.05) / log1p(-investigation->failure_rate));
    return (int64_t)ceil(fmax(1, fmin(draws, MOST_DRAWS)) / (double)draws_of_a_comparison(investigation));
}

bool accuracy_how_sure(struct investigation *investigation, int64_t comparisons, const char **ret_text)
{
    int64_t draws = comparisons * draws_of_a_comparison(investigation);
    double excluded = accuracy_rate_excluded(draws);

    *ret_text = "";
    if (investigation->occurrence == OCCURS_ALWAYS)
        return true;
    *ret_text = investigation_text(investigation,
                                   ", in all of %lld %s; a failure in more than %.2g %% of them would have been seen "
                                   "with 95 %% confidence",
                                   (long long)draws, investigation->occurrence == OCCURS_BY_RUN ? "runs" : "builds",
                                   100 * excluded);
    return excluded <= investigation->failure_rate;
}

struct failing_case accuracy_repeated_whole(const struct investigation *investigation)
{
    struct failing_case ret = investigation->whole;

    if (investigation->occurrence != OCCURS_BY_RUN)
        return ret;
    ret.golden = investigation->repeated_golden;
    ret.runs = RUNS_OF_ONE_BUILD;
    return ret;
}

/* Golden outputs for so many runs. */
static int repeat_golden(struct investigation *investigation, struct failing_case *subject, int64_t runs,
                         struct error *err)
{
    struct experiment *experiment;
    struct call call;

    subject->golden = investigation_path(investigation, "minimal_golden_repeated.json");
    subject->runs = runs;
    call_begin(&call, investigation, "golden-repeated",
               investigation_text(investigation, "Golden outputs of the minimal case, %lld times", (long long)runs));
    call_add(&call, "run", subject->model, NULL);
    call_add_words(&call, investigation->settings->reference);
    call_add(&call, "--load-inputs", NULL);
    for (int64_t i = 0; i < runs; i++)
        call_add(&call, subject->inputs, NULL);
    call_add(&call, "--save-outputs", subject->golden, NULL);
    return call_succeed(&call, &experiment, err);
}

static int measure(struct investigation *investigation, const struct failing_case *subject, int64_t *ret_failed,
                   struct error *err)
{
    struct experiment *experiment;
    struct call call;
    int rc;

    call_begin_comparison(&call, investigation, subject, "minimal-repeated", "How often the minimal case fails");
    call_add_words(&call, investigation->settings->suspect);
    rc = call_judge(&call, &experiment, err);
    if (rc < 0 || experiment->agreement == REFUSES)
        return rc;
    rc = accuracy_count_failed_runs(investigation, experiment, subject->runs, ret_failed, err);
    if (rc == 0)
        log_message(investigation->log, LOG_INFO, "        %s", experiment->outcome);
    return rc;
}

int accuracy_repeat_minimal(struct investigation *investigation, struct error *err)
{
    struct failing_case subject = investigation->minimal;
    int64_t failed = 0;
    double runs;
    int rc = repeat_golden(investigation, &subject, RUNS_TO_MEASURE, err);

    if (rc == 0)
        rc = measure(investigation, &subject, &failed, err);
    if (rc < 0 || failed == 0)
        return rc;
    cause_add_proof(investigation, "%lld of %lld runs of the minimal case fail, in one process with the same data",
                    (long long)failed, (long long)subject.runs);
    /* (1 - rate)^runs < 0.001 */
    runs = failed == subject.runs ? 1 : ceil(log(0.001) / log1p(-(double)failed / (double)subject.runs));
    if (runs > (double)subject.runs)
        rc = repeat_golden(investigation, &subject, (int64_t)fmin(MOST_RUNS, runs), err);
    if (rc == 0)
        investigation->minimal = subject;
    return rc;
}
