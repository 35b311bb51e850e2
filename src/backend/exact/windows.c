/* backend/exact/windows.c: the windows of convolutions and pools, and the pools. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/window.h"

/* ---- Windows ---- */

/* What the kernel covers on an axis. */
static int64_t covered_by_kernel(const struct exact_window *window, size_t axis)
{
    return (window->kernel[axis] - 1) * window->dilations[axis] + 1;
}

/* ONNX, MaxPool: with ceil_mode a window that begins in the padding at the end is left out. */
static int64_t output_size(const struct exact_window *window, size_t axis, bool rounds_up)
{
    int64_t padded = window->input[axis] + window->pads[axis] + window->pads[window->rank + axis];
    int64_t room = padded - covered_by_kernel(window, axis), stride = window->strides[axis], ret;

    if (room < 0)
        return 0;
    ret = (room + (rounds_up ? stride - 1 : 0)) / stride + 1;
    if (rounds_up && (ret - 1) * stride >= window->input[axis] + window->pads[axis])
        ret--;
    return ret;
}

int exact_window_read(struct exact_call *call, struct exact_window *window, struct error *err)
{
    const int64_t most = (int64_t)1 << 31;
    const size_t size = window->rank * sizeof(int64_t);
    struct window read;
    bool is_sane = window_read(call->node->message, window->rank, &read);

    for (size_t i = 0; i < window->rank; i++)
        is_sane &= window->kernel[i] >= 1 && window->kernel[i] <= most && window->input[i] <= most;
    if (!is_sane)
        return exact_refuse(call, err, "its window is not computed in float64");
    memcpy(read.kernel, window->kernel, size);
    window_pad_to_same(&read, window->input);
    memcpy(window->strides, read.strides, size);
    memcpy(window->dilations, read.dilations, size);
    memcpy(window->pads, read.before, size);
    memcpy(window->pads + window->rank, read.after, size);
    return 0;
}

int exact_window_count(struct exact_call *call, struct exact_window *window, struct error *err)
{
    double indices = 1;

    window->inputs = window->positions = window->outputs = 1;
    for (size_t i = 0; i < window->rank; i++) {
        window->inputs *= (size_t)window->input[i];
        window->positions *= (size_t)window->kernel[i];
        window->outputs *= (size_t)window->output[i];
        indices *= (double)window->kernel[i] * (double)window->output[i];
    }
    if (indices > (double)EXACT_MOST_PRODUCTS / 64)
        return exact_refuse(call, err, "it is too large to be computed in float64");
    return 0;
}

int exact_window_init(struct exact_call *call, struct exact_window *window, bool rounds_up, struct error *err)
{
    int rc = exact_window_read(call, window, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < window->rank; i++)
        window->output[i] = output_size(window, i, rounds_up);
    return exact_window_count(call, window, err);
}

/* The element of the input below one of the kernel's. */
static size_t find_window_element(const struct exact_window *window, size_t output, size_t position)
{
    size_t ret = 0, stride = 1;

    for (size_t axis = window->rank; axis-- > 0;) {
        int64_t at = (int64_t)(output % (size_t)window->output[axis]) * window->strides[axis] - window->pads[axis] +
                     (int64_t)(position % (size_t)window->kernel[axis]) * window->dilations[axis];

        if (at < 0 || at >= window->input[axis])
            return SIZE_MAX;
        ret += (size_t)at * stride;
        stride *= (size_t)window->input[axis];
        output /= (size_t)window->output[axis];
        position /= (size_t)window->kernel[axis];
    }
    return ret;
}

size_t *exact_window_indices(const struct exact_window *window)
{
    size_t *ret = malloc((window->outputs * window->positions + 1) * sizeof(*ret));

    for (size_t i = 0; ret != NULL && i < window->outputs; i++)
        for (size_t k = 0; k < window->positions; k++)
            ret[i * window->positions + k] = find_window_element(window, i, k);
    return ret;
}

/* ---- Pools ---- */

