/* cli/check_accuracy.c: `check accuracy`: saved metrics against other thresholds. */
#include "cli/commands.h"
#include "cli/options/groups.h"
#include "comparator/compare/accuracy.h"

struct check_accuracy_settings {
    struct common_settings common;
    struct comparison_values comparison;
    struct accuracy_values accuracy;
    const char *path;
};

static const struct option options[] = {
    OPTION_ROW(struct check_accuracy_settings, path, .names = {"path"}, .kind = OPTION_ONE, .value_name = "FILE",
               .file = OPTION_READS, .extensions = "json",
               .help = "metrics that `run --save-accuracy-results` has saved"),
};

static const struct option_group check_accuracy_options = {
    .title = "Saved metrics",
    OPTION_ROWS(options),
};

/* The options of a comparison that need outputs: metrics were computed without them, or with others. */
static const char *const without_effect[] = {"--load-outputs",
                                             "--validate",
                                             "--first-divergence",
                                             "--require-all",
                                             "--postprocess",
                                             "--save-heatmaps",
                                             "--save-error-metrics-plot",
                                             "--norm-tolerance",
                                             "--error-quantile",
                                             "--infinities-compare-equal",
                                             "--nans-compare-equal",
                                             "--index-tolerance",
                                             NULL};

static int judge_results(const struct command_context *context, const struct check_accuracy_settings *settings,
                         struct accuracy_results *results, bool *ret_passed, struct error *err)
{
    const struct comparison_settings *comparison = &settings->comparison.settings;
    bool is_chosen = parse_given(context->parse, "--compare") != NULL;
    struct comparison_functions functions = is_chosen ? comparison_functions_or_default(&comparison->functions)
                                                      : comparison_functions_of_options(context->parse);
    int rc;

    if (accuracy_count_outputs(results) == 0)
        return error_set(err, ERR_MISSING, "'%s' contains no results: nothing was compared", settings->path);
    rc = accuracy_results_judge_again(results, &functions, &comparison->rules, err);
    if (rc < 0)
        return rc;
    if (is_chosen)
        accuracy_results_keep(results, &functions, context->log);
    for (size_t r = 0; r < results->count; r++)
        results->items[r].average |= settings->accuracy.average;
    return accuracy_results_log(results, context->log, ret_passed, err);
}

static int check_accuracy_run(const struct command_context *context, const struct check_accuracy_settings *settings,
                              struct error *err)
{
    struct accuracy_results results = {0};
    SCOPED_STRING(given);
    bool passed = true;
    int rc;

    parse_list_given(context->parse, without_effect, &given);
    if (given.size > 0)
        return error_set(err, ERR_INVALID,
                         "%s: the file has metrics, not outputs: compare saved outputs with `run --load-outputs`",
                         given.data);
    log_message(context->log, LOG_INFO, "Loading accuracy results from %s", settings->path);
    rc = accuracy_results_load(&results, settings->path, err);
    if (rc == 0)
        rc = judge_results(context, settings, &results, &passed, err);
    if (rc < 0)
        goto done;
    if (settings->accuracy.path != NULL) {
        log_message(context->log, LOG_INFO, "Saving accuracy results to %s", settings->accuracy.path);
        rc = accuracy_results_save(&results, settings->accuracy.path, err);
    }
    log_message(context->log, passed ? LOG_FINISH : LOG_ERROR, "%s | Accuracy results %s the requested thresholds.",
                passed ? "PASSED" : "FAILED", passed ? "passed" : "did not pass");
done:
    accuracy_results_release(&results);
    return rc < 0 ? rc : !passed;
}

DEFINE_COMMAND_RUN(check_accuracy_run, struct check_accuracy_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct check_accuracy_settings, common.logging, logging_options),
    COMMAND_GROUP(struct check_accuracy_settings, comparison, comparison_options),
    COMMAND_GROUP(struct check_accuracy_settings, accuracy, metric_options),
    {&check_accuracy_options, 0},
};

const struct command cmd_check_accuracy = {
    .name = "accuracy",
    .summary = "judge saved metrics of a comparison again",
    .description =
        "Judges the metrics in a file of `run --save-accuracy-results`, without running anything: with the thresholds "
        "in the file, or with those that are given. --compare selects comparison functions; the others in the file are "
        "ignored.\n\nA comparison by elements, the default of `run`, has no metric that could be judged with other "
        "tolerances; with --check-error-stat max, mean or median it is judged by that statistic. The exit code is 1 if "
        "an output does not pass.",
    .example = "polygraphy run model.onnx --onnxrt --trt --fp16 --iterations 100 --compare l2 psnr \\\n    "
               "--save-accuracy-results accuracy.json\npolygraphy check accuracy accuracy.json --psnr-threshold 25",
    COMMAND_GROUPS(groups),
    .essential = "--compare --atol --rtol --check-error-stat --l2-threshold --cosine-similarity-threshold "
                 "--psnr-threshold --snr-threshold --check-average --save-accuracy-results",
    .framed = true,
    COMMAND_RUN(check_accuracy_run),
};
