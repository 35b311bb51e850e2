/* base/file/python_packages.c: see python_packages.h. */
#include "base/file/python_packages.h"

#include <glob.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/string_builder.h"

static void add_matching_folders(struct file_list *list, const char *pattern)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        *VECTOR_APPEND(list) = memory_strdup(found.gl_pathv[i]);
    globfree(&found);
}

static void add_environment(struct file_list *list, const char *folder, const char *pattern)
{
    SCOPED_STRING(path);

    if (folder == NULL || folder[0] == '\0')
        return;
    string_add_format(&path, "%s/%s", folder, pattern);
    add_matching_folders(list, path.data);
}

void python_packages_list(struct file_list *ret)
{
    char *program SCOPED_FREE = system_program_path();
    char *folder SCOPED_FREE = program != NULL ? file_folder(program) : NULL;

    add_environment(ret, folder, "../lib/python3*/site-packages");
    add_environment(ret, getenv("VIRTUAL_ENV"), "lib/python3*/site-packages");
    add_environment(ret, getenv("CONDA_PREFIX"), "lib/python3*/site-packages");
    add_environment(ret, getenv("HOME"), ".local/lib/python3*/site-packages");
    add_matching_folders(ret, "/usr/local/lib/python3*/*-packages");
    add_matching_folders(ret, "/usr/lib/python3/dist-packages");
}

char *python_packages_find(const struct file_list *folders, const char *pattern)
{
    char *ret = NULL;

    for (size_t i = 0; i < folders->count && ret == NULL; i++)
        ret = file_find_matching(folders->items[i], pattern);
    return ret;
}
