/* base/process/bounded.h: a copy of this program in which other people's code is at work, with a bound on its memory
 * and on its time.
 *
 *   rc = bounded_process_start(&work, &process, err);
 *   rc = bounded_process_ask(process, parts, count, &bounds, &answer, err);
 *   bounded_process_stop(process);
 *
 * The copy is forked off and answers questions, one after the other; questions and answers are bytes. So a crash,
 * memory without end, or work without end is an error here, and costs the copy only. The first question costs a fork,
 * further ones what it takes to pass the bytes: many bytes are written to a file in memory once (Linux), which the
 * other side maps.
 *
 * It has a process group of its own, which ends with this process, however that ends (on Linux; elsewhere unless that
 * is killed).
 */
#ifndef BASE_PROCESS_BOUNDED_H
#define BASE_PROCESS_BOUNDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text/text.h"

struct bounded_process;

struct bounds {
    /* bytes that the copy may allocate beyond what it had when it was forked off (Linux); 0: any number */
    uint64_t memory;
    double seconds; /* for the answer; 0: any time */
};

/* Bytes that came from the other process, aligned to 64, with a NUL behind them. This process may change them. */
struct bounded_bytes {
    char *data;
    size_t size;
    bool is_mapped; /* else malloc'd */
};

void bounded_bytes_release(struct bounded_bytes *bytes); /* harmless on zeros */

struct bounded_work {
    const char *name;                    /* whose code it is, for messages: "ONNX Runtime" */
    const char *more_memory, *more_time; /* what a user can do to give it more: "--max-memory" */

    /* Called in the copy: takes the question over, and answers once with bounded_process_answer(). */
    void (*answer)(const void *data, int answer_to, struct bounded_bytes question);
    const void *data; /* its first argument */

    /* Called in the original, while it waits, with what the copy sends by bounded_process_note(). NULL: notes are
     * dropped. The bytes are valid during the call only. */
    void (*note)(void *data, struct text note);
};

/* Forks. To be called before that code was used here, and before there are threads but those in which process_run() is
 * at work. `work` has to stay where it is. ERR_IO. */
int bounded_process_start(const struct bounded_work *work, struct bounded_process **ret, struct error *err);

/* Ends the copy. NULL is fine. */
void bounded_process_stop(struct bounded_process *process);

/* A question: `count` parts put together. */
struct bounded_question {
    const struct text *parts;
    size_t count;
    struct bounds bounds;
    void *note_data; /* first argument of the work's note() */
};

/* The answer goes to `ret`, owned by the caller (it is what somebody else's code has made of the copy, and not to be
 * trusted). ERR_BACKEND when the copy has crashed or had to be ended: `err` says by which signal, and foreign_code is
 * -N for signal N (SIGXCPU when its time was over). ERR_INTERRUPTED, ERR_MEMORY. After any error the copy is gone: all
 * that is left to do is bounded_process_stop(). */
int bounded_process_ask(struct bounded_process *process, const struct bounded_question *question,
                        struct bounded_bytes *ret, struct error *err);

/* In the copy: the answer to the question; and before it any number of notes, of which one thread at a time may send
 * one. */
void bounded_process_answer(int answer_to, const struct text *parts, size_t count);
void bounded_process_note(int answer_to, const struct text *parts, size_t count);

/* Whether `err` is that of a copy that has crashed or had to be ended. */
bool bounded_process_is_end(const struct error *err);

/* Whether it had to be ended because its time was over. */
bool bounded_process_is_out_of_time(const struct error *err);

#endif
