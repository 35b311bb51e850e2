/* comparator/infer/checks.c: see checks.h. */
#include "comparator/infer/checks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "comparator/compare/validation.h"

struct bad_outputs {
    size_t count;
    char *first; /* owned */
};

static struct log *validation_log(const struct iteration_checks *checks, size_t result)
{
    return log_sections_select(checks->sections, checks->section + result, 0);
}

static struct log *couple_log(const struct iteration_checks *checks, size_t couple)
{
    return log_sections_select(checks->sections, checks->section + checks->results->count + couple, 0);
}

void iteration_checks_begin(struct iteration_checks *checks, const size_t *iterations)
{
    const struct run_results *results = checks->results;

    checks->bad = memory_alloc_zero(results->count, sizeof(*checks->bad));
    checks->couple_count = results->count > 0 ? results->count - 1 : 0;
    checks->couples = memory_alloc_zero(checks->couple_count, sizeof(*checks->couples));
    for (size_t c = 0; c < checks->couple_count; c++)
        comparison_begin(&checks->couples[c], checks->settings,
                         (struct compared_side){results->items[c].name, iterations[c]},
                         (struct compared_side){results->items[c + 1].name, iterations[c + 1]});
}

void iteration_checks_release(struct iteration_checks *checks)
{
    for (size_t c = 0; c < checks->couple_count; c++)
        comparison_abandon(&checks->couples[c]);
    for (size_t r = 0; checks->bad != NULL && r <= checks->couple_count; r++)
        free(checks->bad[r].first);
    free(checks->couples);
    free(checks->bad);
    *checks = (struct iteration_checks){0};
}

/* Whether this iteration is compared: not after one that ended the comparison. */
static bool compares_iteration(const struct iteration_checks *checks, size_t couple, size_t iteration)
{
    if (iteration >= checks->couples[couple].iterations)
        return false;
    for (size_t c = 0; c <= couple; c++)
        if (!comparison_goes_on(&checks->couples[c]))
            return false;
    return true;
}

void iteration_checks_begin_iteration(struct iteration_checks *checks, size_t index)
{
    struct runner_results *results = checks->results->items;

    for (size_t c = 0; c < checks->couple_count; c++) {
        if (!compares_iteration(checks, c, index))
            continue;
        couple_log(checks, c);
        if (index == 0 || checks->couple_count > 1)
            comparison_log_heading(&checks->couples[c]);
        comparison_begin_iteration(&checks->couples[c], index, &results[c].items[0], &results[c + 1].items[0]);
    }
}

void iteration_checks_validate(struct iteration_checks *checks, size_t result, size_t index,
                               const struct named_tensor *output)
{
    const char *name = checks->results->items[result].name;
    const struct tensor *reference = validation_reference(checks->results, result, 0, output);
    struct bad_outputs *bad = &checks->bad[result];
    SCOPED_STRING(label);

    string_add_format(&label, "%-35s | Iteration %zu | ", name, index);
    if (checks->report != NULL)
        run_report_add_validation(checks->report, name, index, output);
    if (validation_output(label.data, output, reference, validation_log(checks, result)))
        return;
    checks->is_invalid = true;
    if (bad->count++ == 0)
        bad->first = memory_strdup(output->name);
    if (checks->settings->divergence != NULL)
        first_divergence_add_invalid(checks->settings->divergence, output->name);
}

int iteration_checks_advance(struct iteration_checks *checks, struct error *err)
{
    for (size_t c = 0; c < checks->couple_count; c++) {
        int rc = 0;

        couple_log(checks, c);
        if (checks->couples[c].is_open)
            rc = comparison_advance(&checks->couples[c], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

bool iteration_checks_await(const struct iteration_checks *checks, size_t result, const struct named_tensor *output)
{
    return (result < checks->couple_count && comparison_awaits(&checks->couples[result], output)) ||
           (result > 0 && comparison_awaits(&checks->couples[result - 1], output));
}

void iteration_checks_end_iteration(struct iteration_checks *checks)
{
    struct run_results *results = checks->results;

    for (size_t r = 0; r < results->count; r++) {
        struct bad_outputs *bad = &checks->bad[r];

        validation_log_runner(validation_log(checks, r), results->items[r].name, bad->count, bad->first);
        free(bad->first);
        *bad = (struct bad_outputs){0};
    }
    for (size_t c = 0; c < checks->couple_count; c++) {
        couple_log(checks, c);
        if (checks->couples[c].is_open)
            comparison_end_iteration(&checks->couples[c]);
    }
    for (size_t r = 0; r < results->count; r++)
        tensor_list_release(&results->items[r].items[0].outputs);
}

bool iteration_checks_end_run(const struct iteration_checks *checks, size_t index, struct log *log)
{
    if (checks->is_invalid && checks->settings->divergence == NULL) {
        log_message(log, LOG_CRITICAL,
                    "Output validation failed: iteration %zu contains invalid values (NaNs/Infs). See the errors "
                    "above.",
                    index);
        return true;
    }
    for (size_t c = 0; c < checks->couple_count; c++)
        if (!comparison_goes_on(&checks->couples[c]))
            return true;
    return false;
}

bool iteration_checks_passed(const struct iteration_checks *checks)
{
    bool passed = !checks->is_invalid;

    for (size_t c = 0; c < checks->couple_count; c++)
        passed &= checks->couples[c].passed;
    return passed;
}

int iteration_checks_end(struct iteration_checks *checks, bool *ret_passed, struct error *err)
{
    struct error ignored = {0};
    int first = 0;

    *ret_passed = !checks->is_invalid;
    for (size_t c = 0; c < checks->couple_count; c++) {
        bool passed = true;
        int rc;

        couple_log(checks, c);
        rc = comparison_end(&checks->couples[c], &passed, first == 0 ? err : &ignored);
        first = first == 0 ? rc : first;
        *ret_passed &= passed;
    }
    return first;
}
