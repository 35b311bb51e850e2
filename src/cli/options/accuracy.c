/* cli/options/accuracy.c: metrics of comparisons, kept or averaged. */
#include "cli/options/groups.h"

static const struct option options[] = {
    OPTION_ROW(struct accuracy_values, average, .names = {"--check-average"}, .yields = true, .kind = OPTION_FLAG,
               .help = "judge each output by its metrics averaged over all iterations, instead of each iteration"),
    OPTION_ROW(struct accuracy_values, path, .names = {"--save-accuracy-results"}, .yields = true, .kind = OPTION_ONE,
               .value_name = "FILE", .file = OPTION_WRITES, .extensions = "json",
               .help = "write the metrics and verdicts of all comparisons to this file, for `check accuracy`"),
};

const struct option_group metric_options = {
    .title = "Accuracy",
    OPTION_ROWS(options),
};

int accuracy_values_check(const struct accuracy_values *values, const struct comparison_values *comparison,
                          struct error *err)
{
    struct comparison_functions functions = comparison_functions_or_default(&comparison->settings.functions);
    struct comparison_criteria criteria;

    comparison_rules_find(&comparison->settings.rules, "", &criteria);
    for (size_t i = 0; i < functions.count; i++)
        if (comparison_function_requirement(functions.items[i]) != NULL && (values->average || values->path != NULL))
            return error_set(err, ERR_UNSUPPORTED,
                             "%s: Polygraphy's layout has no metric for --compare %s; save the results with --json",
                             values->path != NULL ? "--save-accuracy-results" : "--check-average",
                             comparison_function_name(functions.items[i]));
    if (!values->average)
        return 0;
    if (comparison->settings.fail_fast)
        return error_set(err, ERR_INVALID,
                         "--check-average cannot be combined with --fail-fast: it needs all iterations");
    if (comparison_functions_contain(&functions, COMPARISON_INDICES))
        return error_set(err, ERR_INVALID, "--check-average: --compare indices has no metric to average");
    if (comparison_functions_contain(&functions, COMPARISON_SIMPLE) && criteria.simple.statistic == COMPARE_ELEMWISE)
        return error_set(err, ERR_INVALID,
                         "--check-average is not supported with check_error_stat='elemwise' (the default). Specify "
                         "--check-error-stat max, mean, median, or quantile");
    return 0;
}
