/* backend/onnxrt/apart/backend.c: see backend.h. */
#include "backend/onnxrt/apart/backend.h"

#include <stdio.h>
#include <stdlib.h>

#include "backend/onnxrt/library.h"
#include "backend/onnxrt/optimizers.h"
#include "backend/onnxrt/providers.h"
#include "backend/onnxrt/apart/request.h"
#include "backend/worker/worker.h"
#include "base/memory.h"
#include "base/system.h"

#define GIGABYTE ((uint64_t)1 << 30)
#define TIMES_TO_RUN 10           /* as long as it may take to load */
#define STACK ((uint64_t)8 << 20) /* of a thread, which counts as memory */

enum question {
    QUESTION_OPEN,
    QUESTION_RUN,
    QUESTION_CLOSE,
    QUESTION_DESCRIBE,
    QUESTION_LIST_DEVICES,
    QUESTIONS,
};

/* What a run needs but the values that it is fed with. */
struct run_question {
    uint64_t session; /* number of it */
    bool wants_all;   /* outputs; else those in `wanted` */
    struct words wanted;
};

static const struct message_field run_fields[] = {
    MESSAGE_FIELD(struct run_question, session, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct run_question, wants_all, MESSAGE_FLAG),
    MESSAGE_FIELD(struct run_question, wanted, MESSAGE_WORDS),
};
static const struct message_record run_record = MESSAGE_RECORD(struct run_question, run_fields);

static const struct message_field description_fields[] = {
    MESSAGE_FIELD(struct onnxrt_description, version, MESSAGE_STRING),
    MESSAGE_FIELD(struct onnxrt_description, path, MESSAGE_STRING),
    MESSAGE_FIELD(struct onnxrt_description, providers, MESSAGE_WORDS),
};
static const struct message_record description_record = MESSAGE_RECORD(struct onnxrt_description, description_fields);

/* The copy that has loaded a library. */
struct library_worker {
    char *library; /* of the settings; NULL: the one that is found */
    struct worker_work work;
    char name[64]; /* of the runtime, for messages; with its release once that is known */
    struct worker_process process;
    uint64_t shared_generation; /* of the first copy that has the shared values */
    struct library_worker *next;
};

/* In the original: what is known of a session of the copy. */
struct apart_session {
    struct backend_session base;
    struct library_worker *worker;
    uint64_t number, generation; /* of the session in the copy, of the copy */
    struct bounds bounds;
    struct log *log;
    struct arena arena; /* holds all names */
};

struct bounds onnxrt_apart_bounds(uint64_t model_size, uint64_t wanted)
{
    uint64_t stacks = 2 * STACK * (unsigned)system_processors(); /* the runtime's threads, and a session's */
    uint64_t own = stacks + (wanted > 0 ? GIGABYTE + 3 * model_size + wanted : 4 * GIGABYTE + 8 * model_size);

    return (struct bounds){.memory = own, .seconds = 60 + 60 * ((double)model_size / (double)GIGABYTE)};
}

/* ---- The copy ---- */

static struct {
    struct backend_session **items;  /* onnxrt_backend's; NULL: closed */
    struct bounded_bytes *questions; /* that opened them: a session may point into the bytes of its model */
    size_t count, capacity;
} sessions;

static void put_optimizers(struct message *message, const struct onnxrt_optimizers *optimizers)
{
    message_put_number(message, optimizers->count);
    for (size_t i = 0; i < optimizers->count; i++) {
        message_put_number(message, optimizers->items[i].has_changed);
        message_put_string(message, optimizers->items[i].name);
    }
}

static void take_optimizers(struct message_reader *message, struct onnxrt_optimizers *ret)
{
    size_t count = message_take_count(message);

    for (size_t i = 0; i < count && !message->damaged; i++) {
        bool has_changed = message_take_number(message) != 0;

        onnxrt_optimizers_add(ret, message_take_text(message), has_changed);
    }
}

