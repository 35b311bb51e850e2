/* comparator/infer/driver.c: see driver.h. */
#include "comparator/infer/driver.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "comparator/compare/validation.h"
#include "comparator/infer/log_sections.h"
#include "comparator/infer/subprocess.h"
#include "format/data/file.h"

struct driver {
    const struct driver_settings *settings;
    struct data_loader *loader;
    struct run_results *results;       /* of the runners, then loaded ones */
    struct run_results_writer *writer; /* NULL: nothing is saved */
    struct run_report *lone_report;    /* receives outputs that are not compared; NULL: none */
    bool keep_outputs;
    struct comparison_settings comparison;
    struct log_sections sections;
    struct worker *workers;
    size_t first, end;   /* runners of this turn */
    struct model *model; /* run in groups; NULL: models are run whole */
    const struct backend_io *inputs;
    size_t input_count;
    struct layerwise plan; /* groups of the current iteration */
    size_t steps;          /* of the current iteration */

    /* Side by side: */
    struct run_results loaded;  /* until appended to the runners' results */
    struct comparison *couples; /* pairs of neighbours whose first one is a runner's; others are compared at the end */
    size_t couple_count;
};

/* The parts of the log: runners, comparisons, validation with a heading and each runner, and what was saved. */
static struct log *runner_log(struct driver *driver, size_t runner)
{
    return log_sections_select(&driver->sections, runner, 0);
}

static struct log *couple_log(struct driver *driver, size_t couple)
{
    return log_sections_select(&driver->sections, driver->settings->count + couple, 0);
}

static struct log *validation_log(struct driver *driver, size_t part)
{
    return log_sections_select(&driver->sections, driver->settings->count + driver->results->count + part, part > 0);
}

static struct log *saving_log(struct driver *driver)
{
    return log_sections_select(&driver->sections, driver->settings->count + 2 * driver->results->count + 1, 0);
}

/* ---- Loaded results ---- */

static void warn_of_extra_rules(const struct driver *driver, const struct run_results *results)
{
    output_rules_warn(driver->settings->rules, driver->settings->rule_count, results, driver->settings->log);
}

/* Like warn_of_extra_rules(), before any output is computed. */
static void warn_of_extra_rules_early(const struct driver *driver)
{
    const struct model *model = driver->model;
    struct run_results names = {0};
    struct iteration_result *iteration = runner_results_add_iteration(run_results_add_runner(&names, TEXT("")), 0);

    for (size_t i = 0; model != NULL && i < model->outputs.count; i++)
        tensor_list_add(&iteration->outputs, model->values.items[model->outputs.items[i]].name, &(struct tensor){0});
    if (model == NULL)
        worker_list_outputs(&driver->workers[0], &iteration->outputs);
    warn_of_extra_rules(driver, &names);
    run_results_release(&names);
}

/* Appends the loaded results and post-processes all of them. */
static int load_results(const struct driver *driver, struct run_results *ret, struct error *err)
{
    const struct driver_settings *settings = driver->settings;

    for (size_t i = 0; i < settings->load_count; i++) {
        log_message(settings->log, LOG_INFO, "Loading inference results from %s", settings->load_outputs[i]);
        if (data_file_add_results(ret, settings->load_outputs[i], err) < 0)
            return err->code;
    }
    if (!settings->side_by_side && ret->count > 1)
        warn_of_extra_rules(driver, ret);
    for (size_t i = 0; i < ret->count; i++)
        for (size_t k = 0; k < ret->items[i].count; k++) {
            int rc =
                top_k_replace(&ret->items[i].items[k].outputs, settings->postprocess, settings->postprocess_count, err);

            if (rc < 0)
                return rc;
        }
    return 0;
}

/* ---- The beginning of a turn ---- */

static int begin_runners(struct driver *driver, struct error *err)
{
    const struct driver_settings *settings = driver->settings;

    for (size_t r = driver->first; r < driver->end; r++) {
        struct worker *worker = &driver->workers[r];
        struct log *log = runner_log(driver, r);
        int rc;

        worker->runner = &settings->runners[r];
        log_message(log, LOG_START, "%-35s | Activating and starting inference", worker->runner->name);
        rc = settings->load(settings->load_data, log, &worker->request, &driver->model, err);
        if (rc < 0)
            return rc;
        worker->request.log = log;
        if (driver->model == NULL)
            rc = worker_open(worker, err);
        if (rc < 0)
            return rc;
        if (settings->side_by_side && r == 0 && settings->count + driver->loaded.count > 1)
            warn_of_extra_rules_early(driver);
    }
    return 0;
}

