/* backend/tensorrt/backend.c: see backend.h. */
#include "backend/tensorrt/backend.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "backend/tensorrt/feed.h"
#include "backend/tensorrt/worker.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "format/tensorrt/plan_header.h"

static struct worker_process worker = WORKER(&tensorrt_work);
static const struct bounds no_bounds;

/* ---- The library ---- */

int tensorrt_find(struct log *log, const struct tensorrt_description **ret, struct error *err)
{
    static struct arena arena;
    static struct tensorrt_description found;
    static struct error failure;
    struct worker_exchange exchange;

    if (found.name == NULL && failure.code == 0) {
        worker_exchange_begin(&exchange, &worker, TENSORRT_DESCRIBE, &no_bounds, 0, log);
        if (worker_exchange_ask(&exchange, &failure) == 0)
            message_take_record(&exchange.answer, &arena, &tensorrt_description_record, &found);
        if (failure.code == 0 && (exchange.answer.damaged || found.name == NULL || found.path == NULL))
            worker_refuse_answer(&worker, &failure);
        worker_exchange_end(&exchange);
    }
    if (failure.code != 0) {
        if (err != NULL)
            *err = failure;
        return failure.code;
    }
    *ret = &found;
    return 0;
}

/* ---- Building ---- */

void tensorrt_products_release(struct tensorrt_products *products)
{
    bounded_bytes_release(&products->memory);
    arena_release(&products->arena);
    *products = (struct tensorrt_products){0};
}

/* What start_work() of worker.c reads, at the end of a question. `model` NULL: there is none. */
static void put_work(struct message *message, const struct tensorrt_settings *settings,
                     const struct backend_model *model)
{
    static const struct backend_model none;

    model = model != NULL ? model : &none;
    message_put_record(message, &tensorrt_settings_record, settings);
    message_put_string(message, model->path);
    message_put_string(message, model->external_folder);
    message_put_number(message, model->size);
    message_put_data(message, (struct text){model->data, model->size});
}

/* Gives calibration data to the process that answers the next question. */
static int give_samples(const struct tensorrt_settings *settings, uint64_t *ret_generation, struct error *err)
{
    const struct tensorrt_samples *samples = settings->samples;
    struct worker_exchange exchange;
    int rc;

    *ret_generation = 0;
    if (samples == NULL || !settings->int8)
        return 0;
    worker_exchange_begin(&exchange, &worker, TENSORRT_SAMPLES, &no_bounds, 0, settings->log);
    exchange.question.shares = false; /* they stay */
    message_put_number(&exchange.question, samples->count);
    message_put_number(&exchange.question, samples->are_generated);
    message_put_tensors(&exchange.question, &samples->tensors);
    rc = worker_exchange_ask(&exchange, err);
    *ret_generation = exchange.generation;
    worker_exchange_end(&exchange);
    return rc;
}

static int take_products(struct worker_exchange *exchange, struct tensorrt_products *ret, struct error *err)
{
    struct tensorrt_build_report report = {0};

    message_take_record(&exchange->answer, &ret->arena, &tensorrt_build_report_record, &report);
    ret->plan = message_take_data(&exchange->answer, report.plan_size);
    ret->layers = message_take_data(&exchange->answer, report.layers_size);
    ret->timing_cache = message_take_data(&exchange->answer, report.timing_cache_size);
    ret->tactics = message_take_data(&exchange->answer, report.tactics_size);
    ret->calibration = message_take_data(&exchange->answer, report.calibration_size);
    if (exchange->answer.damaged || ret->plan.size == 0)
        return worker_refuse_answer(&worker, err);
    ret->no_layers = report.no_layers;
    ret->lost_timing_cache = report.lost_timing_cache;
    ret->memory = exchange->bytes;
    exchange->bytes = (struct bounded_bytes){0};
    return 0;
}

