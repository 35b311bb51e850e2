/* base/file/list.h: the files below a folder. */
#ifndef BASE_FILE_LIST_H
#define BASE_FILE_LIST_H

#include <stddef.h>

#include "base/error.h"

struct file_list {
    char **items; /* paths; file_list_find() sorts them byte by byte */
    size_t count, capacity;
};

/* Lists the regular files in `folder` and in all folders below it; `ret` is overwritten. Names that begin with a dot
 * are left out. Links are followed, except into a folder that is being listed already. ERR_IO when a folder cannot be
 * read. */
int file_list_find(struct file_list *ret, const char *folder, struct error *err);
void file_list_release(struct file_list *list);

/* The first file in `folder` that matches `pattern` (of glob(), relative), malloc'd; NULL: none. */
char *file_find_matching(const char *folder, const char *pattern);

#endif
