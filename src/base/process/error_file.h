/* base/process/error_file.h: errors and warnings of a run of this program, passed as structs to the process that
 * started it.
 *
 *   error_file_open(&file);                  the parent; then starts a child with file.variable in its environment
 *   error_file_attach();                     the child
 *   error_file_write(RECORD_ERROR, &err);
 *   error_file_read(&file, 0, &record);      the parent again, after the child has terminated
 *   error_file_close(&file);
 *
 * The file is unnamed and in memory. A child finds it through an environment variable, which descendants inherit, so
 * that it also works through scripts. The file begins with a mark that the variable repeats: on another machine the
 * same path may lead to a different file. Where the file cannot be opened (in another container, on another machine)
 * nothing is passed.
 */
#ifndef BASE_PROCESS_ERROR_FILE_H
#define BASE_PROCESS_ERROR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* The parent's end. Initialize `fd` with -1 where error_file_open() may not be called. */
struct error_file {
    int fd;
    char variable[128]; /* "NAME=value", for the environment of the child */
};

enum record_kind {
    RECORD_ERROR,   /* that made a run fail */
    RECORD_WARNING, /* a line of the log that is not indented: the message alone */
};

struct error_record {
    uint32_t size; /* of this struct: another version of the program may have another one */
    enum record_kind kind;
    pid_t process; /* the writer: the child or one of its descendants */
    struct error error;
};

/* False if the system has no files in memory: then nothing is passed. */
bool error_file_open(struct error_file *file);

/* Record number `index`, in the order of writing. False if there is no such record. */
bool error_file_read(const struct error_file *file, size_t index, struct error_record *ret);

void error_file_close(struct error_file *file);

/* Opens the file named by the environment, if any; called at the start of the program, or of a forked copy that acts as
 * one. */
void error_file_attach(void);

/* Appends a record to the attached file; does nothing without one. Async-signal-safe. */
void error_file_write(enum record_kind kind, const struct error *err);

#endif
