/* base/error.h: how functions report failures.
 *
 * The module base/ contains what every other module depends on, and nothing about models: errors, memory and its limit,
 * the log interface, interruption, crash reports, hashes, system information. It depends on libc and its own submodules
 * for text, containers, files and child processes.
 *
 * A library function returns 0 or a negative `enum error_code`. At the place of failure it fills the caller's `struct
 * error` once, with one sentence: what happened, where, and what to do. Callers pass the code on, or prepend their own
 * context with error_context(). No library function prints; outputs are written only on success.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

enum error_code {
    ERR_INVALID = -1,     /* invalid request by the user: an option, a name, a shape */
    ERR_MISSING = -2,     /* a file, program, tensor or library does not exist */
    ERR_IO = -3,          /* the operating system refused to read, write, map or start something */
    ERR_CORRUPT = -4,     /* a file is damaged or hostile */
    ERR_UNSUPPORTED = -5, /* valid, but not something this program handles */
    ERR_BACKEND = -6,     /* an inference runtime refused a model or failed while running it */
    ERR_MEMORY = -7,      /* cannot allocate a buffer whose size a file or a user specified */
    ERR_INTERRUPTED = -8, /* Ctrl-C or a termination signal */
    ERR_EXISTS = -9,      /* the destination exists and is not overwritten */
    /* a GPU has too little free memory: nothing is known of what was to run there, which may run at another time */
    ERR_DEVICE_MEMORY = -10,
};

#define ERROR_OF_PARSER 1000 /* runtimes and their parsers number errors independently */
#define ERROR_OF_RUNNER                                                                                                \
    (1 << 20) /* and a command of the user's has kinds of errors, which are numbered by their names */

struct error {
    int code; /* 0 or an `enum error_code` */
    /* error code of the third-party library that failed, or ERROR_OF_PARSER or ERROR_OF_RUNNER + another one;
     * -N: signal N. 0: unknown (set by error_set()) */
    int foreign_code;
    char message[2048]; /* one sentence without a full stop or line breaks; truncated when longer */
};

/* Fills `err` (may be NULL) and returns `code`, so that a failure is one line: `return error_set(err, ERR_IO, ...)`. */
int error_set(struct error *err, enum error_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Like error_set() with ": <what errno means>" appended. Call it before anything else that may change errno. */
int error_set_errno(struct error *err, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prepends "<context>: " to the message in `err`. Returns err->code, or ERR_INVALID if `err` is NULL. */
int error_context(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
