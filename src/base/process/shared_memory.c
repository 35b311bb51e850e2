/* base/process/shared_memory.c: see shared_memory.h. */
#define _GNU_SOURCE /* memfd_create, F_ADD_SEALS, MAP_POPULATE */
#include "base/process/shared_memory.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef MFD_ALLOW_SEALING

#define FIXED_SIZE (F_SEAL_SHRINK | F_SEAL_GROW)

/* `kept`: the descriptor that `ret` gets. */
static bool map_memory(int file, int kept, size_t size, int how, struct shared_memory *ret)
{
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, how, file, 0);

    if (data == MAP_FAILED)
        return false;
    *ret = (struct shared_memory){data, size, kept};
    return true;
}

bool shared_memory_create(size_t size, struct shared_memory *ret)
{
    int file = size > 0 && size < PTRDIFF_MAX ? memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

    /* Pages are made at once: one fault for each of them takes longer than all else. */
    if (file >= 0 && ftruncate(file, (off_t)size) == 0 && fcntl(file, F_ADD_SEALS, FIXED_SIZE) == 0 &&
        map_memory(file, file, size, MAP_SHARED | MAP_POPULATE, ret))
        return true;
    if (file >= 0)
        close(file);
    return false;
}

bool shared_memory_open(int file, size_t size, bool is_private, struct shared_memory *ret)
{
    int seals = fcntl(file, F_GET_SEALS);
    struct stat status;

    return seals >= 0 && (seals & FIXED_SIZE) == FIXED_SIZE && fstat(file, &status) == 0 && status.st_size > 0 &&
           (uint64_t)status.st_size >= size &&
           map_memory(file, -1, (size_t)status.st_size, is_private ? MAP_PRIVATE : MAP_SHARED | MAP_POPULATE, ret);
}

void shared_memory_release(struct shared_memory *memory)
{
    if (memory->data == NULL)
        return;
    munmap(memory->data, memory->size);
    if (memory->file >= 0)
        close(memory->file);
    *memory = (struct shared_memory){.data = NULL};
}

bool shared_memory_is_available(void)
{
    return true;
}

#else

bool shared_memory_is_available(void)
{
    return false;
}

bool shared_memory_create(size_t size, struct shared_memory *ret)
{
    (void)size;
    (void)ret;
    return false;
}

bool shared_memory_open(int file, size_t size, bool is_private, struct shared_memory *ret)
{
    (void)file;
    (void)size;
    (void)is_private;
    (void)ret;
    return false;
}

void shared_memory_release(struct shared_memory *memory)
{
    (void)memory;
}

#endif

void shared_memory_forget(struct shared_memory *memory)
{
    memory->file = -1;
    shared_memory_release(memory);
}
