/* run.c: run a model with several runners and compare the outputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/command/command.h"
#include "backend/command/resident.h"
#include "backend/onnxrt/apart/backend.h"
#include "base/crash.h"
#include "base/memory.h"
#include "base/process/guard.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "cli/options/runners/runner_words.h"
#include "cli/run/divergence.h"
#include "cli/run/junit.h"
#include "cli/run/libraries.h"
#include "cli/run/model.h"
#include "cli/run/nodes.h"
#include "cli/run/report.h"
#include "cli/run/save_paths.h"
#include "cli/run/settings.h"
#include "cli/run/steps.h"
#include "comparator/compare/accuracy.h"
#include "comparator/infer/driver.h"
#include "debug/check/check.h"
#include "plot/plots.h"

static const struct backend *const backends[] = {&onnxrt_backend, &engine_backend, &command_backend};

static const struct backend *find_backend(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(backends); i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

/* ---- Requested actions ---- */

static int check_runner_options(const struct command_context *context, const struct run_settings *settings,
                                struct error *err)
{
    static const struct option_group *const of_engines[] = {&engine_config_options, &engine_network_options,
                                                            &engine_file_options, &tensorrt_run_options};
    SCOPED_STRING(given);

    for (size_t i = 0; i < ARRAY_LEN(of_engines); i++)
        parse_list_given_by_runner(context->parse, of_engines[i], "--trt", &given);
    if (given.size > 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "%s: two engines with different values cannot be built in one command: run one of them with "
                         "--save-inputs and --save-outputs, and the other one with --load-inputs and --load-outputs",
                         given.data);
    return run_model_refuse_idle(context, &settings->runners, of_engines, ARRAY_LEN(of_engines), err);
}

/* Runners that do the same show what differs from run to run, and nothing else. */
static void warn_of_equal_runners(const struct command_context *context, const struct runner_values *values)
{
    for (size_t i = 1; i < values->names.count; i++)
        if (runners_are_equal((struct parse *)context->parse, values, i - 1, i)) {
            log_message(context->log, LOG_WARNING,
                        "Runners %zu and %zu are the same, --%s with the same options: comparing them shows only what "
                        "differs from run to run. An option belongs to one runner where it is repeated with another "
                        "value behind another one",
                        i, i + 1, values->names.items[i]);
            return;
        }
}

/* All tensors of the model are outputs of every runner, which --first-divergence of an engine needs. */
static bool marks_all(const struct run_settings *settings)
{
    const struct runner_values *runners = &settings->runners;
    const struct output_names *of_engine = &settings->engine.request.network.outputs;
    bool only_engines = true;

    for (size_t i = 0; i < runners->names.count; i++)
        only_engines &= find_backend(runners->names.items[i]) == &engine_backend;
    return settings->file.load.outputs.mark_all || (only_engines && of_engine->mark_all);
}

/* All tensors of a model are run, saved and compared group by group. */
static bool runs_in_groups(const struct run_settings *options)
{
    const struct runner_values *runners = &options->runners;
    const struct driver_settings *settings = &options->inference;
    const struct onnx_load_values *load = &options->file.load;
    const struct comparison_values *comparison = &options->comparison;

    if (comparison->first_divergence)
        return runners->names.count > 0 && !run_model_has_runner(runners, &engine_backend);
    return runners->names.count > 0 && options->steps.count == 0 && load->outputs.mark_all &&
           load->output_operators.count == 0 && settings->memory != UINT64_MAX && !settings->use_subprocess &&
           !settings->sequential && !run_model_has_runner(runners, &engine_backend);
}

