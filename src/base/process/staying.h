/* base/process/staying.h: processes that stay: started once, then asked by this process and by its descendants.
 *
 *   host = staying_host_start(make_line, err);
 *   staying_open(line, timeout, &process, &answer, err);
 *   staying_ask(process, request, timeout, &answer, err);
 *   staying_close(process);
 *   staying_host_stop(host);
 *
 * The host is a forked copy of this process. It starts such a process by a line of the shell, with the variables of
 * whoever asks for it and in their folder, and passes lines of text: a request to it through one pipe with a name, an
 * answer from it through another. Its first line is a greeting. Who asks later for the same line, with the same
 * variables, gets a process that nobody else is asking at the time, or a new one. A process that was left in the middle
 * of an answer is killed, and so are all of them, with their descendants, when the host is stopped or this process is
 * killed. The host is found by a variable of the environment, so it can be used by all that this process has started.
 */
#ifndef BASE_PROCESS_STAYING_H
#define BASE_PROCESS_STAYING_H

#include "base/process/process.h"
#include "base/process/staying_message.h"

/* The host's address, for descendants. Unset: a process has no host. */
#define STAYING_HOST_VARIABLE "POLYGRAPHY_RUNNER_HOST"

struct staying_host;
struct staying_process;

/* Starts the host; call it before threads exist, and while no child runs. `*ret` is NULL when this process uses that of
 * an ancestor already. ERR_IO, also for a folder of temporary files whose path is too long for a socket. */
int staying_host_start(staying_make_line *make_line, struct staying_host **ret, struct error *err);
void staying_host_stop(struct staying_host *host); /* accepts NULL */

struct staying_answer {
    enum staying_end end;
    bool is_new; /* of staying_open(): the process was started for it */
    char *line;  /* the answer, without its end of line; "" for none */

    /* `process` and `seconds` from the request to the answer; how the process has ended; `out`: what it wrote to its
     * standard output and error since the answer before, the last 64 KB at most. */
    struct process_result result;
};

void staying_answer_release(struct staying_answer *answer);

/* Gets a process for the line, and its greeting as the answer; `timeout` in seconds, 0: none. `*ret` is set unless the
 * answer says that there is no process. ERR_IO without a host, ERR_INTERRUPTED. */
int staying_open(const char *line, double timeout, struct staying_process **ret, struct staying_answer *ret_answer,
                 struct error *err);

/* Passes a request, a line of text, and waits for the answer. After any other end than STAYING_ANSWERED, and after an
 * error, only staying_close() may follow. */
int staying_ask(struct staying_process *process, const char *request, double timeout, struct staying_answer *ret_answer,
                struct error *err);

/* Leaves the process to others; `is_reliable` false: it is killed. Accepts NULL. */
void staying_close(struct staying_process *process, bool is_reliable);

#endif
