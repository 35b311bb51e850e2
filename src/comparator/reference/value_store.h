/* comparator/reference/value_store.h: stores tensors on disk and maps them.
 *
 *   value_store_add(&store, &computed, &kept, err);   for each tensor
 *   value_store_commit(&store, err);                  from here on `kept` has data
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
    } parts; /* mapped parts */
};

/* A state to go back to. */
struct value_store_mark {
    uint64_t size;
    size_t parts;
};

/* A zeroed struct is an empty store. After release its tensors on disk must not be used. */
void value_store_release(struct value_store *store);

/* Stores a copy. `ret` is complete after value_store_commit(), and must not move until then; the caller calls
 * tensor_release(), also for tensors on disk. ERR_IO if the disk is full. */
int value_store_add(struct value_store *store, const struct tensor *tensor, struct tensor *ret, struct error *err);

/* Maps the tensors added since the last commit. */
int value_store_commit(struct value_store *store, struct error *err);

/* Drops tensors added since the mark: they must not be used any more, except for tensor_release(). */
struct value_store_mark value_store_mark(const struct value_store *store);
void value_store_go_back(struct value_store *store, struct value_store_mark mark);

/* Bytes on disk, and free bytes there. Opens the file. */
uint64_t value_store_size(const struct value_store *store);
int value_store_room(struct value_store *store, uint64_t *ret, struct error *err);

#endif
