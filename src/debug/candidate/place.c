/* debug/candidate/place.c: see place.h. */
#include "debug/candidate/place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "format/polygraphy/debug_replay.h"

/* "dir/name.onnx" with number 2 in folder "work" becomes "work/name.j2.onnx". */
static char *path_of(const char *usual, const char *folder, size_t number)
{
    char *own_folder SCOPED_FREE = file_folder(usual), *name SCOPED_FREE = file_basename(usual);
    const char *extension = file_extension(name);
    SCOPED_STRING(numbered);
    char *ret;

    string_add_bytes(&numbered, name, (size_t)(extension - name));
    if (number > 0)
        string_add_format(&numbered, ".j%zu", number);
    string_add(&numbered, extension);
    if (folder == NULL && strchr(usual, '/') == NULL)
        ret = string_take(&numbered);
    else
        ret = file_join(folder != NULL ? folder : own_folder, numbered.data);
    return ret;
}

void candidate_place_init(struct candidate_place *place, const struct candidate_paths *usual, const char *folder,
                          size_t number)
{
    *place = (struct candidate_place){0};
    for (size_t i = 0; i < CANDIDATE_FILES; i++) {
        const char *path = usual->items[i];

        if (path != NULL)
            place->files[i].path = number == 0 && folder == NULL ? memory_strdup(path) : path_of(path, folder, number);
    }
}

void candidate_place_release(struct candidate_place *place)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        free(place->files[i].path);
}

struct candidate_paths candidate_place_paths(const struct candidate_place *place)
{
    struct candidate_paths ret;

    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        ret.items[i] = place->files[i].path;
    return ret;
}

void candidate_place_remove_leftovers(const struct candidate_place *place)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (place->files[i].path != NULL)
            file_remove_leftovers(place->files[i].path);
}

/* ---- Files that come and go ---- */

static void begin_file(struct temporary_file *file)
{
    struct stat status;

    if (file->path == NULL || file->present || file->kept ||
        (lstat(file->path, &status) == 0 && !S_ISREG(status.st_mode)))
        return;
    interrupt_remove_at_exit(file->path);
    file->present = true;
}

bool temporary_file_take_over(const struct temporary_file *file)
{
    struct stat status;

    if (file->path == NULL || lstat(file->path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    return file->kept || unlink(file->path) == 0;
}

void temporary_file_forget(struct temporary_file *file)
{
    interrupt_keep(file->path);
    file->present = false;
}

/* Removes the file. False if it exists and cannot be removed. */
static bool end_file(struct temporary_file *file)
{
    bool ret = !file->present || unlink(file->path) == 0;

    if (file->present)
        temporary_file_forget(file);
    return ret;
}

struct candidate_paths candidate_place_begin(struct candidate_place *place, bool has_artifact)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (i == CANDIDATE_INFORMATION || has_artifact)
            begin_file(&place->files[i]);
    return candidate_place_paths(place);
}

int candidate_place_end(struct candidate_place *place, int64_t iteration, int rc, struct error *err)
{
    struct candidate_paths paths = candidate_place_paths(place);

    if (rc == 0 && paths.items[CANDIDATE_INFORMATION] != NULL)
        rc = iteration_info_save(paths.items[CANDIDATE_INFORMATION], iteration, err);
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (rc < 0)
            end_file(&place->files[i]);
        else if (paths.items[i] != NULL)
            place->files[i].stamp = file_stamp_take(paths.items[i]);
    return rc;
}

bool candidate_place_is_whole(const struct candidate_place *place)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (place->files[i].path != NULL && !file_exists(place->files[i].path))
            return false;
    return true;
}

enum candidate_file candidate_place_find_changed(const struct candidate_place *place)
{
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++) {
        const struct temporary_file *file = &place->files[i];

        if (i != CANDIDATE_INFORMATION && file->path != NULL && file_stamp_differs(&file->stamp, file->path))
            return i;
    }
    return CANDIDATE_FILES;
}

void candidate_place_forget_moved(struct candidate_place *place)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (place->files[i].present && !file_exists(place->files[i].path))
            temporary_file_forget(&place->files[i]);
}

void candidate_place_remove(struct candidate_place *place, struct log *log)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (!end_file(&place->files[i]))
            log_message(log, LOG_WARNING, "Could not clean up: %s", place->files[i].path);
}