static int check_divergence_options(const struct run_settings *options, struct error *err)
{
    const struct model_values *model = &options->file.model;
    const struct runner_values *runners = &options->runners;
    const struct driver_settings *settings = &options->inference;
    const struct onnx_load_values *load = &options->file.load;
    const struct comparison_values *comparison = &options->comparison;

    if (!comparison->first_divergence)
        return 0;
    if (model->path == NULL || model->type != MODEL_ONNX)
        return error_set(err, ERR_INVALID,
                         "--first-divergence needs the ONNX model, whose nodes it names: put it first. Results of all "
                         "its tensors come from runners, such as --onnxrt, or from files of --load-outputs");
    if (run_model_has_runner(runners, &engine_backend) && !marks_all(options))
        return error_set(err, ERR_INVALID,
                         "--first-divergence with --trt needs all tensors as outputs of the engine: add "
                         "'--onnx-outputs mark all'. Layers "
                         "are then fused less, so that the error may disappear; `polygraphy debug accuracy` with the "
                         "same runners finds "
                         "the node either way");
    if (runners->names.count == 1 && comparison->load_outputs.count == 0 && !comparison->validate)
        return error_set(err, ERR_INVALID,
                         "--first-divergence has nothing to compare: pass results of all tensors to --load-outputs, or "
                         "search for NaN and infinities with --validate");
    if (load->outputs.names.count + load->output_operators.count > 0)
        return error_set(
            err, ERR_INVALID,
            "--first-divergence compares all tensors: leave out --onnx-outputs and --onnx-outputs-by-type");
    if (settings->use_subprocess && !run_model_has_runner(runners, &engine_backend))
        return error_set(err, ERR_UNSUPPORTED, "--first-divergence is not supported with --use-subprocess");
    if (load->fp_to_fp16)
        return error_set(err, ERR_UNSUPPORTED,
                         "--fp-to-fp16 is not supported with --first-divergence: convert the model first, with "
                         "`polygraphy convert`");
    return 0;
}

static void warn_of_no_runner(const struct command_context *context, const struct run_settings *settings)
{
    const struct saving_paths *save = &settings->inference.save;

    log_message(context->log, LOG_WARNING, "No runners have been selected. Inference will not be run!");
    if (settings->file.data.files.count > 0 || save->inputs != NULL || save->input_blobs != NULL)
        log_message(context->log, LOG_WARNING,
                    "No runners were specified, so inference will not be run and input-related options (e.g. "
                    "--load-inputs/--save-inputs/--save-input-blob) will be ignored. Comparison will use only the "
                    "loaded outputs.");
}

/* Validates options before the inference, which may take hours. */
static int check_request(const struct command_context *context, const struct run_settings *settings, struct error *err)
{
    const struct model_values *model = &settings->file.model;
    const struct runner_values *runners = &settings->runners;
    const struct onnx_load_values *load = &settings->file.load;
    const struct comparison_values *comparison = &settings->comparison;
    bool is_check = check_is_around_us();

    if (runners->names.count > 0 && model->path == NULL)
        return error_set(
            err, ERR_INVALID,
            "One or more runners was specified, but no model file. Options with several values take all words "
            "that follow: put the model first");
    for (size_t i = 0; i < runners->names.count; i++)
        if (model->type != MODEL_ONNX && find_backend(runners->names.items[i]) != &engine_backend)
            return error_set(err, ERR_UNSUPPORTED, "'%s' is an engine, which --%s cannot run: pass the ONNX model",
                             model->path, runners->names.items[i]);
    if (runners->names.count == 0 && (comparison->load_outputs.count == 0 || (is_check && model->path != NULL)))
        return error_set(err, ERR_INVALID,
                         "No runners have been selected, so nothing would be run or compared: add --onnxrt, --trt or "
                         "--runner after the model, or pass results to --load-outputs");
    if (load->ignore_external_data)
        log_message(context->log, LOG_WARNING,
                    "--ignore-external-data has no effect: a model does not run without its weights");
    if (runners->names.count == 0)
        warn_of_no_runner(context, settings);
    if (settings->nodes.annotated != NULL && (model->path == NULL || model->type != MODEL_ONNX))
        return error_set(err, ERR_INVALID, "--annotate needs an ONNX model, of which it writes a copy: put it first");
    if (accuracy_values_check(&settings->accuracy, comparison, err) < 0 ||
        run_steps_check(context, settings, err) < 0 || check_runner_options(context, settings, err) < 0 ||
        check_divergence_options(settings, err) < 0 || run_check_save_paths(settings, err) < 0)
        return err->code;
    for (size_t i = 0; i < comparison->load_outputs.count; i++)
        if (!file_exists(comparison->load_outputs.items[i]))
            return error_set(err, ERR_MISSING, "--load-outputs: '%s' does not exist",
                             comparison->load_outputs.items[i]);
    return 0;
}

/* What keeps an eye on the comparisons; each may be NULL. */
struct watchers {
    struct run_report *report;
    struct plots *plots;
    struct report *page;
    size_t drawn; /* outputs, on the page */
    struct accuracy_results *accuracy;
    struct comparison_functions functions;
};

