/* comparator/infer/driver.c: see driver.h. */
#include "comparator/infer/driver.h"

#include <stdlib.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "comparator/compare/validation.h"
#include "comparator/infer/checks.h"
#include "comparator/infer/log_sections.h"
#include "comparator/infer/subprocess.h"
#include "format/data/stream.h"

struct driver {
    const struct driver_settings *settings;
    struct data_loader *loader;
    struct run_results *results;    /* of the runners, then loaded ones; not sequential: of the current iteration */
    struct run_report *lone_report; /* receives outputs that are not compared; NULL: none */
    struct comparison_settings comparison;
    struct log_sections sections;
    struct worker *workers;
    size_t first, end;           /* runners of this turn */
    struct model *model;         /* run in groups; NULL: models are run whole */
    struct backend_io *of_model; /* its inputs */
    struct layerwise plan;       /* groups of the current iteration */
    size_t steps;                /* of the current iteration */

    /* Not sequential: */
    struct saving saving;
    struct result_streams loaded;
    struct iteration_checks checks;
};

/* The parts of the log in an iteration: runners, then those of infer/checks.h. */
static struct log *runner_log(struct driver *driver, size_t runner)
{
    return log_sections_select(&driver->sections, runner, 0);
}

static bool is_sequential(const struct driver *driver)
{
    return driver->settings->sequential;
}

static size_t runner_iterations(const struct driver *driver)
{
    const struct driver_settings *settings = driver->settings;

    if (settings->count == 0)
        return 0;
    return settings->steps != NULL ? settings->steps->count : (size_t)data_loader_iterations(driver->loader);
}

/* The number of iterations of a runner or of a loaded result; not sequential. */
static size_t result_iterations(const struct driver *driver, size_t result)
{
    size_t runners = driver->settings->count, first = driver->settings->first_loaded;
    size_t count = result < runners ? runner_iterations(driver) + first : driver->loaded.items[result - runners].count;

    return count > first ? count - first : 0;
}

/* A result in the current iteration; not sequential. */
static struct iteration_result *current_iteration(const struct driver *driver, size_t result)
{
    return &driver->results->items[result].items[0];
}

static const struct backend_io *worker_inputs(const struct driver *driver, size_t runner, size_t *ret_count)
{
    const struct backend_session *session = driver->workers[runner].session;

    *ret_count = driver->model != NULL ? driver->model->inputs.count : session->input_count;
    return driver->model != NULL ? driver->of_model : session->inputs;
}

static int rank_outputs(const struct driver *driver, struct tensor_list *outputs, struct error *err)
{
    return top_k_replace(outputs, driver->settings->postprocess, driver->settings->postprocess_count, err);
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
        worker->logs_inputs = is_sequential(driver);
        log_message(log, LOG_START, "%-35s | Activating and starting inference", worker->runner->name);
        rc = settings->load(settings->load_data, log, &worker->request, &driver->model, err);
        if (rc < 0)
            return rc;
        worker->request.log = log;
        if (driver->model == NULL)
            rc = worker_open(worker, err);
        if (rc < 0)
            return rc;
    }
    if (driver->model != NULL)
        driver->of_model = model_io_new(driver->model, NULL, &driver->model->inputs);
    return 0;
}

/* Sequentially, other runners need the input data again. */
static int keep_inputs(const struct driver *driver, struct error *err)
{
    size_t count;
    const struct backend_io *inputs = worker_inputs(driver, driver->first, &count);
    const struct driver_settings *settings = driver->settings;
    bool is_saved = driver->first == 0 && (settings->save.inputs != NULL || settings->save.input_blobs != NULL);
    int rc = 0;

    if (is_saved || settings->count > 1)
        rc = data_loader_keep(driver->loader, inputs, count, err);
    if (rc < 0 || !is_saved)
        return rc;
    return saving_write_inputs(&settings->save, data_loader_kept(driver->loader), settings->log, err);
}

/* Allocates results, which must not move until the turn ends. */
static void begin_results(const struct driver *driver)
{
    struct run_results *results = driver->results;

    for (size_t r = driver->first; r < driver->end; r++)
        run_results_add_runner(results, text_of(driver->workers[r].runner->name));
    for (size_t i = 0; i < driver->loaded.count; i++)
        run_results_add_runner(results, text_of(driver->loaded.items[i].name));
    for (size_t i = 0; i < results->count && !is_sequential(driver); i++)
        runner_results_add_iteration(&results->items[i], 0);
}

