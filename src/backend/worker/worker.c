/* backend/worker/worker.c: see worker.h.
 *
 * A question begins with its kind and the threshold of the log. A note is a line of the log, or progress. An answer
 * begins with the outcome, filled up to a multiple of the alignment of data, so that data behind it are aligned.
 */
#include "backend/worker/worker.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

#define NO_LOG INT64_MAX
#define NOTE_PROGRESS INT64_MIN /* in place of the level of a line */
#define OUTCOME_ALIGNMENT 64

/* ---- In the worker process ---- */

static struct {
    int answer_to;
    bool has_log;
    pthread_mutex_t mutex;       /* of notes */
    struct shared_memory memory; /* with tensors of questions */
} at_work = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void send_note(struct message *note)
{
    pthread_mutex_lock(&at_work.mutex);
    bounded_process_note(at_work.answer_to, &(struct text){note->head.data, note->head.size}, 1);
    pthread_mutex_unlock(&at_work.mutex);
    message_release(note);
}

static void send_line(void *data, enum log_level level, int depth, struct text line)
{
    struct message note;

    (void)data;
    (void)depth;
    message_init(&note);
    message_put_number(&note, (uint64_t)(int64_t)level);
    message_put_text(&note, line);
    send_note(&note);
}

void worker_report_progress(const char *what, uint64_t done, uint64_t all)
{
    struct message note;

    message_init(&note);
    message_put_number(&note, (uint64_t)NOTE_PROGRESS);
    message_put_text(&note, text_of(what));
    message_put_number(&note, done);
    message_put_number(&note, all);
    send_note(&note);
}

static struct log log_of_worker = {.write = send_line};

struct log *worker_log(void)
{
    return at_work.has_log ? &log_of_worker : NULL;
}

bool worker_is_cancelled(void)
{
    return bounded_process_is_cancelled(at_work.answer_to);
}

struct bounded_bytes worker_question_keep(struct worker_question *question)
{
    struct bounded_bytes ret = question->bytes;

    question->bytes = (struct bounded_bytes){0};
    return ret;
}

/* The outcome, which is filled up, and the parts of the reply. */
static void send_answer(int rc, const struct error *err, const struct worker_reply *reply)
{
    struct message outcome SCOPED(message_release) = {0};
    size_t count = 0;
    struct text *parts SCOPED_FREE = rc == 0 ? message_parts(&reply->message, &count) : NULL;

    message_init(&outcome);
    message_put_number(&outcome, (uint64_t)(int64_t)rc);
    message_put_number(&outcome, (uint64_t)(int64_t)err->foreign_code);
    message_put_string(&outcome, err->message);
    while (outcome.head.size % OUTCOME_ALIGNMENT != 0)
        string_add_char(&outcome.head, '\0');
    parts = memory_resize(parts, count + 1, sizeof(*parts));
    for (size_t i = count++; i > 0; i--)
        parts[i] = parts[i - 1];
    parts[0] = (struct text){outcome.head.data, outcome.head.size};
    pthread_mutex_lock(&at_work.mutex);
    bounded_process_answer(at_work.answer_to, parts, count, rc == 0 ? &reply->message.files : NULL);
    pthread_mutex_unlock(&at_work.mutex);
}

/* New memory comes with a question. */
static void take_memory(struct bounded_bytes *bytes)
{
    if (bytes->files.count == 0)
        return;
    shared_memory_release(&at_work.memory);
    shared_memory_open(bytes->files.items[0], 1, false, &at_work.memory);
    bounded_files_close(&bytes->files);
}

static void answer_question(const void *data, int answer_to, struct bounded_bytes bytes)
{
    const struct worker_work *work = data;
    struct worker_question question = {.message = {.data = bytes.data, .size = bytes.size}, .bytes = bytes};
    struct worker_reply reply = {0};
    struct error err = {0};
    uint64_t kind = message_take_number(&question.message);
    int64_t threshold = (int64_t)message_take_number(&question.message);
    int rc;

    take_memory(&question.bytes);
    question.message.shared = (struct text){at_work.memory.data, at_work.memory.size};
    at_work.answer_to = answer_to;
    at_work.has_log = threshold != NO_LOG;
    log_of_worker.threshold = (enum log_level)threshold;
    message_init(&reply.message);
    arena_init(&reply.arena);
    rc = kind < work->function_count ? work->functions[kind](&question, &reply, &err)
                                     : error_set(&err, ERR_CORRUPT, "there is no such question");
    send_answer(rc, &err, &reply);
    message_release(&reply.message);
    tensor_list_release(&reply.tensors);
    arena_release(&reply.arena);
    bounded_bytes_release(&question.bytes);
}

