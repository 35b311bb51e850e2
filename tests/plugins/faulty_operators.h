/* Operators in float32 on the processor, computed wrongly where their kernel has a fault. */
#ifndef TESTS_PLUGINS_FAULTY_OPERATORS_H
#define TESTS_PLUGINS_FAULTY_OPERATORS_H

#include "onnxrt_provider.h"

#include <math.h>
#include <string.h>

#define MOST_RANK 8
#define MOST_INPUTS 3

struct tensor {
    float *data;
    int64_t dims[MOST_RANK];
    size_t rank;
};

struct kernel {
    struct kernel_calls calls;
    const struct operator_type *type;
    const char *fault;                       /* "" for none */
    size_t inputs[MOST_INPUTS], input_count; /* the node's inputs among those of the compiled one */
    int64_t axis, pads[4], strides[2];
};

struct operator_type {
    const char *name;
    size_t most_inputs;
    bool (*shape)(const struct kernel *, const struct tensor *in, struct tensor *out);
    void (*compute)(const struct kernel *, const struct tensor *in, struct tensor *out);
};

static bool has_fault(const struct kernel *kernel, const char *fault)
{
    return strcmp(kernel->fault, fault) == 0;
}

static int64_t count_elements(const struct tensor *tensor)
{
    int64_t ret = 1;

    for (size_t i = 0; i < tensor->rank; i++)
        ret *= tensor->dims[i];
    return ret;
}

/* The dimension of an input that is aligned with dimension `i` of `rank` ones. */
static int64_t aligned(const struct tensor *tensor, size_t rank, size_t i)
{
    return i + tensor->rank < rank ? 1 : tensor->dims[i + tensor->rank - rank];
}

static bool broadcast_dims(const struct tensor *in, size_t kept, struct tensor *out)
{
    size_t rank = in[0].rank > in[1].rank ? in[0].rank : in[1].rank;

    out->rank = rank;
    for (size_t i = 0; i + kept < rank; i++) {
        int64_t a = aligned(&in[0], rank, i), b = aligned(&in[1], rank, i);

        if (a != b && a != 1 && b != 1)
            return false;
        out->dims[i] = a == 1 ? b : a;
    }
    return true;
}

/* Where the element of `tensor` is that is broadcast to element `index` of the first dimensions of `out`, which leaves
 * out the last `kept` ones of both. */
static int64_t find_broadcast(const struct tensor *tensor, const struct tensor *out, size_t kept, int64_t index)
{
    int64_t place = 0, stride = 1;

    for (size_t i = out->rank - kept; i-- > 0; index /= out->dims[i]) {
        int64_t size = aligned(tensor, out->rank, i);

        place += size == 1 ? 0 : index % out->dims[i] * stride;
        stride *= size;
    }
    return place;
}

static bool shape_binary(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    (void)kernel;
    return broadcast_dims(in, 0, out);
}

