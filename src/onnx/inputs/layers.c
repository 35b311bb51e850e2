/* onnx/inputs/layers.c: products, windows, reductions and recurrences. See operators.h. */
#include <math.h>
#include <string.h>

#include "onnx/inputs/operators.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/window.h"
#include "onnx/proto/tensor_proto.h"
#include "tensor/values/elements.h"

/* ---- Products ---- */

static void multiply_matrices(struct pass *pass, const struct node *node)
{
    struct fact a = *pass_input(pass, node, 0), b = *pass_input(pass, node, 1);
    struct dimension dims[TENSOR_MAX_RANK];
    size_t rank;

    if (!a.has_shape || !b.has_shape || a.rank == 0 || b.rank == 0)
        return;
    pass_equate(pass, a.dims[a.rank - 1], b.dims[b.rank > 1 ? b.rank - 2 : 0]);
    rank = pass_broadcast_shapes(pass, &a, &b, 2, dims);
    if (a.rank > 1)
        dims[rank++] = a.dims[a.rank - 2];
    if (b.rank > 1)
        dims[rank++] = b.dims[b.rank - 1];
    pass_set_shape(pass, node, 0, dims, rank);
}

static void multiply_general(struct pass *pass, const struct node *node)
{
    struct fact a = *pass_input(pass, node, 0), b = *pass_input(pass, node, 1);
    size_t over_a = node_attribute_integer(node->message, "transA", 0) != 0 ? 0 : 1;
    size_t over_b = node_attribute_integer(node->message, "transB", 0) != 0 ? 1 : 0;
    struct dimension dims[2];

    if (!a.has_shape || !b.has_shape || a.rank != 2 || b.rank != 2)
        return;
    pass_equate(pass, a.dims[over_a], b.dims[over_b]);
    dims[0] = a.dims[1 - over_a];
    dims[1] = b.dims[1 - over_b];
    pass_set_shape(pass, node, 0, dims, 2);
}

/* The places of letters in an equation of Einsum, without "..." and blanks. */
static void sum_products(struct pass *pass, const struct node *node)
{
    struct dimension sizes[128], dims[TENSOR_MAX_RANK];
    struct span message;
    struct text text;
    size_t input = 0, axis = 0, rank = 0;
    bool is_output = false;

    for (size_t i = 0; i < 128; i++)
        sizes[i] = dimension_unknown();
    if (!node_attribute_text(node->message, "equation", &message))
        return;
    text = span_text(message);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char letter = (unsigned char)text.data[i];
        const struct fact *fact = pass_input(pass, node, input);

        if (letter == ' ' || letter == '>')
            continue;
        if (letter == '.' || letter >= 128 || rank == TENSOR_MAX_RANK)
            return;
        if (letter == ',' || letter == '-') {
            input++;
            axis = 0;
            is_output = letter == '-';
        } else if (is_output) {
            dims[rank++] = sizes[letter];
        } else if (fact->has_shape && axis < fact->rank) {
            if (sizes[letter].known)
                pass_equate(pass, sizes[letter], fact->dims[axis]);
            sizes[letter] = fact->dims[axis++];
        } else {
            axis++;
        }
    }
    if (is_output)
        pass_set_shape(pass, node, 0, dims, rank);
}

/* ---- Windows ---- */

/* The number of places of a window along axis `i`. */
static struct dimension count_places(struct pass *pass, struct dimension size, const struct window *window, size_t i)
{
    int64_t padding = window->before[i] + window->after[i], value, room;

    if (window->kernel[i] > 1 || window->strides[i] > 1)
        pass_mark(pass, size, ROLE_SPATIAL);
    if (dimension_is_constant(pass->system, size, &value)) {
        if (window->padding != WINDOW_PADS)
            return dimension_constant((value + window->strides[i] - 1) / window->strides[i]);
        room = value + padding - window_extent(window, i);
        if (room < 0)
            pass_report_conflict(pass);
        return dimension_constant(
            room < 0 ? 0 : (room + (window->rounds_up ? window->strides[i] - 1 : 0)) / window->strides[i] + 1);
    }
    if (window->strides[i] > 1)
        return dimension_unknown();
    return window->padding != WINDOW_PADS
               ? size
               : dimension_add(pass->system, size, dimension_constant(padding - window_extent(window, i) + 1), 1);
}

static void infer_convolve(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0), w = *pass_input(pass, node, 1);
    int64_t group = node_attribute_integer(node->message, "group", 1), kernel;
    struct dimension dims[TENSOR_MAX_RANK];
    struct window window;

    if (!w.has_shape && !x.has_shape)
        return;
    if (!x.has_shape || !w.has_shape || x.rank != w.rank || x.rank < 3 ||
        !window_read(node->message, x.rank - 2, &window))
        return;
    pass_equate(pass, x.dims[1], dimension_multiply(pass->system, w.dims[1], group));
    dims[0] = x.dims[0];
    dims[1] = w.dims[0];
    for (size_t i = 0; i < window.axes; i++) {
        if (dimension_is_constant(pass->system, w.dims[2 + i], &kernel))
            window.kernel[i] = kernel;
        dims[2 + i] = count_places(pass, x.dims[2 + i], &window, i);
    }
    pass_set_shape(pass, node, 0, dims, x.rank);
}