static void begin_checks(struct driver *driver)
{
    size_t count = driver->results->count;
    size_t *iterations SCOPED_FREE = memory_alloc_zero(count + 1, sizeof(*iterations));

    for (size_t r = 0; r < count; r++)
        iterations[r] = result_iterations(driver, r);
    driver->checks = (struct iteration_checks){.settings = &driver->comparison,
                                               .sections = &driver->sections,
                                               .section = driver->settings->count,
                                               .report = driver->settings->report,
                                               .results = driver->results};
    iteration_checks_begin(&driver->checks, iterations);
}

/* ---- The beginning of an iteration ---- */

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

static void log_iteration(struct driver *driver, size_t index, const struct tensor_list *feed)
{
    struct log *log = runner_log(driver, 0);
    SCOPED_STRING(text);

    if (is_sequential(driver) || !log_shows(log, LOG_INFO))
        return;
    worker_describe_tensors(feed, &text);
    log_message(log, LOG_INFO, "Streaming iteration %zu\n---- Inference Input(s) ----\n%s", index, text.data);
}

/* Gives each runner its inputs, and saves all that there are. */
static int feed_runners(struct driver *driver, size_t index, struct error *err)
{
    size_t count;
    const struct backend_io *inputs = worker_inputs(driver, driver->first, &count);
    struct decoder_steps *steps = driver->settings->steps;
    const struct tensor_list *held = NULL;
    int rc = 0;

    if (!is_sequential(driver) && steps == NULL)
        rc = data_loader_hold(driver->loader, inputs, count, (int64_t)index, &held, err);
    for (size_t r = driver->first; r < driver->end && rc == 0; r++) {
        struct tensor_list *feed = &driver->workers[r].feed;

        inputs = worker_inputs(driver, r, &count);
        if (steps != NULL)
            rc = decoder_steps_feed(steps, driver->loader, &(struct fed_runner){r, inputs, count}, index, feed, err);
        else
            rc = data_loader_feed(driver->loader, inputs, count, (int64_t)index, feed, err);
    }
    if (rc < 0)
        return rc;
    log_iteration(driver, index, &driver->workers[driver->first].feed);
    if (is_sequential(driver))
        return 0;
    return saving_add_inputs(&driver->saving, steps != NULL ? &driver->workers[driver->first].feed : held, err);
}

static int begin_iteration(struct driver *driver, size_t index, struct error *err)
{
    struct run_results *results = driver->results;
    int rc = plan_steps(driver, &driver->workers[driver->first].feed, err);

    if (rc < 0)
        return rc;
    for (size_t r = driver->first; r < driver->end; r++) {
        struct worker *worker = &driver->workers[r];

        worker->iteration = is_sequential(driver) ? runner_results_add_iteration(&results->items[results->count - 1], 0)
                                                  : current_iteration(driver, r);
        worker_begin_iteration(worker, index, driver->settings->warm_up, &driver->plan);
        worker_list_outputs(worker, &worker->iteration->outputs);
    }
    return is_sequential(driver) ? 0
                                 : saving_begin_iteration(&driver->saving, &driver->workers[0].iteration->outputs, err);
}

