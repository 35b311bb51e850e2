/* backend/onnxrt/apart/backend.c: see backend.h. */
#include "backend/onnxrt/apart/backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "backend/onnxrt/apart/message.h"
#include "backend/onnxrt/optimizers.h"
#include "backend/onnxrt/providers.h"
#include "backend/onnxrt/apart/request.h"
#include "base/memory.h"
#include "base/system.h"

#define GIGABYTE ((uint64_t)1 << 30)
#define TIMES_TO_RUN 10           /* as long as it may take to load */
#define STACK ((uint64_t)8 << 20) /* of a thread, which counts as memory */
#define NO_LOG INT64_MAX

enum question {
    QUESTION_OPEN,
    QUESTION_RUN,
    QUESTION_CLOSE,
    QUESTION_DESCRIBE,
};

/* What a run needs but the values that it is fed with. */
struct run_question {
    uint64_t session; /* number of it */
    bool wants_all;   /* outputs; else those in `wanted` */
    struct words wanted;
};

static const struct message_field run_fields[] = {
    {offsetof(struct run_question, session), MESSAGE_NUMBER},
    {offsetof(struct run_question, wants_all), MESSAGE_FLAG},
    {offsetof(struct run_question, wanted), MESSAGE_WORDS},
};

static const struct message_field description_fields[] = {
    {offsetof(struct onnxrt_description, version), MESSAGE_STRING},
    {offsetof(struct onnxrt_description, path), MESSAGE_STRING},
    {offsetof(struct onnxrt_description, providers), MESSAGE_WORDS},
};

