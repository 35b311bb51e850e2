/* base/file/placeholder.c: see placeholder.h. */
#include "base/file/placeholder.h"

#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"

/* What stands between paths in a word or in a line of the shell. */
static bool separates_paths(char character)
{
    return character == '\0' || strchr(" \t\n'\"`=:,;()<>|&", character) != NULL;
}

bool placeholder_is_path(const char *start, const char *at, size_t length)
{
    const char *begin = at, *end = at + length;
    char *path SCOPED_FREE = NULL;

    while (begin > start && !separates_paths(begin[-1]))
        begin--;
    while (*end != '/' && !separates_paths(*end))
        end++;
    if (*end != '/' && memchr(begin, '/', (size_t)(at - begin)) == NULL)
        return false;
    path = memory_copy(begin, (size_t)(end - begin));
    return file_exists(path);
}
