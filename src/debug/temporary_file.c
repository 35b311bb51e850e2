/* debug/temporary_file.c: see temporary_file.h. */
#include "debug/temporary_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"

static bool may_remove(const struct temporary_file *file)
{
    struct stat status;

    return !file->kept && (lstat(file->path, &status) != 0 || S_ISREG(status.st_mode));
}

int temporary_file_write(struct temporary_file *file, int (*write)(void *data, const char *path, struct error *err),
                         void *data, struct error *err)
{
    if (!file->path)
        return 0;
    bool removable = may_remove(file);
    if (removable)
        interrupt_remove_at_exit(file->path);
    int rc = write(data, file->path, err);
    if (removable && rc < 0) {
        unlink(file->path);
        temporary_file_forget(file);
    } else if (removable) {
        file->present = true;
    }
    return rc;
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