static void watch_comparison(void *data, const struct compared_outputs *compared)
{
    struct watchers *watchers = data;

    if (watchers->report != NULL)
        run_report_add_comparison(watchers->report, compared);
    if (watchers->accuracy != NULL)
        accuracy_results_add_comparison(watchers->accuracy, &watchers->functions, compared);
    if (watchers->plots != NULL)
        plots_add_comparison(watchers->plots, compared);
    run_page_add_comparison(watchers->page, &watchers->drawn, compared);
}

/* ---- The work ---- */

/* The runners that the command line asks for, in its order. */
struct chosen_runners {
    struct runner *items;
    struct runner_command *commands; /* of those that are commands */
    size_t count;
    bool guarded;              /* programs are started, which nothing may outlive */
    bool are_separate;         /* libraries of ONNX Runtime are in worker processes */
    struct staying_host *host; /* of those that stay; or NULL */
};

static const void *choose_engine_settings(const struct run_model *model)
{
    return model->library != NULL ? (const void *)&model->trt.request : &model->engine.request;
}

/* NULL: the runner has the options of all. */
static int choose_runtime_settings(const struct runner_values *values, size_t runner,
                                   const struct command_context *context, const void **ret, struct error *err)
{
    struct parse *parse = (struct parse *)context->parse;
    const struct runner_place place = runner_place_of(values, runner);
    struct onnxrt_values *own;
    SCOPED_STRING(given);
    int rc;

    *ret = NULL;
    parse_list_given_by_runner(parse, &onnxrt_options, place.option, &given);
    if (given.size == 0)
        return 0;
    own = arena_alloc_zero(parse_arena(parse), 1, sizeof(*own));
    rc = parse_fill_for_runner(parse, &onnxrt_options, &place, own, err);
    *ret = &own->runtime;
    return rc;
}

static int start_host(const struct runner_values *values, struct staying_host **ret, struct error *err)
{
    const char **lines SCOPED_FREE = memory_alloc_zero(values->commands.count + 1, sizeof(*lines));

    for (size_t i = 0; i < values->commands.count; i++)
        lines[i] = values->commands.items[i].line;
    return command_host_start((struct words){lines, values->commands.count}, ret, err);
}

/* Those without a name of their own are numbered among those of their kind. */
static int choose_runners(const struct runner_values *values, const struct run_model *model, struct chosen_runners *ret,
                          struct error *err)
{
    time_t now = time(NULL);
    int rc = 0;

    ret->count = values->names.count;
    ret->items = memory_alloc_zero(ret->count, sizeof(*ret->items));
    ret->guarded = values->commands.count > 0;
    if (ret->guarded)
        process_guard_start(); /* before a runtime has threads */
    rc = start_host(values, &ret->host, err);
    if (rc < 0)
        return rc;
    if (values->commands.count > 0)
        ret->commands = memory_alloc_zero(values->commands.count, sizeof(*ret->commands));
    for (size_t i = 0; i < ret->count; i++) {
        struct runner *runner = &ret->items[i];
        const char *name = NULL;
        size_t index = 0;

        runner->backend = find_backend(values->names.items[i]);
        if (runner->backend == &engine_backend) {
            runner->backend = model->library != NULL ? &tensorrt_backend : &engine_backend;
            runner->settings = choose_engine_settings(model);
        }
        if (runner->backend == &onnxrt_backend)
            rc = choose_runtime_settings(values, i, model->context, &runner->settings, err);
        if (rc < 0)
            return rc;
        for (size_t k = 0; k < i; k++)
            index += ret->items[k].backend == runner->backend;
        if (runner->backend == &command_backend)
            name = values->commands.items[index].name;
        runner->name =
            name != NULL ? memory_strdup(name) : runner_make_name(runner->backend->runner_prefix, index, now);
        if (runner->backend != &command_backend)
            continue;
        ret->commands[index] = (struct runner_command){.name = runner->name,
                                                       .line = values->commands.items[index].line,
                                                       .build_line = values->build_commands[index],
                                                       .timeout = values->timeout};
        runner->settings = &ret->commands[index];
    }
    return run_libraries_separate(ret->items, ret->count, &model->settings->file.onnxrt.runtime, &ret->are_separate,
                                  model->context->log, err);
}

static void release_runners(struct chosen_runners *runners)
{
    staying_host_stop(runners->host);
    if (runners->guarded)
        process_guard_stop();
    for (size_t i = 0; i < runners->count; i++)
        free((void *)runners->items[i].name);
    free(runners->items);
    free(runners->commands);
}