/* Keeps the input data: other runners, and further groups, need them again. */
static int keep_inputs(struct driver *driver, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    const char *path = driver->first == 0 ? settings->save_inputs : NULL;
    int rc = 0;

    if (driver->model != NULL || settings->count > 1 || path != NULL)
        rc = data_loader_keep(driver->loader, driver->inputs, driver->input_count, err);
    if (rc < 0 || path == NULL)
        return rc;
    log_message(runner_log(driver, driver->first), LOG_INFO, "Saving inference input data to %s", path);
    return data_file_save(data_loader_kept(driver->loader), path, err);
}

/* Allocates results, which must not move until the turn ends; side by side also iterations. */
static int begin_results(struct driver *driver, size_t iterations, struct error *err)
{
    struct run_results *results = driver->results;
    size_t first = results->count;
    int rc = 0;

    for (size_t r = driver->first; r < driver->end && rc == 0; r++) {
        const char *name = driver->workers[r].runner->name;
        struct runner_results *runner = run_results_add_runner(results, text_of(name));

        for (size_t i = 0; i < iterations && driver->settings->side_by_side; i++)
            runner_results_add_iteration(runner, 0);
        if (driver->writer != NULL)
            rc = run_results_writer_begin_runner(driver->writer, name, err);
    }
    for (size_t i = 0; i < driver->loaded.count; i++)
        *VECTOR_APPEND(results) = driver->loaded.items[i];
    driver->loaded.count = 0;
    for (size_t r = driver->first; r < driver->end; r++)
        driver->workers[r].results = &results->items[first + r - driver->first];
    return rc;
}

static void begin_comparisons(struct driver *driver)
{
    const struct run_results *results = driver->results;
    size_t runners = driver->settings->count;

    driver->couple_count = results->count - 1 < runners ? results->count - 1 : runners;
    driver->couples = memory_alloc_zero(results->count, sizeof(*driver->couples));
    for (size_t c = 0; c < driver->couple_count; c++) {
        couple_log(driver, c);
        comparison_begin(&driver->couples[c], &driver->comparison, &results->items[c], &results->items[c + 1]);
    }
}

/* ---- An iteration ---- */

/* All iterations of all runners will have as many outputs as the first one. */
static void expect_outputs(const struct driver *driver, const struct tensor_list *outputs)
{
    size_t name_bytes = driver->settings->side_by_side ? 64 * outputs->count : 0;
    size_t times = driver->settings->count * (size_t)data_loader_iterations(driver->loader);

    for (size_t i = 0; i < outputs->count && !driver->settings->side_by_side; i++)
        name_bytes += strlen(outputs->items[i].name);
    for (size_t i = 0; i < times; i++)
        run_results_writer_expect(driver->writer, outputs->count, name_bytes);
}

static int plan_steps(struct driver *driver, const struct tensor_list *feed, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    int rc;

    driver->steps = 1;
    if (driver->model == NULL)
        return 0;
    layerwise_release(&driver->plan); /* that of the last iteration */
    driver->plan = (struct layerwise){.model = driver->model,
                                      .backend = settings->types,
                                      .request = &driver->workers[0].request,
                                      .bound = settings->memory / settings->count};
    rc = layerwise_plan(&driver->plan, feed, err);
    driver->steps = driver->plan.count;
    return rc;
}

/* Whether incremental validation has a heading for each iteration. */
static bool heads_validations(const struct driver *driver)
{
    return driver->settings->side_by_side && driver->settings->validate && driver->workers[0].results->count > 1;
}

/* Whether this iteration is compared: not after one that ended the comparison. */
static bool compares_iteration(const struct driver *driver, size_t couple, size_t iteration)
{
    if (iteration >= driver->couples[couple].iterations)
        return false;
    for (size_t c = 0; c <= couple; c++)
        if (!comparison_goes_on(&driver->couples[c]))
            return false;
    return true;
}

