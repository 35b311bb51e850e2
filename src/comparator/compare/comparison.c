/* comparator/compare/comparison.c: see comparison.h. */
#include "comparator/compare/comparison.h"

#include "base/interrupt.h"
#include "base/text/names.h"
#include "base/text/number.h"
#include "comparator/compare/pair.h"

static struct log *comparison_log(const struct comparison *comparison)
{
    return comparison->settings->log;
}

static struct pair_names comparison_names(const struct comparison *comparison)
{
    return (struct pair_names){comparison->first->items[comparison->index].runner_name,
                               comparison->second->items[comparison->index].runner_name};
}

static void report_lonely(const struct comparison *comparison, const struct lonely *lonely, const char *runner,
                          const char *other)
{
    if (lonely->count > 0)
        log_once(comparison_log(comparison), comparison->settings->require_all ? LOG_ERROR : LOG_WARNING,
                 "%zu output(s) of %s are not compared, because %s has no such output: [%s]", lonely->count, runner,
                 other, lonely->names.data);
}

/* With `require_all` outputs without a partner are mismatches. */
static void add_mismatches(struct comparison *comparison, const struct lonely *lonely)
{
    struct string_builder *mismatched = &comparison->mismatched;

    if (comparison->settings->require_all && lonely->count > 0)
        string_add_format(mismatched, "%s%s", mismatched->size > 0 ? ", " : "", lonely->names.data);
}

static void close_iteration(struct comparison *comparison)
{
    if (!comparison->is_open)
        return;
    comparison->is_open = false;
    pairing_release(&comparison->pairing);
    string_release(&comparison->compared);
    string_release(&comparison->mismatched);
    string_release(&comparison->first_mismatch);
    log_indent(comparison_log(comparison), -(comparison->iterations > 1));
}

/* Records the reason of a refusal, unless there is one already. */
static void refuse_comparison(struct comparison *comparison, const char *reason)
{
    if (comparison->refusal.code != 0)
        return;
    error_set(&comparison->refusal, ERR_INVALID, "%s", reason);
    if (comparison->iterations > 1)
        error_context(&comparison->refusal, "iteration %zu", comparison->index);
}

static void refuse_strangers(struct comparison *comparison)
{
    const struct pairing *pairing = &comparison->pairing;
    struct pair_names names = comparison_names(comparison);
    SCOPED_STRING(reason);

    string_add_format(&reason, "All outputs were skipped, no common outputs found! %s has [%s], %s has [%s]",
                      names.first, pairing->first_alone.names.data, names.second, pairing->second_alone.names.data);
    refuse_comparison(comparison, reason.data);
}

/* Returns false if surplus iterations count as mismatches. */
static bool report_surplus(const struct comparison *comparison)
{
    const struct runner_results *first = comparison->first, *second = comparison->second;

    if (first->count == second->count && comparison->iterations > 0)
        return true;
    log_message(comparison_log(comparison), comparison->settings->require_all ? LOG_ERROR : LOG_WARNING,
                "%s has %zu iteration(s) and %s has %zu: %zu of them are compared", first->name, first->count,
                second->name, second->count, comparison->iterations);
    return !comparison->settings->require_all;
}

void comparison_begin(struct comparison *comparison, const struct comparison_settings *settings,
                      struct runner_results *first, struct runner_results *second)
{
    *comparison = (struct comparison){.settings = settings,
                                      .first = first,
                                      .second = second,
                                      .iterations = first->count < second->count ? first->count : second->count};
    log_message(settings->log, LOG_START, "Accuracy Comparison | %s vs. %s", first->name, second->name);
    log_indent(settings->log, 1);
    comparison->passed = report_surplus(comparison);
    if (settings->strict && comparison->iterations == 0)
        refuse_comparison(comparison, "there is nothing to compare: no iteration has two results");
}

