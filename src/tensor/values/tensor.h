/* tensor/values/tensor.h: a dense, row-major, little-endian array with its type and shape.
 *
 * The module tensor/values/ has types, shapes and tensors, and reads, writes and prints their elements. It uses base/
 * only.
 *
 * 4-bit elements are packed two in a byte, the first one in the low half (ONNX, TensorProto.raw_data). The elements of
 * a string tensor are `struct text`, whose bytes belong to the tensor too.
 */
#ifndef TENSOR_VALUES_TENSOR_H
#define TENSOR_VALUES_TENSOR_H

#include "base/container/name_map.h"
#include "base/error.h"
#include "base/text/string_builder.h"
#include "tensor/values/data_type.h"

#define TENSOR_MAX_RANK 32

struct shape {
    size_t rank;
    int64_t dims[TENSOR_MAX_RANK]; /* of a tensor: >= 0; elsewhere -1 stands for "not known before run time" */
};

struct tensor {
    enum data_type type;
    struct shape shape;
    const void *data; /* tensor_size() bytes; never NULL, not even when empty */
    size_t size;      /* bytes */
    /* Who frees the data: called with `owner` by tensor_release(); NULL when the data belong to somebody else, such as
     * a mapped file. */
    void (*free_owner)(void *owner);
    void *owner;
};

/* The number of elements; SIZE_MAX when it does not fit or a dimension is negative. */
size_t shape_elements(const struct shape *shape);
bool shape_equal(const struct shape *a, const struct shape *b);
bool shape_is_static(const struct shape *shape); /* no negative dimension */

/* Appends Python's tuple syntax, "(1, 3)", "(5,)", "()", to `text`. Negative dimensions are shown as -1. */
void shape_to_text(const struct shape *shape, struct string_builder *text);

/* Where the element with the row-major number `element` stands: one coordinate for each dimension. */
void shape_position(const struct shape *shape, size_t element, struct shape *ret);

/* The number of bytes for `elements` of `type` (not strings); SIZE_MAX when it does not fit. */
size_t tensor_bytes(enum data_type type, size_t elements);
size_t tensor_elements(const struct tensor *tensor);

/* The message for memory that memory_limit_allows() does not allow for such a tensor; returns ERR_MEMORY. */
int tensor_refuse_size(enum data_type type, const struct shape *shape, size_t size, struct error *err);

/* Gives `ret` a fresh, uninitialised buffer of its own (zeroed for strings). ERR_MEMORY when it cannot be had, or not
 * allowed. */
int tensor_allocate(enum data_type type, const struct shape *shape, struct tensor *ret, struct error *err);

/* The writable data of a tensor that was made by tensor_allocate(). */
void *tensor_writable(struct tensor *tensor);

/* Makes `ret` refer to somebody else's data, which has to outlive it. */
void tensor_borrow(enum data_type type, const struct shape *shape, const void *data, size_t size, struct tensor *ret);

int tensor_copy(const struct tensor *from, struct tensor *ret, struct error *err);

/* Makes a string tensor own copies of `elements` texts. */
int tensor_set_strings(const struct shape *shape, const struct text *texts, struct tensor *ret, struct error *err);

void tensor_release(struct tensor *tensor); /* harmless on a zeroed struct and when called twice */

/* Same type, shape and bytes (strings: same texts). */
bool tensor_identical(const struct tensor *a, const struct tensor *b);

/* Gives a tensor the shape that another one has. When both ranks are the same and the wanted dimensions are a
 * permutation of the tensor's, transposes it, each wanted dimension taking the first axis of that length that is still
 * free. Otherwise reshapes it. `wanted` is static.
 *
 * `ret` may refer to the data of `tensor`, which has to outlive it. ERR_INVALID when the numbers of elements differ. */
int tensor_match_shape(const struct tensor *tensor, const struct shape *wanted, struct tensor *ret, struct error *err);

/* A tensor and what it is called; lists of these are feed dicts and sets of outputs. */
struct named_tensor {
    char *name; /* owned */
    struct tensor tensor;
    bool is_unnamed; /* it has the name of its file: whose values these are, nobody has said */
    bool is_untyped; /* numbers written as text, which belong to any type that holds them */
};

/* Tensors are added with tensor_list_add() only, and keep their names. */
struct tensor_list {
    struct named_tensor *items;
    size_t count, capacity;
    struct name_map places; /* of names among the items, once these are many */
};

void tensor_list_release(struct tensor_list *list);
void tensor_list_add(struct tensor_list *list, struct text name, struct tensor *tensor); /* takes the tensor over */
struct named_tensor *tensor_list_find(const struct tensor_list *list, struct text name); /* exact name, or NULL */

#endif