/* With --first-divergence: tensors inside the model are compared with the data of one step. Returns whether there is
 * one. */
static bool look_into_step(const struct run_model *model, struct driver_settings *settings, struct data_loader *loader,
                           const struct step_outcome *outcome)
{
    size_t step = step_to_look_into(outcome);

    if (!model->settings->comparison.first_divergence)
        return false;
    if (step == SIZE_MAX) {
        log_message(settings->log, LOG_INFO, "No step fails: tensors inside the model are not compared");
        return false;
    }
    log_message(settings->log, LOG_INFO, "Tensors inside the model are compared with the inputs of step %zu, of %s",
                step, settings->runners[0].name);
    data_loader_replace(loader, &outcome->steps.feeds.items[step]);
    settings->first_loaded = step;
    settings->save.inputs = settings->save.input_blobs = settings->save.outputs = NULL;
    return true;
}

/* All but the runners, and where results go. `model` is of the context, and to be released in any case. */
static int run_models(struct run_model *model, struct driver_settings *settings, struct divergence_findings *findings,
                      struct step_outcome *steps, bool *ret_passed, struct error *err)
{
    const struct command_context *context = model->context;
    struct model_file_settings settings_of_file = model->settings->file;
    const struct model_file_settings *file = &settings_of_file;
    const struct comparison_values *values = &model->settings->comparison;
    struct output_rules rules[COMPARISON_RULES];
    struct backend_request options = model_file_request(context, file);
    struct data_loader *loader = NULL;
    struct run_results results SCOPED(run_results_release) = {0};
    struct first_divergence divergence SCOPED(first_divergence_release) = {0};
    bool in_steps = model->settings->steps.count > 0, steps_passed = true;
    int rc = 0;

    if (in_steps && run_steps_prepare(context, model->settings, &settings_of_file, steps, err) < 0)
        return err->code;
    settings_of_file.data.streamed = in_steps || !settings->sequential;
    first_divergence_init(&divergence);
    if (settings->count > 0)
        rc = data_loader_from_options(context, file, NULL, &loader, err);
    if (rc < 0)
        goto done;
    /* Running a model not once passes everywhere but in a check, where that would say that the model is good. */
    if (loader != NULL && data_loader_iterations(loader) == 0 && check_is_around_us()) {
        rc = error_set(err, ERR_INVALID,
                       "the model would be run in 0 iterations, which says nothing about it: see --iterations, or the "
                       "file of --load-inputs");
        goto done;
    }
    settings->load = run_model_load;
    settings->load_data = model;
    comparison_list_rules(values, rules);
    settings->rules = rules;
    settings->rule_count = ARRAY_LEN(rules);
    if (in_steps)
        rc = run_steps(model, settings, loader, steps, &steps_passed, err);
    *ret_passed = steps_passed;
    if (rc < 0 || (in_steps && !look_into_step(model, settings, loader, steps)))
        goto done;
    settings->comparison.divergence = values->first_divergence ? &divergence : NULL;
    rc = driver_run(settings, loader, &results, ret_passed, err);
    if (rc == 0 && values->first_divergence && !settings->in_groups) {
        rc = run_model_open(model, err);
        if (settings->validate)
            first_divergence_add_all_invalid(&divergence, &results);
    }
    if (rc == 0 && values->first_divergence) {
        options.log = NULL;
        rc = divergence_report(&(struct divergence_report){settings, model->model, file->model.path, &options, loader,
                                                           settings->in_groups ? NULL : &results, context->log},
                               &divergence, findings, err);
        *ret_passed &= !divergence_is_hidden(findings);
    }
    *ret_passed &= steps_passed;
done:
    data_loader_free(loader);
    return rc;
}

/* Once, for all outputs that did not match. A check is read by those who look for something else. */
static void log_how_to_see_more(const struct command_context *context, const struct driver_settings *settings)
{
    if (settings->count + settings->load_count < 2 || settings->comparison.strict ||
        log_shows(context->log, LOG_VERBOSE))
        return;
    log_message(context->log, LOG_INFO,
                "To see more: -v adds histograms, and tensors of up to 100 elements whole; -vv every mismatched value");
}

/* The outputs other than the log: report, test cases, node data. */
struct accounts {
    struct run_report *results; /* NULL: none of it is wanted */
    struct json_writer *json;   /* NULL: not wanted */
    struct report *page;        /* NULL: not wanted */
    struct divergence_findings findings;
    struct step_outcome steps;
    const struct chosen_runners *runners;
};

