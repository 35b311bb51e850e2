/* comparator/compare/comparison.c: see comparison.h. */
#include "comparator/compare/comparison.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "comparator/compare/detections.h"
#include "comparator/compare/pair.h"

static struct log *comparison_log(const struct comparison *comparison)
{
    return comparison->settings->log;
}

static struct pair_names comparison_names(const struct comparison *comparison)
{
    return (struct pair_names){comparison->first->runner_name, comparison->second->runner_name};
}

static void report_lonely(const struct comparison *comparison, const struct lonely *lonely, const char *runner,
                          const char *other)
{
    if (lonely->count > 0)
        log_once(comparison_log(comparison), comparison->settings->require_all ? LOG_ERROR : LOG_WARNING,
                 "%zu output(s) of %s are not compared, because %s has no such output: [%s]", lonely->count, runner,
                 other, lonely->names.data);
}

/* With `require_all` outputs without a partner are mismatches, whatever the function. */
static void add_mismatches(struct comparison *comparison, const struct lonely *lonely)
{
    if (!comparison->settings->require_all || lonely->count == 0)
        return;
    ARRAY_EACH (struct string_builder, mismatched, comparison->mismatched, comparison->functions.count)
        string_add_format(mismatched, "%s%s", mismatched->size > 0 ? ", " : "", lonely->names.data);
    comparison->iteration_passed = false;
    comparison->is_complete = false;
}