/* ---- In the process that asks ---- */

int worker_refuse_answer(const struct worker_process *worker, struct error *err)
{
    return error_set(err, ERR_BACKEND, "the process of %s gives an answer that cannot be read", worker->work->name);
}

int worker_exchange_run(struct worker_exchange *exchange, double *ret_seconds, struct tensor_list *ret,
                        struct error *err)
{
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    int rc = worker_exchange_ask(exchange, err);
    double seconds;

    if (rc < 0)
        return rc;
    seconds = message_take_real(&exchange->answer);
    if (ret_seconds != NULL)
        *ret_seconds = seconds;
    rc = message_take_tensors(&exchange->answer, &outputs, err);
    if (rc == 0 && exchange->answer.damaged)
        rc = worker_refuse_answer(exchange->worker, err);
    if (rc < 0)
        return rc;
    worker_exchange_own(exchange, &outputs);
    *ret = outputs;
    outputs = (struct tensor_list){0};
    return 0;
}

static void pass_progress(const struct worker_exchange *exchange, struct message_reader *note)
{
    SCOPED_ARENA(arena);
    const char *what = arena_text(&arena, message_take_text(note));
    uint64_t done = message_take_number(note), all = message_take_number(note);

    if (!note->damaged && exchange->progress != NULL)
        exchange->progress(exchange->progress_context, what, (size_t)done, (size_t)all);
}

static void take_note(void *data, struct text bytes)
{
    const struct worker_exchange *exchange = data;
    struct message_reader note = {.data = bytes.data, .size = bytes.size};
    int64_t level = (int64_t)message_take_number(&note);
    struct text line;

    if (level == NOTE_PROGRESS) {
        pass_progress(exchange, &note);
        return;
    }
    line = message_take_text(&note);
    if (!note.damaged && level < LOG_CRITICAL)
        log_text(exchange->log, (enum log_level)level, line);
}

static int take_outcome(struct worker_exchange *exchange, struct error *err)
{
    struct message_reader *answer = &exchange->answer;
    int64_t rc = (int64_t)message_take_number(answer), foreign_code = (int64_t)message_take_number(answer);
    struct text message = message_take_text(answer);

    while (!answer->damaged && answer->at % OUTCOME_ALIGNMENT != 0 && answer->at < answer->size)
        answer->at++;
    if (answer->damaged || rc > 0 || rc < ERR_DEVICE_MEMORY)
        return worker_refuse_answer(exchange->worker, err);
    if (rc == 0)
        return 0;
    if (message.size > sizeof(err->message))
        message.size = sizeof(err->message);
    error_set(err, (enum error_code)rc, TEXT_FORMAT, TEXT_ARGS(message));
    if (err != NULL)
        err->foreign_code = foreign_code > 0 ? (int)foreign_code : 0;
    return (int)rc;
}

void worker_exchange_begin(struct worker_exchange *exchange, struct worker_process *worker, uint64_t kind,
                           const struct bounds *bounds, uint64_t generation, struct log *log)
{
    *exchange = (struct worker_exchange){.worker = worker, .bounds = *bounds, .generation = generation, .log = log};
    message_init(&exchange->question);
    message_put_number(&exchange->question, kind);
    message_put_number(&exchange->question, (uint64_t)(log != NULL ? (int64_t)log->threshold : NO_LOG));
}

void worker_exchange_end(struct worker_exchange *exchange)
{
    message_release(&exchange->question);
    bounded_bytes_release(&exchange->bytes);
}

void worker_exchange_put_tensors(struct worker_exchange *exchange, const struct tensor_list *tensors)
{
    exchange->question.shares = shared_memory_is_available();
    message_put_tensors(&exchange->question, tensors);
    exchange->question.shares = false;
}

/* Where a question needs far less than is there, the rest goes back to the system. */
#define MOST_UNUSED ((size_t)256 << 20)

/* Fills the memory for tensors of the question. `ret` gets its descriptor, unless the process has it. */
static int fill_memory(struct worker_process *worker, const struct message *question, struct bounded_files *ret,
                       struct error *err)
{
    size_t size = question->shared_size;
    struct shared_memory *memory = &worker->memory;

