/* debug/candidate/temporary_file.c: see temporary_file.h. */
#include "debug/candidate/temporary_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"

static bool may_remove(const struct temporary_file *file)
{
    struct stat status;

    return !file->kept && (lstat(file->path, &status) != 0 || S_ISREG(status.st_mode));
}

void temporary_file_begin(struct temporary_file *file)
{
    if (!file->path || file->present || !may_remove(file))
        return;
    interrupt_remove_at_exit(file->path);
    file->present = true;
}

bool temporary_file_take_over(const struct temporary_file *file)
{
    struct stat status;

    if (!file->path || lstat(file->path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    return file->kept || unlink(file->path) == 0;
}

void temporary_file_forget(struct temporary_file *file)
{
    interrupt_keep(file->path);
    file->present = false;
}

bool temporary_file_remove(struct temporary_file *file)
{
    if (!file->present)
        return true;
    bool removed = unlink(file->path) == 0;
    temporary_file_forget(file);
    return removed;
}
