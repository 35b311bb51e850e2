/* base/container/arena.h: memory that is given back all at once.
 *
 * The module base/container/ holds the few containers that C lacks: memory given back at once, sets of small integers,
 * maps from names to numbers. They know nothing of what is in them, and never run out of memory in the eyes of the
 * caller.
 *
 * Everything that belongs to one candidate, one file or one parse lives in one arena. Blocks grow geometrically.
 * Never returns NULL (see base/memory.h).
 */
#ifndef BASE_CONTAINER_ARENA_H
#define BASE_CONTAINER_ARENA_H

#include "base/memory.h"
#include "base/text/text.h"

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block; NULL while empty */
};

/* Declares a local arena: empty, and released where its scope ends. */
#define SCOPED_ARENA(name) struct arena name SCOPED(arena_release) = {0}

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);

void *arena_alloc(struct arena *arena, size_t size); /* aligned for any type, not cleared */
void *arena_alloc_zero(struct arena *arena, size_t count, size_t size);
void *arena_copy(struct arena *arena, const void *data, size_t size);
char *arena_strdup(struct arena *arena, const char *string);
char *arena_text(struct arena *arena, struct text text); /* a NUL-terminated copy */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