static int begin_iteration(struct driver *driver, size_t index, const struct tensor_list *feed, struct error *err)
{
    int rc = plan_steps(driver, feed, err);

    for (size_t r = driver->first; r < driver->end && rc == 0; r++) {
        struct worker *worker = &driver->workers[r];
        struct tensor_list *outputs;

        if (!driver->settings->side_by_side)
            runner_results_add_iteration(worker->results, 0);
        outputs = &worker->results->items[index].outputs;
        worker_begin_iteration(worker, index, driver->settings->warm_up, &driver->plan);
        if (heads_validations(driver)) {
            struct log *log = validation_log(driver, 1 + r);

            log_message(log, LOG_START, "%s | Iteration: %zu", worker->results->name, index);
            log_indent(log, 1);
        }
        worker_list_outputs(worker, outputs);
        if (driver->writer == NULL)
            continue;
        if (index == 0 && r == 0)
            expect_outputs(driver, outputs);
        rc = run_results_writer_begin_iteration(driver->writer, err);
    }
    for (size_t c = 0; c < driver->couple_count && rc == 0; c++) {
        couple_log(driver, c);
        if (compares_iteration(driver, c, index))
            comparison_begin_iteration(&driver->couples[c], index);
    }
    return rc;
}

/* Adds advice: a failing model may only require other sizes. */
static void hint_at_sizes(const struct driver *driver, struct error *err)
{
    SCOPED_STRING(guesses);
    struct error why = *err;

    if (data_loader_guesses(driver->loader, driver->inputs, driver->input_count, &guesses)) {
        error_set(err, (enum error_code)why.code,
                  "%s; sizes that the model leaves open were taken as 1: if it wants others, give them with "
                  "--input-shapes, in place of %s",
                  why.message, guesses.data);
        err->foreign_code = why.foreign_code;
    }
}

static void validate_output(struct driver *driver, size_t runner, size_t iteration, const struct named_tensor *output)
{
    const struct driver_settings *settings = driver->settings;
    struct worker *worker = &driver->workers[runner];
    const struct tensor *reference = validation_reference(driver->results, runner, iteration, output);

    if (settings->report != NULL)
        run_report_add_validation(settings->report, worker->results->name, iteration, output);
    if (validation_output(output, reference, validation_log(driver, 1 + runner)))
        return;
    if (worker->bad++ == 0)
        worker->first_bad = memory_strdup(output->name);
    if (driver->comparison.divergence != NULL)
        first_divergence_add_invalid(driver->comparison.divergence, output->name);
}

/* Reports the new outputs and saves them. */
static int save_outputs(struct driver *driver, size_t runner, size_t iteration, const struct tensor_list *come,
                        struct error *err)
{
    struct worker *worker = &driver->workers[runner];

    if (driver->writer != NULL)
        run_results_writer_select(driver->writer, runner);
    for (size_t i = 0; i < come->count; i++) {
        const struct named_tensor *output = &come->items[i];
        struct tensor described;
        int rc = 0;

        tensor_borrow(output->tensor.type, &output->tensor.shape, NULL, 0, &described);
        tensor_list_add(&worker->described, text_of(output->name), &described);
        if (driver->writer != NULL)
            rc = run_results_writer_add(driver->writer, output->name, &output->tensor, err);
        if (rc < 0)
            return rc;
        run_report_add_output(driver->lone_report, worker->results->name, iteration, output);
    }
    return 0;
}

/* Saves the new outputs and moves them to the results. */
static int take_runner_outputs(struct driver *driver, size_t runner, size_t iteration, struct tensor_list *come,
                               struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    struct worker *worker = &driver->workers[runner];
    struct tensor_list *outputs = &worker->results->items[iteration].outputs;
    int rc = save_outputs(driver, runner, iteration, come, err);

    if (rc == 0 && settings->side_by_side)
        rc = top_k_replace(come, settings->postprocess, settings->postprocess_count, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < come->count; i++) {
        if (settings->side_by_side && settings->validate)
            validate_output(driver, runner, iteration, &come->items[i]);
        outputs->items[worker->arrived++].tensor = come->items[i].tensor;
        come->items[i].tensor = (struct tensor){0};
    }
    return 0;
}

