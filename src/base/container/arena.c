/* base/container/arena.c: bump allocation in blocks that double. */
#include "base/container/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_BLOCK ((size_t)4096)
#define LARGEST_DOUBLING ((size_t)16 << 20) /* one huge request must not make all later blocks huge */

struct arena_block {
    struct arena_block *next; /* older */
    size_t size, used;        /* of `data` */
    alignas(max_align_t) unsigned char data[];
};

void arena_init(struct arena *arena)
{
    arena->head = NULL;
}

static void free_blocks(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_release(struct arena *arena)
{
    free_blocks(arena->head);
    arena->head = NULL;
}

static void add_arena_block(struct arena *arena, size_t size)
{
    size_t doubled = arena->head ? arena->head->size * 2 : FIRST_BLOCK;
    size_t capacity = doubled < LARGEST_DOUBLING ? doubled : LARGEST_DOUBLING;

    if (capacity < size)
        capacity = size;
    if (capacity > SIZE_MAX - sizeof(struct arena_block))
        memory_alloc(SIZE_MAX); /* exits */
    struct arena_block *block = memory_alloc(sizeof(struct arena_block) + capacity);
    block->next = arena->head;
    block->size = capacity;
    block->used = 0;
    arena->head = block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t alignment = alignof(max_align_t);

    if (size > SIZE_MAX - alignment)
        memory_alloc(SIZE_MAX); /* exits */
    size = (size + alignment - 1) / alignment * alignment;
    if (!arena->head || size > arena->head->size - arena->head->used)
        add_arena_block(arena, size);

    void *ret = arena->head->data + arena->head->used;
    arena->head->used += size;
    return ret;
}

void *arena_alloc_zero(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        memory_alloc(SIZE_MAX); /* exits */
    void *ret = arena_alloc(arena, count * size);
    memset(ret, 0, count * size);
    return ret;
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
    void *ret = arena_alloc(arena, size);

    if (size > 0)
        memcpy(ret, data, size);
    return ret;
}

char *arena_text(struct arena *arena, struct text text)
{
    char *ret = arena_alloc(arena, text.size + 1);

    if (text.size > 0)
        memcpy(ret, text.data, text.size);
    ret[text.size] = '\0';
    return ret;
}

char *arena_strdup(struct arena *arena, const char *string)
{
    return arena_text(arena, text_of(string));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) /* a wide character that the locale cannot write, or more than INT_MAX bytes */
        return arena_strdup(arena, "");

    char *ret = arena_alloc(arena, (size_t)length + 1);
    va_start(args, format);
    vsnprintf(ret, (size_t)length + 1, format, args);
    va_end(args);
    return ret;
}
