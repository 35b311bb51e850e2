/* engine/onednn/operators/window.c: converts spatial attributes of ONNX for oneDNN. See engine/onednn/onednn.h. */
#include <string.h>

#include "engine/onednn/onednn.h"
#include "onnx/proto/node_attribute.h"

#define LARGEST INT32_MAX /* of strides and the like: oneDNN computes with `int` */

static const struct node *window_node(const struct onednn_attempt *attempt)
{
    const struct layer *layer = attempt->request->layer;

    return &attempt->request->network->model->nodes.items[layer->nodes.items[0]];
}

struct span onednn_node(const struct onednn_attempt *attempt)
{
    return window_node(attempt)->message;
}

struct text onednn_operator(const struct onednn_attempt *attempt)
{
    return window_node(attempt)->op_type;
}

/* Reads `count` integers, or `fallback` for each if there is no attribute. */
static bool read_window_integers(struct span node, const char *name, size_t count, int64_t fallback, int64_t smallest,
                                 int64_t *ret)
{
    size_t found = node_attribute_integers(node, name, ret, count);

    if (found != 0 && found != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (found == 0)
            ret[i] = fallback;
        if (ret[i] < smallest || ret[i] > LARGEST)
            return false;
    }
    return true;
}

/* SAME_UPPER and SAME_LOWER: the result has ceil(input / stride) elements, and the odd one of the padding is after or
 * before. */
static void pad_window_to_same(struct onednn_window *window, size_t rank, const int64_t *input, bool upper)
{
    for (size_t i = 0; i < rank; i++) {
        int64_t output = (input[i] + window->strides[i] - 1) / window->strides[i];
        int64_t reach = (window->kernel[i] - 1) * (window->dilations[i] + 1) + 1;
        int64_t all = (output - 1) * window->strides[i] + reach - input[i];

        all = all > 0 ? all : 0;
        window->before[i] = upper ? all / 2 : all - all / 2;
        window->after[i] = all - window->before[i];
    }
}

static bool read_window_pads(struct span node, struct onednn_window *window, size_t rank, const int64_t *input)
{
    struct text automatic = node_attribute_text_or(node, "auto_pad", "NOTSET");
    int64_t pads[2 * ONEDNN_MAX_RANK];

    if (text_equal_string(automatic, "SAME_UPPER") || text_equal_string(automatic, "SAME_LOWER")) {
        pad_window_to_same(window, rank, input, text_equal_string(automatic, "SAME_UPPER"));
        return true;
    }
    if (text_equal_string(automatic, "VALID")) {
        memset(pads, 0, sizeof(pads));
    } else if ((automatic.size > 0 && !text_equal_string(automatic, "NOTSET")) ||
               !read_window_integers(node, "pads", 2 * rank, 0, 0, pads)) {
        return false;
    }
    memcpy(window->before, pads, rank * sizeof(*pads));
    memcpy(window->after, pads + rank, rank * sizeof(*pads));
    return true;
}

bool onednn_window(const struct onednn_attempt *attempt, size_t rank, const int64_t *input, const int64_t *kernel,
                   struct onednn_window *ret)
{
    struct span node = onednn_node(attempt);
    struct onednn_window window = {0};

    if (rank == 0 || rank > ONEDNN_MAX_RANK - 2 || !read_window_integers(node, "strides", rank, 1, 1, window.strides) ||
        !read_window_integers(node, "dilations", rank, 1, 1, window.dilations))
        return false;
    for (size_t i = 0; i < rank; i++) {
        if (kernel[i] < 1 || kernel[i] > LARGEST || input[i] < 1 || input[i] > LARGEST)
            return false;
        window.kernel[i] = kernel[i];
        window.dilations[i]--;
    }
    if (!read_window_pads(node, &window, rank, input))
        return false;
    for (size_t i = 0; i < rank; i++) {
        int64_t reach = (kernel[i] - 1) * (window.dilations[i] + 1) + 1;
        int64_t room = input[i] + window.before[i] + window.after[i] - reach;

        if (room < 0)
            return false;
        window.output[i] = room / window.strides[i] + 1;
    }
    *ret = window;
    return true;
}
