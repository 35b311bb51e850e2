/* Pooling, local response normalization and resizing: by every tactic. */
#include "support/operator_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- pooling ---- */

#define SPATIAL 3 /* fewer dimensions have ones in front */

struct pooling {
    const char *op_type;
    struct shape shape;
    int64_t kernel[SPATIAL], strides[SPATIAL], dilations[SPATIAL],
        pads[2 * SPATIAL]; /* as attributes; kernel[0] 0: none */
    const char *auto_pad;
    bool ceil_mode, include_pad;
    struct shape result;
    /* for the reference where `auto_pad` says otherwise than `pads` */
    int64_t before[SPATIAL];
};

static const struct pooling poolings[] = {
    {"MaxPool",
     {4, {2, 13, 9, 10}},
     {3, 3},
     {2, 2},
     {1, 1},
     {1, 1, 1, 1},
     NULL,
     false,
     false,
     {4, {2, 13, 5, 5}},
     {1, 1}},
    {"MaxPool", {4, {1, 64, 8, 8}}, {2, 2}, {2, 2}, {1, 1}, {0}, NULL, false, false, {4, {1, 64, 4, 4}}, {0}},
    {"MaxPool", {4, {1, 5, 8, 8}}, {3, 3}, {2, 2}, {1, 1}, {0}, NULL, true, false, {4, {1, 5, 4, 4}}, {0}},
    {"MaxPool",
     {4, {1, 24, 13, 13}},
     {3, 2},
     {1, 3},
     {2, 3},
     {1, 0, 2, 1},
     NULL,
     false,
     false,
     {4, {1, 24, 12, 4}},
     {1, 0}},
    {"MaxPool", {4, {1, 3, 7, 7}}, {2, 2}, {2, 2}, {1, 1}, {0}, "SAME_UPPER", false, false, {4, {1, 3, 4, 4}}, {0, 0}},
    {"MaxPool", {4, {1, 3, 7, 7}}, {2, 2}, {2, 2}, {1, 1}, {0}, "SAME_LOWER", false, false, {4, {1, 3, 4, 4}}, {1, 1}},
    {"MaxPool", {4, {1, 3, 7, 7}}, {2, 2}, {2, 2}, {1, 1}, {0}, "VALID", false, false, {4, {1, 3, 3, 3}}, {0}},
    {"MaxPool", {4, {1, 3, 7, 7}}, {2, 2}, {2, 2}, {1, 1}, {0}, "VALID", true, false, {4, {1, 3, 4, 4}}, {0}},
    /* a window that would begin in the padding behind is none */
    {"MaxPool", {4, {1, 17, 2, 2}}, {1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}, NULL, true, false, {4, {1, 17, 1, 1}}, {0}},
    {"AveragePool", {4, {1, 3, 4, 4}}, {3, 3}, {3, 3}, {1, 1}, {0, 0, 1, 1}, NULL, true, false, {4, {1, 3, 2, 2}}, {0}},
    {"MaxPool", {3, {2, 17, 20}}, {3}, {2}, {1}, {1, 1}, NULL, false, false, {3, {2, 17, 10}}, {1}},
    {"MaxPool",
     {5, {1, 18, 5, 6, 7}},
     {2, 3, 2},
     {1, 2, 2},
     {1, 1, 1},
     {0, 1, 0, 1, 1, 1},
     NULL,
     false,
     false,
     {5, {1, 18, 5, 3, 4}},
     {0, 1, 0}},
    {"AveragePool",
     {4, {2, 13, 9, 10}},
     {3, 3},
     {2, 2},
     {1, 1},
     {1, 1, 1, 1},
     NULL,
     false,
     false,
     {4, {2, 13, 5, 5}},
     {1, 1}},
    {"AveragePool",
     {4, {2, 13, 9, 10}},
     {3, 3},
     {2, 2},
     {1, 1},
     {1, 1, 1, 1},
     NULL,
     false,
     true,
     {4, {2, 13, 5, 5}},
     {1, 1}},
    {"AveragePool", {4, {1, 32, 8, 8}}, {2, 2}, {2, 2}, {1, 1}, {0}, NULL, false, false, {4, {1, 32, 4, 4}}, {0}},
    {"AveragePool", {4, {1, 5, 8, 8}}, {3, 3}, {2, 2}, {1, 1}, {0}, NULL, true, false, {4, {1, 5, 4, 4}}, {0}},
    {"AveragePool",
     {4, {1, 5, 9, 9}},
     {3, 3},
     {2, 2},
     {1, 1},
     {1, 1, 1, 1},
     NULL,
     true,
     true,
     {4, {1, 5, 5, 5}},
     {1, 1}},
    {"AveragePool",
     {4, {1, 20, 7, 7}},
     {3, 3},
     {2, 2},
     {1, 1},
     {0},
     "SAME_UPPER",
     false,
     false,
     {4, {1, 20, 4, 4}},
     {1, 1}},
    {"AveragePool",
     {4, {1, 7, 12, 11}},
     {3, 2},
     {1, 2},
     {2, 3},
     {2, 1, 1, 2},
     NULL,
     false,
     false,
     {4, {1, 7, 11, 6}},
     {2, 1}},
    {"AveragePool",
     {4, {1, 7, 12, 11}},
     {3, 2},
     {1, 2},
     {2, 3},
     {2, 1, 1, 2},
     NULL,
     false,
     true,
     {4, {1, 7, 11, 6}},
     {2, 1}},
    {"AveragePool", {3, {2, 17, 20}}, {4}, {3}, {1}, {1, 2}, NULL, false, false, {3, {2, 17, 7}}, {1}},
    {"AveragePool",
     {5, {1, 18, 5, 6, 7}},
     {2, 3, 2},
     {1, 2, 2},
     {1, 1, 1},
     {0, 1, 0, 1, 1, 1},
     NULL,
     false,
     true,
     {5, {1, 18, 5, 3, 4}},
     {0, 1, 0}},
    {"GlobalAveragePool", {4, {2, 21, 7, 6}}, {0}, {0}, {0}, {0}, NULL, false, false, {4, {2, 21, 1, 1}}, {0}},
    {"GlobalAveragePool", {3, {2, 32, 9}}, {0}, {0}, {0}, {0}, NULL, false, false, {3, {2, 32, 1}}, {0}},
    {"GlobalMaxPool", {4, {2, 21, 7, 6}}, {0}, {0}, {0}, {0}, NULL, false, false, {4, {2, 21, 1, 1}}, {0}},
    {"GlobalMaxPool", {5, {1, 3, 2, 3, 4}}, {0}, {0}, {0}, {0}, NULL, false, false, {5, {1, 3, 1, 1, 1}}, {0}},
};

