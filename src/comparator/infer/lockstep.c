/* comparator/infer/lockstep.c: see lockstep.h. */
#include "comparator/infer/lockstep.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "comparator/compare/validation.h"
#include "comparator/infer/layerwise.h"
#include "comparator/infer/log_sections.h"

/* One runner at work. */
struct lane {
    struct backend_request request;
    struct layerwise_run run;
    struct runner_results *results; /* outputs of the current iteration: all names, tensors as they come */
    size_t arrived;                 /* outputs of the current iteration that have come */
    size_t released;                /* of them, from the front */
    struct tensor_list described;   /* types and shapes of the outputs that have come; no data */
    double seconds, total;          /* of the current iteration, of all */
    size_t bad;                     /* outputs that validation objected to */
    char *first_bad;
};

struct lockstep {
    const struct lockstep_settings *settings;
    struct data_loader *loader;
    struct model *model;
    struct log_sections sections;
    struct layerwise plan;
    bool has_plan;
    struct lane *lanes;
    struct run_results results; /* of the runners, then what was loaded */
    struct comparison *couples; /* results - 1 of them; those of loaded results alone are compared at the end */
    size_t live_couples;
    struct comparison_settings comparison;
};

/* The parts of the log: runners, comparisons, validation with a heading and each runner. */
static struct log *runner_log(struct lockstep *step, size_t runner)
{
    return log_sections_select(&step->sections, runner);
}

static struct log *couple_log(struct lockstep *step, size_t couple)
{
    return log_sections_select(&step->sections, step->settings->count + couple);
}

static struct log *validation_log(struct lockstep *step, size_t runner)
{
    return log_sections_select(&step->sections, step->settings->count + step->results.count + runner);
}

/* ---- Beginning ---- */

static int prepare_runners(struct lockstep *step, struct error *err)
{
    const struct lockstep_settings *settings = step->settings;
    int rc = 0;

    for (size_t r = 0; r < settings->count && rc == 0; r++) {
        const struct runner *runner = &settings->runners[r];
        struct log *log = runner_log(step, r);

        log_message(log, LOG_START, "%-35s | Activating and starting inference", runner->name);
        if (r == 0)
            rc = settings->load(settings->load_data, log, &step->model, err);
        if (rc == 0)
            rc = runner->prepare(runner->data, &step->lanes[r].request, err);
        step->lanes[r].request.log = log;
        run_results_add_runner(&step->results, text_of(runner->name));
        if (rc == 0 && settings->writer != NULL)
            rc = run_results_writer_begin_runner(settings->writer, runner->name, err);
    }
    return rc;
}

static int keep_inputs(struct lockstep *step, const struct backend_io *inputs, size_t count, struct error *err)
{
    const struct lockstep_settings *settings = step->settings;
    int rc = data_loader_keep(step->loader, inputs, count, err);

    if (rc == 0 && settings->save_inputs != NULL) {
        log_message(runner_log(step, 0), LOG_INFO, "Saving inference input data to %s", settings->save_inputs);
        rc = feed_dicts_save(data_loader_kept(step->loader), settings->save_inputs, err);
    }
    return rc;
}

static void begin_comparisons(struct lockstep *step)
{
    step->live_couples =
        step->results.count - 1 < step->settings->count ? step->results.count - 1 : step->settings->count;
    step->couples = memory_alloc_zero(step->results.count, sizeof(*step->couples));
    for (size_t c = 0; c < step->live_couples; c++) {
        couple_log(step, c);
        comparison_begin(&step->couples[c], &step->comparison, &step->results.items[c], &step->results.items[c + 1]);
    }
}

/* Validation is logged below its heading. */
static void begin_validation(struct lockstep *step)
{
    for (size_t r = 0; r < step->results.count; r++)
        log_indent(validation_log(step, 1 + r), 1);
}

/* ---- An iteration ---- */

/* Names of all outputs, in the order in which they will come. */
static void list_outputs(const struct layerwise *plan, struct tensor_list *ret)
{
    for (size_t g = 0; g < plan->count; g++) {
        const struct value_list *outputs = &plan->groups[g].outputs;

        for (size_t i = 0; i < outputs->count; i++)
            if (bitset_has(&plan->wanted, outputs->items[i]))
                tensor_list_add(ret, plan->model->values.items[outputs->items[i]].name, &(struct tensor){0});
    }
}

