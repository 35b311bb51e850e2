/* base/file/scratch.c: see scratch.h. */
#define _GNU_SOURCE /* memfd_create, mkostemp */
#include "base/file/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"

#define PIECE ((size_t)1 << 30) /* some systems refuse more than 2 GiB at once */

int scratch_file_open(struct scratch_file *ret, struct error *err)
{
    const char *folder = system_temporary_folder();
    char *name SCOPED_FREE = file_join(folder, "polygraphy-values-XXXXXX");
    int fd = mkostemp(name, O_CLOEXEC);

    if (fd >= 0)
        unlink(name);
    else
        error_set_errno(err, ERR_IO, "cannot create a temporary file in '%s' (TMPDIR sets another folder)", folder);
    if (fd < 0)
        return ERR_IO;
    *ret = (struct scratch_file){.fd = fd, .folder = memory_strdup(folder)};
    return 0;
}

void scratch_file_close(struct scratch_file *file)
{
    if (file->folder == NULL)
        return;
    close(file->fd);
    free(file->folder);
    *file = (struct scratch_file){0};
}

int scratch_file_append(struct scratch_file *file, const void *data, size_t size, size_t alignment,
                        uint64_t *ret_offset, struct error *err)
{
    uint64_t offset = (file->size + alignment - 1) / alignment * alignment;
    const char *from = data;

    if (size > INT64_MAX - offset)
        return error_set(err, ERR_IO, "a temporary file in '%s' would become too large", file->folder);
    for (size_t done = 0; done < size;) {
        size_t left = size - done;
        ssize_t written = pwrite(file->fd, from + done, left < PIECE ? left : PIECE, (off_t)(offset + done));

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            error_set_errno(err, ERR_IO,
                            "cannot write %zu bytes to a temporary file in '%s' after %llu bytes (free space there, "
                            "or set TMPDIR to another folder)",
                            size, file->folder, (unsigned long long)file->size);
            scratch_file_truncate(file, file->size);
            return ERR_IO;
        }
        done += (size_t)written;
    }
    file->size = offset + size;
    *ret_offset = offset;
    return 0;
}

void scratch_file_truncate(struct scratch_file *file, uint64_t size)
{
    /* A failed ftruncate() is harmless: the space is overwritten later. */
    if (ftruncate(file->fd, (off_t)size) == 0 || size < file->size)
        file->size = size;
}

int scratch_file_map(const struct scratch_file *file, uint64_t offset, size_t size, void **ret, struct error *err)
{
    void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, file->fd, (off_t)offset);

    if (data == MAP_FAILED)
        return error_set_errno(err, ERR_IO, "cannot map %zu bytes of a temporary file in '%s'", size, file->folder);
    *ret = data;
    return 0;
}

uint64_t scratch_file_room(const struct scratch_file *file)
{
    struct statvfs status;

    if (fstatvfs(file->fd, &status) != 0)
        return UINT64_MAX;
    return (uint64_t)status.f_bavail * (uint64_t)status.f_frsize;
}

int scratch_file_in_memory(const char *name)
{
#ifdef __linux__
    return memfd_create(name, MFD_CLOEXEC);
#else
    (void)name;
    return -1;
#endif
}