static void convolve_transposed(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0), w = *pass_input(pass, node, 1);
    int64_t group = node_attribute_integer(node->message, "group", 1), kernel, more[TENSOR_MAX_RANK] = {0};
    struct dimension dims[TENSOR_MAX_RANK];
    struct window window;

    if (!x.has_shape || !w.has_shape || x.rank != w.rank || x.rank < 3 ||
        !window_read(node->message, x.rank - 2, &window))
        return;
    pass_equate(pass, x.dims[1], w.dims[0]);
    node_attribute_integers(node->message, "output_padding", more, TENSOR_MAX_RANK);
    dims[0] = x.dims[0];
    dims[1] = dimension_multiply(pass->system, w.dims[1], group);
    for (size_t i = 0; i < window.axes; i++) {
        if (dimension_is_constant(pass->system, w.dims[2 + i], &kernel))
            window.kernel[i] = kernel;
        dims[2 + i] = dimension_multiply(pass->system, x.dims[2 + i], window.strides[i]);
        if (window.padding == WINDOW_PADS)
            dims[2 + i] = dimension_add(pass->system, dims[2 + i],
                                        dimension_constant(window_extent(&window, i) + more[i] - window.strides[i] -
                                                           window.before[i] - window.after[i]),
                                        1);
    }
    pass_set_shape(pass, node, 0, dims, x.rank);
}

static void infer_pool(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];
    struct window window;

    if (!x.has_shape || x.rank < 3 || !window_read(node->message, x.rank - 2, &window))
        return;
    memcpy(dims, x.dims, 2 * sizeof(dims[0]));
    for (size_t i = 0; i < window.axes; i++)
        dims[2 + i] = count_places(pass, x.dims[2 + i], &window, i);
    for (size_t i = 0; i < 2; i++)
        pass_set_shape(pass, node, i, dims, x.rank);
}

static void pool_all(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0);
    struct dimension dims[TENSOR_MAX_RANK];

    if (!x.has_shape || x.rank < 3)
        return;
    memcpy(dims, x.dims, 2 * sizeof(dims[0]));
    for (size_t i = 2; i < x.rank; i++)
        dims[i] = dimension_constant(1);
    pass_set_shape(pass, node, 0, dims, x.rank);
}

/* ---- Resizing ---- */

/* The scales of a Resize or Upsample: a constant. */
static size_t read_scales(const struct pass *pass, const struct node *node, double *ret)
{
    size_t input = node_is(node, "Resize") && model_opset(pass->model) >= 11 ? 2 : 1;
    uint32_t value = node_input(pass->model, node, input);
    const struct initializer *initializer = model_dense_initializer(pass->model, value);
    const struct node *producer = model_producer(pass->model, value);
    struct tensor tensor SCOPED(tensor_release) = {0};
    struct span message = {0};
    size_t count = 0;

    if (initializer != NULL)
        message = initializer->message;
    else if (producer != NULL && node_is(producer, "Constant"))
        message = node_attribute_tensor(producer->message, "value");
    if (message.data == NULL || tensor_proto_decode(message, &tensor, NULL) < 0)
        return 0;
    count = tensor_elements(&tensor);
    if (count > TENSOR_MAX_RANK || !data_type_is_float(tensor.type))
        return 0;
    elements_to_float64(&tensor, 0, count, ret);
    return count;
}

static void infer_resize(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0), sizes = *pass_input(pass, node, 3);
    struct dimension dims[TENSOR_MAX_RANK];
    double scales[TENSOR_MAX_RANK];
    int64_t value;

    if (!x.has_shape)
        return;
    if (sizes.has_numbers && sizes.number_count == x.rank) {
        pass_set_shape(pass, node, 0, sizes.numbers, x.rank);
        return;
    }
    if (read_scales(pass, node, scales) != x.rank) {
        pass_set_rank(pass, node, 0, x.rank);
        return;
    }
    for (size_t i = 0; i < x.rank; i++) {
        dims[i] = dimension_unknown();
        if (scales[i] == floor(scales[i]) && scales[i] >= 1 && scales[i] < 0x1p31)
            dims[i] = dimension_multiply(pass->system, x.dims[i], (int64_t)scales[i]);
        else if (dimension_is_constant(pass->system, x.dims[i], &value) && scales[i] > 0)
            dims[i] = dimension_constant((int64_t)floor((double)value * scales[i]));
    }
    pass_set_shape(pass, node, 0, dims, x.rank);
}

/* ---- Reductions ---- */

