/* onnx/proto/window.c: see window.h. */
#include "onnx/proto/window.h"

#include <string.h>

#include "onnx/proto/node_attribute.h"

/* Reads `count` numbers, or `fallback` for each if there is no attribute. */
static bool read_window_list(struct span node, const char *name, size_t count, int64_t fallback, int64_t *ret)
{
    size_t found = node_attribute_integers(node, name, ret, count);

    if (found != 0 && found != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (found == 0)
            ret[i] = fallback;
        if (ret[i] < fallback || ret[i] > INT32_MAX)
            return false;
    }
    return true;
}

bool window_read(struct span node, size_t axes, struct window *ret)
{
    struct text padding = node_attribute_text_or(node, "auto_pad", "NOTSET");
    int64_t pads[2 * TENSOR_MAX_RANK];

    *ret = (struct window){.axes = axes, .rounds_up = node_attribute_integer(node, "ceil_mode", 0) != 0};
    if (axes == 0 || axes > TENSOR_MAX_RANK || !read_window_list(node, "kernel_shape", axes, 1, ret->kernel) ||
        !read_window_list(node, "strides", axes, 1, ret->strides) ||
        !read_window_list(node, "dilations", axes, 1, ret->dilations) ||
        !read_window_list(node, "pads", 2 * axes, 0, pads))
        return false;
    if (text_equal_string(padding, "SAME_UPPER") || text_equal_string(padding, "SAME_LOWER")) {
        ret->padding = text_equal_string(padding, "SAME_UPPER") ? WINDOW_SAME_UPPER : WINDOW_SAME_LOWER;
    } else if (padding.size == 0 || text_equal_string(padding, "NOTSET")) {
        memcpy(ret->before, pads, axes * sizeof(*pads));
        memcpy(ret->after, pads + axes, axes * sizeof(*pads));
    } else {
        return text_equal_string(padding, "VALID");
    }
    return true;
}

int64_t window_extent(const struct window *window, size_t axis)
{
    return (window->kernel[axis] - 1) * window->dilations[axis] + 1;
}

void window_pad_to_same(struct window *window, const int64_t *input)
{
    for (size_t i = 0; i < window->axes && window->padding != WINDOW_PADS; i++) {
        int64_t output = (input[i] + window->strides[i] - 1) / window->strides[i];
        int64_t all = (output - 1) * window->strides[i] + window_extent(window, i) - input[i];

        all = all > 0 ? all : 0;
        window->before[i] = window->padding == WINDOW_SAME_UPPER ? all / 2 : all - all / 2;
        window->after[i] = all - window->before[i];
    }
}
