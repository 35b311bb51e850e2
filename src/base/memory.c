/* base/memory.c: allocation for bookkeeping, which either succeeds or ends the process. */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* exit(), not _exit(): temporary files are removed on the way out. */
static _Noreturn void run_out(size_t size)
{
    fprintf(stderr, "[!] out of memory: the system has no %zu bytes left\n", size);
    exit(EXIT_FAILURE);
}

static size_t product(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        run_out(SIZE_MAX);
    return count * size;
}

/* The standard lets malloc(0) return NULL, which must not be taken for exhaustion: one byte is asked for instead. */
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
    size_t total = product(count, size);
    void *ret = calloc(1, at_least_one(total));

    if (!ret)
        run_out(total);
    return ret;
}

void *memory_resize(void *pointer, size_t count, size_t size)
{
    size_t total = product(count, size);
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
