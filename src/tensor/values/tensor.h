/* tensor/values/tensor.h: a dense, row-major, little-endian array with its type and shape.
 *
 * The module tensor/values/ contains types, shapes and tensors, and reads, writes and prints their elements. It depends
 * on base/ only.
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
    int64_t dims[TENSOR_MAX_RANK]; /* >= 0 in tensors; in models -1 is a dimension unknown before run time */
};

struct tensor {
    enum data_type type;
    struct shape shape;
    const void *data; /* tensor_size() bytes; never NULL, not even when empty */
    size_t size;      /* bytes */
    /* Frees the data: called with `owner` by tensor_release(); NULL if the data are borrowed, for example from a mapped
     * file. */
    void (*free_owner)(void *owner);
    void *owner;
};

/* The number of elements; SIZE_MAX on overflow or if a dimension is negative. */
size_t shape_elements(const struct shape *shape);

/* The product of the dimensions from axis `first` on, up to `end`, of a shape whose elements are counted. */
size_t shape_extent(const struct shape *shape, size_t first, size_t end);

/* A bound of a slice along an axis of this size: counted from its end if negative, and moved into it. */
int64_t shape_clamp_bound(int64_t bound, int64_t size);

bool shape_equal(const struct shape *a, const struct shape *b);
bool shape_fits(const struct shape *shape, const struct shape *expected); /* negative sizes of `expected` fit any */
bool shape_is_static(const struct shape *shape);                          /* no negative dimension */

/* Appends Python's tuple syntax, "(1, 3)", "(5,)", "()", to `text`. Negative dimensions are shown as -1. */
void shape_to_text(const struct shape *shape, struct string_builder *text);

/* The coordinates of the element with row-major index `element`, one for each dimension. */
void shape_position(const struct shape *shape, size_t element, struct shape *ret);

/* The number of bytes for `elements` of `type` (not strings); SIZE_MAX on overflow. */
size_t tensor_bytes(enum data_type type, size_t elements);
size_t tensor_elements(const struct tensor *tensor);

/* Fills `err` for a tensor whose size memory_limit_allows() refused; returns ERR_MEMORY. */
int tensor_refuse_size(enum data_type type, const struct shape *shape, size_t size, struct error *err);

/* Allocates an uninitialised buffer for `ret` (zeroed for strings), which owns it. ERR_MEMORY if it cannot be allocated
 * or the memory limit refuses it. */
int tensor_allocate(enum data_type type, const struct shape *shape, struct tensor *ret, struct error *err);

/* The writable data of a tensor created by tensor_allocate(). */
void *tensor_writable(struct tensor *tensor);

/* Makes `ret` a view of `data`, which must outlive it. */
void tensor_borrow(enum data_type type, const struct shape *shape, const void *data, size_t size, struct tensor *ret);

int tensor_copy(const struct tensor *from, struct tensor *ret, struct error *err);

/* Creates a string tensor with copies of the texts. */
int tensor_set_strings(const struct shape *shape, const struct text *texts, struct tensor *ret, struct error *err);

void tensor_release(struct tensor *tensor); /* harmless on a zeroed struct and when called twice */

/* Same type, shape and bytes (strings: same texts). */
bool tensor_identical(const struct tensor *a, const struct tensor *b);

/* Converts a tensor to the shape `wanted`, which must be static. If both ranks are equal and the wanted dimensions are
 * a permutation of the tensor's, transposes it: each wanted dimension gets the first unused axis of that length.
 * Otherwise reshapes it.
 *
 * `ret` may refer to the data of `tensor`, which must outlive it. ERR_INVALID if the numbers of elements differ. */
int tensor_match_shape(const struct tensor *tensor, const struct shape *wanted, struct tensor *ret, struct error *err);

/* A tensor and its name; lists of these are feed dicts and sets of outputs. */
struct named_tensor {
    char *name; /* owned */
    struct tensor tensor;
    bool is_unnamed; /* named after its file: the file does not say which tensor it contains */
    bool is_untyped; /* numbers from text, which may be converted to any type that can represent them */
};

/* Add tensors with tensor_list_add() only, and do not change their names. */
struct tensor_list {
    struct named_tensor *items;
    size_t count, capacity;
    struct name_map places; /* index of names in `items`; only used for long lists */
};

void tensor_list_release(struct tensor_list *list);
/* moves the tensor into the list */
void tensor_list_add(struct tensor_list *list, struct text name, struct tensor *tensor);
struct named_tensor *tensor_list_find(const struct tensor_list *list, struct text name); /* exact name, or NULL */

#endif
