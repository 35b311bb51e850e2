/* base/process/error_file.h: errors and warnings of a run of this program, passed as structs to the process that
 * started it.
 *
 *   error_file_open(&file);                  the parent; then starts a child with file.variable in its environment
 *   error_file_attach();                     the child
 *   error_file_write(RECORD_ERROR, &err);
 *   error_file_read(&file, 0, &record);      the parent again, after the child has terminated
 *   error_file_close(&file);
 *
 * The file has no name and is in memory. A child finds it by the environment, which all of its descendants inherit, so
 * scripts pass it on. It begins with a mark that the environment has, too: on another machine the same path may lead to
 * something else. Where the file cannot be opened (in another container, on another machine) nothing is passed.
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
    RECORD_ERROR,   /* of a run that it ended */
    RECORD_WARNING, /* a line of the log that is not indented: the message alone */
};

struct error_record {
    uint32_t size; /* of this struct: another version of the program may have another one */
    enum record_kind kind;
    pid_t process; /* that has written it: the child or a descendant of it */
    struct error error;
};

/* False where the system has no such files: nothing is passed then. */
bool error_file_open(struct error_file *file);

/* Record number `index`, in the order in which they were written. False: there are not as many. */
bool error_file_read(const struct error_file *file, size_t index, struct error_record *ret);

void error_file_close(struct error_file *file);

/* Finds the file that the environment names, if any; to be called at the start of the program, or of what a forked copy
 * runs as if it were one. */
void error_file_attach(void);

/* Adds a record to that file; nothing is done without one. Async-signal-safe. */
void error_file_write(enum record_kind kind, const struct error *err);

#endif
