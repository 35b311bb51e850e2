/* debug/cut/external.c: see external.h. */
#include "debug/cut/external.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"

int candidate_files_init(struct candidate_files *files, const char *artifact, bool stay, bool take_over,
                         struct error *err)
{
    struct string_builder path;

    string_init(&path);
    string_add_format(&path, "%s.data", artifact); /* the name that model_write() gives */
    *files = (struct candidate_files){.folder = file_folder(artifact), .own_data = string_take(&path), .stay = stay};
    if (file_exists(files->own_data) && !take_over)
        return error_set(
            err, ERR_EXISTS,
            "'%s' already exists, refusing to overwrite: move it, or choose another path with --intermediate-artifact",
            files->own_data);
    candidate_files_claim_own_data(files);
    return 0;
}

void candidate_files_claim_own_data(struct candidate_files *files)
{
    if (files->stay || files->claimed)
        return;
    files->claimed = true;
    interrupt_remove_at_exit(files->own_data);
}

int candidate_files_provide(struct candidate_files *files, const struct subgraph *whole, struct error *err)
{
    /* A candidate that stays on disk is a result and must share no file with the original. */
    enum external_transfer transfer = files->copy || files->stay ? EXTERNAL_COPY : EXTERNAL_LINK;
    int rc = external_data_provide(whole, files->folder, transfer, &files->made, err);

    for (size_t i = 0; !files->stay && i < files->made.count; i++)
        interrupt_remove_at_exit(files->made.items[i]);
    return rc;
}

void candidate_files_drop_own_data(struct candidate_files *files)
{
    if (!files->claimed)
        return;
    unlink(files->own_data);
    interrupt_keep(files->own_data);
    files->claimed = false;
}

static void leave_file(struct candidate_files *files, const char *path)
{
    size_t kept = 0;

    for (size_t i = 0; i < files->made.count; i++) {
        char *made = files->made.items[i];

        if (strcmp(made, path) != 0) {
            files->made.items[kept++] = made;
            continue;
        }
        interrupt_keep(made);
        free(made);
    }
    files->made.count = kept;
}

static bool is_same_folder(const char *a, const char *b)
{
    char *real_a SCOPED_FREE = file_real_path(a), *real_b SCOPED_FREE = file_real_path(b);

    return real_a != NULL && real_b != NULL && strcmp(real_a, real_b) == 0;
}

void candidate_files_leave_for(struct candidate_files *files, const struct subgraph *result, const char *path)
{
    struct text_list locations SCOPED_ITEMS = {0};
    char *folder SCOPED_FREE = file_folder(path);

    if (files->made.count > 0 && is_same_folder(folder, files->folder) &&
        external_data_locations(result, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *name SCOPED_FREE = memory_copy(locations.items[i].data, locations.items[i].size);
            char *made SCOPED_FREE = file_join(files->folder, name);

            leave_file(files, made);
        }
}

void candidate_files_release(struct candidate_files *files)
{
    candidate_files_drop_own_data(files);
    if (!files->stay)
        path_list_remove(&files->made);
    for (size_t i = 0; i < files->made.count; i++)
        interrupt_keep(files->made.items[i]);
    path_list_release(&files->made);
    free(files->folder);
    free(files->own_data);
}
