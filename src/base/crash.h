/* base/crash.h: one message when this process crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT).
 *
 * Models and plug-ins are run by third-party code inside this process. When it crashes, the handler prints one sentence
 * with the current operation, removes temporary files and kills children (base/interrupt.h), and then lets the signal
 * terminate the process. SIGBUS in a mapped file that was truncated is reported with the file's path.
 */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Installs the handlers and forgets the current operation and advice. Not to be used under a sanitizer, which installs
 * its own handlers. */
void crash_install(void);

/* For a forked child whose parent reports its crash: the child prints nothing any more. */
void crash_forget(void);

/* Mark the beginning and end of a call into third-party code. A crash in between is reported as "... ended this program
 * while `what`", for example "ONNX Runtime ran a model". Calls may be nested and made by several threads. `what` is not
 * copied and must stay valid. */
void crash_work_begins(const char *what);
void crash_work_ends(void);

/* Sets the advice printed after a crash in third-party code: one sentence, not copied, which must stay valid. NULL:
 * none. */
void crash_set_advice(const char *advice);

/* Sets exit codes that replace termination by the signal: `at_work` for a crash in third-party code, `of_file` for a
 * mapped file that was truncated. 0: terminate by the signal. */
void crash_set_exit_codes(int at_work, int of_file);

/* Receives the printed sentence as an error: ERR_BACKEND (ERR_IO for a truncated file), foreign_code -N for signal N.
 * It runs in the signal handler and must be async-signal-safe. NULL: no handler. */
typedef void crash_error_handler(const struct error *err);
void crash_set_error_handler(crash_error_handler *handler);

/* Register and unregister a mapped file, so that a crash report can name it. `path` is not copied and must stay valid
 * until crash_forget_map(). At most 64 maps are registered at once; further ones are not reported by name. */
void crash_note_map(const void *data, size_t size, const char *path);
void crash_forget_map(const void *data);

#endif
