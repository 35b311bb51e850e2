/* debug/candidate/place.c: see place.h. */
#include "debug/candidate/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "format/polygraphy/iteration_info.h"

/* "dir/name.onnx" with number 2 in folder "work" becomes "work/name.j2.onnx". */
static char *path_of(const char *usual, const char *folder, size_t number)
{
    char *own_folder = file_folder(usual), *name = file_basename(usual);
    const char *dot = strrchr(name, '.');
    size_t stem = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    struct string_builder numbered;
    char *ret;

    string_init(&numbered);
    string_add_bytes(&numbered, name, stem);
    if (number > 0)
        string_add_format(&numbered, ".j%zu", number);
    string_add(&numbered, name + stem);
    if (folder == NULL && strchr(usual, '/') == NULL)
        ret = string_take(&numbered);
    else
        ret = file_join(folder != NULL ? folder : own_folder, numbered.data);
    string_release(&numbered);
    free(own_folder);
    free(name);
    return ret;
}

void candidate_place_init(struct candidate_place *place, const struct candidate_paths *usual, const char *folder,
                          size_t number)
{
    *place = (struct candidate_place){0};
    for (size_t i = 0; i < CANDIDATE_FILES; i++) {
        const char *path = usual->items[i];

        if (path == NULL)
            continue;
        place->paths[i] = number == 0 && folder == NULL ? memory_strdup(path) : path_of(path, folder, number);
        place->files[i].path = place->paths[i];
    }
}

void candidate_place_release(struct candidate_place *place)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        free(place->paths[i]);
}

struct candidate_paths candidate_place_paths(const struct candidate_place *place)
{
    struct candidate_paths ret;

    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        ret.items[i] = place->paths[i];
    return ret;
}

void candidate_place_remove_leftovers(const struct candidate_place *place)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (place->paths[i] != NULL)
            file_remove_leftovers(place->paths[i]);
}

static int write_files(const struct candidate_place *place, const struct candidate_content *content, struct error *err)
{
    struct candidate_paths paths = candidate_place_paths(place);
    int rc = content->write != NULL ? content->write(content->data, &paths, err) : 0;

    if (rc == 0 && paths.items[CANDIDATE_INFORMATION] != NULL)
        rc = iteration_info_save(paths.items[CANDIDATE_INFORMATION], content->iteration, err);
    return rc;
}

int candidate_place_write(struct candidate_place *place, const struct candidate_content *content, struct error *err)
{
    int rc;

    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (i == CANDIDATE_INFORMATION || content->write != NULL)
            temporary_file_begin(&place->files[i]);
    rc = write_files(place, content, err);
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (rc < 0)
            temporary_file_remove(&place->files[i]);
        else if (place->paths[i] != NULL)
            place->stamps[i] = file_stamp_take(place->paths[i]);
    return rc;
}

bool candidate_place_is_whole(const struct candidate_place *place)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (place->paths[i] != NULL && !file_exists(place->paths[i]))
            return false;
    return true;
}

enum candidate_file candidate_place_find_changed(const struct candidate_place *place)
{
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++)
        if (i != CANDIDATE_INFORMATION && place->paths[i] != NULL &&
            file_stamp_differs(&place->stamps[i], place->paths[i]))
            return i;
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
        if (!temporary_file_remove(&place->files[i]))
            log_message(log, LOG_WARNING, "Could not clean up: %s", place->files[i].path);
}
