/* backend/exact/products.c: MatMul, Gemm, Conv and ConvTranspose. */
#include <stdlib.h>
#include <string.h>

#include "backend/exact/kernels.h"
#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

/* Adds factor * from[i * stride] to sums[i], rounded after each step as with fused multiplication and addition. Sums
 * that are built side by side keep the order of their terms. */
static void add_products(const struct exact_options *options, double factor, const double *from, size_t stride,
                         double *sums, size_t count)
{
    if (options->type == DATA_FLOAT64)
        for (size_t i = 0; i < count; i++)
            sums[i] += factor * from[i * stride];
    else
        for (size_t i = 0; i < count; i++)
            sums[i] = exact_round_sum(options, sums[i] + factor * from[i * stride]);
}

static void round_sums(const struct exact_options *options, double *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = exact_round(options, sums[i]);
}

/* ---- Matrices ---- */

struct matrices {
    size_t rows, columns, terms;
    size_t a_row, a_term, b_term, b_column; /* elements from one to the next */
};

static void multiply_matrices(const struct exact_options *options, const struct matrices *sizes, const double *a,
                              const double *b, double *ret)
{
    for (size_t i = 0; i < sizes->rows; i++) {
        double *row = &ret[i * sizes->columns];

        memset(row, 0, sizes->columns * sizeof(*row));
        for (size_t n = 0; n < sizes->terms; n++) {
            size_t term = options->backwards ? sizes->terms - 1 - n : n;

            add_products(options, a[i * sizes->a_row + term * sizes->a_term], &b[term * sizes->b_term], sizes->b_column,
                         row, sizes->columns);
        }
        round_sums(options, row, sizes->columns);
    }
}

static bool is_too_large(size_t a, size_t b, size_t c)
{
    return (double)a * (double)b * (double)c > (double)EXACT_MOST_PRODUCTS;
}

/* The shape without its last `count` axes. */
static struct shape strip_axes(const struct shape *shape, size_t count)
{
    struct shape ret = *shape;

    ret.rank -= count;
    return ret;
}

/* The shape of a product as numpy.matmul has it: vectors are a row on the left, a column on the right. */
static bool plan_product(const struct shape *left, const struct shape *right, struct matrices *sizes,
                         struct shape *batch, struct shape *ret)
{
    size_t left_axes = left->rank > 1 ? 2 : 1, right_axes = right->rank > 1 ? 2 : 1;
    struct shape left_batch = strip_axes(left, left_axes), right_batch = strip_axes(right, right_axes);

    sizes->terms = (size_t)left->dims[left->rank - 1];
    sizes->rows = left_axes == 2 ? (size_t)left->dims[left->rank - 2] : 1;
    sizes->columns = right_axes == 2 ? (size_t)right->dims[right->rank - 1] : 1;
    sizes->a_row = sizes->terms;
    sizes->a_term = sizes->b_column = 1;
    sizes->b_term = sizes->columns;
    *batch = (struct shape){0};
    if ((size_t)right->dims[right->rank - right_axes] != sizes->terms || !exact_broadcast_shape(batch, &left_batch) ||
        !exact_broadcast_shape(batch, &right_batch) || batch->rank + 2 > TENSOR_MAX_RANK)
        return false;
    *ret = *batch;
    if (left_axes == 2)
        ret->dims[ret->rank++] = (int64_t)sizes->rows;
    if (right_axes == 2)
        ret->dims[ret->rank++] = (int64_t)sizes->columns;
    return true;
}

static int compute_matmul(struct exact_call *call, struct error *err)
{
    const struct shape *left = exact_shape(call->inputs[0]), *right = exact_shape(call->inputs[1]);
    struct shape batch, shape, left_batch, right_batch;
    struct matrices sizes;
    double *ret;
    int rc;

    if (left->rank == 0 || right->rank == 0 || !plan_product(left, right, &sizes, &batch, &shape))
        return exact_refuse_shapes(call, err);
    if (is_too_large(shape_elements(&shape), sizes.terms, 1))
        return exact_refuse(call, err, "it is too large to be computed in float64");
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    left_batch = strip_axes(left, left->rank > 1 ? 2 : 1);
    right_batch = strip_axes(right, right->rank > 1 ? 2 : 1);
    {
        size_t *a SCOPED_FREE = exact_broadcast_indices(&left_batch, &batch);
        size_t *b SCOPED_FREE = exact_broadcast_indices(&right_batch, &batch);

        if (a == NULL || b == NULL)
            return tensor_refuse_size(DATA_FLOAT64, &batch, SIZE_MAX, err);
        for (size_t i = 0; i < shape_elements(&batch); i++)
            multiply_matrices(call->options, &sizes, &exact_items(call->inputs[0])[a[i] * sizes.rows * sizes.terms],
                              &exact_items(call->inputs[1])[b[i] * sizes.terms * sizes.columns],
                              &ret[i * sizes.rows * sizes.columns]);
    }
    return 0;
}

