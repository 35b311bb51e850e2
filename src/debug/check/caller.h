/* debug/check/caller.h: checks that the process at the other end of a socket carries out (--check-fd).
 *
 * libpolygraphy starts this program and answers with a function of the process that called it, so that a check starts
 * no process. A request and its answer are a line each, with a JSON object:
 *
 *   {"artifact": "polygraphy_debug.onnx", "inputs": null, "golden": null, "information": null, "disabled": null,
 *    "iteration": 3}
 *   {"exit_code": 1, "output": "max |x| = inf"}
 *
 * `inputs`, `golden` and `information` are the files of --iter-inputs, --iter-golden and --iter-info. If candidates are
 * lists, `disabled` is that list, as in CHECK_DISABLED_VARIABLE. `iteration` is -1 outside of numbered iterations.
 */
#ifndef DEBUG_CHECK_CALLER_H
#define DEBUG_CHECK_CALLER_H

#include "base/process/process.h"
#include "debug/candidate/place.h"

struct caller_request {
    struct candidate_paths files;
    const char *disabled; /* NULL: candidates are models */
    int64_t iteration;
};

/* Asks once, and waits for the answer: `ret` is as if a command had exited with this code and output. ERR_IO if the
 * socket is closed or the answer is invalid, ERR_INTERRUPTED. */
int caller_ask(int fd, const struct caller_request *request, struct process_result *ret, struct error *err);

#endif