static uint64_t add_session(struct backend_session *session, struct worker_question *question)
{
    *VECTOR_APPEND(&sessions) = session;
    sessions.questions = memory_resize(sessions.questions, sessions.count, sizeof(*sessions.questions));
    sessions.questions[sessions.count - 1] = worker_question_keep(question);
    return sessions.count - 1;
}

static int answer_open(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct backend_session *session = NULL;
    struct onnxrt_settings settings = {0};
    struct backend_request request = {0};
    struct onnxrt_optimizers optimizers;
    int rc;

    onnxrt_optimizers_init(&optimizers);
    settings.optimizers = message_take_number(&question->message) != 0 ? &optimizers : NULL;
    onnxrt_request_take(&question->message, &reply->arena, &settings, &request);
    request.log = worker_log();
    rc = onnxrt_backend.open(&request, &session, err);
    if (rc == 0) {
        put_optimizers(&reply->message, &optimizers);
        message_put_number(&reply->message, add_session(session, question));
        message_put_ios(&reply->message, session->inputs, session->input_count);
        message_put_ios(&reply->message, session->outputs, session->output_count);
    }
    onnxrt_optimizers_release(&optimizers);
    return rc;
}

static int answer_run(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    struct run_question run = {0};
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    double seconds = 0;
    int rc;

    message_take_record(&question->message, &reply->arena, &run_record, &run);
    message_take_shared_tensors(&question->message, &feed);
    rc = message_take_tensors(&question->message, &feed, err); /* which refer to it */
    if (rc == 0)
        rc = onnxrt_backend.run(sessions.items[run.session], &feed, run.wants_all ? NULL : &run.wanted, &reply->tensors,
                                &seconds, err);
    message_put_real(&reply->message, seconds);
    message_put_tensors(&reply->message, &reply->tensors);
    return rc;
}

static int answer_close(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    uint64_t number = message_take_number(&question->message);

    (void)reply;
    (void)err;
    onnxrt_backend.close(sessions.items[number]);
    bounded_bytes_release(&sessions.questions[number]);
    sessions.items[number] = NULL;
    return 0;
}

static int answer_describe(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    const struct onnxrt_execution plain = {0};
    const struct onnxrt *ort = NULL;
    struct onnxrt_providers providers = {0};
    int rc = onnxrt_load(message_take_string(&question->message, &reply->arena), &ort, err);

    if (rc == 0)
        rc = onnxrt_providers_init(ort, &plain, &providers, err);
    if (rc == 0) {
        const struct onnxrt_description description = {
            .version = ort->version,
            .path = ort->path != NULL ? ort->path : "",
            .providers = {(const char *const *)providers.available, (size_t)providers.available_count},
        };

        message_put_record(&reply->message, &description_record, &description);
        onnxrt_providers_release(&providers);
    }
    return rc;
}

static int answer_list_devices(struct worker_question *question, struct worker_reply *reply, struct error *err)
{
    const struct onnxrt *ort = NULL;
    const struct provider_library *library = NULL;
    struct onnxrt_entry wanted = {0};
    struct provider_device_list devices;
    SCOPED_STRING(why);
    int rc = onnxrt_load(message_take_string(&question->message, &reply->arena), &ort, err);

    onnxrt_entry_take(&question->message, &reply->arena, &wanted);
    if (rc == 0)
        rc = provider_library_register(ort, wanted.key, wanted.value, &library, err);
    if (rc < 0)
        return rc;
    if (library->provider_count == 0) {
        provider_library_explain(ort, library, &why);
        return error_set(err, ERR_INVALID, "%s", why.data);
    }
    provider_devices_list(ort, library, &reply->arena, &devices);
    provider_devices_put(&reply->message, &devices);
    return 0;
}

/* ---- The original ---- */

static worker_function *const functions[QUESTIONS] = {
    [QUESTION_OPEN] = answer_open,
    [QUESTION_RUN] = answer_run,
    [QUESTION_CLOSE] = answer_close,
    [QUESTION_DESCRIBE] = answer_describe,
    [QUESTION_LIST_DEVICES] = answer_list_devices,
};