static void infer_reduce(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0);
    bool keeps = node_attribute_integer(node->message, "keepdims", 1) != 0, all = true;
    bool has_axes = node_input(pass->model, node, 1) != VALUE_NONE;
    struct dimension dims[TENSOR_MAX_RANK];
    int64_t axes[FACT_MOST_NUMBERS];
    size_t count = 0, rank = 0, axis;
    struct span attribute;
    uint64_t set = 0;

    has_axes |= node_attribute_find(node->message, "axes", &attribute);
    if (!x.has_shape || (has_axes && !pass_read_numbers(pass, node, 1, "axes", axes, &count)))
        return;
    if (count == 0 && node_attribute_integer(node->message, "noop_with_empty_axes", 0) != 0)
        all = false;
    for (size_t i = 0; i < count; i++)
        if (pass_axis(axes[i], x.rank, &axis))
            set |= (uint64_t)1 << axis;
    if (count == 0 && all)
        set = UINT64_MAX;
    for (size_t i = 0; i < x.rank; i++)
        if ((set >> i & 1) == 0)
            dims[rank++] = x.dims[i];
        else if (keeps)
            dims[rank++] = dimension_constant(1);
    pass_set_shape(pass, node, 0, dims, rank);
}

static void find_extreme(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0);
    bool keeps = node_attribute_integer(node->message, "keepdims", 1) != 0;
    struct dimension dims[TENSOR_MAX_RANK];
    size_t axis, rank = 0;

    if (!x.has_shape || !pass_axis(node_attribute_integer(node->message, "axis", 0), x.rank, &axis))
        return;
    for (size_t i = 0; i < x.rank; i++)
        if (i != axis)
            dims[rank++] = x.dims[i];
        else if (keeps)
            dims[rank++] = dimension_constant(1);
    pass_set_shape(pass, node, 0, dims, rank);
}

static void normalize_layer(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0), scale = *pass_input(pass, node, 1);

    if (!x.has_shape)
        return;
    if (scale.has_shape && scale.rank > 0 && x.rank > 0)
        pass_broadcast(pass, x.dims[x.rank - 1], scale.dims[scale.rank - 1]);
    pass_set_shape(pass, node, 0, x.dims, x.rank);
}

/* ---- Recurrences ---- */

static void infer_recur(struct pass *pass, const struct node *node)
{
    struct fact x = *pass_input(pass, node, 0), w = *pass_input(pass, node, 1);
    int64_t hidden = node_attribute_integer(node->message, "hidden_size", 0);
    bool batch_first = node_attribute_integer(node->message, "layout", 0) != 0;
    struct dimension size = hidden > 0 ? dimension_constant(hidden) : dimension_unknown();
    struct dimension all[4], last[3];

    if (!x.has_shape || !w.has_shape || x.rank != 3 || w.rank != 3)
        return;
    pass_equate(pass, x.dims[2], w.dims[2]);
    pass_mark(pass, x.dims[batch_first ? 1 : 0], ROLE_SEQUENCE);
    all[0] = x.dims[0];
    all[1] = batch_first ? x.dims[1] : w.dims[0];
    all[2] = batch_first ? w.dims[0] : x.dims[1];
    all[3] = last[2] = size;
    last[0] = batch_first ? x.dims[0] : w.dims[0];
    last[1] = batch_first ? w.dims[0] : x.dims[1];
    pass_set_shape(pass, node, 0, all, 4);
    pass_set_shape(pass, node, 1, last, 3);
    pass_set_shape(pass, node, 2, last, 3);
}

const struct known_operator layer_operators[] = {
    {"ArgMax", find_extreme},
    {"ArgMin", find_extreme},
    {"AveragePool", infer_pool},
    {"Conv", infer_convolve},
    {"ConvInteger", infer_convolve},
    {"ConvTranspose", convolve_transposed},
    {"Einsum", sum_products},
    {"GRU", infer_recur},
    {"Gemm", multiply_general},
    {"GlobalAveragePool", pool_all},
    {"GlobalMaxPool", pool_all},
    {"LSTM", infer_recur},
    {"LayerNormalization", normalize_layer},
    {"LpPool", infer_pool},
    {"MatMul", multiply_matrices},
    {"MatMulInteger", multiply_matrices},
    {"MaxPool", infer_pool},
    {"RMSNormalization", normalize_layer},
    {"RNN", infer_recur},
    {"ReduceL1", infer_reduce},
    {"ReduceL2", infer_reduce},
    {"ReduceLogSum", infer_reduce},
    {"ReduceLogSumExp", infer_reduce},
    {"ReduceMax", infer_reduce},
    {"ReduceMean", infer_reduce},
    {"ReduceMin", infer_reduce},
    {"ReduceProd", infer_reduce},
    {"ReduceSum", infer_reduce},
    {"ReduceSumSquare", infer_reduce},
    {"Resize", infer_resize},
    {"Upsample", infer_resize},
    {0},
};
