/* base/memory.h: allocation, and the handling of exhausted memory.
 *
 * There are two kinds of allocation. Bookkeeping (names, indices, lists: small compared with tensor data) uses the
 * functions here, which never return NULL: if memory is exhausted, the process prints a message on stderr and exits
 * with status 1. Buffers whose size a file or an option determines use plain malloc() with a check and ERR_MEMORY.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* Like malloc(), calloc(), reallocarray(), strdup(), but never NULL; overflow of count * size is treated as exhausted
 * memory. */
void *memory_alloc(size_t size);
void *memory_alloc_zero(size_t count, size_t size);
void *memory_resize(void *pointer, size_t count, size_t size);
char *memory_strdup(const char *text);
char *memory_copy(const void *data, size_t size); /* size bytes and a terminating NUL */

/* Makes room for one more element: returns `items`, reallocated if necessary, with *capacity > count. Doubles the
 * capacity. */
void *memory_grow(void *items, size_t count, size_t *capacity, size_t item_size);

/* Attribute of a local variable: release(&variable) is called when the variable's scope is left. */
#define SCOPED(release) __attribute__((cleanup(release), unused)) /* clang counts no release as a use */

/* Attribute of a local pointer: the memory that it points to when its scope is left is freed. */
#define SCOPED_FREE SCOPED(memory_free_pointed)
void memory_free_pointed(void *pointer_to_pointer);

/* The same of a local list, whose first member is `items` (see VECTOR_APPEND()): its items are freed. */
#define SCOPED_ITEMS SCOPED_FREE

/* Tunes malloc() for a short-lived process that allocates much memory; call before threads exist. malloc() then keeps
 * freed memory, grows the heap in large steps, and uses huge pages if madvise() allows them. By default it returns
 * large blocks at once and faults in each page again: a fifth of the time of a short inference. Does nothing on systems
 * without these settings. */
void memory_make_roomy(void);

/* A list of an unnamed type, for a member or a local variable; initialize it with {0}, and free its items. */
#define VECTOR(type)                                                                                                   \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count, capacity;                                                                                        \
    }

/* Loops over an array, or over a list that does not grow in the loop; `item` points to the current element. */
#define ARRAY_EACH(type, item, items, count)                                                                           \
    for (type *item = (items); item != NULL && item < (items) + (count); item++)
#define VECTOR_EACH(type, item, vector) ARRAY_EACH (type, item, (vector).items, (vector).count)

/* Appends to a list like a VECTOR and yields a pointer to the new, uninitialised element. */
#define VECTOR_APPEND(vector)                                                                                          \
    ((vector)->items = memory_grow((vector)->items, (vector)->count, &(vector)->capacity, sizeof(*(vector)->items)),   \
     &(vector)->items[(vector)->count++])

#endif