/* beta C, broadcast, is added to alpha A B. */
static int add_gemm_bias(struct exact_call *call, const struct shape *shape, double *ret, struct error *err)
{
    double alpha = (double)node_attribute_float(call->node->message, "alpha", 1);
    double beta = (double)node_attribute_float(call->node->message, "beta", 1);
    const struct exact_value *bias = exact_input(call, 2);
    struct shape both = *shape;
    size_t *from SCOPED_FREE = NULL;

    if (bias != NULL) {
        if (!exact_broadcast_shape(&both, exact_shape(bias)) || !shape_equal(&both, shape))
            return exact_refuse_shapes(call, err);
        from = exact_broadcast_indices(exact_shape(bias), shape);
        if (from == NULL)
            return tensor_refuse_size(DATA_FLOAT64, shape, SIZE_MAX, err);
    }
    for (size_t i = 0; i < shape_elements(shape); i++)
        ret[i] = exact_round(call->options, alpha * ret[i] + (from != NULL ? beta * exact_items(bias)[from[i]] : 0));
    return 0;
}

static int compute_gemm(struct exact_call *call, struct error *err)
{
    bool transposes_a = node_attribute_integer(call->node->message, "transA", 0) != 0;
    bool transposes_b = node_attribute_integer(call->node->message, "transB", 0) != 0;
    const struct shape *a = exact_shape(call->inputs[0]), *b = exact_shape(call->inputs[1]);
    struct matrices sizes;
    struct shape shape;
    double *ret;
    int rc;

    if (a->rank != 2 || b->rank != 2 || a->dims[!transposes_a] != b->dims[transposes_b])
        return exact_refuse_shapes(call, err);
    sizes = (struct matrices){.rows = (size_t)a->dims[transposes_a],
                              .columns = (size_t)b->dims[!transposes_b],
                              .terms = (size_t)a->dims[!transposes_a],
                              .a_row = transposes_a ? 1 : (size_t)a->dims[1],
                              .a_term = transposes_a ? (size_t)a->dims[1] : 1,
                              .b_term = transposes_b ? 1 : (size_t)b->dims[1],
                              .b_column = transposes_b ? (size_t)b->dims[1] : 1};
    if (is_too_large(sizes.rows, sizes.columns, sizes.terms))
        return exact_refuse(call, err, "it is too large to be computed in float64");
    shape = (struct shape){.rank = 2, .dims = {(int64_t)sizes.rows, (int64_t)sizes.columns}};
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    multiply_matrices(call->options, &sizes, exact_items(call->inputs[0]), exact_items(call->inputs[1]), ret);
    return add_gemm_bias(call, &shape, ret, err);
}

/* ---- Convolutions ---- */

struct exact_convolution {
    struct exact_window window;
    size_t batch, groups, channels, features; /* channels and features (of the output) of one group */
    const double *weights, *bias;             /* bias may be NULL */
    const size_t *indices;
};

/* Adds factor * from[indices[i]] to sums[i], where the index is one of the input. */
static void add_gathered_products(const struct exact_options *options, double factor, const double *from,
                                  const size_t *indices, double *sums, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = indices[i];

        if (at != SIZE_MAX)
            sums[i] = options->type == DATA_FLOAT64 ? sums[i] + factor * from[at]
                                                    : exact_round_sum(options, sums[i] + factor * from[at]);
    }
}

/* One feature of the output. `indices` has those of all outputs at the first position, at the second, ... */
static void convolve_plane(const struct exact_options *options, const struct exact_convolution *conv,
                           const size_t *indices, const double *input, size_t feature, double *ret)
{
    size_t positions = conv->window.positions, terms = conv->channels * positions, outputs = conv->window.outputs;
    const double *weights = &conv->weights[feature * terms];

    memset(ret, 0, outputs * sizeof(*ret));
    for (size_t i = 0; i < terms; i++) {
        size_t term = options->backwards ? terms - 1 - i : i;

        add_gathered_products(options, weights[term], &input[term / positions * conv->window.inputs],
                              &indices[term % positions * outputs], ret, outputs);
    }
    for (size_t i = 0; conv->bias != NULL && i < outputs; i++)
        ret[i] += conv->bias[feature];
    round_sums(options, ret, outputs);
}