static const struct worker_work work = {
    .name = "ONNX Runtime",
    .more_memory = "--max-memory",
    .more_time = "--onnxrt-timeout",
    .functions = functions,
    .function_count = QUESTIONS,
};

static pthread_mutex_t workers_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct library_worker *workers; /* until the end of the process */

/* One process for each library: two of them in one process would share symbols and a crash. */
static struct library_worker *find_worker(const char *library)
{
    struct library_worker *ret;

    pthread_mutex_lock(&workers_mutex);
    for (ret = workers; ret != NULL && !string_equal(ret->library, library);)
        ret = ret->next;
    if (ret == NULL) {
        ret = memory_alloc_zero(1, sizeof(*ret));
        ret->library = library != NULL ? memory_strdup(library) : NULL;
        ret->work = work;
        ret->work.name = ret->name;
        snprintf(ret->name, sizeof(ret->name), "%s", work.name);
        ret->process = (struct worker_process)WORKER(&ret->work);
        ret->next = workers;
        workers = ret;
    }
    pthread_mutex_unlock(&workers_mutex);
    return ret;
}

/* What a copy has had since it was forked off, by address. */
static struct {
    struct text *items;
    size_t count;
} shared;

static void apart_close(struct backend_session *base)
{
    struct apart_session *session = (struct apart_session *)base;
    struct worker_exchange exchange;

    if (session == NULL)
        return;
    worker_exchange_begin(&exchange, &session->worker->process, QUESTION_CLOSE, &session->bounds, session->generation,
                          session->log);
    message_put_number(&exchange.question, session->number);
    if (session->generation != 0)
        worker_exchange_ask(&exchange, NULL);
    worker_exchange_end(&exchange);
    arena_release(&session->arena);
    free(session);
}

static void put_request(struct message *question, const struct backend_request *request)
{
    message_put_number(question, onnxrt_settings_of(request)->optimizers != NULL);
    onnxrt_request_put(question, request);
}

static int apart_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct apart_session *session = memory_alloc_zero(1, sizeof(*session));
    struct onnxrt_optimizers *optimizers = onnxrt_settings_of(request)->optimizers, nobody_asks;
    struct worker_exchange exchange;
    struct message_reader *answer = &exchange.answer;
    int rc;

    arena_init(&session->arena);
    onnxrt_optimizers_init(&nobody_asks);
    session->worker = find_worker(onnxrt_settings_of(request)->library);
    session->bounds = request->bounds;
    session->log = request->log;
    worker_exchange_begin(&exchange, &session->worker->process, QUESTION_OPEN, &request->bounds, 0, request->log);
    put_request(&exchange.question, request);
    rc = worker_exchange_ask(&exchange, err);
    if (rc < 0)
        goto done;
    session->generation = exchange.generation;
    take_optimizers(answer, optimizers != NULL ? optimizers : &nobody_asks);
    session->number = message_take_number(answer);
    session->base.inputs = message_take_ios(answer, &session->arena, &session->base.input_count);
    session->base.outputs = message_take_ios(answer, &session->arena, &session->base.output_count);
    if (answer->damaged)
        rc = worker_refuse_answer(&session->worker->process, err);
    else
        *ret = &session->base;
done:
    worker_exchange_end(&exchange);
    onnxrt_optimizers_release(&nobody_asks);
    if (rc < 0) {
        session->generation = 0; /* there is nothing to close */
        apart_close(&session->base);
    }
    return rc;
}

int onnxrt_apart_describe(const struct backend_request *request, struct arena *arena, struct onnxrt_description *ret,
                          struct error *err)
{
    const char *library = onnxrt_settings_of(request)->library;
    struct library_worker *worker = find_worker(library);
    struct onnxrt_description description;
    struct worker_exchange exchange SCOPED(worker_exchange_end);
    int rc;

    worker_exchange_begin(&exchange, &worker->process, QUESTION_DESCRIBE, &request->bounds, 0, request->log);
    message_put_string(&exchange.question, library);
    rc = worker_exchange_ask(&exchange, err);
    if (rc < 0)
        return rc;
    message_take_record(&exchange.answer, arena, &description_record, &description);
    if (exchange.answer.damaged || description.version == NULL || description.path == NULL)
        return worker_refuse_answer(&worker->process, err);
    snprintf(worker->name, sizeof(worker->name), "%s %s", work.name, description.version);
    *ret = description;
    return 0;
}