/* Releases the outputs of the last step. Outputs that still wait for their partners are copied. */
static int release_outputs(struct driver *driver, size_t runner, size_t iteration, struct error *err)
{
    struct worker *worker = &driver->workers[runner];
    struct tensor_list *outputs = &worker->results->items[iteration].outputs;

    for (; worker->released < worker->arrived; worker->released++) {
        struct named_tensor *output = &outputs->items[worker->released];
        bool is_awaited = (runner < driver->couple_count && comparison_awaits(&driver->couples[runner], output)) ||
                          (runner > 0 && comparison_awaits(&driver->couples[runner - 1], output));
        struct tensor copy;

        if (!is_awaited) {
            tensor_release(&output->tensor);
        } else if (output->tensor.free_owner == NULL) {
            int rc = tensor_copy(&output->tensor, &copy, err);

            if (rc < 0)
                return rc;
            output->tensor = copy;
        }
    }
    return 0;
}

static int run_step(struct driver *driver, size_t runner, size_t step, size_t iteration, const struct tensor_list *feed,
                    struct error *err)
{
    struct worker *worker = &driver->workers[runner];
    struct tensor_list outputs = {0};
    int rc;

    runner_log(driver, runner);
    rc = worker_run_step(worker, step, feed, &outputs, err);
    if (rc == ERR_BACKEND && worker->session != NULL)
        hint_at_sizes(driver, err);
    if (rc == 0)
        rc = take_runner_outputs(driver, runner, iteration, &outputs, err);
    tensor_list_release(&outputs);
    return rc;
}

/* Once all runners of the turn have done a step: compares the new outputs, and side by side releases them. */
static int end_step(struct driver *driver, size_t iteration, struct error *err)
{
    int rc = 0;

    for (size_t c = 0; c < driver->couple_count; c++) {
        couple_log(driver, c);
        if (driver->couples[c].is_open)
            rc = comparison_advance(&driver->couples[c], err);
        if (rc < 0)
            return rc;
    }
    for (size_t r = driver->first; r < driver->end && rc == 0 && driver->settings->side_by_side; r++)
        rc = release_outputs(driver, r, iteration, err);
    return rc;
}

static int end_iteration(struct driver *driver, size_t index, struct error *err)
{
    int rc = 0;

    for (size_t c = 0; c < driver->couple_count; c++) {
        couple_log(driver, c);
        if (driver->couples[c].is_open)
            comparison_end_iteration(&driver->couples[c]);
    }
    for (size_t r = driver->first; r < driver->end && rc == 0; r++) {
        struct worker *worker = &driver->workers[r];
        struct iteration_result *iteration = &worker->results->items[index];

        runner_log(driver, r);
        worker_log_tensors(worker, "Output", &worker->described);
        iteration->runtime = worker->seconds;
        if (!driver->keep_outputs)
            tensor_list_release(&iteration->outputs);
        if (heads_validations(driver))
            log_indent(validation_log(driver, 1 + r), -1);
        worker_end_iteration(worker);
        if (driver->writer == NULL)
            continue;
        run_results_writer_select(driver->writer, r);
        rc = run_results_writer_end_iteration(driver->writer, worker->seconds, worker->runner->name, err);
    }
    return rc;
}

static int run_iteration(struct driver *driver, size_t index, struct error *err)
{
    struct tensor_list feed = {0};
    int rc = data_loader_feed(driver->loader, driver->inputs, driver->input_count, (int64_t)index, &feed, err);

    if (rc < 0)
        return rc;
    rc = begin_iteration(driver, index, &feed, err);
    if (rc < 0)
        goto done;
    for (size_t step = 0; step < driver->steps; step++) {
        for (size_t r = driver->first; r < driver->end; r++) {
            rc = run_step(driver, r, step, index, &feed, err);
            if (rc < 0)
                goto done;
        }
        rc = end_step(driver, index, err);
        if (rc < 0)
            goto done;
    }
    rc = end_iteration(driver, index, err);
done:
    tensor_list_release(&feed);
    return rc;
}

/* ---- A turn ---- */