static void close_iteration(struct comparison *comparison)
{
    if (!comparison->is_open)
        return;
    comparison->is_open = false;
    pairing_release(&comparison->pairing);
    for (size_t i = 0; i < comparison->functions.count; i++) {
        string_release(&comparison->compared[i]);
        string_release(&comparison->mismatched[i]);
    }
    string_release(&comparison->first_mismatch);
    log_lines_release(&comparison->statistics);
    log_indent(comparison_log(comparison), -1);
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

/* Iterations of one result that the other one lacks; or that there are none. */
static void report_surplus(const struct comparison *comparison)
{
    size_t first = comparison->sides[0].iterations, second = comparison->sides[1].iterations;
    enum log_level level = comparison->settings->require_all ? LOG_ERROR : LOG_WARNING;
    bool is_check = comparison->settings->strict; /* of a tool, which chooses the numbers itself */

    if (first == 0 && second == 0)
        log_message(comparison_log(comparison), level, "Nothing was compared: the results have no iterations");
    else if (first != second)
        log_message(comparison_log(comparison), is_check && level == LOG_WARNING ? LOG_INFO : level,
                    "The provided streams have different numbers of iterations. Only the first %zu iteration(s) -- "
                    "present in all 2 streams -- were compared; stream(s) at index [%d] ran out first.",
                    comparison->iterations, first > second);
}

void comparison_begin(struct comparison *comparison, const struct comparison_settings *settings,
                      struct compared_side first, struct compared_side second)
{
    size_t common = first.iterations < second.iterations ? first.iterations : second.iterations;

    *comparison = (struct comparison){.settings = settings,
                                      .sides = {first, second},
                                      .iterations = common,
                                      .functions = comparison_functions_or_default(&settings->functions)};
    comparison->passed = !settings->require_all || (first.iterations == second.iterations && common > 0);
    comparison->is_complete = comparison->passed;
    if (settings->strict && common == 0)
        refuse_comparison(comparison, "there is nothing to compare: no iteration has two results");
}

void comparison_log_heading(const struct comparison *comparison)
{
    log_message(comparison_log(comparison), LOG_START, "Accuracy Comparison | %s vs. %s", comparison->sides[0].name,
                comparison->sides[1].name);
}

void comparison_begin_iteration(struct comparison *comparison, size_t index, struct iteration_result *first,
                                struct iteration_result *second)
{
    struct pairing *pairing = &comparison->pairing;
    struct pair_names names;

    comparison->index = index;
    comparison->first = first;
    comparison->second = second;
    comparison->next = 0;
    comparison->has_detector = false;
    comparison->done_count++;
    comparison->compared_count = 0;
    log_message(comparison_log(comparison), LOG_START, "Iteration: %zu", index);
    log_indent(comparison_log(comparison), 1);
    pairing_init(pairing, &first->outputs, &second->outputs, comparison->settings->strict,
                 &comparison->settings->ignored);
    for (size_t i = 0; i < comparison->functions.count; i++) {
        string_init(&comparison->compared[i]);
        string_init(&comparison->mismatched[i]);
    }
    string_init(&comparison->first_mismatch);
    comparison->mismatched_count = 0;
    comparison->iteration_passed = true;
    comparison->is_open = true;
    names = comparison_names(comparison);
    if (pairing->count > 0) {
        report_lonely(comparison, &pairing->first_alone, names.first, names.second);
        report_lonely(comparison, &pairing->second_alone, names.second, names.first);
    }
    add_mismatches(comparison, &pairing->first_alone);
    add_mismatches(comparison, &pairing->second_alone);
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
    for (size_t i = 0; required && i < comparison->functions.count; i++)
        name_list_add(&comparison->mismatched[i], pair->first->name);
    comparison->iteration_passed &= !required;
    comparison->is_complete &= !required;
}

/* Keeps the mismatch of a pair by the function with this index, and how the first one looks. */
static void note_mismatch(struct comparison *comparison, size_t function, const struct output_pair *pair,
                          const struct compare_result *result)
{
    name_list_add(&comparison->mismatched[function], pair->first->name);
    comparison->iteration_passed = false;
    if (comparison->first_mismatch.size > 0)
        return;
    comparison->first_mismatch_at = comparison->next;
    pair_add_mismatch(pair, result, &comparison->first_mismatch);
}

/* Logs what the statistics of a pair say, when the iteration ends: its tensors may be released before that. */
static int keep_statistics(struct comparison *comparison, const struct output_pair *pair, struct error *err)
{
    struct pair_names names = comparison_names(comparison);
    struct log *log = comparison_log(comparison);
    int rc;

    if (!log_shows(log, LOG_INFO))
        return 0;
    log_keep(log, &comparison->statistics);
    rc = pair_log_statistics(log, pair, &names, err);
    log_keep(log, NULL);
    return rc;
}

/* Whether a function compares the next pair. */
static bool applies_to_next(const struct comparison *comparison, enum comparison_function function)
{
    if (function == COMPARISON_DETECTIONS)
        return detector_find_pair(&comparison->detector, comparison->next) != NULL;
    return comparison_function_applies(function, &comparison->pairing.items[comparison->next]);
}

/* Whether the next pair is an output of the detector whose verdict is given at the boxes. */
static bool belongs_to_boxes(const struct comparison *comparison, enum comparison_function function)
{
    const struct detector *detector = &comparison->detector;

    return function == COMPARISON_DETECTIONS && detector->outputs[detector->boxes].pair != comparison->next;
}

static int compare_next_by(const struct comparison *comparison, enum comparison_function function,
                           const struct comparison_criteria *criteria, struct compare_result *ret, struct error *err)
{
    const struct pairing *pairing = &comparison->pairing;
    struct log *log = comparison_log(comparison);

    return function == COMPARISON_DETECTIONS
               ? compare_detections(log, &comparison->detector, pairing, criteria, ret, err)
               : compare_pair(log, function, &pairing->items[comparison->next], criteria, ret, err);
}

static int compare_by_functions(struct comparison *comparison, const struct output_pair *pair, struct error *err)
{
    const struct comparison_settings *settings = comparison->settings;
    struct pair_names names = comparison_names(comparison);
    struct comparison_criteria criteria;
    bool passed = true, is_compared = false, is_judged = false;
    int rc = 0;

    comparison_rules_find(&settings->rules, pair->first->name, &criteria);
    for (size_t i = 0; i < comparison->functions.count && (passed || !settings->fail_fast); i++) {
        enum comparison_function function = comparison->functions.items[i];
        struct compare_result result = {0};

        if (!applies_to_next(comparison, function)) {
            log_once(settings->log, LOG_WARNING, "Output '%s' is not compared by %s, which needs %s", pair->first->name,
                     comparison_function_name(function), comparison_function_requirement(function));
            continue;
        }
        is_compared = true;
        name_list_add(&comparison->compared[i], pair->first->name);
        if (belongs_to_boxes(comparison, function))
            continue;
        is_judged = true;
        rc = compare_next_by(comparison, function, &criteria, &result, err);
        if (!result.passed)
            note_mismatch(comparison, i, pair, &result);
        passed &= result.passed;
        if (rc < 0)
            goto done;
        if (settings->on_compared != NULL)
            settings->on_compared(settings->on_compared_data,
                                  &(struct compared_outputs){function, names.first, names.second, comparison->index,
                                                             pair->first, pair->second, &criteria, &result});
    }
    comparison->compared_count += is_compared;
    if (settings->divergence != NULL && is_judged)
        first_divergence_add_verdict(settings->divergence, pair->first->name, passed);
    rc = keep_statistics(comparison, pair, err);
done:
    comparison->mismatched_count += !passed;
    return rc;
}

static int compare_next(struct comparison *comparison, struct error *err)
{
    const struct output_pair *pair = &comparison->pairing.items[comparison->next];

    if (are_strangers(pair)) {
        note_strangers(comparison, pair);
        return 0;
    }
    if (!output_pair_is_exact(pair))
        log_once(comparison_log(comparison), LOG_WARNING,
                 "%s has no output '%s'. Assuming that '%s' is its counterpart, because of its name or position",
                 comparison_names(comparison).second, pair->first->name, pair->second->name);
    return compare_by_functions(comparison, pair, err);
}

/* Finds the detector once all outputs are available; *ret_wait: they are not. */
static int find_detector(struct comparison *comparison, bool *ret_wait, struct error *err)
{
    const struct pairing *pairing = &comparison->pairing;

    *ret_wait = false;
    if (comparison->has_detector || !comparison_functions_contain(&comparison->functions, COMPARISON_DETECTIONS))
        return 0;
    ARRAY_EACH (const struct output_pair, pair, pairing->items, pairing->count)
        if (pair->first->tensor.data == NULL || pair->second->tensor.data == NULL) {
            *ret_wait = true;
            return 0;
        }
    comparison->has_detector = true;
    return detector_find(comparison_log(comparison), pairing, &comparison->settings->rules.detection_columns,
                         &comparison->detector, err);
}

int comparison_advance(struct comparison *comparison, struct error *err)
{
    bool waits;
    int rc = find_detector(comparison, &waits, err);

    if (waits)
        return 0;
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

/* One line for each function that applies to an output. */
static void log_verdicts(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->functions.count; i++) {
        enum comparison_function function = comparison->functions.items[i];
        const char *label = comparison_function_label(function);
        const struct string_builder *mismatched = &comparison->mismatched[i];

        if (comparison->compared[i].size + mismatched->size == 0 && comparison_function_requirement(function) != NULL)
            continue;
        if (mismatched->size == 0)
            log_message(comparison_log(comparison), LOG_FINISH, "PASSED | %s | All outputs matched | Outputs: [%s]",
                        label, comparison->compared[i].data);
        else
            log_message(comparison_log(comparison), LOG_ERROR, "FAILED | %s | Mismatched outputs: [%s]", label,
                        mismatched->data);
    }
}

void comparison_end_iteration(struct comparison *comparison)
{
    const struct pairing *pairing = &comparison->pairing;
    bool passed = comparison->iteration_passed;
    bool is_empty = pairing->first_alone.count + pairing->second_alone.count == 0;
    bool is_done = comparison->next == pairing->count; /* not stopped by a mismatch */

    if (comparison->compared_count == 0 && is_done && !is_empty)
        refuse_strangers(comparison);
    else if (comparison->compared_count == 0 && is_done && comparison->settings->ignored.count > 0)
        refuse_comparison(comparison, "--ignore-outputs leaves no output to compare");
    else if (comparison->compared_count == 0 && is_done && pairing->count > 0)
        refuse_comparison(comparison, "the comparison functions apply to no output: choose another one with --compare");
    else if (comparison->compared_count == 0 && is_done && comparison->settings->strict)
        refuse_comparison(comparison, "there is nothing to compare: neither result has an output");
    else
        log_verdicts(comparison);
    log_show_lines(comparison_log(comparison), &comparison->statistics);
    /* Skipped if it would repeat the last mismatch, with nothing in between. */
    if (comparison->mismatched_count > 0 &&
        (comparison->first_mismatch_at + 1 < comparison->next || comparison->statistics.count > 0))
        log_message(comparison_log(comparison), LOG_ERROR, "Mismatched: %zu of %zu outputs | The first one: %s",
                    comparison->mismatched_count, comparison->compared_count, comparison->first_mismatch.data);
    comparison->passed_count += passed;
    comparison->passed &= passed;
    close_iteration(comparison);
    if (comparison->settings->release)
        tensor_list_release(&comparison->first->outputs);
}

bool comparison_goes_on(const struct comparison *comparison)
{
    return comparison->refusal.code == 0 && (comparison->passed || !comparison->settings->fail_fast);
}

int comparison_end(struct comparison *comparison, bool *ret_passed, struct error *err)
{
    double rate = 100.0;

    *ret_passed = comparison->settings->average ? comparison->is_complete : comparison->passed;
    if (comparison->refusal.code != 0) {
        comparison_abandon(comparison);
        return error_set(err, ERR_INVALID, "%s", comparison->refusal.message);
    }

    if (comparison->done_count > 0)
        rate = 100.0 * (double)comparison->passed_count / (double)comparison->done_count;
    report_surplus(comparison);
    if (comparison->settings->average)
        return 0;
    log_message(comparison_log(comparison), comparison->passed ? LOG_FINISH : LOG_ERROR,
                "Accuracy Summary | %s vs. %s | Passed: %zu/%zu iterations | Pass Rate: %.2f%%",
                comparison->sides[0].name, comparison->sides[1].name, comparison->passed_count, comparison->done_count,
                rate);
    return 0;
}

void comparison_abandon(struct comparison *comparison)
{
    close_iteration(comparison);
}

static int compare_couple(const struct comparison_settings *settings, struct runner_results *first,
                          struct runner_results *second, bool *ret_passed, struct error *err)
{
    struct comparison comparison;
    bool passed = true;
    int rc = 0;

    comparison_begin(&comparison, settings, (struct compared_side){first->name, first->count},
                     (struct compared_side){second->name, second->count});
    comparison_log_heading(&comparison);
    for (size_t i = 0; i < comparison.iterations && rc == 0 && comparison_goes_on(&comparison); i++) {
        comparison_begin_iteration(&comparison, i, &first->items[i], &second->items[i]);
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