void comparison_begin_iteration(struct comparison *comparison, size_t index)
{
    struct pairing *pairing = &comparison->pairing;
    struct pair_names names;

    comparison->index = index;
    comparison->next = 0;
    comparison->done_count++;
    comparison->compared_count = 0;
    if (comparison->iterations > 1)
        log_message(comparison_log(comparison), LOG_START, "Iteration: %zu", index);
    log_indent(comparison_log(comparison), comparison->iterations > 1);
    pairing_init(pairing, &comparison->first->items[index].outputs, &comparison->second->items[index].outputs,
                 comparison->settings->strict);
    string_init(&comparison->compared);
    string_init(&comparison->mismatched);
    string_init(&comparison->first_mismatch);
    comparison->mismatched_count = 0;
    comparison->is_open = true;
    names = comparison_names(comparison);
    if (pairing->count > 0) {
        report_lonely(comparison, &pairing->first_alone, names.first, names.second);
        report_lonely(comparison, &pairing->second_alone, names.second, names.first);
    }
    add_mismatches(comparison, &pairing->first_alone);
    add_mismatches(comparison, &pairing->second_alone);
    comparison->iteration_passed = comparison->mismatched.size == 0;
}

static enum data_type find_type_kind(enum data_type type)
{
    return data_type_is_float(type) ? DATA_FLOAT32 : data_type_is_integer(type) ? DATA_INT64 : type;
}

/* Whether a pair guessed by position or similar name cannot correspond. */
static bool are_strangers(const struct output_pair *pair)
{
    return !output_pair_is_exact(pair) &&
           find_type_kind(pair->first->tensor.type) != find_type_kind(pair->second->tensor.type);
}

static void note_strangers(struct comparison *comparison, const struct output_pair *pair)
{
    bool required = comparison->settings->require_all;
    struct pair_names names = comparison_names(comparison);

    log_once(comparison_log(comparison), required ? LOG_ERROR : LOG_WARNING,
             "'%s' is not compared: %s has no such output, and '%s' cannot be meant, as it is %s, not %s",
             pair->first->name, names.second, pair->second->name, data_type_name(pair->second->tensor.type),
             data_type_name(pair->first->tensor.type));
    pairing_part(&comparison->pairing, pair);
    if (required)
        name_list_add(&comparison->mismatched, pair->first->name);
    comparison->iteration_passed &= !required;
}

static int compare_next(struct comparison *comparison, struct error *err)
{
    const struct comparison_settings *settings = comparison->settings;
    const struct output_pair *pair = &comparison->pairing.items[comparison->next];
    struct pair_names names = comparison_names(comparison);
    struct comparison_criteria criteria;
    struct compare_result result = {0};
    int rc;

    if (are_strangers(pair)) {
        note_strangers(comparison, pair);
        return 0;
    }
    comparison->compared_count++;
    if (!output_pair_is_exact(pair))
        log_once(settings->log, LOG_WARNING,
                 "%s has no output '%s'. Assuming that '%s' is its counterpart, because of its name or position",
                 names.second, pair->first->name, pair->second->name);
    comparison_rules_find(&settings->rules, pair->first->name, &criteria);
    rc = compare_pair(settings, pair, &names, &criteria, &result, err);
    name_list_add(&comparison->compared, pair->first->name);
    if (!result.passed) {
        name_list_add(&comparison->mismatched, pair->first->name);
        if (comparison->mismatched_count == 0) {
            comparison->first_mismatch_at = comparison->next;
            pair_add_mismatch(pair, &result, &comparison->first_mismatch);
        }
        comparison->mismatched_count++;
    }
    comparison->iteration_passed &= result.passed;
    if (rc == 0 && settings->divergence != NULL)
        first_divergence_add_verdict(settings->divergence, pair->first->name, result.passed);
    if (rc == 0 && settings->on_compared != NULL)
        settings->on_compared(settings->on_compared_data,
                              &(struct compared_outputs){settings->function, names.first, names.second,
                                                         comparison->index, pair->first, pair->second, &criteria,
                                                         &result});
    return rc;
}

int comparison_advance(struct comparison *comparison, struct error *err)
{
    int rc = 0;

    while (comparison->next < comparison->pairing.count && rc == 0) {
        const struct output_pair *pair = &comparison->pairing.items[comparison->next];

        if (!comparison->iteration_passed && comparison->settings->fail_fast)
            break;
        if (pair->first->tensor.data == NULL || pair->second->tensor.data == NULL)
            break;
        rc = interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted") : compare_next(comparison, err);
        comparison->next++;
    }
    return rc < 0 && comparison->iterations > 1 ? error_context(err, "iteration %zu", comparison->index) : rc;
}