static bool compares(const struct lockstep *step, size_t couple, size_t iteration)
{
    const struct comparison *comparison = &step->couples[couple];

    if (iteration >= comparison->iterations)
        return false;
    for (size_t c = 0; c <= couple; c++)
        if (!comparison_goes_on(&step->couples[c]))
            return false;
    return true;
}

static void report_left_out(const struct layerwise *plan, struct log *log)
{
    struct string_builder names;

    string_init(&names);
    for (size_t i = 0; i < plan->left_out.count; i++) {
        struct text name = plan->model->values.items[plan->left_out.items[i]].name;

        string_add_format(&names, "%s'" TEXT_FORMAT "'", i > 0 ? ", " : "", TEXT_ARGS(name));
    }
    if (names.size > 0)
        log_once(log, LOG_WARNING, "Outputs that are sequences, maps or the like are left out: [%s]", names.data);
    string_release(&names);
}

static int begin_iteration(struct lockstep *step, size_t index, const struct tensor_list *feed, struct error *err)
{
    const struct lockstep_settings *settings = step->settings;
    int rc;

    if (step->has_plan)
        layerwise_release(&step->plan);
    step->has_plan = false;
    rc = layerwise_plan(&step->plan, step->model, settings->runners[0].backend, &step->lanes[0].request, feed,
                        settings->memory / settings->count, err);
    if (rc < 0)
        return rc;
    step->has_plan = true;
    for (size_t r = 0; r < settings->count; r++) {
        struct lane *lane = &step->lanes[r];
        struct backend_request request = lane->request;

        request.log = index == 0 ? request.log : NULL;
        layerwise_run_init(&lane->run, &step->plan, &request);
        lane->run.warm_up = index == 0 ? settings->warm_up : 0;
        lane->arrived = lane->released = 0;
        lane->seconds = 0;
        list_outputs(&step->plan, &lane->results->items[index].outputs);
        if (settings->validate && lane->results->count > 1) {
            struct log *log = validation_log(step, 1 + r);

            log_message(log, LOG_START, "%s | Iteration: %zu", lane->results->name, index);
            log_indent(log, 1);
        }
        if (settings->writer != NULL && index == 0 && r == 0)
            run_results_writer_expect(
                settings->writer, lane->results->items[0].outputs.count * settings->count * lane->results->count,
                64 * lane->results->items[0].outputs.count * settings->count * lane->results->count);
        if (settings->writer != NULL && !settings->writer->is_safetensors)
            rc = run_results_writer_begin_iteration(settings->writer, err);
    }
    for (size_t c = 0; c < step->live_couples && rc == 0; c++) {
        couple_log(step, c);
        if (compares(step, c, index))
            comparison_begin_iteration(&step->couples[c], index);
    }
    return rc;
}

static int write_output(struct lockstep *step, size_t runner, const struct named_tensor *output, struct error *err)
{
    struct run_results_writer *writer = step->settings->writer;

    if (writer == NULL)
        return 0;
    run_results_writer_select(writer, runner);
    return run_results_writer_add(writer, output->name, &output->tensor, err);
}

static void validate_output(struct lockstep *step, size_t runner, size_t iteration, const struct named_tensor *output)
{
    const struct lockstep_settings *settings = step->settings;
    struct lane *lane = &step->lanes[runner];

    if (settings->validate && settings->report != NULL)
        run_report_add_validation(settings->report, lane->results->name, iteration, output);
    if (!settings->validate ||
        validation_output(output, validation_reference(&step->results, runner, iteration, output),
                          validation_log(step, 1 + runner)))
        return;
    if (lane->bad++ == 0)
        lane->first_bad = memory_strdup(output->name);
    if (settings->on_invalid != NULL)
        settings->on_invalid(settings->comparison.on_verdict_data, lane->results->name, output->name);
}

/* Puts the tensors of a group in their places. */
static int take_group(struct lockstep *step, size_t runner, size_t iteration, struct tensor_list *group,
                      struct error *err)
{
    const struct lockstep_settings *settings = step->settings;
    struct lane *lane = &step->lanes[runner];
    struct tensor_list *outputs = &lane->results->items[iteration].outputs;
    int rc = 0;

    for (size_t i = 0; i < group->count && rc == 0; i++) {
        struct tensor described = {0};

        tensor_borrow(group->items[i].tensor.type, &group->items[i].tensor.shape, NULL, 0, &described);
        tensor_list_add(&lane->described, text_of(group->items[i].name), &described);
        rc = write_output(step, runner, &group->items[i], err);
    }
    if (rc == 0 && settings->postprocess != NULL)
        rc = settings->postprocess(settings->postprocess_data, group, err);
    for (size_t i = 0; i < group->count && rc == 0; i++) {
        validate_output(step, runner, iteration, &group->items[i]);
        outputs->items[lane->arrived++].tensor = group->items[i].tensor;
        group->items[i].tensor = (struct tensor){0};
    }
    return rc;
}