int onnxrt_apart_list_devices(const struct backend_request *request, const struct onnxrt_entry *library,
                              struct arena *arena, struct provider_device_list *ret, struct error *err)
{
    const char *runtime = onnxrt_settings_of(request)->library;
    struct library_worker *worker = find_worker(runtime);
    struct provider_device_list devices;
    struct worker_exchange exchange SCOPED(worker_exchange_end);
    int rc;

    worker_exchange_begin(&exchange, &worker->process, QUESTION_LIST_DEVICES, &request->bounds, 0, request->log);
    message_put_string(&exchange.question, runtime);
    onnxrt_entry_put(&exchange.question, library);
    rc = worker_exchange_ask(&exchange, err);
    if (rc < 0)
        return rc;
    provider_devices_take(&exchange.answer, arena, &devices);
    if (exchange.answer.damaged)
        return worker_refuse_answer(&worker->process, err);
    *ret = devices;
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    const struct text *x = a, *y = b;

    return (x->data > y->data) - (x->data < y->data);
}

/* A running worker was forked too early to have them. */
static void apart_share(const struct text *values, size_t count)
{
    pthread_mutex_lock(&workers_mutex);
    for (struct library_worker *worker = workers; worker != NULL; worker = worker->next)
        worker->shared_generation = count > 0 ? worker_stop(&worker->process) : 0;
    pthread_mutex_unlock(&workers_mutex);
    free(shared.items);
    shared.items = memory_alloc_zero(count, sizeof(*shared.items));
    for (size_t i = 0; i < count; i++)
        shared.items[i] = values[i];
    qsort(shared.items, count, sizeof(*shared.items), compare_places);
    shared.count = count;
}

static bool is_shared(const struct tensor *tensor, const struct apart_session *session)
{
    const struct text place = {tensor->data, tensor->size};
    const struct text *found;

    if (tensor->type == DATA_STRING || shared.count == 0 || session->generation < session->worker->shared_generation)
        return false;
    found = bsearch(&place, shared.items, shared.count, sizeof(*shared.items), compare_places);
    return found != NULL && found->size >= place.size;
}

/* Values that both processes have are passed by address. */
static void put_feed(struct message *question, const struct tensor_list *feed, const struct apart_session *session)
{
    struct tensor_list both_have SCOPED(tensor_list_release) = {0};
    struct tensor_list others SCOPED(tensor_list_release) = {0};

    for (size_t i = 0; i < feed->count; i++) {
        const struct tensor *from = &feed->items[i].tensor;
        struct tensor tensor;

        tensor_borrow(from->type, &from->shape, from->data, from->size, &tensor);
        tensor_list_add(is_shared(from, session) ? &both_have : &others, text_of(feed->items[i].name), &tensor);
    }
    message_put_shared_tensors(question, &both_have);
    message_put_tensors(question, &others);
}

static int apart_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                     struct tensor_list *ret, double *seconds, struct error *err)
{
    const struct apart_session *session = (const struct apart_session *)base;
    const struct run_question run = {session->number, wanted == NULL,
                                     wanted != NULL ? *wanted : (struct words){.items = NULL}};
    struct worker_exchange exchange SCOPED(worker_exchange_end);

    worker_exchange_begin(&exchange, &session->worker->process, QUESTION_RUN, &session->bounds, session->generation,
                          session->log);
    exchange.bounds.seconds *= TIMES_TO_RUN;
    message_put_record(&exchange.question, &run_record, &run);
    put_feed(&exchange.question, feed, session);
    return worker_exchange_run(&exchange, seconds, ret, err);
}

const struct backend onnxrt_apart_backend = {
    .name = "onnxrt",
    .runner_prefix = "onnxrt-runner",
    .open = apart_open,
    .close = apart_close,
    .run = apart_run,
    .share = apart_share,
};
