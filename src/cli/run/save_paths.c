/* cli/run/save_paths.c: see save_paths.h. */
#include "cli/run/save_paths.h"

#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/data/iteration_folder.h"
#include "format/data/word.h"

/* Whether `path` is `folder` or below it. */
static bool is_in(const char *path, const char *folder)
{
    char *place SCOPED_FREE = file_place(path), *around SCOPED_FREE = file_place(folder);
    size_t length = strlen(around);

    return strncmp(place, around, length) == 0 && (place[length] == '\0' || place[length] == '/');
}

static int check_loaded(struct words loaded, const char *saved, struct error *err)
{
    for (size_t i = 0; i < loaded.count; i++) {
        struct data_word word;
        bool overlaps = data_word_parse(loaded.items[i], &word, NULL) == 0 && is_in(word.path, saved);

        data_word_release(&word);
        if (overlaps)
            return error_set(err, ERR_EXISTS,
                             "The load path '%s' overlaps the save path '%s'. Saving would overwrite or conflict with "
                             "the data being loaded. Use distinct paths for loading and saving.",
                             loaded.items[i], saved);
    }
    return 0;
}

int run_check_save_paths(const struct run_settings *settings, struct error *err)
{
    const struct saving_paths *save = &settings->inference.save;
    const char *const saved[] = {save->inputs, save->outputs};

    for (size_t i = 0; i < ARRAY_LEN(saved); i++) {
        if (saved[i] == NULL || !iteration_folder_is_name(saved[i]))
            continue;
        if (check_loaded(settings->file.data.files, saved[i], err) < 0 ||
            check_loaded(settings->comparison.load_outputs, saved[i], err) < 0)
            return err->code;
    }
    return 0;
}