/* In the original: what is known of a session of the copy. */
struct apart_session {
    struct backend_session base;
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

/* What the runtime says while a question is answered, for the original's log. */
static struct {
    struct message lines;
    size_t count;
} said;

static void keep_runtime_line(void *data, enum log_level level, int depth, struct text message)
{
    (void)data;
    (void)depth;
    message_put_number(&said.lines, (uint64_t)(int64_t)level);
    message_put_text(&said.lines, message);
    said.count++;
}

static struct log log_of_copy = {.write = keep_runtime_line};

static struct {
    struct backend_session **items; /* onnxrt_backend's; NULL: closed */
    size_t count, capacity;
} sessions;

/* Every answer begins with what was said, and how it went. */
static void begin_answer(struct message *answer, int rc, const struct error *err)
{
    message_put_number(answer, said.count);
    string_add_bytes(&answer->head, said.lines.head.data, said.lines.head.size);
    string_clear(&said.lines.head);
    said.count = 0;
    message_put_number(answer, (uint64_t)(int64_t)rc);
    message_put_number(answer, (uint64_t)(int64_t)err->foreign_code);
    message_put_string(answer, err->message);
}

static void send_answer(int answer_to, struct message *answer)
{
    size_t count;
    struct text *parts = message_parts(answer, &count);

    bounded_process_answer(answer_to, parts, count);
    free(parts);
}

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

static void answer_open(int answer_to, struct message_reader *question)
{
    struct backend_session *session = NULL;
    struct onnxrt_settings settings = {0};
    struct backend_request request = {0};
    struct onnxrt_optimizers optimizers;
    struct error err = {0};
    struct message answer;
    SCOPED_ARENA(arena);
    int64_t threshold;
    int rc;

    onnxrt_optimizers_init(&optimizers);
    message_init(&answer);
    threshold = (int64_t)message_take_number(question);
    log_of_copy.threshold = (enum log_level)threshold;
    settings.optimizers = message_take_number(question) != 0 ? &optimizers : NULL;
    onnxrt_request_take(question, &arena, &settings, &request);
    request.log = threshold == NO_LOG ? NULL : &log_of_copy;
    rc = onnxrt_backend.open(&request, &session, &err);
    begin_answer(&answer, rc, &err);
    if (rc == 0) {
        put_optimizers(&answer, &optimizers);
        message_put_number(&answer, sessions.count);
        message_put_ios(&answer, session->inputs, session->input_count);
        message_put_ios(&answer, session->outputs, session->output_count);
        *VECTOR_APPEND(&sessions) = session;
    }
    send_answer(answer_to, &answer);
    message_release(&answer);
    onnxrt_optimizers_release(&optimizers);
}

static void answer_run(int answer_to, struct message_reader *question)
{
    struct run_question run = {0};
    struct tensor_list feed = {0}, outputs = {0};
    struct error err = {0};
    struct message answer;
    SCOPED_ARENA(arena);
    double seconds = 0;
    int rc;

    message_init(&answer);
    message_take_fields(question, &arena, run_fields, ARRAY_LEN(run_fields), &run);
    message_take_shared_tensors(question, &feed);
    rc = message_take_tensors(question, &feed, &err); /* which refer to it */
    if (rc == 0)
        rc = onnxrt_backend.run(sessions.items[run.session], &feed, run.wants_all ? NULL : &run.wanted, &outputs,
                                &seconds, &err);
    begin_answer(&answer, rc, &err);
    string_add_bytes(&answer.head, &seconds, sizeof(seconds));
    message_put_tensors(&answer, &outputs);
    send_answer(answer_to, &answer);
    tensor_list_release(&feed);
    tensor_list_release(&outputs);
    message_release(&answer);
}

static void answer_close(int answer_to, struct message_reader *question)
{
    uint64_t number = message_take_number(question);

    onnxrt_backend.close(sessions.items[number]);
    sessions.items[number] = NULL;
    bounded_process_answer(answer_to, NULL, 0);
}

static void answer_describe(int answer_to, struct message_reader *question)
{
    const struct onnxrt_execution plain = {0};
    const struct onnxrt *ort = NULL;
    struct onnxrt_providers providers = {0};
    struct error err = {0};
    struct message answer;
    SCOPED_ARENA(arena);
    int rc;

    message_init(&answer);
    rc = onnxrt_load(message_take_string(question, &arena), &ort, &err);
    if (rc == 0)
        rc = onnxrt_providers_init(ort, &plain, &providers, &err);
    begin_answer(&answer, rc, &err);
    if (rc == 0) {
        const struct onnxrt_description description = {
            .version = ort->version,
            .path = ort->path != NULL ? ort->path : "",
            .providers = {(const char *const *)providers.available, (size_t)providers.available_count},
        };

        message_put_fields(&answer, description_fields, ARRAY_LEN(description_fields), &description);
        onnxrt_providers_release(&providers);
    }
    send_answer(answer_to, &answer);
    message_release(&answer);
}

/* The bytes of a model may be pointed into for as long as its session is there, so they stay. */
static void answer_question(int answer_to, char *question, size_t size)
{
    static struct {
        char **items; /* by session */
        size_t count, capacity;
    } models;
    struct message_reader reader = {question, size, 0, false};
    size_t before = sessions.count;
    uint64_t kind = message_take_number(&reader);

    if (kind == QUESTION_OPEN) {
        answer_open(answer_to, &reader);
        if (sessions.count > before)
            *VECTOR_APPEND(&models) = question;
        else
            free(question);
        return;
    }
    if (kind == QUESTION_RUN) {
        answer_run(answer_to, &reader);
    } else if (kind == QUESTION_DESCRIBE) {
        answer_describe(answer_to, &reader);
    } else {
        struct message_reader again = reader;
        uint64_t number = message_take_number(&again);

        answer_close(answer_to, &reader);
        free(models.items[number]);
        models.items[number] = NULL;
    }
    free(question);
}

/* ---- The original ---- */

static const struct bounded_work work = {
    .name = "ONNX Runtime",
    .more_memory = "--max-memory",
    .more_time = "--onnxrt-timeout",
    .answer = answer_question,
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct bounded_process *process; /* NULL: not started yet, or lost */
static uint64_t generation;             /* of the process */

/* What a copy has had since it was forked off, by address. */
static struct {
    struct text *items;
    size_t count;
    uint64_t generation; /* of the first copy that has them */
} shared;

static int refuse_answer(struct error *err)
{
    return error_set(err, ERR_BACKEND, "the process of ONNX Runtime gives an answer that cannot be read");
}

/* Reads what every answer begins with. */
static int take_outcome(struct message_reader *answer, struct log *log, struct error *err)
{
    size_t lines = message_take_count(answer);
    struct text message;
    int64_t rc, foreign_code;

    for (size_t i = 0; i < lines && !answer->damaged; i++) {
        enum log_level level = (enum log_level)(int64_t)message_take_number(answer);
        struct text line = message_take_text(answer);

        if (!answer->damaged && level < LOG_CRITICAL)
            log_text(log, level, line);
    }
    rc = (int64_t)message_take_number(answer);
    foreign_code = (int64_t)message_take_number(answer);
    message = message_take_text(answer);
    if (answer->damaged || rc > 0 || rc < ERR_EXISTS)
        return refuse_answer(err);
    if (rc == 0)
        return 0;
    if (message.size > sizeof(err->message))
        message.size = sizeof(err->message);
    error_set(err, (enum error_code)rc, TEXT_FORMAT, TEXT_ARGS(message));
    if (err != NULL)
        err->foreign_code = foreign_code > 0 ? (int)foreign_code : 0;
    return (int)rc;
}

/* A question and its answer. */
struct exchange {
    struct message question;
    struct bounds bounds;
    uint64_t generation; /* of the process that has to answer; 0: one that may be started now, and then of that one */
    struct log *log;     /* gets what the runtime has said */
    struct text bytes;   /* the whole answer, malloc'd */
    struct message_reader answer;
};

static void begin_exchange(struct exchange *exchange, enum question kind, const struct bounds *bounds,
                           uint64_t of_generation, struct log *log)
{
    *exchange = (struct exchange){.bounds = *bounds, .generation = of_generation, .log = log};
    message_init(&exchange->question);
    message_put_number(&exchange->question, kind);
}

static void end_exchange(struct exchange *exchange)
{
    message_release(&exchange->question);
    free((char *)exchange->bytes.data);
}

static int ask_process(struct exchange *exchange, struct error *err)
{
    uint64_t wanted = exchange->generation;
    size_t count;
    struct text *parts = message_parts(&exchange->question, &count);
    int rc = 0;

    pthread_mutex_lock(&mutex);
    if (process == NULL && wanted == 0) {
        generation++;
        rc = bounded_process_start(&work, &process, err);
    }
    if (rc == 0 && (process == NULL || (wanted != 0 && wanted != generation)))
        rc = error_set(err, ERR_BACKEND, "the process of ONNX Runtime has ended, and its sessions with it");
    else if (rc == 0)
        rc = bounded_process_ask(process, parts, count, &exchange->bounds, &exchange->bytes, err);
    if (rc < 0 && process != NULL && (wanted == 0 || wanted == generation)) {
        bounded_process_stop(process);
        process = NULL;
    }
    exchange->generation = generation;
    pthread_mutex_unlock(&mutex);
    free(parts);
    return rc;
}

/* Asks, and reads what every answer begins with; what follows is left to be read. */
static int ask_question(struct exchange *exchange, struct error *err)
{
    int rc = ask_process(exchange, err);

    if (rc < 0)
        return rc;
    exchange->answer = (struct message_reader){exchange->bytes.data, exchange->bytes.size, 0, false};
    return take_outcome(&exchange->answer, exchange->log, err);
}

static void apart_close(struct backend_session *base)
{
    struct apart_session *session = (struct apart_session *)base;
    struct exchange exchange;

    if (session == NULL)
        return;
    begin_exchange(&exchange, QUESTION_CLOSE, &session->bounds, session->generation, session->log);
    message_put_number(&exchange.question, session->number);
    if (session->generation != 0)
        ask_process(&exchange, NULL);
    end_exchange(&exchange);
    arena_release(&session->arena);
    free(session);
}

static void put_request(struct message *question, const struct backend_request *request)
{
    message_put_number(question, (uint64_t)(request->log != NULL ? (int64_t)request->log->threshold : NO_LOG));
    message_put_number(question, onnxrt_settings_of(request)->optimizers != NULL);
    onnxrt_request_put(question, request);
}

static int apart_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct apart_session *session = memory_alloc_zero(1, sizeof(*session));
    struct onnxrt_optimizers *optimizers = onnxrt_settings_of(request)->optimizers, nobody_asks;
    struct exchange exchange;
    struct message_reader *answer = &exchange.answer;
    int rc;

    arena_init(&session->arena);
    onnxrt_optimizers_init(&nobody_asks);
    session->bounds = request->bounds;
    session->log = request->log;
    begin_exchange(&exchange, QUESTION_OPEN, &request->bounds, 0, request->log);
    put_request(&exchange.question, request);
    rc = ask_question(&exchange, err);
    if (rc < 0)
        goto done;
    session->generation = exchange.generation;
    take_optimizers(answer, optimizers != NULL ? optimizers : &nobody_asks);
    session->number = message_take_number(answer);
    session->base.inputs = message_take_ios(answer, &session->arena, &session->base.input_count);
    session->base.outputs = message_take_ios(answer, &session->arena, &session->base.output_count);
    if (answer->damaged)
        rc = refuse_answer(err);
    else
        *ret = &session->base;
done:
    end_exchange(&exchange);
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
    struct onnxrt_description description;
    struct exchange exchange;
    int rc;

    begin_exchange(&exchange, QUESTION_DESCRIBE, &request->bounds, 0, request->log);
    message_put_string(&exchange.question, onnxrt_settings_of(request)->library);
    rc = ask_question(&exchange, err);
    if (rc < 0)
        goto done;
    message_take_fields(&exchange.answer, arena, description_fields, ARRAY_LEN(description_fields), &description);
    if (exchange.answer.damaged || description.version == NULL || description.path == NULL)
        rc = refuse_answer(err);
    else
        *ret = description;
done:
    end_exchange(&exchange);
    return rc;
}

static int compare_places(const void *a, const void *b)
{
    const struct text *x = a, *y = b;

    return (x->data > y->data) - (x->data < y->data);
}

/* A copy that is at work was forked off too early to have them. */
static void apart_share(const struct text *values, size_t count)
{
    pthread_mutex_lock(&mutex);
    if (count > 0) {
        bounded_process_stop(process);
        process = NULL;
    }
    free(shared.items);
    shared.items = memory_alloc_zero(count, sizeof(*shared.items));
    for (size_t i = 0; i < count; i++)
        shared.items[i] = values[i];
    qsort(shared.items, count, sizeof(*shared.items), compare_places);
    shared.count = count;
    shared.generation = generation + 1;
    pthread_mutex_unlock(&mutex);
}

static bool is_shared(const struct tensor *tensor, uint64_t session_generation)
{
    const struct text place = {tensor->data, tensor->size};
    const struct text *found;

    if (tensor->type == DATA_STRING || shared.count == 0 || session_generation < shared.generation)
        return false;
    found = bsearch(&place, shared.items, shared.count, sizeof(*shared.items), compare_places);
    return found != NULL && found->size >= place.size;
}

/* What both have is told by its place. */
static void put_feed(struct message *question, const struct tensor_list *feed, uint64_t session_generation)
{
    struct tensor_list both_have = {0}, others = {0};

    for (size_t i = 0; i < feed->count; i++) {
        const struct tensor *from = &feed->items[i].tensor;
        struct tensor tensor;

        tensor_borrow(from->type, &from->shape, from->data, from->size, &tensor);
        tensor_list_add(is_shared(from, session_generation) ? &both_have : &others, text_of(feed->items[i].name),
                        &tensor);
    }
    message_put_shared_tensors(question, &both_have);
    message_put_tensors(question, &others);
    tensor_list_release(&both_have);
    tensor_list_release(&others);
}

/* An answer, for as long as there are tensors that refer to it. */
struct answer_bytes {
    char *data;
    atomic_size_t users;
};

static void release_answer(void *data)
{
    struct answer_bytes *bytes = data;

    if (atomic_fetch_sub(&bytes->users, 1) > 1)
        return;
    free(bytes->data);
    free(bytes);
}

/* Takes the answer over for those tensors that have no data of their own. */
static void own_answer(struct text *answer, struct tensor_list *outputs)
{
    struct answer_bytes *bytes = memory_alloc_zero(1, sizeof(*bytes));

    bytes->data = (char *)answer->data;
    atomic_init(&bytes->users, 1);
    *answer = (struct text){0};
    for (size_t i = 0; i < outputs->count; i++) {
        struct tensor *tensor = &outputs->items[i].tensor;

        if (tensor->free_owner != NULL)
            continue;
        atomic_fetch_add(&bytes->users, 1);
        tensor->free_owner = release_answer;
        tensor->owner = bytes;
    }
    release_answer(bytes);
}

static int apart_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                     struct tensor_list *ret, double *seconds, struct error *err)
{
    const struct apart_session *session = (const struct apart_session *)base;
    const struct run_question run = {session->number, wanted == NULL,
                                     wanted != NULL ? *wanted : (struct words){.items = NULL}};
    struct tensor_list outputs = {0};
    struct exchange exchange;
    uint64_t bits;
    int rc;

    begin_exchange(&exchange, QUESTION_RUN, &session->bounds, session->generation, session->log);
    exchange.bounds.seconds *= TIMES_TO_RUN;
    message_put_fields(&exchange.question, run_fields, ARRAY_LEN(run_fields), &run);
    put_feed(&exchange.question, feed, session->generation);
    rc = ask_question(&exchange, err);
    if (rc < 0)
        goto done;
    bits = message_take_number(&exchange.answer);
    if (seconds != NULL)
        memcpy(seconds, &bits, sizeof(bits));
    rc = message_take_tensors(&exchange.answer, &outputs, err);
    if (rc < 0)
        goto done;
    if (exchange.answer.damaged) {
        rc = refuse_answer(err);
        goto done;
    }
    own_answer(&exchange.bytes, &outputs);
    *ret = outputs;
    outputs = (struct tensor_list){0};
done:
    tensor_list_release(&outputs);
    end_exchange(&exchange);
    return rc;
}

const struct backend onnxrt_apart_backend = {
    .name = "onnxrt",
    .runner_prefix = "onnxrt-runner",
    .open = apart_open,
    .close = apart_close,
    .run = apart_run,
    .share = apart_share,
};
