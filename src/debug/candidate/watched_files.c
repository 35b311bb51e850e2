/* debug/candidate/watched_files.c: see watched_files.h. */
#include "debug/candidate/watched_files.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"

struct file_stamp file_stamp_take(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return (struct file_stamp){0};
    return (struct file_stamp){.present = true,
                               .device = (uint64_t)status.st_dev,
                               .number = (uint64_t)status.st_ino,
                               .size = (int64_t)status.st_size,
                               .seconds = (int64_t)status.st_mtim.tv_sec,
                               .nanoseconds = (int64_t)status.st_mtim.tv_nsec};
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->present == b->present && a->device == b->device && a->number == b->number && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

bool file_stamp_differs(const struct file_stamp *stamp, const char *path)
{
    const struct file_stamp now = file_stamp_take(path);

    return stamp->present && now.present && !file_stamp_equal(stamp, &now);
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
