/* base/process/bounded.h: third-party code in a forked copy of this process, with limits on memory and time.
 *
 *   rc = bounded_process_start(&work, &process, err);
 *   rc = bounded_process_ask(process, parts, count, &bounds, &answer, err);
 *   bounded_process_stop(process);
 *
 * The copy is forked and answers requests one by one; requests and answers are bytes. A crash, unlimited memory or an
 * endless loop is reported as an error and costs only the copy. The first request costs a fork, further ones only the
 * transfer: large messages are written once to a file in memory (Linux), which the other side maps. Descriptors of
 * files may go with a message: what is in memory that both sides map need not be written at all.
 *
 * The copy has a separate process group, which is killed when this process terminates (on Linux also when this process
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
    /* bytes that the copy may allocate in addition to those it had at the fork (Linux); 0: no limit */
    uint64_t memory;
    double seconds; /* for the answer; 0: no limit */
};

#define BOUNDED_MOST_FILES 16 /* that go with a message */

/* Descriptors that go with a message. */
struct bounded_files {
    int items[BOUNDED_MOST_FILES];
    size_t count;
};

void bounded_files_close(struct bounded_files *files); /* there are none then */

/* Bytes received from the other process, aligned to 64 bytes and followed by a NUL. They are writable. */
struct bounded_bytes {
    char *data;
    size_t size;
    bool is_mapped; /* else malloc'd */
    struct bounded_files files;
};

/* Closes the files, too. Harmless on zeros. */
void bounded_bytes_release(struct bounded_bytes *bytes);

struct bounded_work {
    const char *name;                    /* of the library that runs in the copy, for messages: "ONNX Runtime" */
    const char *more_memory, *more_time; /* options that raise the limits, for messages: "--max-memory" */

    /* Called in the copy: owns the request, and answers once with bounded_process_answer(). */
    void (*answer)(const void *data, int answer_to, struct bounded_bytes question);
    const void *data; /* its first argument */

    /* Called in the original process while it waits, with each note that the copy sends by bounded_process_note().
     * NULL: notes are dropped. The bytes are valid during the call only. */
    void (*note)(void *data, struct text note);
};

/* Forks the copy. Call it before the third-party code was used in this process, and while the only other threads are in
 * process_run(). `work` is not copied and must stay valid. ERR_IO. */
int bounded_process_start(const struct bounded_work *work, struct bounded_process **ret, struct error *err);

/* Kills the copy. Accepts NULL. */
void bounded_process_stop(struct bounded_process *process);

/* A request: `count` parts, concatenated. */
struct bounded_question {
    const struct text *parts;
    size_t count;
    struct bounds bounds;
    void *note_data;         /* first argument of the work's note() */
    bool is_cancelled_first; /* on an interruption: bounded_process_is_cancelled() in the copy, and time to end */
    const struct bounded_files *files; /* the other side gets descriptors of its own; NULL: none */
};

/* Sends a request and waits for the answer, `ret`, owned by the caller; it comes from a process with third-party code
 * and is untrusted. ERR_BACKEND if the copy crashed or was killed: `err` names the signal, and foreign_code is -N for
 * signal N (SIGXCPU after a time-out). ERR_INTERRUPTED, ERR_MEMORY. After any error the copy is gone; only
 * bounded_process_stop() may follow. */
int bounded_process_ask(struct bounded_process *process, const struct bounded_question *question,
                        struct bounded_bytes *ret, struct error *err);

/* Called in the copy: send the answer to the request, and before it any number of notes (from one thread at a time).
 * `files` go with the answer, and stay open here; NULL: none. */
void bounded_process_answer(int answer_to, const struct text *parts, size_t count, const struct bounded_files *files);
void bounded_process_note(int answer_to, const struct text *parts, size_t count);

/* Called in the copy, by any thread: whether the original process was interrupted and wants no answer any more. */
bool bounded_process_is_cancelled(int answer_to);

/* Whether `err` reports that the copy crashed or was killed. */
bool bounded_process_is_end(const struct error *err);

/* Whether `err` reports that the copy was killed after a time-out. */
bool bounded_process_is_out_of_time(const struct error *err);

#endif
