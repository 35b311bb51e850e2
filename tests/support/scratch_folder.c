/* support/scratch_folder.c: see scratch_folder.h. */
#include "support/scratch_folder.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[PATH_MAX], before[PATH_MAX];

int scratch_folder_enter(void **state)
{
    const char *temporary = getenv("TMPDIR");

    snprintf(scratch, sizeof(scratch), "%s/scratch.XXXXXX", temporary ? temporary : "/tmp");
    return getcwd(before, sizeof(before)) && mkdtemp(scratch) && chdir(scratch) == 0 ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *position)
{
    (void)status, (void)kind, (void)position;
    return remove(path);
}

int scratch_folder_leave(void **state)
{
    return chdir(before) == 0 && nftw(scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : -1;
}

void scratch_file(const char *name, const char *content)
{
    FILE *file = fopen(name, "w");

    if (!file || fputs(content, file) < 0 || fclose(file) != 0 || chmod(name, 0755) != 0)
        abort();
}

int scratch_count(const char *folder)
{
    DIR *entries = opendir(folder);
    int count = 0;

    if (!entries)
        return 0;
    for (struct dirent *entry; (entry = readdir(entries));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return count;
}

bool scratch_file_is(const char *name, const char *content)
{
    FILE *file = fopen(name, "r");
    size_t size = strlen(content);
    bool same = file != NULL;

    for (size_t i = 0; same && i < size; i++)
        same = fgetc(file) == (unsigned char)content[i];
    same = same && fgetc(file) == EOF;
    if (file)
        fclose(file);
    return same;
}