static void release_accounts(struct accounts *accounts)
{
    divergence_findings_release(&accounts->findings);
    step_outcome_release(&accounts->steps);
    report_free(accounts->page);
}

static void write_json(const struct run_model *model, const struct accounts *accounts, bool passed,
                       const struct model *file)
{
    const struct comparison_values *values = &model->settings->comparison;
    struct json_writer *json = accounts->json;
    struct run_verdict verdict = {.passed = passed, .validated = values->validate, .model = file};
    SCOPED_STRING(functions);

    for (size_t i = 0; i < values->compare.count; i++)
        string_add_format(&functions, "%s%s", i > 0 ? " " : "", values->compare.items[i]);
    verdict.compare = functions.data;
    json_writer_begin_object(json);
    run_report_write(accounts->results, &verdict, json);
    run_libraries_write(accounts->runners->items, accounts->runners->count, &model->settings->file.onnxrt.runtime,
                        json);
    if (json_writer_key_or_null(json, "first_divergence", model->model != NULL && values->first_divergence))
        divergence_findings_write(&accounts->findings, model->model, file, accounts->results, json);
    if (json_writer_key_or_null(json, "steps", accounts->steps.count > 0))
        step_outcome_write(&accounts->steps, json);
    json_writer_end_object(json);
}

/* Nodes are identified by their numbers and names in the file. */
static int write_accounts(const struct run_model *model, struct accounts *accounts, bool passed, struct error *err)
{
    const struct command_context *context = model->context;
    const struct run_settings *settings = model->settings;
    const struct model_values *values = &settings->file.model;
    struct report *page = accounts->page;
    struct run_outcome outcome = {.passed = passed,
                                  .validated = settings->comparison.validate,
                                  .model = model->model,
                                  .results = accounts->results,
                                  .findings = &accounts->findings};
    int rc = 0;

    if (accounts->results == NULL)
        return 0;
    if (values->path != NULL && values->type == MODEL_ONNX)
        rc = model_open(values->path, NULL, &outcome.file, err);
    if (rc == 0 && accounts->json != NULL) {
        write_json(model, accounts, passed, outcome.file);
        rc = json_writer_commit(accounts->json, FILE_DURABLE, err);
    }
    if (rc < 0)
        goto done;
    rc = run_nodes_write(context, settings, &outcome, err);
    if (rc < 0)
        goto done;
    run_page_fill(page, &outcome);
    run_libraries_add_to_page(accounts->runners->items, accounts->runners->count, &settings->file.onnxrt.runtime, page);
    accounts->page = NULL;
    rc = report_finish(context, &settings->report, page, err);
done:
    model_free(outcome.file);
    return rc;
}

static struct report *begin_page(const struct command_context *context, const struct run_settings *settings)
{
    const char *path = settings->file.model.path;

    return report_begin(context, &settings->report, "run", path != NULL ? path : "--load-outputs");
}

/* The settings of the driver without the runners and the observers of comparisons. */
static struct driver_settings driver_settings_of(const struct command_context *context,
                                                 const struct run_settings *settings)
{
    const struct comparison_values *values = &settings->comparison;
    struct driver_settings ret = settings->inference;
    const char *implied = ret.warm_up > 0 ? "--warm-up" : ret.use_subprocess ? "--use-subprocess" : NULL;

    ret.in_groups = runs_in_groups(settings);
    if (implied != NULL && !ret.in_groups && !ret.sequential)
        log_message(context->log, LOG_INFO,
                    "%s implies --sequential-runners: runners run one after the other, and all results stay in memory",
                    implied);
    /* What went into a node is looked up in the results. */
    ret.sequential = !ret.in_groups && (ret.sequential || implied != NULL || values->first_divergence);
    ret.keep_outputs = values->first_divergence;
    ret.seed = settings->file.data.files.count > 0 ? -1 : settings->file.data.seed;
    ret.load_outputs = values->load_outputs.items;
    ret.load_count = values->load_outputs.count;
    ret.postprocess = values->postprocess.items;
    ret.postprocess_count = values->postprocess.count;
    ret.validate = values->validate;
    ret.comparison = values->settings;
    ret.comparison.average = settings->accuracy.average;
    ret.comparison.rules.want_medians = settings->accuracy.path != NULL;
    /* Who blames nodes goes by names, too: another tensor at the same place proves nothing. */
    ret.comparison.strict = check_is_around_us() || values->first_divergence;
    /* Masks have infinities, which are no divergence. Without that option, also in a check that is typed by the user,
     * Polygraphy's rule holds; the checks that debug tools write have --infinities-compare-equal. */
    ret.comparison.rules.infinities_compare_equal |= values->first_divergence;
    ret.log = context->log;
    return ret;
}

