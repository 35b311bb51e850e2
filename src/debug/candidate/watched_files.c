/* debug/candidate/watched_files.c: see watched_files.h. */
#include "debug/candidate/watched_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void watched_files_add(struct watched_files *files, const char *path, bool vital)
{
    struct file_identity identity;
    char *own;

    if (!file_stamp_take(path).present || name_map_find(&files->by_path, text_of(path)) != NAME_MAP_NONE ||
        file_identity_take(path, &identity, NULL) < 0)
        return;
    own = memory_strdup(path);
    name_map_add(&files->by_path, text_of(own), (uint32_t)files->count);
    *VECTOR_APPEND(files) = (struct watched_file){own, identity, vital};
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
    VECTOR_EACH (struct watched_file, file, *files) {
        if (file_identity_has_changed(&file->identity, file->path)) {
            file_identity_take(file->path, &file->identity, NULL);
            return file;
        }
    }
    return NULL;
}

struct hash watched_files_hash(const struct watched_files *files)
{
    struct hash ret = {0, 0};

    for (size_t i = 0; i < files->count; i++) {
        ret = hash_combine(ret, hash_bytes(files->items[i].path, strlen(files->items[i].path)));
        ret = hash_combine(ret, files->items[i].identity.content);
    }
    return ret;
}

void named_files_add(struct named_files *files, const char *path, bool vital)
{
    if (file_stamp_take(path).present)
        *VECTOR_APPEND(files) = (struct named_file){memory_strdup(path), vital};
}

void named_files_release(struct named_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    free(files->items);
    *files = (struct named_files){0};
}
