/* comparator/infer/worker.c: see worker.h. */
#include "comparator/infer/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/number.h"

char *runner_make_name(const char *prefix, size_t index, time_t now)
{
    struct string_builder name;
    struct tm local;

    localtime_r(&now, &local);
    string_init(&name);
    string_add_format(&name, "%s-N%zu-%02d/%02d/%02d-%02d:%02d:%02d", prefix, index, local.tm_mon + 1, local.tm_mday,
                      local.tm_year % 100, local.tm_hour, local.tm_min, local.tm_sec);
    return string_take(&name);
}

struct backend_request runner_request(const struct runner *runner, const struct backend_request *loaded)
{
    struct backend_request ret = *loaded;

    if (runner->settings != NULL)
        ret.settings = runner->settings;
    return ret;
}

static void warn_of_left_out(struct log *log, const struct string_builder *names)
{
    if (names->size > 0)
        log_once(log, LOG_WARNING, "Outputs that are sequences, maps or the like are left out: [%s]", names->data);
}

static bool is_hidden(const struct words *hidden, const char *name)
{
    return text_is_one_of(text_of(name), hidden->items, hidden->count);
}

/* Checks that barrier tensors are outputs: otherwise fusions across them are not prevented, for example in an engine
 * built without them. */
static int check_hidden(const struct worker *worker, size_t count, const struct backend_io *outputs, struct error *err)
{
    const struct words *hidden = &worker->request.hidden_outputs;

    for (size_t i = 0; i < hidden->count; i++) {
        size_t k = 0;

        while (k < count && strcmp(outputs[k].name, hidden->items[i]) != 0)
            k++;
        if (k == count)
            return error_set(err, ERR_INVALID,
                             "'%s' is no output of what is run, so nothing keeps what is done across it from being "
                             "done: an engine has to be built with it",
                             hidden->items[i]);
    }
    return 0;
}

/* Loads the whole model and selects its outputs. */
int worker_open(struct worker *worker, struct error *err)
{
    const struct backend_request request = runner_request(worker->runner, &worker->request);
    const struct backend *backend = worker->runner->backend;
    const struct backend_io *outputs;
    SCOPED_STRING(left_out);
    size_t count;
    int rc = backend->open(&request, &worker->session, err);

    if (rc < 0)
        return rc;
    outputs = worker->session->outputs;
    count = worker->session->output_count;
    rc = check_hidden(worker, count, outputs, err);
    if (rc < 0)
        return rc;
    worker->wanted = memory_alloc_zero(count, sizeof(*worker->wanted));
    for (size_t i = 0; i < count; i++) {
        if (is_hidden(&worker->request.hidden_outputs, outputs[i].name))
            continue;
        if (outputs[i].not_a_tensor == NULL)
            worker->wanted[worker->wanted_count++] = outputs[i].name;
        else
            name_list_add(&left_out, outputs[i].name);
    }
    warn_of_left_out(worker->request.log, &left_out);
    if (worker->wanted_count == 0)
        return error_set(err, ERR_UNSUPPORTED, "the model has no output that is a tensor: there is nothing to compute");
    return 0;
}

void worker_close(struct worker *worker)
{
    if (worker->session != NULL)
        worker->runner->backend->close(worker->session);
    if (worker->run.plan != NULL)
        layerwise_run_release(&worker->run);
    tensor_list_release(&worker->described);
    tensor_list_release(&worker->feed);
    free(worker->wanted);
}

void worker_describe_tensors(const struct tensor_list *tensors, struct string_builder *ret)
{
    string_add_char(ret, '{');
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i].tensor;

        string_add_format(ret, "%s%s [dtype=%s, shape=", i > 0 ? ",\n " : "", tensors->items[i].name,
                          data_type_name(tensor->type));
        shape_to_text(&tensor->shape, ret);
        string_add_char(ret, ']');
    }
    string_add_char(ret, '}');
}

