/* base/file/private_folder.c: see private_folder.h. */
#include "base/file/private_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/system.h"
#include "base/text/string_builder.h"

#define MOST_OPEN_FOLDERS 16 /* at a time; deeper ones are opened anew */

int private_folder_make(const char *purpose, char **ret, struct error *err)
{
    char *parent = file_real_path(system_temporary_folder());
    struct string_builder name;

    string_init(&name);
    string_add_format(&name, "%s/polygraphy-%s-XXXXXX", parent != NULL ? parent : system_temporary_folder(), purpose);
    free(parent);
    if (mkdtemp(name.data) == NULL) {
        error_set_errno(err, ERR_IO, "no folder can be made in '%s' (TMPDIR names another place)",
                        system_temporary_folder());
        string_release(&name);
        return ERR_IO;
    }
    *ret = string_take(&name);
    return 0;
}

/* What cannot be removed stays; the folder does, then, too. */
static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void private_folder_clear(const char *path)
{
    nftw(path, remove_one, MOST_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void private_folder_remove(char *folder)
{
    if (folder != NULL)
        private_folder_clear(folder);
    free(folder);
}