/* Judges averages, and saves the metrics. */
static int finish_accuracy(const struct command_context *context, const struct accuracy_values *values,
                           const struct accuracy_results *results, bool *passed, struct error *err)
{
    bool averages_passed = true;
    int rc = 0;

    if (values->average)
        rc = accuracy_results_log_averages(results, context->log, &averages_passed, err);
    *passed &= averages_passed;
    if (rc < 0 || values->path == NULL)
        return rc;
    log_message(context->log, LOG_INFO, "Saving accuracy results to %s", values->path);
    return accuracy_results_save(results, values->path, err);
}

static int run_and_judge(struct run_model *model, struct driver_settings *settings, const struct watchers *watchers,
                         struct accounts *accounts, bool *passed, struct error *err)
{
    int rc = run_models(model, settings, &accounts->findings, &accounts->steps, passed, err);

    if (rc < 0 || watchers->accuracy == NULL)
        return rc;
    return finish_accuracy(model->context, &model->settings->accuracy, watchers->accuracy, passed, err);
}

static void watch_accuracy(struct watchers *watchers, const struct run_settings *settings,
                           struct accuracy_results *accuracy)
{
    if (!settings->accuracy.average && settings->accuracy.path == NULL)
        return;
    watchers->functions = comparison_functions_or_default(&settings->comparison.settings.functions);
    watchers->accuracy = accuracy;
    accuracy_results_begin(accuracy, &watchers->functions, settings->accuracy.average);
}

/* Fails before the inference if results cannot be saved. */
static int run_command(const struct command_context *context, const struct run_settings *options, struct error *err)
{
    const struct runner_values *runner_values = &options->runners;
    const struct comparison_values *values = &options->comparison;
    const struct node_values *nodes = &options->nodes;
    const char *json_path = options->json.path;
    bool draws = values->heat_map_folder != NULL || values->error_plot_folder != NULL, passed = true;
    struct plots_settings plots_settings = {
        .heat_map_folder = values->heat_map_folder,
        .error_plot_folder = values->error_plot_folder,
        .log = context->log,
    };
    struct driver_settings settings = driver_settings_of(context, options);
    struct chosen_runners runners = {0};
    struct run_report report;
    struct json_writer json;
    struct plots plots = {0};
    struct accounts accounts = {.json = json_path != NULL ? &json : NULL, .runners = &runners};
    struct accuracy_results accuracy = {0};
    struct watchers watchers = {.plots = draws ? &plots : NULL};
    struct run_model model = {.context = context, .settings = options, .in_groups = runs_in_groups(options)};
    int rc = check_request(context, options, err);

    if (rc == 0 && run_model_has_runner(runner_values, &engine_backend))
        rc = trt_choose(context->log, options->file.model.path, TRT_RUNS, &model.library, err);
    if (rc < 0)
        return rc;
    warn_of_equal_runners(context, runner_values);
    crash_set_advice("To see whether ONNX Runtime's optimizers crash, add --onnxrt-optimization-level none; if that "
                     "passes, `polygraphy debug passes` finds the optimizer. --use-subprocess runs each runner in a "
                     "separate process");
    accounts.page = watchers.page = begin_page(context, options);
    if (accounts.json != NULL || accounts.page != NULL || nodes->node_data != NULL || nodes->annotated != NULL ||
        context->junit != NULL)
        accounts.results = watchers.report = &report;
    rc = choose_runners(runner_values, &model, &runners, err);
    settings.runners = runners.items;
    settings.count = runners.count;
    settings.types = runners.are_separate ? &onnxrt_apart_backend : &onnxrt_backend;
    settings.report = watchers.report;
    watch_accuracy(&watchers, options, &accuracy);
    settings.comparison.on_compared =
        watchers.report != NULL || watchers.accuracy != NULL || draws ? watch_comparison : NULL;
    settings.comparison.on_compared_data = &watchers;
    run_report_init(&report);
    json_writer_init(&json);
    if (rc == 0 && json_path != NULL)
        rc = json_writer_open(&json, json_path, err);
    if (rc < 0)
        goto done;
    rc = plots_init(&plots, &plots_settings, err);
    if (rc < 0)
        goto done;
    rc = run_and_judge(&model, &settings, &watchers, &accounts, &passed, err);
    /* A difference that was seen is what counts, even where something else could not be compared. */
    if (rc < 0 && rc != ERR_INTERRUPTED && !passed) {
        log_message(context->log, LOG_CRITICAL, "%s", err->message);
        rc = 0;
    }
    if (rc < 0)
        goto done;
    if (!passed)
        log_how_to_see_more(context, &settings);
    rc = plots_finish(&plots, err);
    if (rc < 0)
        goto done;
    if (draws && plots.saved == 0)
        log_message(context->log, LOG_WARNING, "No plots were saved: there was nothing to compare element by element");
    rc = write_accounts(&model, &accounts, passed, err);
done:
    run_junit_fill(context->junit, &report); /* after an error, too: what was found out before it */
    accuracy_results_release(&accuracy);
    plots_release(&plots);
    release_runners(&runners);
    run_report_release(&report);
    json_writer_release(&json);
    release_accounts(&accounts);
    run_model_release(&model);
    return rc < 0 ? rc : !passed;
}

