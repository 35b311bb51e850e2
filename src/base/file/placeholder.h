/* base/file/placeholder.h: placeholders of command lines, such as {artifact}, and files that are called like them. */
#ifndef BASE_FILE_PLACEHOLDER_H
#define BASE_FILE_PLACEHOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the placeholder at `at`, `length` bytes of the text that begins at `start`, is part of the path of a file or
 * folder that exists as it is written: in "/data/{artifact}/in.json" where there is a folder /data/{artifact}. A word
 * that is the placeholder alone is never a path. */
bool placeholder_is_path(const char *start, const char *at, size_t length);

#endif
