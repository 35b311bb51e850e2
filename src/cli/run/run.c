/* run.c: run a model, and compare what comes out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "cli/commands.h"
#include "cli/options/data_loader_values.h"
#include "cli/options/groups.h"
#include "cli/options/runners/engine.h"
#include "cli/run/layerwise.h"
#include "cli/run/model.h"
#include "comparator/compare/comparison.h"
#include "comparator/compare/postprocess.h"
#include "comparator/compare/run_report.h"
#include "comparator/compare/validation.h"
#include "comparator/infer/runner.h"
#include "comparator/infer/subprocess.h"
#include "debug/check/check.h"
#include "plot/plots.h"

static const struct backend *const backends[] = {&onnxrt_backend, &engine_backend};

static const struct backend *find_backend(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(backends); i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

/* ---- What is asked for ---- */

/* `idle` are options that only `runner` takes, which is not among the runners. */
static int refuse_idle(struct string_builder *idle, const struct backend *runner, struct error *err)
{
    int rc = 0;

    if (idle->size > 0)
        rc = error_set(err, ERR_INVALID,
                       "%s: nothing would come of this, since only --%s takes it and is not among the runners; add "
                       "--%s, or leave it out",
                       idle->data, runner->name, runner->name);
    string_release(idle);
    return rc;
}

static int check_runner_options(const struct command_context *context, struct error *err)
{
    static const char *const of_onnxrt[] = {"--providers", "--onnxrt-optimization-level", NULL};
    static const struct option_group *const of_engines[] = {&engine_config_options, &engine_network_options,
                                                            &engine_file_options, &engine_ignored_run_options};
    struct string_builder idle;

    string_init(&idle);
    for (size_t i = 0; !run_model_has_runner(context, &engine_backend) && i < ARRAY_LEN(of_engines); i++)
        parse_list_given_of_group(context->parse, of_engines[i], &idle);
    if (refuse_idle(&idle, &engine_backend, err) < 0)
        return err->code;
    if (!run_model_has_runner(context, &onnxrt_backend))
        parse_list_given(context->parse, of_onnxrt, &idle);
    return refuse_idle(&idle, &onnxrt_backend, err);
}

/* Says in advance what would otherwise come out after hours of inference. */
static int check_request(const struct command_context *context, struct error *err)
{
    const struct model_values *model = PARSE_VALUES(context->parse, struct model_values);
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    const struct onnx_load_values *load = PARSE_VALUES(context->parse, struct onnx_load_values);
    const struct comparison_values *comparison = PARSE_VALUES(context->parse, struct comparison_values);
    bool is_check = check_is_around_us();

    if (runners->names.count > 0 && model->path == NULL)
        return error_set(
            err, ERR_INVALID,
            "One or more runners was specified, but no model file. Options with several values take all words "
            "that follow: put the model first");
    for (size_t i = 0; i < runners->names.count; i++)
        if (model->type != MODEL_ONNX && find_backend(runners->names.items[i]) != &engine_backend)
            return error_set(err, ERR_UNSUPPORTED, "'%s' is an engine, which --%s cannot run: give the ONNX model",
                             model->path, runners->names.items[i]);
    if (runners->names.count == 0 && (comparison->load_outputs.count == 0 || (is_check && model->path != NULL)))
        return error_set(err, ERR_INVALID,
                         "No runners have been selected, so nothing would be run or compared: add --onnxrt or --trt "
                         "behind a model, or give results with --load-outputs");
    if (load->ignore_external_data)
        log_message(context->log, LOG_WARNING,
                    "--ignore-external-data has no effect: a model does not run without its weights");
    if (runners->names.count == 0)
        log_message(context->log, LOG_WARNING, "No runners have been selected. Inference will not be run!");
    if (check_runner_options(context, err) < 0 || run_layerwise_check(context, err) < 0)
        return err->code;
    for (size_t i = 0; i < comparison->load_outputs.count; i++)
        if (!file_exists(comparison->load_outputs.items[i]))
            return error_set(err, ERR_MISSING, "--load-outputs: '%s' is not there", comparison->load_outputs.items[i]);
    return 0;
}

/* ---- Inference ---- */

/* The runners are numbered among those of their kind. */
static size_t index_among_equals(const struct words *names, size_t i)
{
    size_t index = 0;

    for (size_t k = 0; k < i; k++)
        index += strcmp(names->items[k], names->items[i]) == 0;
    return index;
}

