/* base/file/list.c: walks through folders. */
#include "base/file/list.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"

#define DEEPEST_FOLDER 256

/* A folder being listed, linked to its parents: detects cycles of links. */
struct open_folder {
    const char *path;
    dev_t device;
    ino_t inode;
    const struct open_folder *parent;
    int depth;
};

static bool folder_is_open(const struct open_folder *folder, const struct stat *status)
{
    while (folder && (folder->device != status->st_dev || folder->inode != status->st_ino))
        folder = folder->parent;
    return folder != NULL;
}

static int list_folder(struct file_list *list, const char *path, const struct stat *status,
                       const struct open_folder *parent, struct error *err);

static int list_entry(struct file_list *list, const struct open_folder *folder, const char *name, struct error *err)
{
    char *path = file_join(folder->path, name);
    struct stat status;
    int rc = 0;

    if (stat(path, &status) != 0) {
        /* Removed meanwhile, or a dangling or circular link. */
        if (errno != ENOENT && errno != ELOOP)
            rc = error_set_errno(err, ERR_IO, "cannot read '%s'", path);
    } else if (S_ISREG(status.st_mode)) {
        *VECTOR_APPEND(list) = path;
        return 0;
    } else if (S_ISDIR(status.st_mode) && !folder_is_open(folder, &status)) {
        rc = list_folder(list, path, &status, folder, err);
    }
    free(path);
    return rc;
}

static int list_folder(struct file_list *list, const char *path, const struct stat *status,
                       const struct open_folder *parent, struct error *err)
{
    struct open_folder folder = {path, status->st_dev, status->st_ino, parent, parent ? parent->depth + 1 : 0};
    int rc = 0;

    if (folder.depth > DEEPEST_FOLDER)
        return error_set(err, ERR_UNSUPPORTED, "'%s' has more than %d folders inside each other", path, DEEPEST_FOLDER);
    DIR *stream = opendir(path);
    if (!stream)
        return error_set_errno(err, ERR_IO, "cannot read the folder '%s'", path);
    for (struct dirent *entry; rc == 0 && (entry = readdir(stream));)
        if (entry->d_name[0] != '.')
            rc = list_entry(list, &folder, entry->d_name, err);
    closedir(stream);
    return rc;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int file_list_find(struct file_list *ret, const char *folder, struct error *err)
{
    struct file_list list = {0};
    struct stat status;

    if (stat(folder, &status) != 0)
        return error_set_errno(err, ERR_IO, "cannot read the folder '%s'", folder);
    int rc = list_folder(&list, folder, &status, NULL, err);
    if (rc < 0) {
        file_list_release(&list);
        return rc;
    }
    if (list.count > 0)
        qsort(list.items, list.count, sizeof(*list.items), compare_paths);
    *ret = list;
    return 0;
}

void file_list_release(struct file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct file_list){0};
}

char *file_find_matching(const char *folder, const char *pattern)
{
    char *path SCOPED_FREE = file_join(folder, pattern);
    char *ret = NULL;
    glob_t found;

    if (glob(path, 0, NULL, &found) == 0) {
        ret = memory_strdup(found.gl_pathv[0]);
        globfree(&found);
    }
    return ret;
}