static void begin_pooling(struct operator_test *test, const struct pooling *pooling)
{
    size_t rank = pooling->shape.rank - 2;

    operator_begin(test, LAYER_POOLING, pooling->op_type, 19);
    operator_input(test, pooling->shape, 3);
    if (pooling->kernel[0] == 0)
        return;
    operator_attribute(test, integers("kernel_shape", pooling->kernel, rank));
    operator_attribute(test, integers("strides", pooling->strides, rank));
    operator_attribute(test, integers("dilations", pooling->dilations, rank));
    if (pooling->auto_pad)
        operator_attribute(test, STRING("auto_pad", pooling->auto_pad));
    else
        operator_attribute(test, integers("pads", pooling->pads, 2 * rank));
    if (pooling->ceil_mode)
        operator_attribute(test, INTEGER("ceil_mode", 1));
    if (pooling->include_pad)
        operator_attribute(test, INTEGER("count_include_pad", 1));
}

/* With three spatial dimensions, whatever the model has. */
struct window {
    int64_t input[SPATIAL], output[SPATIAL], kernel[SPATIAL], strides[SPATIAL], dilations[SPATIAL], before[SPATIAL];
};

static void window_of(const struct pooling *pooling, struct window *ret)
{
    size_t rank = pooling->shape.rank - 2;

    for (size_t i = 0; i < SPATIAL; i++) {
        bool there = i + rank >= SPATIAL;
        size_t from = i + rank - SPATIAL;
        bool global = pooling->kernel[0] == 0;

        ret->input[i] = there ? pooling->shape.dims[from + 2] : 1;
        ret->output[i] = there ? pooling->result.dims[from + 2] : 1;
        ret->kernel[i] = !there ? 1 : global ? ret->input[i] : pooling->kernel[from];
        ret->strides[i] = there && !global ? pooling->strides[from] : 1;
        ret->dilations[i] = there && !global ? pooling->dilations[from] : 1;
        ret->before[i] = there ? pooling->before[from] : 0;
    }
}