DEFINE_COMMAND_RUN(run_command, struct run_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct run_settings, common.logging, logging_options),
    COMMAND_GROUP(struct run_settings, file.model, run_model_options),
    COMMAND_GROUP(struct run_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct run_settings, inference, inference_options),
    COMMAND_GROUP(struct run_settings, comparison, comparison_options),
    COMMAND_GROUP(struct run_settings, accuracy, metric_options),
    COMMAND_GROUP(struct run_settings, runners, runner_options),
    COMMAND_GROUP(struct run_settings, file.onnxrt, onnxrt_options),
    COMMAND_GROUP(struct run_settings, file.load, onnx_load_outputs_options),
    COMMAND_GROUP(struct run_settings, file.inference, shape_inference_options),
    COMMAND_GROUP(struct run_settings, file.save, run_save_options),
    {&run_options, 0},
    COMMAND_GROUP(struct run_settings, json, json_options),
    COMMAND_GROUP(struct run_settings, report, report_options),
    COMMAND_GROUP(struct run_settings, common.junit, junit_options),
    COMMAND_GROUP(struct run_settings, nodes, node_options),
    COMMAND_GROUP(struct run_settings, steps, step_options),
    COMMAND_GROUP(struct run_settings, engine, engine_config_options),
    COMMAND_GROUP(struct run_settings, engine, engine_network_options),
    COMMAND_GROUP(struct run_settings, engine, engine_file_options),
    COMMAND_GROUP(struct run_settings, engine, tensorrt_run_options),
    {&tensorflow_run_options, 0},
};

const struct command cmd_run = {
    .name = "run",
    .summary = "run a model and compare its outputs between runners and files",
    .description =
        "Runs a model on random data, or on data from files, with each runner, and compares the outputs: each result "
        "with the next one, first those of the runners, then those loaded from files.\n\nThe exit code is 0 if all "
        "outputs match (and, with --validate, are finite), otherwise 1, so the command can be the check of a debug "
        "tool. Inside a check the exit code is more specific: 1 if outputs differ or are not finite, 3 if the runner "
        "refused the model or failed, 125 if the check is invalid (a misspelled option, a missing file, an input "
        "without data, nothing to compare); input data are then matched by name only.",
    .example = "# check that the model runs and that its outputs are finite\npolygraphy run model.onnx --onnxrt "
               "--validate\n# compare all tensors with and without the runtime's optimizations\npolygraphy run "
               "model.onnx --onnxrt --onnx-outputs mark all --save-inputs in.json --save-outputs out.json\npolygraphy "
               "run model.onnx --onnxrt --onnx-outputs mark all --load-inputs in.json --load-outputs out.json \\\n    "
               "--onnxrt-optimization-level none --atol 1e-3",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .essential =
        "--onnxrt --trt --runner --load-inputs --input-shapes --save-inputs --save-outputs --load-outputs --atol "
        "--rtol --compare --validate --onnx-outputs --first-divergence --fp16 --int8 --json --report -v",
    .framed = true,
    COMMAND_RUN(run_command),
};