static int run_runners(const struct command_context *context, struct data_loader *loader, struct run_model *model,
                       struct runner_settings *settings, struct run_results *ret, struct error *err)
{
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    const struct inference_values *inference = PARSE_VALUES(context->parse, struct inference_values);
    time_t now = time(NULL);
    int rc = 0;

    for (size_t i = 0; i < runners->names.count && rc == 0; i++) {
        const struct backend *backend = find_backend(runners->names.items[i]);
        char *name = runner_make_name(backend->runner_prefix, index_among_equals(&runners->names, i), now);
        struct runner runner = {.backend = backend, .name = name, .prepare = run_model_prepare, .data = model};

        rc = (inference->use_subprocess ? runner_run_apart : runner_run)(&runner, loader, settings, ret, err);
        settings->save_inputs = NULL;
        free(name);
    }
    return rc;
}

/* Outputs that nobody will look at again are not kept. */
static bool are_outputs_needed(const struct command_context *context)
{
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    const struct comparison_values *comparison = PARSE_VALUES(context->parse, struct comparison_values);

    return runners->names.count > 1 || comparison->load_outputs.count > 0 || comparison->validate;
}

static int run_and_save(const struct command_context *context, struct data_loader *loader, struct run_model *model,
                        struct run_results *ret, struct error *err)
{
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    const struct inference_values *inference = PARSE_VALUES(context->parse, struct inference_values);
    struct run_results_writer writer;
    struct runner_settings settings = {
        .warm_up = inference->warm_up,
        .keep_feeds = runners->names.count > 1,
        .save_inputs = inference->save_inputs,
        .keep_outputs = are_outputs_needed(context),
        .runners = (int64_t)runners->names.count,
        .log = context->log,
    };
    int rc;

    if (inference->save_outputs == NULL)
        return run_runners(context, loader, model, &settings, ret, err);
    settings.writer = &writer;
    rc = run_results_writer_open(&writer, inference->save_outputs, err);
    if (rc == 0)
        rc = run_runners(context, loader, model, &settings, ret, err);
    if (rc == 0) {
        log_message(context->log, LOG_INFO, "Saving inference results to %s", inference->save_outputs);
        rc = run_results_writer_commit(&writer, err);
    }
    run_results_writer_release(&writer);
    return rc;
}

/* Running a model not once passes everywhere but in a check, where that would say that the model is good. */
static int refuse_no_iterations(const struct data_loader *loader, struct error *err)
{
    if (data_loader_iterations(loader) > 0 || !check_is_around_us())
        return 0;
    return error_set(err, ERR_INVALID,
                     "the model would be run in 0 iterations, which says nothing about it: see "
                     "--iterations, or the file of --load-inputs");
}

static int run_inference(const struct command_context *context, struct run_results *ret, struct error *err)
{
    const struct model_values *model_values = PARSE_VALUES(context->parse, struct model_values);
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    struct data_loader *loader = NULL;
    struct run_model model;
    int rc;

    if (runners->names.count == 0)
        return 0;
    rc = data_loader_from_options(context, model_values, &loader, err);
    if (rc < 0)
        return rc;
    run_model_init(&model, context);
    rc = refuse_no_iterations(loader, err);
    if (rc == 0)
        rc = run_and_save(context, loader, &model, ret, err);
    run_model_release(&model);
    data_loader_free(loader);
    return rc;
}

/* ---- Comparison ---- */

static int load_results(const struct command_context *context, struct run_results *results, struct error *err)
{
    const struct comparison_values *comparison = PARSE_VALUES(context->parse, struct comparison_values);
    int rc = 0;

    for (size_t i = 0; i < comparison->load_outputs.count && rc == 0; i++) {
        log_message(context->log, LOG_INFO, "Loading inference results from %s", comparison->load_outputs.items[i]);
        rc = run_results_load(results, comparison->load_outputs.items[i], err);
    }
    return rc;
}

static bool covers_any(const char *rule, const struct tensor_list *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (name_rule_covers(rule, outputs->items[i].name))
            return true;
    return false;
}

static bool is_output_of_any(const struct run_results *results, const char *rule)
{
    for (size_t i = 0; i < results->count; i++)
        for (size_t k = 0; k < results->items[i].count; k++)
            if (covers_any(rule, &results->items[i].items[k].outputs))
                return true;
    return rule[0] == '\0';
}