/* `ret_generation` gets that of the process, which keeps the plan. */
static int build_plan(const struct tensorrt_settings *settings, const struct backend_model *source, bool wants_layers,
                      struct tensorrt_products *ret, uint64_t *ret_generation, struct error *err)
{
    const struct tensorrt_description *library;
    struct worker_exchange exchange;
    int rc = give_samples(settings, ret_generation, err);

    *ret = (struct tensorrt_products){0};
    if (rc < 0)
        return rc;
    worker_exchange_begin(&exchange, &worker, TENSORRT_BUILD, &no_bounds, *ret_generation, settings->log);
    message_put_number(&exchange.question, wants_layers);
    put_work(&exchange.question, settings, source);
    exchange.is_cancelled_first = tensorrt_find(NULL, &library, NULL) == 0 && library->cancels;
    exchange.progress = settings->progress;
    exchange.progress_context = settings->progress_context;
    rc = worker_exchange_ask(&exchange, err);
    if (settings->progress != NULL)
        settings->progress(settings->progress_context, NULL, 0, 0);
    if (rc == 0)
        rc = take_products(&exchange, ret, err);
    *ret_generation = exchange.generation;
    worker_exchange_end(&exchange);
    if (rc < 0)
        tensorrt_products_release(ret);
    return rc;
}

int tensorrt_build(const struct tensorrt_settings *settings, const struct backend_model *source, bool wants_layers,
                   struct tensorrt_products *ret, struct error *err)
{
    uint64_t generation;

    return build_plan(settings, source, wants_layers, ret, &generation, err);
}

/* Asks, and copies the answer, which is one text. Ends the exchange. */
static int ask_text(struct worker_exchange *exchange, char **ret, struct error *err)
{
    int rc = worker_exchange_ask(exchange, err);

    if (rc == 0) {
        struct text text = message_take_text(&exchange->answer);

        if (exchange->answer.damaged)
            rc = worker_refuse_answer(&worker, err);
        else
            *ret = memory_copy(text.data, text.size);
    }
    worker_exchange_end(exchange);
    return rc;
}

int tensorrt_ask_layers(const char *path, struct log *log, char **ret, struct error *err)
{
    static const struct tensorrt_settings plain;
    struct worker_exchange exchange;

    worker_exchange_begin(&exchange, &worker, TENSORRT_LAYERS, &no_bounds, 0, log);
    put_work(&exchange.question, &plain, &(struct backend_model){.path = path});
    return ask_text(&exchange, ret, err);
}

int tensorrt_ask_build_routes(struct log *log, char **ret, struct error *err)
{
    struct worker_exchange exchange;

    worker_exchange_begin(&exchange, &worker, TENSORRT_ROUTES, &no_bounds, 0, log);
    return ask_text(&exchange, ret, err);
}

/* A question about a model whose answer is one struct. */
struct model_question {
    enum tensorrt_question question;
    const struct message_record *record;
    void *ret; /* gets the answer */
};

static int ask_about_model(const struct model_question *asked, const struct tensorrt_settings *settings,
                           const struct backend_model *source, struct arena *arena, struct error *err)
{
    struct worker_exchange exchange SCOPED(worker_exchange_end);
    int rc;

    worker_exchange_begin(&exchange, &worker, asked->question, &no_bounds, 0, settings->log);
    put_work(&exchange.question, settings, source);
    rc = worker_exchange_ask(&exchange, err);
    if (rc < 0)
        return rc;
    message_take_record(&exchange.answer, arena, asked->record, asked->ret);
    return exchange.answer.damaged ? worker_refuse_answer(&worker, err) : 0;
}

int tensorrt_view_network(const struct tensorrt_settings *settings, const struct backend_model *source,
                          struct arena *arena, struct tensorrt_network_view *ret, struct error *err)
{
    const struct model_question question = {TENSORRT_NETWORK, &tensorrt_network_view_record, ret};

    return ask_about_model(&question, settings, source, arena, err);
}

int tensorrt_ask_support(const struct tensorrt_settings *settings, const struct backend_model *source,
                         struct arena *arena, struct tensorrt_support *ret, struct error *err)
{
    const struct model_question question = {TENSORRT_SUPPORT, &tensorrt_support_record, ret};

