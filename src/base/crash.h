/* base/crash.h: what is said when this program comes to an end that it did not choose (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGABRT).
 *
 * Models and plug-ins are run by other people's code, in this very process. When that crashes, one sentence says what
 * was being done, what must not survive this process is removed (base/interrupt.h), and the process ends by the signal
 * as it would have. A file that becomes shorter while it is mapped is named.
 */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Installs the handlers, which say nothing about work and advice of before. Not for programs under a sanitizer, which
 * has its own. */
void crash_install(void);

/* In a forked child whose parent tells of its end: nothing is said any more. */
void crash_forget(void);

/* Between these two, other people's code is at work: "ended this program while `what`", as in "ONNX Runtime ran a
 * model". May be nested, and called by several threads. `what` has to stay where it is. */
void crash_work_begins(const char *what);
void crash_work_ends(void);

/* What may be done about a crash at work: a sentence that has to stay where it is. NULL: nothing. */
void crash_set_advice(const char *advice);

/* The process ends with these exit codes in place of the signal when other people's code was at work, and when a file
 * became shorter. 0: by the signal. */
void crash_set_exit_codes(int at_work, int of_file);

/* Called with the same sentence as an error: ERR_BACKEND, of a file ERR_IO, with foreign_code -N for signal N. It may
 * only call what is async-signal-safe. NULL: none. */
typedef void crash_error_handler(const struct error *err);
void crash_set_error_handler(crash_error_handler *handler);

/* A file that is mapped, until it is forgotten. `path` has to stay where it is until then. More than 64 at a time are
 * not named. */
void crash_note_map(const void *data, size_t size, const char *path);
void crash_forget_map(const void *data);

#endif
