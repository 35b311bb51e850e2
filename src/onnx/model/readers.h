/* onnx/model/readers.h: who reads each tensor of a model, which the model itself does not list. */
#ifndef ONNX_MODEL_READERS_H
#define ONNX_MODEL_READERS_H

#include "onnx/model/model.h"

struct value_read {
    uint32_t node;
    uint32_t input; /* its place among what the node reads: see node_read() */
};

/* Reads of value v are `reads[first[v]]` to `reads[first[v + 1] - 1]`, in the order of the nodes. */
struct value_readers {
    uint32_t *first; /* one more than there are values */
    struct value_read *reads;
};

/* `as`, by value, says what a read of it counts as a read of; NULL: of itself. */
void value_readers_init(struct value_readers *readers, const struct model *model, const uint32_t *as);
void value_readers_release(struct value_readers *readers);

static inline size_t value_read_count(const struct value_readers *readers, uint32_t value)
{
    return readers->first[value + 1] - readers->first[value];
}

static inline struct value_read value_read_at(const struct value_readers *readers, uint32_t value, size_t i)
{
    return readers->reads[readers->first[value] + i];
}

#endif