static void convolve_planes(const struct exact_call *call, const struct exact_convolution *conv, double *ret)
{
    size_t outputs = conv->window.outputs, features = conv->groups * conv->features;
    size_t positions = conv->window.positions;
    size_t *indices SCOPED_FREE = memory_alloc_zero(outputs * positions + 1, sizeof(*indices));

    for (size_t i = 0; i < outputs * positions; i++)
        indices[i % positions * outputs + i / positions] = conv->indices[i];
    for (size_t n = 0; n < conv->batch; n++)
        for (size_t feature = 0; feature < features; feature++) {
            size_t plane = (n * conv->groups + feature / conv->features) * conv->channels;

            convolve_plane(call->options, conv, indices, &exact_items(call->inputs[0])[plane * conv->window.inputs],
                           feature, &ret[(n * features + feature) * outputs]);
        }
}

/* Sizes of the input, the kernel and the groups, of both kinds of convolutions. */
static int read_convolution(struct exact_call *call, struct exact_convolution *conv, bool is_transposed,
                            struct error *err)
{
    int64_t groups = node_attribute_integer(call->node->message, "group", 1);
    const struct exact_value *bias = exact_input(call, 2);
    const struct shape *input = exact_shape(call->inputs[0]), *weights = exact_shape(call->inputs[1]);

    if (input->rank < 3 || weights->rank != input->rank || groups < 1 || input->dims[1] % groups != 0)
        return exact_refuse_shapes(call, err);
    conv->groups = (size_t)groups;
    conv->batch = (size_t)input->dims[0];
    conv->channels = (size_t)(input->dims[1] / groups);
    conv->features = (size_t)(is_transposed ? weights->dims[1] : weights->dims[0] / groups);
    conv->weights = exact_items(call->inputs[1]);
    conv->bias = bias != NULL ? exact_items(bias) : NULL;
    conv->window.rank = input->rank - 2;
    for (size_t i = 0; i < conv->window.rank; i++) {
        conv->window.input[i] = input->dims[2 + i];
        conv->window.kernel[i] = weights->dims[2 + i];
    }
    if (conv->features == 0 || conv->channels == 0 ||
        (is_transposed ? weights->dims[0] != input->dims[1]
                       : weights->dims[0] % groups != 0 || (size_t)weights->dims[1] != conv->channels))
        return exact_refuse_shapes(call, err);
    return bias == NULL || exact_count(bias) == conv->features * conv->groups ? 0 : exact_refuse_shapes(call, err);
}

static int compute_convolution(struct exact_call *call, struct error *err)
{
    struct exact_convolution conv = {0};
    int rc = read_convolution(call, &conv, false, err);
    struct shape shape = {0};
    size_t *indices SCOPED_FREE = NULL;
    double *ret;

    if (rc == 0)
        rc = exact_window_init(call, &conv.window, false, err);
    if (rc < 0)
        return rc;
    shape = (struct shape){.rank = conv.window.rank + 2,
                           .dims = {(int64_t)conv.batch, (int64_t)(conv.groups * conv.features)}};
    for (size_t i = 0; i < conv.window.rank; i++)
        shape.dims[2 + i] = conv.window.output[i];
    if (is_too_large(shape_elements(&shape), conv.channels, conv.window.positions))
        return exact_refuse(call, err, "it is too large to be computed in float64");
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    conv.indices = indices = exact_window_indices(&conv.window);
    if (indices == NULL)
        return tensor_refuse_size(DATA_FLOAT64, &shape, SIZE_MAX, err);
    convolve_planes(call, &conv, ret);
    return 0;
}

/* ---- Transposed convolutions ---- */

