/* base/process/shared_memory.h: memory that two processes map: a file in memory whose descriptor goes from one to the
 * other (base/process/bounded.h).
 *
 * Its size is fixed, so that no process can take away what the other one reads. Not on systems without such files: then
 * there is none, and the caller copies.
 */
#ifndef BASE_PROCESS_SHARED_MEMORY_H
#define BASE_PROCESS_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct shared_memory {
    char *data; /* NULL: there is none */
    size_t size;
    int file; /* its descriptor, where it was created */
};

bool shared_memory_is_available(void); /* on this system */

/* Creates memory that is zeros. False when there is none. */
bool shared_memory_create(size_t size, struct shared_memory *ret);

/* Maps memory of another process, of at least `size` bytes; its descriptor is not needed afterwards, and ret->file is
 * -1. `is_private`: what is written here is not seen there. False when it is no such memory. */
bool shared_memory_open(int file, size_t size, bool is_private, struct shared_memory *ret);

void shared_memory_release(struct shared_memory *memory); /* harmless on zeros */

/* The same in a process that was forked off the owner, and may have other files by the number of the descriptor. */
void shared_memory_forget(struct shared_memory *memory);

#endif
