/* base/error.h: how a function says that it failed.
 *
 * The module base/ holds what every other part stands on, and nothing that knows of models: errors, memory and its
 * bound, the log's interface, interruption, crashes, hashes, the machine. It uses libc, and its own modules for text,
 * containers, files and child processes.
 *
 * A library function returns 0 or a negative `enum error_code`. At the place of failure it fills the caller's
 * `struct error` once, with one sentence: what is wrong, where, and what to do about it. Callers pass the code on, or
 * put their own context in front with error_context(). Nobody prints on the way; outputs are written only on success.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

enum error_code {
    ERR_INVALID = -1,     /* the user asked for something that makes no sense: an option, a name, a shape */
    ERR_MISSING = -2,     /* a file, program, tensor or library is not there */
    ERR_IO = -3,          /* the operating system refused to read, write, map or start something */
    ERR_CORRUPT = -4,     /* a file is damaged or hostile */
    ERR_UNSUPPORTED = -5, /* valid, but not something this program handles */
    ERR_BACKEND = -6,     /* an inference runtime refused a model or failed while running it */
    ERR_MEMORY = -7,      /* a buffer whose size a file or a user asked for could not be had */
    ERR_INTERRUPTED = -8, /* Ctrl-C, or a request to end */
    ERR_EXISTS = -9,      /* refusing to overwrite */
};

struct error {
    int code; /* 0 or an `enum error_code` */
    /* what the library that has failed calls it; -N: signal N. 0: unknown; error_set() makes it that */
    int foreign_code;
    char message[2048]; /* one sentence without a full stop or line breaks; truncated when longer */
};

/* Fills `err` (may be NULL) and returns `code`, so that a failure is one line: `return error_set(err, ERR_IO, ...)`. */
int error_set(struct error *err, enum error_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Like error_set() with ": <what errno means>" appended. Saves and restores nothing: call it first after the
 * failure. */
int error_set_errno(struct error *err, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<context>: " in front of the message that `err` holds. Returns err->code; without `err`, which alone knows the
 * code, ERR_INVALID. */
int error_context(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
