/* debug/check/watched_files.c: see watched_files.h. */
#include "debug/check/watched_files.h"

#include <stdlib.h>

#include "base/memory.h"

struct file_stamp file_stamp_take(const char *path)
{
    struct file_stamp ret = {0};

    ret.present = stat(path, &ret.status) == 0 && S_ISREG(ret.status.st_mode);
    return ret;
}

bool file_stamp_differs(const struct file_stamp *stamp, const char *path)
{
    const struct file_stamp now = file_stamp_take(path);

    return stamp->present && now.present &&
           (stamp->status.st_ino != now.status.st_ino || stamp->status.st_size != now.status.st_size ||
            stamp->status.st_mtim.tv_sec != now.status.st_mtim.tv_sec ||
            stamp->status.st_mtim.tv_nsec != now.status.st_mtim.tv_nsec);
}

void watched_files_add(struct watched_files *files, const char *path, bool vital)
{
    const struct file_stamp stamp = file_stamp_take(path);
    char *own;

    if (!stamp.present || name_map_find(&files->by_path, text_of(path)) != NAME_MAP_NONE)
        return;
    own = memory_strdup(path);
    name_map_add(&files->by_path, text_of(own), (uint32_t)files->count);
    *VECTOR_APPEND(files) = (struct watched_file){own, stamp, vital};
}

void watched_files_release(struct watched_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    free(files->items);
    name_map_release(&files->by_path);
    *files = (struct watched_files){0};
}

const struct watched_file *watched_files_find_changed(struct watched_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct watched_file *file = &files->items[i];

        if (!file_stamp_differs(&file->stamp, file->path))
            continue;
        file->stamp = file_stamp_take(file->path);
        return file;
    }
    return NULL;
}
