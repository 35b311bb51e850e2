/* engine/onednn/onnx.h: attributes and properties of ONNX nodes for the descriptions of layers. */
#ifndef ENGINE_ONEDNN_ONNX_H
#define ENGINE_ONEDNN_ONNX_H

#include "engine/onednn/onednn.h"

int64_t onednn_integer(const struct onednn_attempt *attempt, const char *name, int64_t fallback);
float onednn_float(const struct onednn_attempt *attempt, const char *name, float fallback);

/* A string attribute; `fallback` without it. Lives as long as the model. */
struct text onednn_string(const struct onednn_attempt *attempt, const char *name, const char *fallback);

/* The version of ONNX's operator set. */
int64_t onednn_opset(const struct onednn_attempt *attempt);

/* Whether only the first output of the layer is used, and all present inputs, at least input 0, are not empty. */
bool onednn_is_ordinary(const struct onednn_attempt *attempt);

/* Normalizes an axis, negative ones from the end. False if it is out of range for `rank`. */
bool onednn_axis(int64_t axis, size_t rank, size_t *ret);

/* Normalizes a list of axes without duplicates: sets `ret[axis]`. */
bool onednn_axes(const int64_t *axes, size_t count, size_t rank, bool ret[TENSOR_MAX_RANK]);

/* The elements of input `position`, a constant of int64 with at most TENSOR_MAX_RANK elements. False if it is omitted,
 * not constant, or of another type. */
bool onednn_constant_integers(const struct onednn_attempt *attempt, size_t position, int64_t ret[TENSOR_MAX_RANK],
                              size_t *ret_count);

/* The product of the sizes of dimensions `from` to `to` - 1. */
int64_t onednn_product(const struct shape *shape, size_t from, size_t to);

/* Whether a tensor has padding in memory to fill up blocks. */
bool onednn_is_padded(const struct onednn_memory_desc *memory);

/* Whether the spatial dimensions exist and have one element. */
bool onednn_is_one_pixel(const struct shape *shape);

/* Whether the sizes of blocked dimensions, if any, are multiples of the vector register size. */
bool onednn_fills_vectors(const struct onednn_memory_desc *memory);

#endif
