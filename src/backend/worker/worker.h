/* backend/worker/worker.h: questions to a process in which other people's code is at work, and their answers.
 *
 * The module backend/worker/ is the protocol between a backend and its worker process, a bounded copy of this program
 * (base/process/bounded.h): message.h has values and tables of struct members, this header the questions. A worker
 * answers one question at a time and keeps what it has loaded, so a model is loaded or built once and run many times.
 * An answer begins with its outcome, a struct error. Lines of the worker's log, and its progress, arrive while it is at
 * work. A crash, a signal, a time limit and a memory limit are errors for which bounded_process_is_end() holds; the
 * next question that may start a process gets a new one. Large tensors of a question are copied once, into memory that
 * both processes map and that stays for further questions; those of an answer are not copied, where the worker makes
 * them by message_allocate_tensor(). May use base/process/, tensor/ and backend/backend.h.
 *
 *   worker_exchange_begin(&exchange, &worker, QUESTION_RUN, &bounds, generation, log);
 *   worker_exchange_put_tensors(&exchange, feed);
 *   rc = worker_exchange_ask(&exchange, err);
 *   ... message_take_tensors(&exchange.answer, &outputs, err) ...
 *   worker_exchange_end(&exchange);
 */
#ifndef BACKEND_WORKER_WORKER_H
#define BACKEND_WORKER_WORKER_H

#include <pthread.h>
#include <sys/types.h>

#include "backend/worker/message.h"
#include "base/process/shared_memory.h"

/* ---- In the worker process ---- */

struct worker_question {
    struct message_reader message;
    struct bounded_bytes bytes; /* that it reads; released after the answer unless worker_question_keep() is called */
};

/* An answer besides its outcome. What its message refers to may be in the other two members, which are released when it
 * was sent. */
struct worker_reply {
    struct message message;
    struct tensor_list tensors;
    struct arena arena;
};

/* Answers one kind of question: 0, or an error, in which case the reply's message is not sent. */
typedef int worker_function(struct worker_question *question, struct worker_reply *reply, struct error *err);

/* The question's bytes, now owned by the caller. */
struct bounded_bytes worker_question_keep(struct worker_question *question);

/* The log of the process that has asked; NULL when it wants no lines. Any thread may write to it. */
struct log *worker_log(void);

/* Reports the progress of the question: step `done` of `all`, counted from 0, of `what`. Any thread may. */
void worker_report_progress(const char *what, uint64_t done, uint64_t all);

/* Whether the process that has asked was interrupted (exchange->is_cancelled_first). Any thread may ask. */
bool worker_is_cancelled(void);

/* ---- In the process that asks ---- */

struct worker_work {
    const char *name;                    /* whose code it is, for messages: "ONNX Runtime" */
    const char *more_memory, *more_time; /* what a user can do to give it more: "--max-memory" */
    worker_function *const *functions;   /* by kind of question */
    size_t function_count;
};

/* One kind of work and its process, which is started by the first question. Define it with WORKER(). */
struct worker_process {
    const struct worker_work *work;
    struct bounded_work bounded;
    pthread_mutex_t mutex;
    struct bounded_process *process; /* NULL: not started yet, or lost */
    pid_t owner;                     /* that has started it: a process that was forked off this one gets its own */
    uint64_t generation;             /* of the process: how many there have been */
    struct shared_memory memory;     /* for tensors of questions */
    uint64_t memory_generation;      /* of the process that has mapped it; 0: none has */
};

#define WORKER(of_work)                                                                                                \
    {                                                                                                                  \
        .work = (of_work), .mutex = PTHREAD_MUTEX_INITIALIZER,                                                         \
    }

/* Ends the process and returns the generation of the next one. */
uint64_t worker_stop(struct worker_process *worker);

/* A question and its answer. */
struct worker_exchange {
    struct worker_process *worker;
    struct message question;
    struct bounds bounds;
    uint64_t generation; /* of the process that has to answer; 0: one that may be started now, and then of that one */
    struct log *log;     /* gets the lines of the worker; may be NULL */
    void (*progress)(void *context, const char *what, size_t done, size_t all); /* as the worker reports it; NULL */
    void *progress_context;
    bool is_cancelled_first;      /* an interruption lets the worker end its work by worker_is_cancelled() */
    struct bounded_bytes bytes;   /* the answer */
    struct message_reader answer; /* behind its outcome */
};

/* Appends tensors to the question. They have to stay where they are until the exchange ends. */
void worker_exchange_put_tensors(struct worker_exchange *exchange, const struct tensor_list *tensors);

void worker_exchange_begin(struct worker_exchange *exchange, struct worker_process *worker, uint64_t kind,
                           const struct bounds *bounds, uint64_t generation, struct log *log);

/* Asks, and reads the outcome: an error of the worker's function, or ERR_BACKEND for a process that has ended. */
int worker_exchange_ask(struct worker_exchange *exchange, struct error *err);

/* Asks for a run of a session. `ret`: the outputs, which own the answer together; `ret_seconds`, which may be NULL: the
 * time of the run. Errors are those of worker_exchange_ask() and of damaged answers. */
int worker_exchange_run(struct worker_exchange *exchange, double *ret_seconds, struct tensor_list *ret,
                        struct error *err);

/* Has tensors that refer to the answer, and have no owner, own it together. */
void worker_exchange_own(struct worker_exchange *exchange, struct tensor_list *tensors);
void worker_exchange_end(struct worker_exchange *exchange);

/* ERR_BACKEND: the answer cannot be read. */
int worker_refuse_answer(const struct worker_process *worker, struct error *err);

#endif
