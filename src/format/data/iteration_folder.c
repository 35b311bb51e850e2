/* format/data/iteration_folder.c: see iteration_folder.h. */
#include "format/data/iteration_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

bool iteration_folder_is_name(const char *path)
{
    struct stat info;
    bool is_special = stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);

    return path[0] != '\0' && path[strlen(path) - 1] != '/' && *file_extension(path) == '\0' && !is_special;
}

static int is_iteration(const struct dirent *entry)
{
    const char *name = entry->d_name;

    return name[0] != '.' && file_has_extension(name, ".json");
}

static int is_any(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int count_entries(const char *path, int (*filter)(const struct dirent *), size_t *ret, struct error *err)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;
    int rc = 0;

    if (stream == NULL)
        return error_set_errno(err, ERR_IO, "cannot read the folder '%s'", path);
    *ret = 0;
    errno = 0;
    while ((entry = readdir(stream)) != NULL) {
        *ret += filter(entry) != 0;
        errno = 0;
    }
    if (errno != 0)
        rc = error_set_errno(err, ERR_IO, "cannot read the folder '%s'", path);
    closedir(stream);
    return rc;
}

int iteration_folder_create(const char *path, struct error *err)
{
    size_t count = 0;
    int rc;

    if (!file_exists(path))
        return file_make_folders(path, err);
    if (!file_is_folder(path))
        return error_set(err, ERR_EXISTS,
                         "'%s' is a file, but a path without extension is a folder with a file for each iteration: "
                         "choose another folder, or a name with an extension for a single file",
                         path);
    rc = count_entries(path, is_any, &count, err);
    if (rc == 0 && count > 0)
        return error_set(err, ERR_EXISTS,
                         "cannot save to '%s': the directory is not empty. Files of iterations need an empty or new "
                         "folder: choose another one, or remove its contents first",
                         path);
    return rc;
}

char *iteration_folder_file(const char *path, size_t iteration)
{
    struct string_builder ret;

    string_init(&ret);
    string_add_format(&ret, "%s/%010zu.json", path, iteration);
    return string_take(&ret);
}

static int by_bytes(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static int list_irregular(struct iteration_files *files, struct error *err)
{
    struct dirent **entries;
    int count = scandir(files->folder, &entries, is_iteration, by_bytes);

    if (count < 0)
        return error_set_errno(err, ERR_IO, "cannot read the folder '%s'", files->folder);
    for (int i = 0; i < count; i++) {
        *VECTOR_APPEND(&files->irregular) = file_join(files->folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    files->count = files->irregular.count;
    return 0;
}

int iteration_files_list(const char *folder, struct iteration_files *ret, struct error *err)
{
    bool is_regular = true;
    int rc;

    *ret = (struct iteration_files){.folder = memory_strdup(folder)};
    rc = count_entries(folder, is_iteration, &ret->count, err);
    for (size_t i = 0; rc == 0 && i < ret->count && is_regular; i++) {
        char *path SCOPED_FREE = iteration_folder_file(folder, i);

        is_regular = file_exists(path);
    }
    if (rc == 0 && !is_regular)
        rc = list_irregular(ret, err);
    if (rc < 0)
        iteration_files_release(ret);
    return rc;
}

char *iteration_files_path(const struct iteration_files *files, size_t index)
{
    return files->irregular.count > 0 ? memory_strdup(files->irregular.items[index])
                                      : iteration_folder_file(files->folder, index);
}

void iteration_files_release(struct iteration_files *files)
{
    file_list_release(&files->irregular);
    free(files->folder);
    *files = (struct iteration_files){0};
}
