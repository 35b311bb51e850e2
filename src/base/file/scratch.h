/* base/file/scratch.h: room on disk for what does not have to stay in memory, and for nobody else to see.
 *
 * The file lies in the folder that TMPDIR names (/tmp without it), and has no name any more once it is open: it is gone
 * with its process, however that ends.
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

/* ERR_IO when no file can be made there; the message says how to choose another folder. */
int scratch_file_open(struct scratch_file *ret, struct error *err);
void scratch_file_close(struct scratch_file *file); /* harmless on a zeroed struct. What was mapped stays mapped */

/* Writes behind what is there, at the next multiple of `alignment`, which goes to `ret_offset`. ERR_IO when the disk is
 * full: the file is then as it was. */
int scratch_file_append(struct scratch_file *file, const void *data, size_t size, size_t alignment,
                        uint64_t *ret_offset, struct error *err);

/* Cuts the file off: nothing behind `size` may be mapped. */
void scratch_file_truncate(struct scratch_file *file, uint64_t size);

/* Maps bytes that were written, read-only; to be given back with munmap(). `offset` is a multiple of the page size. */
int scratch_file_map(const struct scratch_file *file, uint64_t offset, size_t size, void **ret, struct error *err);

/* A file in memory, for which no disk is needed, closed where a program is executed. `name` is for those
 * who look at this process. -1 where the system has no such files. */
int scratch_file_in_memory(const char *name);

/* How much more the file system holds; UINT64_MAX when it does not say. */
uint64_t scratch_file_room(const struct scratch_file *file);

#endif