/* `items` are structs whose first member is a name. */
static void warn_of_extra(struct log *log, const struct run_results *results, const char *option, const void *items,
                          size_t count, size_t item_size)
{
    struct string_builder extra;

    string_init(&extra);
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)items + i * item_size);

        if (!is_output_of_any(results, name))
            name_list_add(&extra, name);
    }
    if (extra.size > 0)
        log_message(log, LOG_WARNING, "Extra items in %s: [%s]: no output has such a name", option, extra.data);
    string_release(&extra);
}

#define WARN_OF_EXTRA(option, list)                                                                                    \
    warn_of_extra(context->log, results, option, (list).items, (list).count, sizeof((list).items[0]))

static void check_names(const struct command_context *context, const struct run_results *results)
{
    const struct comparison_values *values = PARSE_VALUES(context->parse, struct comparison_values);

    WARN_OF_EXTRA("--rtol", values->rtol);
    WARN_OF_EXTRA("--atol", values->atol);
    WARN_OF_EXTRA("--check-error-stat", values->check_error_stat);
    WARN_OF_EXTRA("--error-quantile", values->error_quantile);
    WARN_OF_EXTRA("--index-tolerance", values->index_tolerance);
    WARN_OF_EXTRA("--l2-tolerance", values->l2_tolerance);
    WARN_OF_EXTRA("--cosine-threshold", values->cosine_threshold);
    WARN_OF_EXTRA("--psnr-threshold", values->psnr_threshold);
    WARN_OF_EXTRA("--snr-threshold", values->snr_threshold);
    WARN_OF_EXTRA("--nmse-tolerance", values->nmse_tolerance);
    WARN_OF_EXTRA("--postprocess", values->postprocess);
}

/* `data` is the command's values of the comparison group. */
static int postprocess_outputs(const void *data, struct run_results *results, struct error *err)
{
    const struct comparison_values *values = data;
    size_t count = values->postprocess.count;
    struct top_k_rule *rules = memory_alloc_zero(count, sizeof(*rules));
    int rc;

    for (size_t i = 0; i < count; i++) {
        const struct top_k *item = &values->postprocess.items[i];

        rules[i] = (struct top_k_rule){.output = item->name, .k = item->k, .axis = item->axis};
    }
    rc = postprocess_top_k(results, rules, count, err);
    free(rules);
    return rc;
}

static const enum comparison_function functions[] = {
    [COMPARE_SIMPLE] = COMPARISON_SIMPLE,
    [COMPARE_INDICES] = COMPARISON_INDICES,
    [COMPARE_DISTANCE] = COMPARISON_DISTANCE,
    [COMPARE_QUALITY] = COMPARISON_QUALITY,
};

static void criteria_for(const void *data, const char *output, struct comparison_criteria *ret)
{
    const struct comparison_values *values = data;

    *ret = (struct comparison_criteria){
        .simple = {.absolute_tolerance = named_number_find(&values->atol, output, DEFAULT_TOLERANCE),
                   .relative_tolerance = named_number_find(&values->rtol, output, DEFAULT_TOLERANCE),
                   .quantile = named_number_find(&values->error_quantile, output, DEFAULT_ERROR_QUANTILE),
                   .infinities_compare_equal = values->infinities_compare_equal,
                   .check_shapes = !values->no_shape_check},
        .index_tolerance = (size_t)named_integer_find(&values->index_tolerance, output, DEFAULT_INDEX_TOLERANCE),
        .metrics = {.l2_tolerance = named_number_find(&values->l2_tolerance, output, DEFAULT_L2_TOLERANCE),
                    .cosine_threshold = named_number_find(&values->cosine_threshold, output, DEFAULT_COSINE_THRESHOLD),
                    .psnr_threshold = named_number_find(&values->psnr_threshold, output, DEFAULT_PSNR_THRESHOLD),
                    .snr_threshold = named_number_find(&values->snr_threshold, output, DEFAULT_SNR_THRESHOLD),
                    .nmse_tolerance = named_number_find(&values->nmse_tolerance, output, DEFAULT_NMSE_TOLERANCE)},
    };
    compare_statistic_parse(text_of(named_word_find(&values->check_error_stat, output, DEFAULT_ERROR_STAT)),
                            &ret->simple.statistic);
}

