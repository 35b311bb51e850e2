/* comparator/reference/value_store.h: tensors that stay on disk, and are mapped.
 *
 *   value_store_add(&store, &computed, &kept, err);   as often as there are some
 *   value_store_commit(&store, err);                  `kept` has data from here on
 *
 * Tensors that are smaller than a page, and strings, are kept in memory.
 */
#ifndef COMPARATOR_REFERENCE_VALUE_STORE_H
#define COMPARATOR_REFERENCE_VALUE_STORE_H

#include "base/file/scratch.h"
#include "tensor/values/tensor.h"

struct value_store {
    struct scratch_file file; /* opened by the first tensor that needs it */
    struct {
        struct stored_value {
            struct tensor *tensor;
            uint64_t offset;
        } * items;
        size_t count, capacity;
    } waiting; /* for value_store_commit() */
    struct {
        struct stored_part {
            void *data;
            size_t size;
        } * items;
        size_t count, capacity;
    } parts; /* that are mapped */
};

/* A state to go back to. */
struct value_store_mark {
    uint64_t size;
    size_t parts;
};

/* A zeroed struct is an empty store. Tensors that it keeps on disk may not be used any more afterwards. */
void value_store_release(struct value_store *store);

/* Keeps a copy. `ret` is complete after value_store_commit(), and has to stay where it is until then; tensor_release()
 * is for the caller to do, also when it lies on disk. ERR_IO when the disk is full. */
int value_store_add(struct value_store *store, const struct tensor *tensor, struct tensor *ret, struct error *err);

/* Maps what was added since the last time. */
int value_store_commit(struct value_store *store, struct error *err);

/* Forgets what was added since the mark: those tensors may not be used any more, except for tensor_release(). */
struct value_store_mark value_store_mark(const struct value_store *store);
void value_store_go_back(struct value_store *store, struct value_store_mark mark);

/* Bytes on disk, and how many more there is room for. Opens the file. */
uint64_t value_store_size(const struct value_store *store);
int value_store_room(struct value_store *store, uint64_t *ret, struct error *err);

#endif
