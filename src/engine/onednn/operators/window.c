/* engine/onednn/operators/window.c: converts spatial attributes of ONNX for oneDNN. See engine/onednn/onednn.h. */
#include "engine/onednn/onednn.h"
#include "onnx/proto/window.h"

#define LARGEST INT32_MAX /* of sizes: oneDNN computes with `int` */

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

bool onednn_window(const struct onednn_attempt *attempt, size_t rank, const int64_t *input, const int64_t *kernel,
                   struct onednn_window *ret)
{
    struct onednn_window window = {0};
    struct window read;

    if (rank > ONEDNN_MAX_RANK - 2 || !window_read(onednn_node(attempt), rank, &read))
        return false;
    for (size_t i = 0; i < rank; i++) {
        if (kernel[i] < 1 || kernel[i] > LARGEST || input[i] < 1 || input[i] > LARGEST)
            return false;
        read.kernel[i] = kernel[i];
    }
    window_pad_to_same(&read, input);
    for (size_t i = 0; i < rank; i++) {
        int64_t room = input[i] + read.before[i] + read.after[i] - window_extent(&read, i);

        if (room < 0)
            return false;
        window.kernel[i] = kernel[i];
        window.strides[i] = read.strides[i];
        window.dilations[i] = read.dilations[i] - 1;
        window.before[i] = read.before[i];
        window.after[i] = read.after[i];
        window.output[i] = room / read.strides[i] + 1;
    }
    *ret = window;
    return true;
}
