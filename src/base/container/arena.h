/* base/container/arena.h: an arena allocator: memory that is freed all at once.
 *
 * The module base/container/ contains generic containers: arenas, sets of small integers, maps from names to numbers.
 * They do not depend on their elements' types, and report no allocation failures: the process exits instead
 * (base/memory.h).
 *
 * All memory of one candidate, one file or one parse is allocated in one arena. Blocks grow geometrically. Functions
 * never return NULL (see base/memory.h).
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