bool comparison_awaits(const struct comparison *comparison, const struct named_tensor *output)
{
    if (!comparison->is_open || (!comparison->iteration_passed && comparison->settings->fail_fast))
        return false;
    for (size_t i = comparison->next; i < comparison->pairing.count; i++)
        if (comparison->pairing.items[i].first == output || comparison->pairing.items[i].second == output)
            return true;
    return false;
}

void comparison_end_iteration(struct comparison *comparison)
{
    const struct pairing *pairing = &comparison->pairing;
    bool passed = comparison->iteration_passed;
    bool is_empty = pairing->first_alone.count + pairing->second_alone.count == 0;
    bool is_done = comparison->next == pairing->count; /* not stopped by a mismatch */

    if (comparison->compared_count == 0 && is_done && !is_empty)
        refuse_strangers(comparison);
    else if (comparison->compared_count == 0 && is_done && comparison->settings->strict)
        refuse_comparison(comparison, "there is nothing to compare: neither result has an output");
    else if (passed)
        log_message(comparison_log(comparison), LOG_FINISH, "PASSED | All outputs matched | Outputs: [%s]",
                    comparison->compared.data);
    else
        log_message(comparison_log(comparison), LOG_ERROR, "FAILED | Mismatched outputs: [%s]",
                    comparison->mismatched.data);
    /* Skipped if it would repeat the last line. */
    if (comparison->mismatched_count > 0 && comparison->first_mismatch_at + 1 < comparison->next)
        log_message(comparison_log(comparison), LOG_ERROR, "Mismatched: %zu of %zu outputs | The first one: %s",
                    comparison->mismatched_count, comparison->compared_count, comparison->first_mismatch.data);
    comparison->passed_count += passed;
    comparison->passed &= passed;
    close_iteration(comparison);
    if (comparison->settings->release)
        tensor_list_release(&comparison->first->items[comparison->index].outputs);
}

bool comparison_goes_on(const struct comparison *comparison)
{
    return comparison->refusal.code == 0 && (comparison->passed || !comparison->settings->fail_fast);
}

int comparison_end(struct comparison *comparison, bool *ret_passed, struct error *err)
{
    double rate = 100.0;
    char text[NUMBER_TEXT_SIZE];

    *ret_passed = comparison->passed;
    if (comparison->refusal.code != 0) {
        comparison_abandon(comparison);
        return error_set(err, ERR_INVALID, "%s", comparison->refusal.message);
    }

    if (comparison->done_count > 0)
        rate = 100.0 * (double)comparison->passed_count / (double)comparison->done_count;
    log_indent(comparison_log(comparison), -1);
    log_message(comparison_log(comparison), comparison->passed ? LOG_FINISH : LOG_ERROR,
                "Accuracy Summary | %s vs. %s | Passed: %zu/%zu iterations | Pass Rate: %s%%", comparison->first->name,
                comparison->second->name, comparison->passed_count, comparison->done_count, number_to_text(rate, text));
    return 0;
}

void comparison_abandon(struct comparison *comparison)
{
    close_iteration(comparison);
    log_indent(comparison_log(comparison), -1);
}

static int compare_couple(const struct comparison_settings *settings, struct runner_results *first,
                          struct runner_results *second, bool *ret_passed, struct error *err)
{
    struct comparison comparison;
    bool passed = true;
    int rc = 0;

    comparison_begin(&comparison, settings, first, second);
    for (size_t i = 0; i < comparison.iterations && rc == 0 && comparison_goes_on(&comparison); i++) {
        comparison_begin_iteration(&comparison, i);
        rc = comparison_advance(&comparison, err);
        if (rc == 0)
            comparison_end_iteration(&comparison);
    }
    if (rc < 0)
        comparison_abandon(&comparison);
    else
        rc = comparison_end(&comparison, &passed, err);
    *ret_passed &= passed;
    return rc;
}

int comparison_run(struct run_results *results, const struct comparison_settings *settings, bool *ret_passed,
                   struct error *err)
{
    struct error ignored = {0};
    int rc, first = 0;

    *ret_passed = true;
    for (size_t i = 0; i + 1 < results->count && (*ret_passed || !settings->fail_fast); i++) {
        rc = compare_couple(settings, &results->items[i], &results->items[i + 1], ret_passed,
                            first == 0 ? err : &ignored);
        if (rc == ERR_INTERRUPTED)
            return error_set(err, ERR_INTERRUPTED, "interrupted");
        first = first == 0 ? rc : first;
    }
    return first;
}