    return ask_about_model(&question, settings, source, arena, err);
}

/* ---- Sessions ---- */

struct tensorrt_session {
    struct backend_session base;
    uint64_t number, generation; /* of the session in the worker, of the worker */
    struct bounds bounds;
    struct log *log;
    bool keeps_types;   /* outputs are given the types that session->base.outputs says */
    struct arena arena; /* holds all names */
};

static void close_trt_session(struct backend_session *base)
{
    struct tensorrt_session *session = (struct tensorrt_session *)base;
    struct worker_exchange exchange;

    if (session == NULL)
        return;
    worker_exchange_begin(&exchange, &worker, TENSORRT_CLOSE, &session->bounds, session->generation, session->log);
    message_put_number(&exchange.question, session->number);
    if (session->generation != 0)
        worker_exchange_ask(&exchange, NULL);
    worker_exchange_end(&exchange);
    arena_release(&session->arena);
    free(session);
}

/* `path` NULL: the plan of the last build of that process. `weights`: a model whose weights it is given; NULL: none. */
static int open_plan(struct tensorrt_session *session, const struct tensorrt_settings *settings, const char *path,
                     const struct backend_model *weights, uint64_t generation, struct error *err)
{
    const struct tensorrt_plan_source source = {path, weights != NULL};
    struct worker_exchange exchange;
    int rc;

    worker_exchange_begin(&exchange, &worker, TENSORRT_OPEN, &session->bounds, generation, session->log);
    message_put_record(&exchange.question, &tensorrt_plan_source_record, &source);
    put_work(&exchange.question, settings, weights);
    rc = worker_exchange_ask(&exchange, err);
    if (rc == 0) {
        struct message_reader *answer = &exchange.answer;

        session->number = message_take_number(answer);
        session->base.inputs = message_take_ios(answer, &session->arena, &session->base.input_count);
        session->base.outputs = message_take_ios(answer, &session->arena, &session->base.output_count);
        if (answer->damaged)
            rc = worker_refuse_answer(&worker, err);
        else
            session->generation = exchange.generation;
    }
    worker_exchange_end(&exchange);
    return rc;
}

static bool is_narrowed(enum data_type of_model, enum data_type of_engine)
{
    return (of_model == DATA_INT64 && of_engine == DATA_INT32) ||
           (of_model == DATA_FLOAT64 && of_engine == DATA_FLOAT32);
}

/* Types and symbolic sizes of inputs or outputs, as the model has them. */
static void take_io_types(struct arena *arena, const struct model *model, const struct value_list *values,
                          struct backend_io *items, size_t count)
{
    struct backend_io *ios = model_io_new(model, NULL, values);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < values->count; k++) {
            if (strcmp(ios[k].name, items[i].name) != 0 || ios[k].not_a_tensor != NULL)
                continue;
            if (is_narrowed(ios[k].type, items[i].type))
                items[i].type = ios[k].type;
            for (size_t n = 0; n < items[i].shape.rank && ios[k].has_shape && n < ios[k].shape.rank; n++)
                if (ios[k].symbols[n] != NULL)
                    items[i].symbols[n] = arena_strdup(arena, ios[k].symbols[n]);
        }
    model_io_free(ios, values->count);
}

/* TensorRT's parser makes int32 of int64 up to 9, and float32 of float64; feeds have the types of the model. */
static void take_model_types(struct tensorrt_session *session, const struct backend_model *source)
{
    struct backend_session *base = &session->base;
    struct model *model;

    if (model_io_open(source, &model, NULL) < 0)
        return;
    take_io_types(&session->arena, model, &model->inputs, base->inputs, base->input_count);
    if (session->keeps_types)
        take_io_types(&session->arena, model, &model->outputs, base->outputs, base->output_count);
    model_free(model);
}

