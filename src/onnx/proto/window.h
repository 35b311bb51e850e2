/* onnx/proto/window.h: the attributes of convolutions and pools, with ONNX's defaults. */
#ifndef ONNX_PROTO_WINDOW_H
#define ONNX_PROTO_WINDOW_H

#include "base/text/text.h"
#include "tensor/values/tensor.h"

enum window_padding { WINDOW_PADS, WINDOW_SAME_UPPER, WINDOW_SAME_LOWER };

/* For each axis of space. */
struct window {
    size_t axes;
    int64_t kernel[TENSOR_MAX_RANK], strides[TENSOR_MAX_RANK], dilations[TENSOR_MAX_RANK];
    int64_t before[TENSOR_MAX_RANK], after[TENSOR_MAX_RANK]; /* padding */
    enum window_padding padding;                             /* WINDOW_SAME_...: it depends on the size of the input */
    bool rounds_up;                                          /* ceil_mode */
};

/* Reads the attributes of a node whose input has `axes` axes of space. Without kernel_shape the kernel is 1. False for
 * lists of another length, and for numbers that no window has; those that are read are at most INT32_MAX. */
bool window_read(struct span node, size_t axes, struct window *ret);

/* The elements of the input that the kernel covers. */
int64_t window_extent(const struct window *window, size_t axis);

/* With WINDOW_SAME_...: sets the padding for an input of these sizes, so that there are ceil(input / stride) results;
 * the odd element of it is after the input, or before. */
void window_pad_to_same(struct window *window, const int64_t *input);

#endif