static float round_bfloat16(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void compute_binary(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    char sign = kernel->type->name[0];
    int64_t count = count_elements(out), second = count_elements(&in[1]);

    for (int64_t i = 0; i < count; i++) {
        float a = in[0].data[find_broadcast(&in[0], out, 0, i)], b = in[1].data[find_broadcast(&in[1], out, 0, i)];

        if (has_fault(kernel, "wrong_broadcast")) /* along the first dimension, not the last */
            b = in[1].data[i * second / count];
        if (has_fault(kernel, "swapped_operands"))
            out->data[i] = b - a;
        else
            out->data[i] = sign == 'A' ? a + b : sign == 'S' ? a - b : a * b;
        if (has_fault(kernel, "bfloat16_result"))
            out->data[i] = round_bfloat16(out->data[i]);
    }
    if (has_fault(kernel, "one_element") && count > 0)
        out->data[count - 1] += 1;
}

static bool shape_unary(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    (void)kernel;
    memcpy(out->dims, in->dims, sizeof(out->dims));
    out->rank = in->rank;
    return true;
}

static void compute_relu(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    int64_t count = count_elements(out);

    for (int64_t i = 0; i < count; i++) {
        float x = in->data[i];

        out->data[i] = x > 0 ? x : has_fault(kernel, "negative_slope") ? x / 100 : 0;
        if (has_fault(kernel, "nan_when_large") && x > 1)
            out->data[i] = NAN;
    }
}

static bool shape_matmul(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    (void)kernel;
    if (in[0].rank < 2 || in[1].rank < 2 || in[0].dims[in[0].rank - 1] != in[1].dims[in[1].rank - 2] ||
        !broadcast_dims(in, 2, out))
        return false;
    out->dims[out->rank - 2] = in[0].dims[in[0].rank - 2];
    out->dims[out->rank - 1] = in[1].dims[in[1].rank - 1];
    return true;
}

/* To eleven bits, as float16 has; its range is not limited. */
static float round_to_half(float value)
{
    int exponent;
    float fraction = frexpf(value, &exponent);

    return ldexpf(roundf(ldexpf(fraction, 11)), exponent - 11);
}

static void compute_matmul(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    int64_t rows = out->dims[out->rank - 2], columns = out->dims[out->rank - 1], terms = in[0].dims[in[0].rank - 1];
    int64_t used = has_fault(kernel, "last_block_left_out") ? terms - (terms > 8 ? 8 : 1) : terms;
    int64_t batches = rows * columns > 0 ? count_elements(out) / (rows * columns) : 0;

    for (int64_t batch = 0; batch < batches; batch++) {
        const float *a = in[0].data + find_broadcast(&in[0], out, 2, batch) * rows * terms;
        const float *b = in[1].data + find_broadcast(&in[1], out, 2, batch) * terms * columns;

        for (int64_t i = 0; i < rows * columns; i++) {
            float sum = 0;

            for (int64_t k = 0; k < used; k++) {
                sum += a[i / columns * terms + k] * b[k * columns + i % columns];
                if (has_fault(kernel, "float16_sums"))
                    sum = round_to_half(sum);
            }
            out->data[batch * rows * columns + i] = sum;
        }
    }
}

static void compute_softmax(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    int64_t wanted = has_fault(kernel, "wrong_axis") ? 0 : kernel->axis, inner = 1;
    size_t axis = (size_t)(wanted < 0 ? wanted + (int64_t)in->rank : wanted);
    int64_t count = count_elements(out), size = in->dims[axis];

    for (size_t i = axis + 1; i < in->rank; i++)
        inner *= in->dims[i];
    for (int64_t line = 0; size > 0 && line < count / size; line++) {
        const float *from = in->data + line / inner * inner * size + line % inner;
        float *to = out->data + (from - in->data), largest = from[0], sum = 0;

        for (int64_t k = 1; k < size; k++)
            largest = fmaxf(largest, from[k * inner]);
        for (int64_t k = 0; k < size; k++)
            sum += to[k * inner] = expf(from[k * inner] - largest);
        for (int64_t k = 0; k < size; k++)
            to[k * inner] /= sum;
    }
}

/* Of two dimensions, without groups or dilations. */
static bool shape_convolution(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    if (in[0].rank != 4 || in[1].rank != 4 || in[0].dims[1] != in[1].dims[1])
        return false;
    out->rank = 4;
    out->dims[0] = in[0].dims[0];
    out->dims[1] = in[1].dims[0];
    for (size_t i = 0; i < 2; i++)
        out->dims[2 + i] =
            (in[0].dims[2 + i] + kernel->pads[i] + kernel->pads[2 + i] - in[1].dims[2 + i]) / kernel->strides[i] + 1;
    return true;
}

static int64_t limit_to(int64_t value, int64_t size)
{
    return value < 0 ? 0 : value >= size ? size - 1 : value;
}

/* The padded value at (y, x) of a plane: 0; at the nearest edge, if wrong. */
static float read_padded(const struct kernel *kernel, const float *plane, const int64_t *size, int64_t y, int64_t x)
{
    bool inside = y >= 0 && y < size[0] && x >= 0 && x < size[1];

    if (!inside && !has_fault(kernel, "edge_padding"))
        return 0;
    return plane[limit_to(y, size[0]) * size[1] + limit_to(x, size[1])];
}

static void compute_convolution(const struct kernel *kernel, const struct tensor *in, struct tensor *out)
{
    const int64_t *size = in[0].dims + 2, *window = in[1].dims + 2, channels = in[0].dims[1];
    int64_t count = count_elements(out), width = out->dims[3], height = out->dims[2];

    for (int64_t i = 0; i < count; i++) {
        int64_t x = i % width * kernel->strides[1] - kernel->pads[1];
        int64_t y = i / width % height * kernel->strides[0] - kernel->pads[0];
        int64_t filter = i / (width * height) % out->dims[1], image = i / (width * height * out->dims[1]);
        const float *weights = in[1].data + filter * channels * window[0] * window[1];
        float sum = kernel->input_count > 2 ? in[2].data[filter] : 0;

        for (int64_t channel = 0; channel < channels; channel++) {
            const float *plane = in[0].data + (image * channels + channel) * size[0] * size[1];

            for (int64_t k = 0; k < window[0] * window[1]; k++)
                sum += *weights++ * read_padded(kernel, plane, size, y + k / window[1], x + k % window[1]);
        }
        out->data[i] = sum;
    }
}

static const struct operator_type operators[] = {
    {"Add", 2, shape_binary, compute_binary},
    {"Sub", 2, shape_binary, compute_binary},
    {"Mul", 2, shape_binary, compute_binary},
    {"Relu", 1, shape_unary, compute_relu},
    {"MatMul", 2, shape_matmul, compute_matmul},
    {"Softmax", 1, shape_unary, compute_softmax},
    {"Conv", 3, shape_convolution, compute_convolution},
};

#endif