    if (size == 0)
        return 0;
    if (memory->size < size || memory->size - size > MOST_UNUSED) {
        shared_memory_release(memory);
        worker->memory_generation = 0;
        if (!shared_memory_create(size, memory))
            return error_set(err, ERR_MEMORY, "no memory of %zu bytes to share with the process of %s", size,
                             worker->work->name);
    }
    message_fill_shared(question, memory->data);
    if (worker->memory_generation != worker->generation)
        ret->items[ret->count++] = memory->file;
    return 0;
}

static int start_process(struct worker_process *worker, struct error *err)
{
    const struct worker_work *work = worker->work;

    worker->bounded = (struct bounded_work){.name = work->name,
                                            .more_memory = work->more_memory,
                                            .more_time = work->more_time,
                                            .answer = answer_question,
                                            .note = take_note,
                                            .data = work};
    worker->generation++;
    worker->owner = getpid();
    return bounded_process_start(&worker->bounded, &worker->process, err);
}

static void stop_process(struct worker_process *worker)
{
    bounded_process_stop(worker->process);
    worker->process = NULL;
}

static int ask_process(struct worker_process *worker, struct worker_exchange *exchange,
                       const struct bounded_question *question, struct bounded_files *files, struct error *err)
{
    int rc = fill_memory(worker, &exchange->question, files, err);

    if (rc < 0)
        return rc;
    rc = bounded_process_ask(worker->process, question, &exchange->bytes, err);
    if (rc == 0 && files->count > 0)
        worker->memory_generation = worker->generation;
    return rc;
}

int worker_exchange_ask(struct worker_exchange *exchange, struct error *err)
{
    struct worker_process *worker = exchange->worker;
    uint64_t wanted = exchange->generation;
    struct bounded_files files = {.count = 0};
    struct bounded_question question = {.bounds = exchange->bounds,
                                        .note_data = exchange,
                                        .files = &files,
                                        .is_cancelled_first = exchange->is_cancelled_first};
    struct text *parts SCOPED_FREE = message_parts(&exchange->question, &question.count);
    int rc = 0;

    question.parts = parts;
    pthread_mutex_lock(&worker->mutex);
    if (worker->owner != getpid()) {
        worker->process = NULL; /* of the process that this one was forked off from, which still uses it */
        shared_memory_forget(&worker->memory);
    }
    if (worker->process == NULL && wanted == 0)
        rc = start_process(worker, err);
    if (rc == 0 && (worker->process == NULL || (wanted != 0 && wanted != worker->generation)))
        rc = error_set(err, ERR_BACKEND, "the process of %s has ended, and its sessions with it", worker->work->name);
    else if (rc == 0)
        rc = ask_process(worker, exchange, &question, &files, err);
    if (rc < 0 && (wanted == 0 || wanted == worker->generation))
        stop_process(worker);
    exchange->generation = worker->generation;
    pthread_mutex_unlock(&worker->mutex);
    if (rc < 0)
        return rc;
    exchange->answer = (struct message_reader){
        .data = exchange->bytes.data, .size = exchange->bytes.size, .files = &exchange->bytes.files};
    return take_outcome(exchange, err);
}

uint64_t worker_stop(struct worker_process *worker)
{
    uint64_t ret;

    pthread_mutex_lock(&worker->mutex);
    stop_process(worker);
    ret = worker->generation + 1;
    pthread_mutex_unlock(&worker->mutex);
    return ret;
}

/* An answer, for as long as there are tensors that refer to it. */
struct owned_answer {
    struct bounded_bytes bytes;
    atomic_size_t users;
};

static void release_answer(void *data)
{
    struct owned_answer *answer = data;

    if (atomic_fetch_sub(&answer->users, 1) > 1)
        return;
    bounded_bytes_release(&answer->bytes);
    free(answer);
}

void worker_exchange_own(struct worker_exchange *exchange, struct tensor_list *tensors)
{
    struct owned_answer *answer = memory_alloc_zero(1, sizeof(*answer));

    bounded_files_close(&exchange->bytes.files);
    answer->bytes = exchange->bytes;
    exchange->bytes = (struct bounded_bytes){0};
    atomic_init(&answer->users, 1);
    for (size_t i = 0; i < tensors->count; i++) {
        struct tensor *tensor = &tensors->items[i].tensor;

        if (tensor->free_owner != NULL)
            continue;
        atomic_fetch_add(&answer->users, 1);
        tensor->free_owner = release_answer;
        tensor->owner = answer;
    }
    release_answer(answer);
}