static bool is_awaited(const struct lockstep *step, size_t runner, const struct named_tensor *output)
{
    return (runner < step->live_couples && comparison_awaits(&step->couples[runner], output)) ||
           (runner > 0 && comparison_awaits(&step->couples[runner - 1], output));
}

/* Lets go of what came with the last group. What still waits for its partner gets memory of its own. */
static int release_group(struct lockstep *step, size_t runner, size_t iteration, struct error *err)
{
    struct lane *lane = &step->lanes[runner];
    struct tensor_list *outputs = &lane->results->items[iteration].outputs;

    for (; lane->released < lane->arrived; lane->released++) {
        struct named_tensor *output = &outputs->items[lane->released];
        struct tensor copy;

        if (!is_awaited(step, runner, output)) {
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

static int run_group(struct lockstep *step, size_t group, size_t iteration, const struct tensor_list *feed,
                     struct error *err)
{
    int rc = 0;

    for (size_t r = 0; r < step->settings->count && rc == 0; r++) {
        struct tensor_list outputs = {0};

        runner_log(step, r);
        rc = layerwise_step(&step->lanes[r].run, group, feed, &outputs, &step->lanes[r].seconds, err);
        if (rc == 0 && group == 0)
            report_left_out(&step->plan, &step->sections.log);
        if (rc == 0 && group == 0)
            runner_log_metadata(runner_log(step, r), step->settings->runners[r].name, "Input", feed);
        if (rc == 0)
            rc = take_group(step, r, iteration, &outputs, err);
        tensor_list_release(&outputs);
    }
    for (size_t c = 0; c < step->live_couples && rc == 0; c++) {
        couple_log(step, c);
        if (step->couples[c].is_open)
            rc = comparison_advance(&step->couples[c], err);
    }
    for (size_t r = 0; r < step->settings->count && rc == 0; r++)
        rc = release_group(step, r, iteration, err);
    return rc;
}

static int end_iteration(struct lockstep *step, size_t index, struct error *err)
{
    struct run_results_writer *writer = step->settings->writer;
    int rc = 0;

    for (size_t c = 0; c < step->live_couples; c++) {
        couple_log(step, c);
        if (step->couples[c].is_open)
            comparison_end_iteration(&step->couples[c]);
    }
    for (size_t r = 0; r < step->settings->count && rc == 0; r++) {
        struct lane *lane = &step->lanes[r];

        runner_log_metadata(runner_log(step, r), lane->results->name, "Output", &lane->described);
        tensor_list_release(&lane->described);
        tensor_list_release(&lane->results->items[index].outputs);
        lane->total += lane->seconds;
        if (step->settings->validate && lane->results->count > 1)
            log_indent(validation_log(step, 1 + r), -1);
        layerwise_run_release(&lane->run);
        if (writer == NULL)
            continue;
        run_results_writer_select(writer, r);
        rc = run_results_writer_end_iteration(writer, lane->seconds, lane->results->name, err);
    }
    return rc;
}

static int run_iteration(struct lockstep *step, const struct backend_io *inputs, size_t count, size_t index,
                         struct error *err)
{
    struct tensor_list feed = {0};
    int rc = data_loader_feed(step->loader, inputs, count, (int64_t)index, &feed, err);

    if (rc == 0)
        rc = begin_iteration(step, index, &feed, err);
    for (size_t g = 0; rc == 0 && g < step->plan.count; g++)
        rc = run_group(step, g, index, &feed, err);
    if (rc == 0)
        rc = end_iteration(step, index, err);
    tensor_list_release(&feed);
    return rc;
}

/* ---- End ---- */

static int end_runners(struct lockstep *step, struct error *err)
{
    int rc = 0;

    for (size_t r = 0; r < step->settings->count && rc == 0; r++) {
        const struct lane *lane = &step->lanes[r];

        if (step->settings->writer != NULL)
            rc = run_results_writer_end_runner(step->settings->writer, err);
        runner_log_completion(runner_log(step, r), lane->results->name, lane->total, (int64_t)lane->results->count);
    }
    return rc;
}

static int end_comparisons(struct lockstep *step, bool *passed, struct error *err)
{
    struct run_results rest = step->results;
    struct error ignored = {0};
    bool rest_passed = true;
    int rc = 0, rest_rc = 0;

    for (size_t c = 0; c < step->live_couples; c++) {
        bool couple_passed = true;
        int code;

        couple_log(step, c);
        code = comparison_end(&step->couples[c], &couple_passed, rc == 0 ? err : &ignored);
        rc = rc == 0 ? code : rc;
        *passed &= couple_passed;
    }
    rest.items += step->settings->count;
    rest.count -= step->settings->count;
    couple_log(step, step->live_couples);
    if (rest.count > 1 && (*passed || !step->comparison.fail_fast))
        rest_rc = comparison_run(&rest, &step->comparison, &rest_passed, rc == 0 ? err : &ignored);
    *passed &= rest_passed;
    return rc == 0 ? rest_rc : rc;
}

static bool end_validation(struct lockstep *step)
{
    struct string_builder names;
    bool valid = true;
    struct log *log;

    string_init(&names);
    for (size_t r = 0; r < step->results.count; r++) {
        const struct lane *lane = &step->lanes[r];

        log = validation_log(step, 1 + r);
        if (r < step->settings->count) {
            validation_log_runner(log, lane->results->name, lane->bad, lane->first_bad);
            valid &= lane->bad == 0;
        } else {
            valid &= validation_runner(&step->results, r, log);
            if (step->settings->report != NULL)
                run_report_add_validations(step->settings->report, &step->results.items[r]);
        }
        name_list_add(&names, step->results.items[r].name);
    }
    log = validation_log(step, 0);
    log_message(log, LOG_START, "Output Validation | Runners: [%s]", names.data);
    log = validation_log(step, step->results.count);
    log_message(log, valid ? LOG_FINISH : LOG_ERROR, "%s | Output Validation", valid ? "PASSED" : "FAILED");
    string_release(&names);
    return valid;
}

static int run_all(struct lockstep *step, struct run_results *loaded, bool *passed, struct error *err)
{
    struct subgraph whole;
    struct backend_io *inputs;
    size_t count, iterations;
    int rc = prepare_runners(step, err), compared = 0;

    if (rc < 0)
        return rc;
    count = step->model->inputs.count;
    subgraph_init_whole(&whole, step->model);
    inputs = model_io_new(whole.model, whole.known, &whole.inputs);
    subgraph_release(&whole);
    rc = keep_inputs(step, inputs, count, err);
    iterations = (size_t)data_loader_iterations(step->loader);
    for (size_t r = 0; r < step->settings->count; r++)
        for (size_t i = 0; i < iterations; i++)
            runner_results_add_iteration(&step->results.items[r], 0);
    for (size_t i = 0; i < loaded->count; i++)
        *VECTOR_APPEND(&step->results) = loaded->items[i];
    loaded->count = 0;
    for (size_t r = 0; r < step->settings->count; r++)
        step->lanes[r].results = &step->results.items[r];
    begin_comparisons(step);
    begin_validation(step);
    for (size_t i = 0; i < iterations && rc == 0; i++)
        rc = run_iteration(step, inputs, count, i, err);
    model_io_free(inputs, count);
    if (rc == 0)
        rc = end_runners(step, err);
    if (rc == 0)
        compared = end_comparisons(step, passed, err);
    if (rc == 0 && step->settings->validate)
        *passed &= end_validation(step);
    return rc == 0 ? compared : rc;
}

int lockstep_run(const struct lockstep_settings *settings, struct data_loader *loader, struct run_results *loaded,
                 bool *ret_passed, struct error *err)
{
    struct lockstep step = {.settings = settings, .loader = loader, .comparison = settings->comparison};
    int rc;

    *ret_passed = true;
    log_sections_init(&step.sections, settings->log);
    step.comparison.log = &step.sections.log;
    step.comparison.release = false;
    step.lanes = memory_alloc_zero(settings->count, sizeof(*step.lanes));
    rc = run_all(&step, loaded, ret_passed, err);
    for (size_t c = 0; rc < 0 && c < step.live_couples; c++)
        comparison_abandon(&step.couples[c]);
    for (size_t r = 0; r < settings->count; r++) {
        tensor_list_release(&step.lanes[r].described);
        if (step.lanes[r].run.plan != NULL)
            layerwise_run_release(&step.lanes[r].run);
        free(step.lanes[r].first_bad);
    }
    run_results_release(&step.results);
    if (step.has_plan)
        layerwise_release(&step.plan);
    log_sections_release(&step.sections);
    free(step.couples);
    free(step.lanes);
    return rc;
}