/* Where a window ends in the padding that ceil_mode adds, only what is within the pads counts. */
static size_t count_padded_positions(const struct exact_window *window, size_t output)
{
    size_t ret = 1;

    for (size_t axis = window->rank; axis-- > 0;) {
        int64_t first = (int64_t)(output % (size_t)window->output[axis]) * window->strides[axis];
        int64_t end = window->pads[axis] + window->input[axis] + window->pads[window->rank + axis], count = 0;

        for (int64_t k = 0; k < window->kernel[axis]; k++)
            count += first + k * window->dilations[axis] < end;
        ret *= (size_t)count;
        output /= (size_t)window->output[axis];
    }
    return ret;
}

struct pooling {
    bool is_maximum, counts_padding;
    const struct exact_options *options;
    const struct exact_window *window;
    const size_t *indices;
};

static double pool_window(const struct pooling *pooling, const double *plane, size_t output)
{
    const struct exact_window *window = pooling->window;
    const size_t *indices = &pooling->indices[output * window->positions];
    double sum = 0, greatest = (double)-INFINITY;
    size_t count = 0;

    for (size_t i = 0; i < window->positions; i++) {
        size_t at = indices[pooling->options->backwards ? window->positions - 1 - i : i];

        if (at == SIZE_MAX)
            continue;
        count++;
        sum = exact_round_sum(pooling->options, sum + plane[at]);
        greatest = plane[at] > greatest || plane[at] != plane[at] ? plane[at] : greatest;
    }
    if (pooling->is_maximum)
        return greatest;
    return sum / (double)(pooling->counts_padding ? count_padded_positions(window, output) : count);
}

static int compute_pool(struct exact_call *call, struct exact_window *window, bool is_maximum, struct error *err)
{
    const struct exact_value *input = call->inputs[0];
    struct pooling pooling = {.is_maximum = is_maximum, .options = call->options, .window = window};
    bool rounds_up = node_attribute_integer(call->node->message, "ceil_mode", 0) != 0;
    struct shape shape = *exact_shape(input);
    size_t *indices SCOPED_FREE = NULL;
    int rc = exact_window_init(call, window, rounds_up, err);
    double *ret;

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < window->rank; i++)
        shape.dims[2 + i] = window->output[i];
    rc = exact_allocate(call, 0, input->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    pooling.counts_padding = node_attribute_integer(call->node->message, "count_include_pad", 0) != 0;
    pooling.indices = indices = exact_window_indices(window);
    if (indices == NULL)
        return tensor_refuse_size(DATA_FLOAT64, &shape, SIZE_MAX, err);
    for (size_t plane = 0; plane < shape_extent(&shape, 0, 2); plane++)
        for (size_t i = 0; i < window->outputs; i++)
            ret[plane * window->outputs + i] = pool_window(&pooling, &exact_items(input)[plane * window->inputs], i);
    return 0;
}

static int compute_pooling(struct exact_call *call, struct error *err)
{
    bool is_global = node_is(call->node, "GlobalAveragePool") || node_is(call->node, "GlobalMaxPool");
    bool is_maximum = node_is(call->node, "MaxPool") || node_is(call->node, "GlobalMaxPool");
    const struct shape *shape = exact_shape(call->inputs[0]);
    struct exact_window window = {0};

    if (shape->rank < 3)
        return exact_refuse_shapes(call, err);
    if (call->output_count > 1)
        return exact_refuse(call, err, "indices of maxima are not computed in float64");
    window.rank = shape->rank - 2;
    for (size_t i = 0; i < window.rank; i++)
        window.input[i] = window.kernel[i] = shape->dims[2 + i];
    if (!is_global)
        node_attribute_integers(call->node->message, "kernel_shape", window.kernel, window.rank);
    return compute_pool(call, &window, is_maximum, err);
}

const struct exact_operator exact_pooling_operators[] = {
    {"MaxPool", 1, false, compute_pooling, NULL},
    {"AveragePool", 1, false, compute_pooling, NULL},
    {"GlobalMaxPool", 1, false, compute_pooling, NULL},
    {"GlobalAveragePool", 1, false, compute_pooling, NULL},
    {0},
};