static int build_session(struct tensorrt_session *session, const struct backend_request *request,
                         const struct tensorrt_request *wish, struct error *err)
{
    const struct tensorrt_settings *settings = &wish->settings;
    const struct backend_model other = {.path = settings->refit_from};
    const struct backend_model *weights = settings->refit_from != NULL ? &other
                                          : settings->strip_plan       ? &request->model
                                                                       : NULL;
    struct tensorrt_products products;
    uint64_t generation;
    int rc = build_plan(settings, &request->model, wish->wants_layers, &products, &generation, err);

    if (rc < 0)
        return rc;
    if (wish->built != NULL)
        rc = wish->built(wish->data, &products, err);
    tensorrt_products_release(&products);
    if (rc == 0)
        rc = open_plan(session, settings, NULL, weights, generation, err);
    session->keeps_types = wish->keeps_types;
    if (rc == 0)
        take_model_types(session, &request->model);
    return rc;
}

static bool is_plan(const struct backend_request *request)
{
    uint8_t bytes[PLAN_HEADER_BYTES];
    size_t size;

    if (request->model.path == NULL)
        return false;
    size = file_read_start(request->model.path, bytes, sizeof(bytes));
    return plan_header_is_tensorrt((struct span){bytes, size});
}

static int open_trt_session(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct tensorrt_session *session = memory_alloc_zero(1, sizeof(*session));
    struct tensorrt_request wish = {0};
    struct backend_model weights = {0};
    int rc = 0;

    if (request->settings != NULL)
        wish = *(const struct tensorrt_request *)request->settings;
    wish.settings.log = session->log = request->log;
    weights.path = wish.settings.refit_from;
    session->bounds = request->bounds;
    if (request->model.path != NULL && !file_exists(request->model.path))
        rc = error_set(err, ERR_MISSING, "model '%s' does not exist", request->model.path);
    else if (is_plan(request) || wish.is_built)
        rc = open_plan(session, &wish.settings, request->model.path, weights.path != NULL ? &weights : NULL, 0, err);
    else
        rc = build_session(session, request, &wish, err);
    if (rc < 0)
        close_trt_session(&session->base);
    else
        *ret = &session->base;
    return rc;
}

/* Outputs that TensorRT has narrowed get the type of the model again. */
static int restore_types(const struct tensorrt_session *session, struct tensor_list *outputs, struct error *err)
{
    ARRAY_EACH (const struct backend_io, output, session->base.outputs, session->base.output_count) {
        struct named_tensor *found = tensor_list_find(outputs, text_of(output->name));
        struct tensor wide = {0};

        if (found == NULL || !is_narrowed(output->type, found->tensor.type))
            continue;
        if (tensorrt_widen(&found->tensor, &wide, err) < 0)
            return err->code;
        tensor_release(&found->tensor);
        found->tensor = wide;
    }
    return 0;
}

static int run_trt_session(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                           struct tensor_list *ret, double *seconds, struct error *err)
{
    const struct tensorrt_session *session = (const struct tensorrt_session *)base;
    const struct tensorrt_run_question run = {session->number, wanted == NULL,
                                              wanted != NULL ? *wanted : (struct words){.items = NULL}};
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    struct worker_exchange exchange SCOPED(worker_exchange_end);
    double took;
    int rc;

    worker_exchange_begin(&exchange, &worker, TENSORRT_RUN, &session->bounds, session->generation, session->log);
    message_put_record(&exchange.question, &tensorrt_run_question_record, &run);
    worker_exchange_put_tensors(&exchange, feed);
    rc = worker_exchange_run(&exchange, &took, &outputs, err);
    if (rc == 0 && session->keeps_types)
        rc = restore_types(session, &outputs, err);
    if (rc < 0)
        return rc;
    if (seconds != NULL)
        *seconds = took;
    *ret = outputs;
    outputs = (struct tensor_list){0};
    return 0;
}

const struct backend tensorrt_backend = {
    .name = "trt",
    .runner_prefix = "trt-runner",
    .open = open_trt_session,
    .close = close_trt_session,
    .run = run_trt_session,
};