static int read_loaded(const struct driver *driver, size_t index, struct error *err)
{
    size_t from = index + driver->settings->first_loaded;

    for (size_t i = 0; i < driver->loaded.count; i++) {
        struct iteration_result *result = current_iteration(driver, driver->settings->count + i);
        int rc = 0;

        free(result->runner_name);
        *result = (struct iteration_result){0};
        if (from < driver->loaded.items[i].count)
            rc = result_stream_read(&driver->loaded.items[i], from, result, err);
        if (rc == 0)
            rc = rank_outputs(driver, &result->outputs, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- A step ---- */

/* Adds advice: a failing model may only require other sizes. */
static void hint_at_sizes(const struct driver *driver, size_t runner, struct error *err)
{
    SCOPED_STRING(guesses);
    struct error why = *err;
    size_t count;
    const struct backend_io *inputs = worker_inputs(driver, runner, &count);

    if (data_loader_guesses(driver->loader, inputs, count, &guesses)) {
        error_set(err, (enum error_code)why.code,
                  "%s; dynamic dimensions were treated as 1: if the model needs other sizes, pass them with "
                  "--input-shapes instead of %s",
                  why.message, guesses.data);
        err->foreign_code = why.foreign_code;
    }
}

/* Describes the new outputs and moves them to the results. Sequentially these are saved and ranked later. */
static int take_outputs(struct driver *driver, size_t runner, size_t index, struct tensor_list *come, struct error *err)
{
    struct worker *worker = &driver->workers[runner];
    int rc = 0;

    if (driver->settings->steps != NULL)
        rc = decoder_steps_take(driver->settings->steps, runner, come, err);
    if (rc < 0)
        return rc;
    VECTOR_EACH (const struct named_tensor, output, *come) {
        struct tensor described;

        tensor_borrow(output->tensor.type, &output->tensor.shape, NULL, 0, &described);
        tensor_list_add(&worker->described, text_of(output->name), &described);
        if (is_sequential(driver))
            continue;
        rc = saving_add_output(&driver->saving, runner, output, err);
        if (rc < 0)
            return rc;
        run_report_add_output(driver->lone_report, worker->runner->name, index, output);
    }
    if (!is_sequential(driver))
        rc = rank_outputs(driver, come, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < come->count; i++) {
        worker->iteration->outputs.items[worker->arrived++].tensor = come->items[i].tensor;
        come->items[i].tensor = (struct tensor){0};
    }
    return 0;
}

static int run_step(struct driver *driver, size_t runner, size_t step, size_t index, struct error *err)
{
    struct worker *worker = &driver->workers[runner];
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    int rc;

    runner_log(driver, runner);
    rc = worker_run_step(worker, step, &outputs, err);
    if (rc == ERR_BACKEND && worker->session != NULL)
        hint_at_sizes(driver, runner, err);
    if (rc == 0)
        rc = take_outputs(driver, runner, index, &outputs, err);
    if (rc == 0 && step + 1 == driver->steps)
        worker_log_tensors(worker, "Output", &worker->described);
    if (driver->model == NULL)
        log_sections_flush(&driver->sections, driver->settings->count);
    return rc;
}

/* The outputs of this step; loaded ones are there from the first one on. */
static void validate_step(struct driver *driver, size_t step, size_t index, bool runs)
{
    size_t runners = driver->settings->count;

    for (size_t r = 0; r < runners && runs; r++) {
        const struct worker *worker = &driver->workers[r];

        for (size_t i = worker->released; i < worker->arrived; i++)
            iteration_checks_validate(&driver->checks, r, index, &worker->iteration->outputs.items[i]);
    }
    for (size_t r = runners; r < driver->results->count && step == 0; r++) {
        const struct tensor_list *outputs = &current_iteration(driver, r)->outputs;

        for (size_t i = 0; i < outputs->count; i++)
            iteration_checks_validate(&driver->checks, r, index, &outputs->items[i]);
    }
}

/* Releases the outputs of the last step. Outputs that still wait for their partners are copied. */
static int release_outputs(struct driver *driver, size_t runner, struct error *err)
{
    struct worker *worker = &driver->workers[runner];

    for (; worker->released < worker->arrived; worker->released++) {
        struct named_tensor *output = &worker->iteration->outputs.items[worker->released];
        struct tensor copy;

        if (!iteration_checks_await(&driver->checks, runner, output)) {
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

/* Once all runners of the turn have done a step. */
static int end_step(struct driver *driver, size_t step, size_t index, bool runs, struct error *err)
{
    int rc;

    if (driver->settings->validate)
        validate_step(driver, step, index, runs);
    rc = iteration_checks_advance(&driver->checks, err);
    for (size_t r = 0; r < driver->settings->count && runs && rc == 0; r++)
        rc = release_outputs(driver, r, err);
    return rc;
}

/* ---- An iteration ---- */

/* Whether outputs of a sequential run are used after it. */
static bool needs_outputs(const struct driver *driver)
{
    const struct driver_settings *settings = driver->settings;

    return settings->count > 1 || settings->load_count > 0 || settings->validate || settings->keep_outputs ||
           settings->save.outputs != NULL || driver->lone_report != NULL;
}

static int end_runners(struct driver *driver, struct error *err)
{
    int rc = 0;

    for (size_t r = driver->first; r < driver->end && rc == 0; r++) {
        struct worker *worker = &driver->workers[r];

        runner_log(driver, r);
        worker->iteration->runtime = worker->seconds;
        if (!is_sequential(driver))
            rc = saving_end_iteration(&driver->saving, r, worker->seconds, err);
        else if (!needs_outputs(driver))
            tensor_list_release(&worker->iteration->outputs);
        worker_end_iteration(worker);
    }
    return rc;
}

/* The inputs and the names of all outputs. */
static int prepare_iteration(struct driver *driver, size_t index, bool runs, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    int rc = 0;

    driver->steps = 1;
    if (runs) {
        rc = feed_runners(driver, index, err);
        if (rc < 0)
            return rc;
        rc = begin_iteration(driver, index, err);
    }
    if (rc < 0 || is_sequential(driver))
        return rc;
    rc = read_loaded(driver, index, err);
    if (rc < 0)
        return rc;
    if (index == 0 && driver->results->count > 1)
        output_rules_warn(settings->rules, settings->rule_count, driver->results, settings->log);
    iteration_checks_begin_iteration(&driver->checks, index);
    return 0;
}

static int run_iteration(struct driver *driver, size_t index, struct error *err)
{
    bool runs = index < runner_iterations(driver);
    int rc = prepare_iteration(driver, index, runs, err);

    for (size_t step = 0; step < driver->steps && rc == 0; step++) {
        for (size_t r = driver->first; r < driver->end && runs; r++) {
            rc = run_step(driver, r, step, index, err);
            if (rc < 0)
                return rc;
        }
        if (!is_sequential(driver))
            rc = end_step(driver, step, index, runs, err);
    }
    if (rc < 0)
        return rc;
    if (runs)
        rc = end_runners(driver, err);
    if (is_sequential(driver))
        return rc;
    iteration_checks_end_iteration(&driver->checks);
    log_sections_flush(&driver->sections, SIZE_MAX);
    return rc;
}

/* ---- A turn ---- */

/* Loaded results have further iterations only to be compared with each other, or validated. */
static size_t count_iterations(const struct driver *driver)
{
    size_t ret = runner_iterations(driver);

    for (size_t c = 0; c < driver->checks.couple_count; c++)
        if (driver->checks.couples[c].iterations > ret)
            ret = driver->checks.couples[c].iterations;
    for (size_t i = 0; i < driver->loaded.count && driver->settings->validate; i++)
        if (result_iterations(driver, driver->settings->count + i) > ret)
            ret = result_iterations(driver, driver->settings->count + i);
    return ret;
}

static void close_runners(struct driver *driver)
{
    for (size_t r = driver->first; r < driver->end; r++)
        worker_close(&driver->workers[r]);
    layerwise_release(&driver->plan);
    if (driver->model != NULL)
        model_io_free(driver->of_model, driver->model->inputs.count);
    driver->of_model = NULL;
}

static int run_turn(struct driver *driver, struct error *err)
{
    size_t done = 0, iterations;
    int rc = begin_runners(driver, err);

    log_sections_flush(&driver->sections, SIZE_MAX);
    if (rc == 0 && is_sequential(driver))
        rc = keep_inputs(driver, err);
    if (rc < 0)
        goto done;
    begin_results(driver);
    if (!is_sequential(driver))
        begin_checks(driver);
    iterations = count_iterations(driver);
    while (done < iterations) {
        rc = run_iteration(driver, done, err);
        if (rc < 0)
            goto done;
        if (!is_sequential(driver) && iteration_checks_end_run(&driver->checks, done, driver->settings->log))
            iterations = done + 1;
        done++;
    }
    for (size_t r = driver->first; r < driver->end; r++) {
        runner_log(driver, r);
        worker_log_completion(&driver->workers[r], done < runner_iterations(driver) ? done : runner_iterations(driver));
    }
done:
    close_runners(driver);
    return rc;
}

/* Runs a turn in a subprocess and returns its results. */
static int run_turn_there(void *data, struct run_results *ret, struct error *err)
{
    struct driver own = *(const struct driver *)data;

    own.results = ret;
    return run_turn(&own, err);
}

/* ---- Sequential runs ---- */

static int rank_runner(const struct driver *driver, struct runner_results *runner, struct error *err)
{
    for (size_t i = 0; i < runner->count; i++) {
        int rc = rank_outputs(driver, &runner->items[i].outputs, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Appends the loaded results and post-processes all of them. */
static int load_results(const struct driver *driver, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    struct run_results *results = driver->results;
    int rc = 0;

    for (size_t i = 0; i < settings->load_count; i++) {
        rc = data_file_add_results_from(results, settings->load_outputs[i], settings->first_loaded, err);
        if (rc < 0)
            return rc;
    }
    if (results->count > 1)
        output_rules_warn(settings->rules, settings->rule_count, results, settings->log);
    for (size_t i = 0; i < results->count && rc == 0; i++)
        rc = rank_runner(driver, &results->items[i], err);
    return rc;
}

static int run_sequentially(struct driver *driver, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    int rc = 0;

    for (size_t r = 0; r < settings->count && rc == 0; r++) {
        driver->first = r;
        driver->end = r + 1;
        rc = settings->use_subprocess
                 ? subprocess_run(settings->runners[r].name, run_turn_there, driver, driver->results, err)
                 : run_turn(driver, err);
    }
    for (size_t i = 0; i < runner_iterations(driver) && settings->save.outputs != NULL && rc == 0; i++)
        rc = saving_add_results(&driver->saving, driver->results, i, err);
    if (rc < 0)
        return rc;
    for (size_t r = 0; r < settings->count && driver->lone_report != NULL; r++)
        run_report_add_outputs(driver->lone_report, &driver->results->items[r]);
    return load_results(driver, err);
}

static bool validate_results(struct driver *driver)
{
    const struct run_results *results = driver->results;
    struct log *log = driver->settings->log;
    SCOPED_STRING(names);
    bool valid = true;

    for (size_t r = 0; r < results->count; r++)
        name_list_add(&names, results->items[r].name);
    log_message(log, LOG_START, "Output Validation | Runners: [%s]", names.data);
    log_indent(log, 1);
    for (size_t r = 0; r < results->count; r++) {
        valid &= validation_runner(results, r, log);
        if (driver->settings->report != NULL)
            run_report_add_validations(driver->settings->report, &results->items[r]);
    }
    log_message(log, valid ? LOG_FINISH : LOG_ERROR, "%s | Output Validation", valid ? "PASSED" : "FAILED");
    log_indent(log, -1);
    return valid;
}

/* ---- The whole ---- */

static int run_streaming(struct driver *driver, struct error *err)
{
    const struct driver_settings *settings = driver->settings;

    for (size_t i = 0; i < settings->load_count; i++)
        if (result_streams_add(&driver->loaded, settings->load_outputs[i], err) < 0)
            return err->code;
    driver->end = settings->count;
    return run_turn(driver, err);
}

/* Runs the models and loads saved results. Outputs are saved even if there is nothing to compare them with. */
static int obtain_results(struct driver *driver, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    struct saving *saving = &driver->saving;
    int rc;

    *saving = (struct saving){.runners = settings->runners,
                              .runner_count = settings->count,
                              .iterations = runner_iterations(driver),
                              .log = driver->sections.log};
    if (settings->count > 0)
        saving->paths = settings->save;
    if (settings->sequential)
        saving->paths.inputs = saving->paths.input_blobs = NULL;
    rc = saving_open(saving, err);
    for (size_t i = 0; i < settings->load_count; i++)
        log_message(settings->log, LOG_INFO, "Loading inference results from %s", settings->load_outputs[i]);
    if (rc == 0)
        rc = settings->sequential ? run_sequentially(driver, err) : run_streaming(driver, err);
    if (rc == 0)
        rc = saving_commit(saving, err);
    log_sections_flush(&driver->sections, SIZE_MAX);
    if (rc < 0 && saving->inputs > 0)
        saving_commit_inputs(saving, NULL);
    if (rc < 0)
        saving_log_incomplete(saving, settings->seed);
    saving_release(saving);
    return rc;
}

static int settle_results(struct driver *driver, bool *passed, struct error *err)
{
    const struct driver_settings *settings = driver->settings;
    int rc;

    if (driver->results->count < 2 && settings->load_count > 0 && settings->comparison.strict)
        return error_set(err, ERR_INVALID, "there is only one result: nothing to compare it with");
    if (driver->results->count < 2 && settings->load_count > 0)
        log_message(settings->log, LOG_WARNING, "There is only one result: nothing to compare it with");
    if (!settings->sequential)
        return iteration_checks_end(&driver->checks, passed, err);
    rc = comparison_run(driver->results, &driver->comparison, passed, err);
    if (rc != ERR_INTERRUPTED && settings->validate)
        *passed &= validate_results(driver);
    return rc;
}

int driver_run(const struct driver_settings *settings, struct data_loader *loader, struct run_results *ret,
               bool *ret_passed, struct error *err)
{
    struct run_results current SCOPED(run_results_release) = {0};
    struct driver driver = {
        .settings = settings,
        .loader = loader,
        .results = settings->sequential ? ret : &current,
        .lone_report = settings->count == 1 && settings->load_count == 0 ? settings->report : NULL,
        .comparison = settings->comparison,
        .workers = memory_alloc_zero(settings->count, sizeof(*driver.workers)),
    };
    int rc;

    *ret_passed = true;
    log_sections_init(&driver.sections, settings->log, !settings->sequential);
    driver.comparison.log = driver.sections.log;
    driver.comparison.release = settings->sequential && !settings->validate && !settings->keep_outputs;
    rc = obtain_results(&driver, err);
    if (rc == 0) {
        rc = settle_results(&driver, ret_passed, err);
    } else {
        *ret_passed = iteration_checks_passed(&driver.checks); /* mismatches observed before the error count */
        run_results_release(driver.results);
    }
    log_sections_release(&driver.sections);
    iteration_checks_release(&driver.checks);
    free(driver.workers);
    result_streams_release(&driver.loaded);
    return rc;
}