static int run_turn(struct driver *driver, struct error *err)
{
    size_t iterations = (size_t)data_loader_iterations(driver->loader);
    struct backend_io *of_model = NULL;
    int rc = begin_runners(driver, err);

    if (rc < 0)
        goto done;
    if (driver->model != NULL) {
        driver->inputs = of_model = model_io_new(driver->model, NULL, &driver->model->inputs);
        driver->input_count = driver->model->inputs.count;
    } else {
        const struct worker *worker = &driver->workers[driver->first];

        driver->inputs = worker->session->inputs;
        driver->input_count = worker->session->input_count;
    }
    rc = keep_inputs(driver, err);
    if (rc < 0)
        goto done;
    rc = begin_results(driver, iterations, err);
    if (rc < 0)
        goto done;
    if (driver->settings->side_by_side)
        begin_comparisons(driver);
    for (size_t i = 0; i < iterations; i++) {
        rc = run_iteration(driver, i, err);
        if (rc < 0)
            goto done;
    }
    for (size_t r = driver->first; r < driver->end; r++) {
        if (driver->writer != NULL)
            rc = run_results_writer_end_runner(driver->writer, err);
        runner_log(driver, r);
        if (rc < 0)
            goto done;
        worker_log_completion(&driver->workers[r], iterations);
    }
done:
    for (size_t r = driver->first; r < driver->end; r++)
        worker_close(&driver->workers[r]);
    layerwise_release(&driver->plan);
    model_io_free(of_model, driver->input_count);
    return rc;
}

/* Runs a turn in a subprocess and returns its results. */
static int run_turn_there(void *data, struct run_results *ret, struct error *err)
{
    struct driver own = *(const struct driver *)data;

    own.results = ret;
    own.keep_outputs = own.keep_outputs || own.writer != NULL || own.lone_report != NULL;
    own.lone_report = NULL;
    own.writer = NULL;
    return run_turn(&own, err);
}

static int run_turn_apart(struct driver *driver, struct error *err)
{
    const char *name = driver->settings->runners[driver->first].name;
    struct runner_results *runner;
    int rc = subprocess_run(name, run_turn_there, driver, driver->results, err);

    if (rc < 0)
        return rc;
    runner = &driver->results->items[driver->results->count - 1];
    run_report_add_outputs(driver->lone_report, runner);
    if (driver->writer != NULL)
        rc = run_results_writer_add_runner(driver->writer, runner, err);
    for (size_t i = 0; i < runner->count && !driver->keep_outputs; i++)
        tensor_list_release(&runner->items[i].outputs);
    return rc;
}

/* ---- The end ---- */

/* Compares what was not compared incrementally. */
static int end_comparisons(struct driver *driver, bool *passed, struct error *err)
{
    size_t compared = driver->settings->side_by_side ? driver->settings->count : 0;
    struct run_results rest = {.items = driver->results->items + compared, .count = driver->results->count - compared};
    struct error ignored = {0};
    bool rest_passed = true;
    int rc, first = 0;

    for (size_t c = 0; c < driver->couple_count; c++) {
        bool couple_passed = true;

        couple_log(driver, c);
        rc = comparison_end(&driver->couples[c], &couple_passed, first == 0 ? err : &ignored);
        first = first == 0 ? rc : first;
        *passed &= couple_passed;
    }
    couple_log(driver, driver->couple_count);
    if (rest.count > 1 && (*passed || !driver->comparison.fail_fast)) {
        rc = comparison_run(&rest, &driver->comparison, &rest_passed, first == 0 ? err : &ignored);
        first = first == 0 ? rc : first;
        *passed &= rest_passed;
    }
    return first;
}