/* What keeps an eye on the comparisons; each may be NULL. */
struct watchers {
    struct run_report *report;
    struct plots *plots;
};

static void watch(void *data, const struct compared_outputs *compared)
{
    const struct watchers *watchers = data;

    if (watchers->report != NULL)
        run_report_add_comparison(watchers->report, compared);
    if (watchers->plots != NULL)
        plots_add_comparison(watchers->plots, compared);
}

static struct comparison_settings comparison_settings(const struct command_context *context, struct watchers *watchers)
{
    const struct comparison_values *values = PARSE_VALUES(context->parse, struct comparison_values);

    return (struct comparison_settings){
        .function = functions[values->compare],
        .criteria_for = criteria_for,
        .data = values,
        .fail_fast = values->fail_fast,
        .require_all = values->require_all,
        .strict = check_is_around_us(),
        .release = !values->validate,
        .on_compared = watchers->report != NULL || watchers->plots != NULL ? watch : NULL,
        .on_compared_data = watchers,
        .log = context->log,
    };
}

static int compare_and_validate(const struct command_context *context, struct run_results *results,
                                struct watchers *watchers, bool *ret_passed, struct error *err)
{
    const struct comparison_values *values = PARSE_VALUES(context->parse, struct comparison_values);
    struct comparison_settings settings = comparison_settings(context, watchers);
    int rc;

    if (results->count > 1)
        check_names(context, results);
    else if (values->load_outputs.count > 0 && settings.strict)
        return error_set(err, ERR_INVALID, "there is only one result: nothing to compare it with");
    else if (values->load_outputs.count > 0)
        log_message(context->log, LOG_WARNING, "There is only one result: nothing to compare it with");
    rc = postprocess_outputs(values, results, err);
    if (rc < 0)
        return rc;
    rc = comparison_run(results, &settings, ret_passed, err);
    if (rc == ERR_INTERRUPTED)
        return rc;
    if (values->validate)
        *ret_passed &= validation_run(results, context->log);
    for (size_t i = 0; values->validate && watchers->report != NULL && i < results->count; i++)
        run_report_add_validations(watchers->report, &results->items[i]);
    return rc;
}

/* All tensors of a model: run, saved and compared group by group. */
static int run_in_groups(const struct command_context *context, struct watchers *watchers, bool *ret_passed,
                         struct error *err)
{
    const struct model_values *model_values = PARSE_VALUES(context->parse, struct model_values);
    const struct runner_values *names = PARSE_VALUES(context->parse, struct runner_values);
    struct comparison_settings settings = comparison_settings(context, watchers);
    struct runner *runners = memory_alloc_zero(names->names.count, sizeof(*runners));
    struct run_layerwise request = {
        .context = context,
        .runners = runners,
        .count = names->names.count,
        .comparison = &settings,
        .report = watchers->report,
        .load_results = load_results,
        .check_names = check_names,
        .postprocess = postprocess_outputs,
    };
    time_t now = time(NULL);
    int rc = data_loader_from_options(context, model_values, &request.loader, err);

    for (size_t i = 0; i < request.count; i++) {
        runners[i].backend = find_backend(names->names.items[i]);
        runners[i].name =
            runner_make_name(runners[i].backend->runner_prefix, index_among_equals(&names->names, i), now);
    }
    if (rc == 0)
        rc = refuse_no_iterations(request.loader, err);
    if (rc == 0)
        rc = run_layerwise(&request, ret_passed, err);
    for (size_t i = 0; i < request.count; i++)
        free((void *)runners[i].name);
    free(runners);
    data_loader_free(request.loader);
    return rc;
}

/* A difference that was seen is what counts, even where something else could not be compared. */
static int settle(int rc, bool passed, struct log *log, const struct error *err)
{
    if (rc == 0 || passed || rc == ERR_INTERRUPTED)
        return rc;
    log_message(log, LOG_CRITICAL, "%s", err->message);
    return 0;
}

static int run_and_compare(const struct command_context *context, struct watchers *watchers, bool *ret_passed,
                           struct error *err)
{
    struct run_results results = {0};
    int rc;