/* `plane`: of one channel; `at`: of the output. */
static double pool(const struct window *window, const float *plane, const int64_t *at, bool maximum, bool include_pad)
{
    double sum = 0, largest = -INFINITY;
    int64_t seen = 0, all = window->kernel[0] * window->kernel[1] * window->kernel[2];

    for (int64_t tap = 0; tap < all; tap++) {
        int64_t rest = tap, index = 0, position[SPATIAL];
        bool inside = true;

        for (size_t i = SPATIAL; i-- > 0; rest /= window->kernel[i]) {
            position[i] =
                at[i] * window->strides[i] - window->before[i] + rest % window->kernel[i] * window->dilations[i];
            inside = inside && position[i] >= 0 && position[i] < window->input[i];
        }
        for (size_t i = 0; i < SPATIAL; i++)
            index = index * window->input[i] + position[i];
        if (!inside)
            continue;
        seen++;
        sum += (double)plane[index];
        largest = fmax(largest, (double)plane[index]);
    }
    return maximum ? largest : sum / (double)(include_pad ? all : seen);
}

static void check_pooling(const struct pooling *pooling)
{
    struct operator_test test;
    double *expected = doubles(&pooling->result), *next = expected;
    bool maximum = strstr(pooling->op_type, "Max") != NULL;
    const float *plane;
    struct window window;

    begin_pooling(&test, pooling);
    window_of(pooling, &window);
    plane = test.operands[0].values;
    for (int64_t i = 0; i < pooling->shape.dims[0] * pooling->shape.dims[1]; i++) {
        for (int64_t d = 0; d < window.output[0]; d++)
            for (int64_t h = 0; h < window.output[1]; h++)
                for (int64_t w = 0; w < window.output[2]; w++)
                    *next++ = pool(&window, plane, (const int64_t[]){d, h, w}, maximum, pooling->include_pad);
        plane += window.input[0] * window.input[1] * window.input[2];
    }
    operator_check(&test, &pooling->result, expected, maximum ? 0 : 1e-6);
}

static void every_pooling_is_computed_in_every_layout(void **state)
{
    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(poolings); i++)
        check_pooling(&poolings[i]);
}

static void poolings_that_mean_something_else_to_onednn_have_no_tactics(void **state)
{
    struct operator_test test;
    struct pooling pooling = poolings[15]; /* ceil_mode, a window that ends beyond the padding */

    REQUIRE_ONEDNN();
    pooling.include_pad = true;
    begin_pooling(&test, &pooling);
    operator_refuse(&test);

    begin_pooling(&test, &poolings[0]); /* indices */
    test.output_count = 2;
    operator_refuse(&test);

    pooling = poolings[0]; /* windows in the padding only */
    pooling.pads[0] = pooling.pads[1] = 3;
    begin_pooling(&test, &pooling);
    operator_refuse(&test);

    pooling = poolings[0]; /* nothing to pool */
    pooling.shape.dims[2] = 0;
    begin_pooling(&test, &pooling);
    operator_refuse(&test);

    pooling = poolings[0];
    pooling.shape.rank = 2;
    pooling.kernel[0] = 0;
    pooling.op_type = "GlobalMaxPool";
    begin_pooling(&test, &pooling);
    operator_refuse(&test);
}

