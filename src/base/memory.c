/* base/memory.c: allocation for bookkeeping, which succeeds or exits. */
#define _GNU_SOURCE /* madvise, sbrk */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* exit(), not _exit(): temporary files are removed on the way out. */
static _Noreturn void run_out(size_t size)
{
    fprintf(stderr, "[!] out of memory: cannot allocate %zu bytes\n", size);
    exit(EXIT_FAILURE);
}

static size_t multiply_sizes(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        run_out(SIZE_MAX);
    return count * size;
}

/* The standard lets malloc(0) return NULL, which must not be treated as exhausted memory: one byte is allocated
 * instead. */
static size_t at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

void *memory_alloc(size_t size)
{
    void *ret = malloc(at_least_one(size));

    if (!ret)
        run_out(size);
    return ret;
}

void *memory_alloc_zero(size_t count, size_t size)
{
    size_t total = multiply_sizes(count, size);
    void *ret = calloc(1, at_least_one(total));

    if (!ret)
        run_out(total);
    return ret;
}

void *memory_resize(void *pointer, size_t count, size_t size)
{
    size_t total = multiply_sizes(count, size);
    void *ret = realloc(pointer, at_least_one(total));

    if (!ret)
        run_out(total);
    return ret;
}

char *memory_copy(const void *data, size_t size)
{
    if (size == SIZE_MAX)
        run_out(size);
    char *ret = memory_alloc(size + 1);
    if (size > 0)
        memcpy(ret, data, size);
    ret[size] = '\0';
    return ret;
}

void memory_free_pointed(void *pointer_to_pointer)
{
    void *pointer;

    memcpy(&pointer, pointer_to_pointer, sizeof(pointer)); /* of any type of pointer */
    free(pointer);
}

char *memory_strdup(const char *text)
{
    return memory_copy(text, strlen(text));
}

void *memory_grow(void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return items;
    if (count > SIZE_MAX / 2)
        run_out(SIZE_MAX);

    size_t larger = count < 4 ? 8 : count * 2;
    items = memory_resize(items, larger, item_size);
    *capacity = larger;
    return items;
}

/* ---- malloc() settings for short-lived processes ---- */

#if defined(__GLIBC__) && defined(__linux__)

enum {
    AT_A_TIME = 64 << 20,
    LARGEST_BLOCK = 32 << 20, /* larger blocks are mapped separately: glibc's maximum */
    LARGE_PAGE = 2 << 20,
};

void memory_make_roomy(void)
{
    uintptr_t start, end;
    void *volatile block; /* or the compiler would remove the allocation */

    mallopt(M_TOP_PAD, AT_A_TIME);
    mallopt(M_TRIM_THRESHOLD, 2 * AT_A_TIME);
    mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK);
    start = (uintptr_t)sbrk(0);
    block = malloc(LARGEST_BLOCK / 2); /* the heap grows now */
    free(block);
    end = (uintptr_t)sbrk(0);
    /* Small models fit below this address: one huge page costs as much as many small ones. */
    start = (start + 2 * LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    if (start < end)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
}

#else

void memory_make_roomy(void)
{
}

#endif