    if (run_layerwise_is_wanted(context))
        return settle(run_in_groups(context, watchers, ret_passed, err), *ret_passed, context->log, err);
    rc = run_inference(context, &results, err);
    if (rc == 0)
        rc = load_results(context, &results, err);
    if (rc == 0)
        rc = compare_and_validate(context, &results, watchers, ret_passed, err);
    run_results_release(&results);
    return settle(rc, *ret_passed, context->log, err);
}

static int run_and_draw(const struct command_context *context, struct run_report *report, bool *ret_passed,
                        struct error *err)
{
    const struct comparison_values *values = PARSE_VALUES(context->parse, struct comparison_values);
    struct plots_settings settings = {
        .heat_map_folder = values->heat_map_folder,
        .error_plot_folder = values->error_plot_folder,
        .criteria_for = criteria_for,
        .data = values,
        .log = context->log,
    };
    struct plots plots;
    struct watchers watchers = {.report = report, .plots = &plots};
    int rc;

    if (settings.heat_map_folder == NULL && settings.error_plot_folder == NULL)
        watchers.plots = NULL;
    rc = plots_init(&plots, &settings, err);
    if (rc == 0)
        rc = run_and_compare(context, &watchers, ret_passed, err);
    if (rc == 0)
        rc = plots_finish(&plots, err);
    if (rc == 0 && watchers.plots != NULL && plots.saved == 0)
        log_message(context->log, LOG_WARNING, "No plots were saved: there was nothing to compare element by element");
    plots_release(&plots);
    return rc;
}

/* With --json. The file is opened first: what cannot be saved is said before anything is run. */
static int run_and_report(const struct command_context *context, const char *path, bool *ret_passed, struct error *err)
{
    const struct comparison_values *values = PARSE_VALUES(context->parse, struct comparison_values);
    struct run_report report;
    struct json_writer json;
    int rc = json_writer_open(&json, path, err);

    if (rc < 0)
        return rc;
    run_report_init(&report);
    rc = run_and_draw(context, &report, ret_passed, err);
    if (rc == 0) {
        run_report_write(&report, *ret_passed, compare_function_names[values->compare], values->validate, &json);
        rc = json_writer_commit(&json, FILE_DURABLE, err);
    }
    run_report_release(&report);
    json_writer_release(&json);
    return rc;
}

static int run(const struct command_context *context, struct error *err)
{
    const struct json_values *json = PARSE_VALUES(context->parse, struct json_values);
    bool passed = true;
    int rc = check_request(context, err);

    crash_set_advice("--use-subprocess runs each runner in a process of its own; with --onnxrt-optimization-level none "
                     "--onnxrt takes the model as it is");
    if (rc == 0)
        rc = json->path != NULL ? run_and_report(context, json->path, &passed, err)
                                : run_and_draw(context, NULL, &passed, err);
    return rc < 0 ? rc : !passed;
}

static const struct option_group *const groups[] = {
    &logging_options,         &run_model_options,      &data_loader_options, &inference_options,
    &comparison_options,      &runner_options,         &onnxrt_options,      &onnx_load_outputs_options,
    &shape_inference_options, &run_save_options,       &run_options,         &json_options,
    &engine_config_options,   &engine_network_options, &engine_file_options, &engine_ignored_run_options,
    &tensorflow_run_options,
};

const struct command cmd_run = {
    .name = "run",
    .summary = "run a model and compare its outputs with others",
    .description =
        "Runs a model on random data or on data of yours, once for each runner, and compares the outputs: each result "
        "with the next one, those of the runners first, then those that were loaded from files.\n\n"
        "The exit code is 0 when all outputs match (and, with --validate, are numbers), else 1. That makes it a check "
        "for the debug tools. Run by one of them, it tells more: 1 when outputs differ or are no numbers, 3 when the "
        "runner refused the model or failed, 125 when the question makes no sense (a mistyped option, a file that is "
        "not there, an input without data, nothing to compare). Data are then taken by their names only.",
    .example =
        "# does the model run, and are its outputs numbers?\n"
        "polygraphy run model.onnx --onnxrt --validate\n"
        "# do the runtime's optimizations change what comes out of any layer?\n"
        "polygraphy run model.onnx --onnxrt --onnx-outputs mark all --save-inputs in.json --save-outputs out.json\n"
        "polygraphy run model.onnx --onnxrt --onnx-outputs mark all --load-inputs in.json --load-outputs out.json \\\n"
        "    --onnxrt-optimization-level none --atol 1e-3",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .framed = true,
    .run = run,
};