/* ---- local response normalization ---- */

static void begin_lrn(struct operator_test *test, struct shape shape, int64_t size, float alpha, float beta, float bias)
{
    operator_begin(test, LAYER_LRN, "LRN", 13);
    operator_input(test, shape, 6);
    operator_attribute(test, INTEGER("size", size));
    operator_attribute(test, FLOAT("alpha", alpha));
    operator_attribute(test, FLOAT("beta", beta));
    operator_attribute(test, FLOAT("bias", bias));
}

static void check_lrn(struct shape shape, int64_t size, float alpha, float beta, float bias)
{
    struct operator_test test;
    double *expected = doubles(&shape);
    int64_t channels = shape.dims[1], inner = 1;
    const float *x;

    begin_lrn(&test, shape, size, alpha, beta, bias);
    x = test.operands[0].values;
    for (size_t i = 2; i < shape.rank; i++)
        inner *= shape.dims[i];
    for (int64_t at = 0; at < shape.dims[0] * channels * inner; at++) {
        int64_t channel = at / inner % channels;
        double sum = 0;

        for (int64_t c = channel - (size - 1) / 2; c <= channel + size / 2; c++)
            if (c >= 0 && c < channels)
                sum += pow((double)x[at + (c - channel) * inner], 2);
        expected[at] = (double)x[at] / pow((double)bias + (double)alpha / (double)size * sum, (double)beta);
    }
    operator_check(&test, &shape, expected, 4e-6);
}

static void response_is_normalized_across_channels(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    check_lrn(SHAPE(2, 13, 5, 7), 5, 1e-2f, 0.75f, 1);
    check_lrn(SHAPE(1, 64, 4, 4), 5, 1e-4f, 0.75f, 2);
    check_lrn(SHAPE(1, 32, 8, 8), 3, 0.5f, 0.5f, 1);
    check_lrn(SHAPE(2, 20, 9), 5, 1e-2f, 0.75f, 1);
    check_lrn(SHAPE(1, 6, 2, 3, 4), 1, 1e-2f, 0.6f, 1);
    begin_lrn(&test, SHAPE(2, 13, 5, 7), 4, 1e-2f, 0.75f, 1);
    operator_refuse(&test);
}

/* ---- resizing ---- */

struct resize {
    int64_t opset;
    const char *mode, *coordinates, *nearest;
    struct shape shape, result;
    float scale;  /* of all spatial dimensions; 0: sizes are given */
    bool refused; /* oneDNN has it not */
};

