/* base/file/scratch.h: an unnamed temporary file for data that need not stay in memory.
 *
 * The file is in the folder TMPDIR (default: /tmp) and is unlinked once it is open: it disappears with its process,
 * even if that is killed.
 */
#ifndef BASE_FILE_SCRATCH_H
#define BASE_FILE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct scratch_file {
    int fd;
    uint64_t size; /* bytes written, and gaps between them */
    char *folder;  /* for messages; owned */
};

/* ERR_IO when no file can be created there; the message says how to choose another folder. */
int scratch_file_open(struct scratch_file *ret, struct error *err);
void scratch_file_close(struct scratch_file *file); /* harmless on a zeroed struct. Mappings stay valid */

/* Appends at the next multiple of `alignment`; `ret_offset` gets that offset. ERR_IO when the disk is full: the file is
 * then unchanged. */
int scratch_file_append(struct scratch_file *file, const void *data, size_t size, size_t alignment,
                        uint64_t *ret_offset, struct error *err);

/* Truncates the file: nothing beyond `size` may be mapped. */
void scratch_file_truncate(struct scratch_file *file, uint64_t size);

/* Maps written bytes, read-only; release with munmap(). `offset` is a multiple of the page size. */
int scratch_file_map(const struct scratch_file *file, uint64_t offset, size_t size, void **ret, struct error *err);

/* A descriptor of a file in memory (memfd_create), close-on-exec. `name` appears in /proc for debugging. -1 if the
 * system has no such files. */
int scratch_file_in_memory(const char *name);

/* Free bytes in the file system; UINT64_MAX if unknown. */
uint64_t scratch_file_room(const struct scratch_file *file);

#endif