/* Sizes of the output. ONNX, ConvTranspose: output_padding is less than the stride or the dilation. */
static int plan_transposed(struct exact_call *call, struct exact_window *window, struct error *err)
{
    int64_t more[TENSOR_MAX_RANK] = {0};
    int rc = exact_window_read(call, window, err);

    if (rc < 0)
        return rc;
    node_attribute_integers(call->node->message, "output_padding", more, window->rank);
    for (size_t i = 0; i < window->rank; i++) {
        int64_t stride = window->strides[i], dilation = window->dilations[i], size;

        if (more[i] < 0 || more[i] >= (stride > dilation ? stride : dilation))
            return exact_refuse(call, err, "its output_padding is not computed in float64");
        size = stride * (window->input[i] - 1) + more[i] + (window->kernel[i] - 1) * dilation + 1 - window->pads[i] -
               window->pads[window->rank + i];
        window->output[i] = size > 0 ? size : 0;
    }
    return exact_window_count(call, window, err);
}

/* For each element of the output and each one of the kernel the element of the input; SIZE_MAX: none. To be freed;
 * NULL: no memory. */
static size_t *list_transposed_indices(const struct exact_window *window)
{
    size_t *ret = malloc((window->outputs * window->positions + 1) * sizeof(*ret));

    for (size_t i = 0; ret != NULL && i < window->outputs * window->positions; i++) {
        size_t output = i / window->positions, position = i % window->positions, stride = 1;

        ret[i] = 0;
        for (size_t axis = window->rank; axis-- > 0 && ret[i] != SIZE_MAX;) {
            int64_t at = (int64_t)(output % (size_t)window->output[axis]) + window->pads[axis] -
                         (int64_t)(position % (size_t)window->kernel[axis]) * window->dilations[axis];

            if (at < 0 || at % window->strides[axis] != 0 || at / window->strides[axis] >= window->input[axis])
                ret[i] = SIZE_MAX;
            else
                ret[i] += (size_t)(at / window->strides[axis]) * stride;
            stride *= (size_t)window->input[axis];
            output /= (size_t)window->output[axis];
            position /= (size_t)window->kernel[axis];
        }
    }
    return ret;
}

/* Weights are sorted by the channel of the input here; those of a convolution by that of the output. */
static double *transpose_weights(const struct exact_convolution *conv)
{
    size_t positions = conv->window.positions, channels = conv->channels, features = conv->features;
    double *ret = memory_alloc_zero(conv->groups * channels * features * positions + 1, sizeof(*ret));

    for (size_t i = 0; i < conv->groups * features * channels * positions; i++) {
        size_t position = i % positions, channel = i / positions % channels, feature = i / positions / channels;
        size_t from = (feature / features * channels + channel) * features + feature % features;

        ret[i] = conv->weights[from * positions + position];
    }
    return ret;
}

static int compute_transposed(struct exact_call *call, struct error *err)
{
    struct exact_convolution conv = {0};
    struct text padding = exact_text_attribute(call, "auto_pad", "NOTSET");
    size_t *indices SCOPED_FREE = NULL;
    double *weights SCOPED_FREE = NULL, *ret;
    struct shape shape;
    struct span given;
    int rc = read_convolution(call, &conv, true, err);

    if (rc < 0)
        return rc;
    if ((!text_equal_string(padding, "NOTSET") && !text_equal_string(padding, "VALID")) ||
        node_attribute_find(call->node->message, "output_shape", &given))
        return exact_refuse(call, err, "its padding is not computed in float64");
    rc = plan_transposed(call, &conv.window, err);
    if (rc < 0)
        return rc;
    if (is_too_large(conv.window.outputs * conv.window.positions, conv.channels * conv.batch,
                     conv.groups * conv.features))
        return exact_refuse(call, err, "it is too large to be computed in float64");
    shape = (struct shape){.rank = conv.window.rank + 2,
                           .dims = {(int64_t)conv.batch, (int64_t)(conv.groups * conv.features)}};
    for (size_t i = 0; i < conv.window.rank; i++)
        shape.dims[2 + i] = conv.window.output[i];
    rc = exact_allocate(call, 0, call->inputs[0]->type, &shape, &ret, err);
    if (rc < 0)
        return rc;
    conv.indices = indices = list_transposed_indices(&conv.window);
    if (indices == NULL)
        return tensor_refuse_size(DATA_FLOAT64, &shape, SIZE_MAX, err);
    conv.weights = weights = transpose_weights(&conv);
    convolve_planes(call, &conv, ret);
    return 0;
}

const struct exact_operator exact_product_operators[] = {
    {"MatMul", 2, false, compute_matmul, NULL},
    {"Gemm", 2, false, compute_gemm, NULL},
    {"Conv", 2, false, compute_convolution, NULL},
    {"ConvTranspose", 2, false, compute_transposed, NULL},
    {0},
};