static const struct resize resizes[] = {
    {13, "nearest", "half_pixel", "round_prefer_floor", {4, {1, 13, 4, 5}}, {4, {1, 13, 8, 10}}, 2, false},
    {13, "nearest", "half_pixel", "round_prefer_ceil", {4, {1, 13, 4, 5}}, {4, {1, 13, 12, 15}}, 0, false},
    {13, "nearest", "asymmetric", "floor", {4, {2, 16, 4, 5}}, {4, {2, 16, 8, 10}}, 2, false},
    {13, "nearest", "asymmetric", "ceil", {4, {2, 16, 4, 5}}, {4, {2, 16, 8, 10}}, 2, true},
    {13, "nearest", "asymmetric", "round_prefer_floor", {4, {2, 16, 4, 5}}, {4, {2, 16, 8, 10}}, 2, false},
    {13, "nearest", "half_pixel", "floor", {4, {1, 3, 4, 4}}, {4, {1, 3, 8, 8}}, 2, true},
    {13, "nearest", "half_pixel", "round_prefer_floor", {4, {1, 3, 6, 6}}, {4, {1, 3, 3, 3}}, 0, true}, /* halves */
    {13, "nearest", "half_pixel", "round_prefer_ceil", {4, {1, 3, 6, 6}}, {4, {1, 3, 2, 2}}, 0, false},
    {13, "linear", "half_pixel", "round_prefer_floor", {4, {2, 21, 4, 5}}, {4, {2, 21, 8, 10}}, 2, false},
    {13, "linear", "half_pixel", "round_prefer_floor", {4, {2, 21, 8, 9}}, {4, {2, 21, 5, 4}}, 0, false},
    {13, "linear", "pytorch_half_pixel", "round_prefer_floor", {4, {1, 3, 4, 5}}, {4, {1, 3, 7, 11}}, 0, false},
    {13, "linear", "align_corners", "round_prefer_floor", {4, {1, 3, 4, 5}}, {4, {1, 3, 8, 10}}, 2, true},
    {13, "linear", "asymmetric", "round_prefer_floor", {4, {1, 3, 4, 5}}, {4, {1, 3, 8, 10}}, 2, true},
    {19, "linear", "half_pixel_symmetric", "round_prefer_floor", {4, {1, 3, 4, 5}}, {4, {1, 3, 8, 10}}, 2, false},
    {13, "linear", "half_pixel", "round_prefer_floor", {3, {1, 18, 5}}, {3, {1, 18, 10}}, 2, false},
    {13, "linear", "half_pixel", "round_prefer_floor", {5, {1, 3, 2, 3, 4}}, {5, {1, 3, 4, 6, 8}}, 2, false},
    {13, "linear", "tf_crop_and_resize", "round_prefer_floor", {4, {1, 3, 4, 5}}, {4, {1, 3, 8, 10}}, 2, true},
    {13, "cubic", "half_pixel", "round_prefer_floor", {4, {1, 3, 4, 5}}, {4, {1, 3, 8, 10}}, 2, true},
    {10, "nearest", NULL, NULL, {4, {1, 13, 4, 5}}, {4, {1, 13, 8, 10}}, 2, false},
    {10, "linear", NULL, NULL, {4, {1, 13, 4, 5}}, {4, {1, 13, 8, 10}}, 2, true},
    /* the scale given is not that of the sizes: 5 * 1.5 = 7.5 */
    {13, "linear", "half_pixel", "round_prefer_floor", {4, {1, 3, 5, 5}}, {4, {1, 3, 7, 7}}, 1.5f, true},
};

static void begin_resize(struct operator_test *test, const struct resize *resize)
{
    float *scales;
    bool old = resize->opset < 11;
    size_t rank = resize->shape.rank;

    operator_begin(test, LAYER_RESIZE, "Resize", resize->opset);
    operator_attribute(test, STRING("mode", resize->mode));
    if (resize->coordinates)
        operator_attribute(test, STRING("coordinate_transformation_mode", resize->coordinates));
    if (resize->nearest)
        operator_attribute(test, STRING("nearest_mode", resize->nearest));
    operator_input(test, resize->shape, 3);
    if (!old)
        operator_omitted(test);
    if (resize->scale == 0) { /* an empty tensor of scales is none */
        operator_constant(test, SHAPE(0), 1);
        operator_integers(test, resize->result.dims, rank);
        return;
    }
    scales = operator_constant(test, SHAPE((int64_t)rank), 1);
    for (size_t i = 0; i < rank; i++)
        scales[i] = i < 2 ? 1 : resize->scale;
}

