/* base/memory.h: what happens when memory runs out.
 *
 * Two kinds of allocation are told apart. Bookkeeping (names, indices, lists: small beside the data that they describe)
 * comes from the functions here, which never return NULL: when the system has not even that, the process says so on
 * stderr and ends with status 1. Buffers whose size a file or an option dictates use plain malloc() with a check and
 * ERR_MEMORY.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* Like malloc(), calloc(), reallocarray(), strdup(), but never NULL; overflow of count * size counts as running out. */
void *memory_alloc(size_t size);
void *memory_alloc_zero(size_t count, size_t size);
void *memory_resize(void *pointer, size_t count, size_t size);
char *memory_strdup(const char *text);
char *memory_copy(const void *data, size_t size); /* size bytes and a NUL behind them */

/* Makes room for one more element: returns `items`, moved if need be, with *capacity > count. Doubles. */
void *memory_grow(void *items, size_t count, size_t *capacity, size_t item_size);

/* On a local variable: release(&variable) is called where the variable's scope ends, whichever way it is left. */
#define SCOPED(release) __attribute__((cleanup(release)))

/* On a local pointer: what it points to in the end is freed there. */
#define SCOPED_FREE SCOPED(memory_free_pointed)
void memory_free_pointed(void *pointer_to_pointer);

/* For a process that makes much memory and soon ends, before it has threads: malloc() keeps what is freed, asks for a
 * lot at a time, and uses large pages where the system lets those have them who ask for it. Otherwise it gives large
 * blocks back at once and gets small pieces, each page of each block by an interruption of its own, again and again:
 * a fifth of the time of a short inference. Does nothing where that cannot be chosen. */
void memory_make_roomy(void);

/* Appends to a `struct { T *items; size_t count, capacity; }` and yields a pointer to the new, uninitialised
 * element. */
#define VECTOR_APPEND(vector)                                                                                          \
    ((vector)->items = memory_grow((vector)->items, (vector)->count, &(vector)->capacity, sizeof(*(vector)->items)),   \
     &(vector)->items[(vector)->count++])

#endif
