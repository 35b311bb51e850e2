/* base/process/bounded.h: a copy of this program in which other people's code is at work, with a bound on its memory
 * and on its time.
 *
 *   rc = bounded_process_start(&work, &process, err);
 *   rc = bounded_process_ask(process, parts, count, &bounds, &answer, err);
 *   bounded_process_stop(process);
 *
 * The copy is forked off and answers questions, one after the other; questions and answers are bytes. So a crash,
 * memory without end, or work without end is an error here, and costs the copy only. The first question costs a fork,
 * further ones what it takes to pass the bytes.
 *
 * It has a process group of its own, which ends with this process, however that ends (on Linux; elsewhere unless that
 * is killed).
 */
#ifndef BASE_PROCESS_BOUNDED_H
#define BASE_PROCESS_BOUNDED_H

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

struct bounded_work {
    const char *name;                    /* whose code it is, for messages: "ONNX Runtime" */
    const char *more_memory, *more_time; /* what a user can do to give it more: "--max-memory" */

    /* Called in the copy: takes the question over, which is malloc'd, and answers once with
     * bounded_process_answer(). */
    void (*answer)(int answer_to, char *question, size_t size);
};

/* Forks. To be called before that code was used here, and before there are threads but those in which process_run() is
 * at work. `work` has to stay where it is. ERR_IO. */
int bounded_process_start(const struct bounded_work *work, struct bounded_process **ret, struct error *err);

/* Ends the copy. NULL is fine. */
void bounded_process_stop(struct bounded_process *process);

/* The question is `count` parts put together. The answer goes to `ret` (malloc'd bytes; it is what somebody else's code
 * has made of the copy, and not to be trusted). ERR_BACKEND when the copy has crashed or had to be ended: `err` says by
 * which signal, and foreign_code is -N for signal N (SIGXCPU when its time was over). ERR_INTERRUPTED, ERR_MEMORY.
 * After any error the copy is gone: all that is left to do is bounded_process_stop(). */
int bounded_process_ask(struct bounded_process *process, const struct text *parts, size_t count,
                        const struct bounds *bounds, struct text *ret, struct error *err);

/* In the copy. */
void bounded_process_answer(int answer_to, const struct text *parts, size_t count);

/* Whether `err` is that of a copy that has crashed or had to be ended. */
bool bounded_process_is_end(const struct error *err);

/* Whether it had to be ended because its time was over. */
bool bounded_process_is_out_of_time(const struct error *err);

#endif