/* What element `at` of an axis takes from the input: two neighbours and the weight of the second. */
static void neighbours(const struct resize *resize, size_t axis, int64_t at, int64_t *ret, double *ret_weight)
{
    double output = (double)resize->result.dims[axis], input = (double)resize->shape.dims[axis];
    double position = ((double)at + 0.5) * input / output - 0.5, rounded;
    bool asymmetric = !resize->coordinates || strcmp(resize->coordinates, "asymmetric") == 0;

    if (asymmetric)
        position = (double)at * input / output;
    if (strcmp(resize->mode, "nearest") == 0) {
        rounded = asymmetric                                           ? floor(position)
                  : strcmp(resize->nearest, "round_prefer_floor") == 0 ? ceil(position - 0.5)
                                                                       : floor(position + 0.5);
        ret[0] = ret[1] = (int64_t)fmin(fmax(rounded, 0), input - 1);
        *ret_weight = 0;
        return;
    }
    position = fmin(fmax(position, 0), input - 1);
    ret[0] = (int64_t)position;
    ret[1] = (int64_t)fmin((double)ret[0] + 1, input - 1);
    *ret_weight = position - (double)ret[0];
}

static double resized(const struct resize *resize, const float *x, const struct shape *position)
{
    double sum = 0;

    for (unsigned corner = 0; corner < 1u << resize->shape.rank; corner++) {
        double weight = 1;
        size_t index = 0;

        for (size_t i = 0; i < resize->shape.rank; i++) {
            int64_t near[2] = {position->dims[i], position->dims[i]};
            double second = 0;

            if (i >= 2)
                neighbours(resize, i, position->dims[i], near, &second);
            weight *= corner >> i & 1 ? second : 1 - second;
            index = index * (size_t)resize->shape.dims[i] + (size_t)near[corner >> i & 1];
        }
        sum += weight * (double)x[index];
    }
    return sum;
}

static void check_resize(const struct resize *resize)
{
    struct operator_test test;
    struct shape position;
    double *expected;

    begin_resize(&test, resize);
    if (resize->refused) {
        operator_refuse(&test);
        return;
    }
    expected = doubles(&resize->result);
    for (size_t at = 0; at < shape_elements(&resize->result); at++) {
        shape_position(&resize->result, at, &position);
        expected[at] = resized(resize, test.operands[0].values, &position);
    }
    operator_check(&test, &resize->result, expected, 4e-6);
}

static void resizing_is_computed_where_onednn_means_the_same(void **state)
{
    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(resizes); i++)
        check_resize(&resizes[i]);
}

static void resizing_of_some_axes_is_understood(void **state)
{
    static const int64_t axes[] = {-1, 2}, sizes[] = {10, 4}, batch[] = {0};
    struct resize resize = {18, "linear", "half_pixel", "floor", {4, {1, 5, 4, 5}}, {4, {1, 5, 4, 10}}, 0, false};
    struct operator_test test;
    struct shape position;
    double *expected = doubles(&resize.result);

    REQUIRE_ONEDNN();
    operator_begin(&test, LAYER_RESIZE, "Resize", 18);
    operator_attribute(&test, STRING("mode", "linear"));
    operator_attribute(&test, integers("axes", axes, 2));
    operator_input(&test, resize.shape, 3);
    operator_omitted(&test);
    operator_omitted(&test);
    operator_integers(&test, sizes, 2);
    for (size_t at = 0; at < shape_elements(&resize.result); at++) {
        shape_position(&resize.result, at, &position);
        expected[at] = resized(&resize, test.operands[0].values, &position);
    }
    operator_check(&test, &resize.result, expected, 4e-6);

    operator_begin(&test, LAYER_RESIZE, "Resize", 18); /* of the batch: not by oneDNN */
    operator_attribute(&test, STRING("mode", "linear"));
    operator_attribute(&test, integers("axes", batch, 1));
    operator_input(&test, resize.shape, 3);
    operator_omitted(&test);
    operator_omitted(&test);
    operator_integers(&test, sizes, 1);
    operator_refuse(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pooling_is_computed_in_every_layout),
        cmocka_unit_test(poolings_that_mean_something_else_to_onednn_have_no_tactics),
        cmocka_unit_test(response_is_normalized_across_channels),
        cmocka_unit_test(resizing_is_computed_where_onednn_means_the_same),
        cmocka_unit_test(resizing_of_some_axes_is_understood),
    };

    return cmocka_run_group_tests(tests, open_onednn, close_onednn);
}