void worker_log_tensors(const struct worker *worker, const char *what, const struct tensor_list *tensors)
{
    struct log *log = worker->request.log;
    SCOPED_STRING(text);

    if (!log_shows(log, LOG_INFO))
        return;
    worker_describe_tensors(tensors, &text);
    log_once(log, LOG_INFO, "%-35s\n---- Inference %s(s) ----\n%s", worker->runner->name, what, text.data);
}

void worker_log_completion(const struct worker *worker, size_t iterations)
{
    char total[NUMBER_TEXT_SIZE], average[NUMBER_TEXT_SIZE];
    double milliseconds = worker->total * 1000;

    log_message(worker->request.log, LOG_FINISH,
                "%-35s | Completed %zu iteration(s) in %s ms | Average inference time: %s ms.", worker->runner->name,
                iterations, number_to_text_rounded(milliseconds, 'g', 4, total),
                number_to_text_rounded(iterations > 0 ? milliseconds / (double)iterations : 0, 'g', 4, average));
}

void worker_list_outputs(const struct worker *worker, struct tensor_list *ret)
{
    const struct layerwise *plan = worker->run.plan;

    for (size_t i = 0; i < worker->wanted_count; i++)
        tensor_list_add(ret, text_of(worker->wanted[i]), &(struct tensor){0});
    for (size_t g = 0; plan != NULL && g < plan->count; g++) {
        const struct value_list *outputs = &plan->groups[g].outputs;

        for (size_t i = 0; i < outputs->count; i++)
            if (bitset_has(&plan->wanted, outputs->items[i]))
                tensor_list_add(ret, plan->model->values.items[outputs->items[i]].name, &(struct tensor){0});
    }
}

void worker_begin_iteration(struct worker *worker, size_t index, int64_t warm_up, const struct layerwise *plan)
{
    struct backend_request request = runner_request(worker->runner, &worker->request);

    worker->arrived = worker->released = 0;
    worker->seconds = 0;
    worker->warm_up = index == 0 ? warm_up : 0;
    if (worker->session != NULL)
        return;
    request.log = index == 0 ? request.log : NULL;
    layerwise_run_init(&worker->run, plan, worker->runner->backend, &request);
    worker->run.warm_up = worker->warm_up;
}

void worker_end_iteration(struct worker *worker)
{
    tensor_list_release(&worker->described);
    tensor_list_release(&worker->feed);
    worker->total += worker->seconds;
    layerwise_run_release(&worker->run);
}

static int run_whole_model(struct worker *worker, struct tensor_list *ret, struct error *err)
{
    const struct words wanted = {worker->wanted, worker->wanted_count};
    int rc = 0;

    if (worker->warm_up > 0)
        log_message(worker->request.log, LOG_START, "%-35s | Running %lld warm-up run(s)", worker->runner->name,
                    (long long)worker->warm_up);
    for (int64_t i = 0; i <= worker->warm_up && rc == 0; i++) {
        tensor_list_release(ret);
        if (i == worker->warm_up && worker->logs_inputs)
            worker_log_tensors(worker, "Input", &worker->feed);
        if (interrupt_pending())
            return error_set(err, ERR_INTERRUPTED, "interrupted");
        rc = worker->runner->backend->run(worker->session, &worker->feed, &wanted, ret, &worker->seconds, err);
    }
    return rc;
}

static int run_group(struct worker *worker, size_t group, struct tensor_list *ret, struct error *err)
{
    const struct layerwise *plan = worker->run.plan;
    SCOPED_STRING(left_out);
    int rc = layerwise_step(&worker->run, group, &worker->feed, ret, &worker->seconds, err);

    if (rc < 0 || group > 0)
        return rc;
    for (size_t i = 0; i < plan->left_out.count; i++) {
        struct text name = plan->model->values.items[plan->left_out.items[i]].name;

        string_add_format(&left_out, "%s'" TEXT_FORMAT "'", i > 0 ? ", " : "", TEXT_ARGS(name));
    }
    warn_of_left_out(worker->request.log, &left_out);
    return 0;
}

int worker_run_step(struct worker *worker, size_t step, struct tensor_list *ret, struct error *err)
{
    return worker->session != NULL ? run_whole_model(worker, ret, err) : run_group(worker, step, ret, err);
}
