/* debug/candidate/temporary_file.h: a file that lives no longer than an iteration of the loop. */
#ifndef DEBUG_CANDIDATE_TEMPORARY_FILE_H
#define DEBUG_CANDIDATE_TEMPORARY_FILE_H

#include <stdbool.h>

#include "base/error.h"

struct temporary_file {
    const char *path; /* borrowed; NULL: not wanted */
    bool kept;        /* stays behind after all */
    bool present;     /* written, or about to be, and to be removed */
};

/* The file is written now, if it is wanted. From here on whatever ends this process removes it, too. A device, a pipe
 * or a link of the user's at that path can be written to, but is never removed. */
void temporary_file_begin(struct temporary_file *file);

/* Takes what is at the path for this file, left by another process: removes it, unless the file is kept. Returns false
 * when it is no regular file or cannot be removed. */
bool temporary_file_take_over(const struct temporary_file *file);

/* From here on the file is not ours: it was moved to where it belongs. */
void temporary_file_forget(struct temporary_file *file);

/* Removes the file if it is there to be removed. Returns false when that is not possible. */
bool temporary_file_remove(struct temporary_file *file);

#endif
