/* engine/onednn/onnx.h: what the descriptions of layers read of their ONNX node. */
#ifndef ENGINE_ONEDNN_ONNX_H
#define ENGINE_ONEDNN_ONNX_H

#include "engine/onednn/onednn.h"

int64_t onednn_integer(const struct onednn_attempt *attempt, const char *name, int64_t fallback);
float onednn_float(const struct onednn_attempt *attempt, const char *name, float fallback);

/* A string attribute; `fallback` without it. Lives as long as the model. */
struct text onednn_string(const struct onednn_attempt *attempt, const char *name, const char *fallback);

/* The version of ONNX's operator set. */
int64_t onednn_opset(const struct onednn_attempt *attempt);

/* Whether the layer has one output that is used, its first, and input 0 and all others that are there have elements. */
bool onednn_is_ordinary(const struct onednn_attempt *attempt);

/* Counts a negative axis from the end. False unless it is one of `rank`. */
bool onednn_axis(int64_t axis, size_t rank, size_t *ret);

/* The same for a list of axes, which may not repeat: sets `ret[axis]`. */
bool onednn_axes(const int64_t *axes, size_t count, size_t rank, bool ret[TENSOR_MAX_RANK]);

/* The elements of input `position`, a constant of int64 with at most TENSOR_MAX_RANK elements. False when it is
 * omitted, comes at run time or is something else. */
bool onednn_constant_integers(const struct onednn_attempt *attempt, size_t position, int64_t ret[TENSOR_MAX_RANK],
                              size_t *ret_count);

/* The product of the sizes of dimensions `from` to `to` - 1. */
int64_t onednn_product(const struct shape *shape, size_t from, size_t to);

/* Whether a tensor has more elements in memory than it should, to fill up blocks. */
bool onednn_is_padded(const struct onednn_memory_desc *memory);

/* Whether there are dimensions behind the channels, and one element along them. */
bool onednn_is_one_pixel(const struct shape *shape);

/* Whether the dimensions that lie in blocks, if there are such, are a whole number of vector registers long. */
bool onednn_fills_vectors(const struct onednn_memory_desc *memory);

#endif