/* Validates what was not validated incrementally, and logs the summary. */
static bool end_validation(struct driver *driver)
{
    const struct driver_settings *settings = driver->settings;
    const struct run_results *results = driver->results;
    SCOPED_STRING(names);
    bool valid = true;

    for (size_t r = 0; r < results->count; r++)
        name_list_add(&names, results->items[r].name);
    log_message(validation_log(driver, 0), LOG_START, "Output Validation | Runners: [%s]", names.data);
    for (size_t r = 0; r < results->count; r++) {
        struct log *log = validation_log(driver, 1 + r);

        if (settings->side_by_side && r < settings->count) {
            const struct worker *worker = &driver->workers[r];

            validation_log_runner(log, worker->runner->name, worker->bad, worker->first_bad);
            valid &= worker->bad == 0;
            continue;
        }
        valid &= validation_runner(results, r, log);
        if (settings->report != NULL)
            run_report_add_validations(settings->report, &results->items[r]);
    }
    log_message(validation_log(driver, results->count), valid ? LOG_FINISH : LOG_ERROR, "%s | Output Validation",
                valid ? "PASSED" : "FAILED");
    return valid;
}

static int settle_results(struct driver *driver, bool *passed, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    int rc;

    if (driver->results->count < 2 && settings->load_count > 0 && settings->comparison.strict)
        return error_set(err, ERR_INVALID, "there is only one result: nothing to compare it with");
    if (driver->results->count < 2 && settings->load_count > 0)
        log_message(couple_log(driver, 0), LOG_WARNING, "There is only one result: nothing to compare it with");
    rc = end_comparisons(driver, passed, err);
    if (rc == ERR_INTERRUPTED)
        return rc;
    if (settings->validate)
        *passed &= end_validation(driver);
    return rc;
}

/* Runs all turns and saves their results. */
static int run_turns(struct driver *driver, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    size_t at_once = settings->side_by_side ? settings->count : 1;
    struct run_results_writer writer;
    int rc = 0;

    if (settings->count > 0 && settings->save_outputs != NULL) {
        driver->writer = &writer;
        rc = run_results_writer_open(&writer, settings->save_outputs, err);
    }
    if (rc < 0)
        goto done;
    for (size_t r = 0; r < settings->count; r += at_once) {
        driver->first = r;
        driver->end = r + at_once;
        rc = settings->use_subprocess ? run_turn_apart(driver, err) : run_turn(driver, err);
        if (rc < 0)
            goto done;
    }
    if (driver->writer != NULL) {
        log_message(saving_log(driver), LOG_INFO, "Saving inference results to %s", settings->save_outputs);
        rc = run_results_writer_commit(&writer, err);
    }
done:
    if (driver->writer != NULL)
        run_results_writer_release(&writer);
    driver->writer = NULL;
    return rc;
}

/* Runs the models and loads saved results; side by side these are compared incrementally. */
static int obtain_results(struct driver *driver, struct error *err)
{
    int rc;

    if (driver->settings->side_by_side) {
        rc = load_results(driver, &driver->loaded, err);
        return rc < 0 ? rc : run_turns(driver, err);
    }
    rc = run_turns(driver, err);
    return rc < 0 ? rc : load_results(driver, driver->results, err);
}

int driver_run(const struct driver_settings *settings, struct data_loader *loader, struct run_results *ret,
               bool *ret_passed, struct error *err)
{
    bool is_needed = settings->count > 1 || settings->load_count > 0 || settings->validate || settings->keep_outputs;
    struct driver driver = {
        .settings = settings,
        .loader = loader,
        .results = ret,
        .lone_report = settings->count == 1 && settings->load_count == 0 ? settings->report : NULL,
        .keep_outputs = !settings->side_by_side && is_needed,
        .comparison = settings->comparison,
        .workers = memory_alloc_zero(settings->count, sizeof(*driver.workers)),
    };
    int rc;

    *ret_passed = true;
    log_sections_init(&driver.sections, settings->log, settings->side_by_side);
    driver.comparison.log = driver.sections.log;
    driver.comparison.release = !settings->side_by_side && !settings->validate && !settings->keep_outputs;
    rc = obtain_results(&driver, err);
    if (rc == 0) {
        rc = settle_results(&driver, ret_passed, err);
    } else {
        for (size_t c = 0; c < driver.couple_count; c++)
            comparison_abandon(&driver.couples[c]);
        run_results_release(ret);
        *ret = (struct run_results){0};
    }
    for (size_t r = 0; r < settings->count; r++)
        free(driver.workers[r].first_bad);
    free(driver.workers);
    free(driver.couples);
    run_results_release(&driver.loaded);
    log_sections_release(&driver.sections);
    return rc;
}
