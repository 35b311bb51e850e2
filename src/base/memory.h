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

/* Appends to a `struct { T *items; size_t count, capacity; }` and yields a pointer to the new, uninitialised
 * element. */
#define VECTOR_APPEND(vector)                                                                                          \
    ((vector)->items = memory_grow((vector)->items, (vector)->count, &(vector)->capacity, sizeof(*(vector)->items)),   \
     &(vector)->items[(vector)->count++])

#endif
