/* backend/exact/kernels.h: the operators of exact_evaluate(), in families, and what they share. */
#ifndef BACKEND_EXACT_KERNELS_H
#define BACKEND_EXACT_KERNELS_H

#include "backend/exact/exact.h"

#define EXACT_MOST_PRODUCTS ((size_t)1 << 31)
#define EXACT_MOST_OUTPUTS 64

struct exact_value {
    enum data_type type;  /* in the model */
    struct tensor tensor; /* float64 */
};

/* One node. */
struct exact_call {
    const struct model *model;
    const struct node *node;
    const struct exact_options *options;
    const struct exact_value **inputs; /* NULL where omitted */
    size_t input_count;
    struct exact_value *outputs; /* zeroed; exact_allocate() fills them */
    size_t output_count;
    const void *details; /* of the operator */
};

#define EXACT_ALL_INPUTS SIZE_MAX /* those that the node has: one at least */

/* An operator, and what is checked before it is computed. */
struct exact_operator {
    const char *name;
    size_t inputs;       /* that it needs */
    bool has_one_output; /* further ones are refused; else `compute` decides */
    int (*compute)(struct exact_call *call, struct error *err);
    const void *details; /* for operators that share `compute`; may be NULL */
};

/* The families. Each ends with an empty row. */
extern const struct exact_operator exact_elementwise_operators[], exact_product_operators[], exact_pooling_operators[],
    exact_reduction_operators[], exact_movement_operators[], exact_normalization_operators[],
    exact_quantization_operators[], exact_recurrent_operators[], exact_einsum_operators[], exact_selection_operators[],
    exact_resize_operators[];

/* ---- Values ---- */

static inline const double *exact_items(const struct exact_value *value)
{
    return value->tensor.data;
}

static inline const struct shape *exact_shape(const struct exact_value *value)
{
    return &value->tensor.shape;
}

static inline size_t exact_count(const struct exact_value *value)
{
    return tensor_elements(&value->tensor);
}

/* Input `i` of the node; NULL where it is omitted. */
static inline const struct exact_value *exact_input(const struct exact_call *call, size_t i)
{
    return i < call->input_count ? call->inputs[i] : NULL;
}

/* The elements of a list of integers, such as axes: at most TENSOR_MAX_RANK of them are written. Returns their number;
 * 0 for NULL. */
size_t exact_read_integers(const struct exact_value *value, int64_t *ret);

/* Allocates an output; `*ret` are its elements. */
int exact_allocate(struct exact_call *call, size_t output, enum data_type type, const struct shape *shape, double **ret,
                   struct error *err);

/* Rounds a result to the type of the options, or a partial sum to float32; float64 is not rounded. */
double exact_round(const struct exact_options *options, double value);
double exact_round_sum(const struct exact_options *options, double sum);

/* 1 / (1 + exp(-x)), without overflow. */
double exact_sigmoid(double x);

/* The sum of `count` terms, `stride` elements apart, in the order of the options. */
double exact_sum(const struct exact_options *options, const double *terms, size_t count, size_t stride);

/* An error with the name of the node; the others are ERR_UNSUPPORTED and ERR_INVALID. */
int exact_refuse_as(const struct exact_call *call, enum error_code code, const char *what, struct error *err);
int exact_refuse(const struct exact_call *call, struct error *err, const char *what);
int exact_refuse_shapes(const struct exact_call *call, struct error *err);

/* A text attribute; `fallback` where it is missing. */
struct text exact_text_attribute(const struct exact_call *call, const char *name, const char *fallback);

/* ---- Shapes ---- */

/* Makes `*axis` positive: false where it is out of range. */
bool exact_normalize_axis(int64_t *axis, size_t rank);

/* Broadcasts `with` into `*shape`, which begins as a shape of rank 0. */
bool exact_broadcast_shape(struct shape *shape, const struct shape *with);

/* For each element of `to` the element of `from` that is broadcast there. To be freed; NULL: no memory. */
size_t *exact_broadcast_indices(const struct shape *from, const struct shape *to);

/* For each element of the transposed tensor the element of `from`: axis i of it is axis order[i] of `from`. */
size_t *exact_transposed_indices(const struct shape *from, const size_t *order);

/* ---- Windows of convolutions and pools ---- */

struct exact_window {
    size_t rank; /* spatial axes */
    int64_t input[TENSOR_MAX_RANK], kernel[TENSOR_MAX_RANK], output[TENSOR_MAX_RANK];
    int64_t strides[TENSOR_MAX_RANK], dilations[TENSOR_MAX_RANK], pads[2 * TENSOR_MAX_RANK];
    size_t inputs, positions, outputs; /* elements: of the input, of the kernel, of the output */
};

/* Reads strides, dilations and pads of a node whose input and kernel sizes are filled in. ERR_UNSUPPORTED for sizes
 * that no window has; the product of any two accepted ones is an int64_t. */
int exact_window_read(struct exact_call *call, struct exact_window *window, struct error *err);

/* Counts the elements, where the sizes of the output are filled in too. ERR_UNSUPPORTED if they are too many. */
int exact_window_count(struct exact_call *call, struct exact_window *window, struct error *err);

/* Both, for pools and convolutions that are not transposed: the sizes of the output are computed here, with auto_pad;
 * `rounds_up` is ceil_mode. */
int exact_window_init(struct exact_call *call, struct exact_window *window, bool rounds_up, struct error *err);

/* For each element of the output, and each of the kernel, the element of the input, or SIZE_MAX in the padding. To be
 * freed. */
size_t *exact_window_indices(const struct exact_window *window);

#endif
