/* Every tactic that oneDNN has for convolutions and transposed convolutions, against sums in float64. */
#include "support/operator_test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define SPATIAL 3

struct geometry {
    int64_t batch, channels, outputs, groups; /* outputs: channels of the result */
    size_t rank;                              /* of the spatial dimensions */
    int64_t size[SPATIAL], kernel[SPATIAL];
    int64_t strides[SPATIAL], dilations[SPATIAL];       /* 0: attribute left out */
    int64_t pads[2 * SPATIAL], output_padding[SPATIAL]; /* likewise, when all are 0 */
    const char *auto_pad;
};

/* What the test adds to the convolution. */
enum extra { BIAS = 1, RUNTIME_WEIGHTS = 2, RELU = 4, ADD = 8, ADD_CHANNEL = 16 };

static int64_t at_least_1(int64_t value)
{
    return value > 0 ? value : 1;
}

/* Where the result's window begins, and how large the result is, as ONNX says. */
static void find_result(const struct geometry *g, bool transposed, int64_t *ret_before, struct shape *ret)
{
    *ret = SHAPE(g->batch, g->outputs);
    for (size_t i = 0; i < g->rank; i++) {
        int64_t stride = at_least_1(g->strides[i]), reach = (g->kernel[i] - 1) * at_least_1(g->dilations[i]) + 1;
        int64_t before = g->pads[i], after = g->pads[g->rank + i];

        if (g->auto_pad && strncmp(g->auto_pad, "SAME", 4) == 0) {
            int64_t all = (int64_t)ceil((double)g->size[i] / (double)stride) * stride - stride + reach - g->size[i];

            all = all > 0 ? all : 0;
            before = strcmp(g->auto_pad, "SAME_UPPER") == 0 ? all / 2 : (all + 1) / 2;
            after = all - before;
        }
        ret_before[i] = before;
        ret->dims[ret->rank++] = transposed ? (g->size[i] - 1) * stride + g->output_padding[i] + reach - before - after
                                            : (g->size[i] + before + after - reach) / stride + 1;
    }
}

/* The row-major number of a place given by two leading coordinates and spatial ones. */
static size_t place(int64_t first, int64_t second, int64_t seconds, const int64_t *at, const int64_t *size, size_t rank)
{
    int64_t number = first * seconds + second;

    for (size_t i = 0; i < rank; i++)
        number = number * size[i] + at[i];
    return (size_t)number;
}

static bool next_place(int64_t *at, const int64_t *size, size_t rank)
{
    for (size_t i = rank; i-- > 0;) {
        if (++at[i] < size[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* Adds all products of one group, one batch element, and one pair of channels to `sums`. */
static void add_pair(const struct geometry *g, bool transposed, const int64_t *before, const struct shape *result,
                     const float *input, const float *weights, double *sums)
{
    int64_t at[SPATIAL] = {0}, tap[SPATIAL] = {0}, to[SPATIAL];
    const int64_t *bound = transposed ? g->size : result->dims + 2, *inside = transposed ? result->dims + 2 : g->size;

    do {
        do {
            bool is_inside = true;

            for (size_t i = 0; i < g->rank; i++) {
                to[i] = at[i] * at_least_1(g->strides[i]) + tap[i] * at_least_1(g->dilations[i]) - before[i];
                is_inside = is_inside && to[i] >= 0 && to[i] < inside[i];
            }
            if (!is_inside)
                continue;
            size_t near = place(0, 0, 1, at, bound, g->rank), far = place(0, 0, 1, to, inside, g->rank);
            sums[transposed ? far : near] +=
                (double)input[transposed ? near : far] * (double)weights[place(0, 0, 1, tap, g->kernel, g->rank)];
        } while (next_place(tap, g->kernel, g->rank));
    } while (next_place(at, bound, g->rank));
}

static void convolve(const struct geometry *g, bool transposed, const int64_t *before, const struct shape *result,
                     const float *input, const float *weights, double *sums)
{
    int64_t in_group = g->channels / g->groups, out_group = g->outputs / g->groups;
    size_t inputs = 1, results = 1, taps = 1;

    for (size_t i = 0; i < g->rank; i++) {
        inputs *= (size_t)g->size[i];
        results *= (size_t)result->dims[2 + i];
        taps *= (size_t)g->kernel[i];
    }
    for (int64_t n = 0; n < g->batch; n++)
        for (int64_t o = 0; o < g->outputs; o++)
            for (int64_t c = 0; c < in_group; c++) {
                int64_t channel = o / out_group * in_group + c;
                int64_t pair = transposed ? channel * out_group + o % out_group : o * in_group + c;

                add_pair(g, transposed, before, result, input + (size_t)(n * g->channels + channel) * inputs,
                         weights + (size_t)pair * taps, sums + (size_t)(n * g->outputs + o) * results);
            }
}

static void add_attributes(struct operator_test *test, const struct geometry *g)
{
    if (g->groups != 1)
        operator_attribute(test, INTEGER("group", g->groups));
    if (g->strides[0])
        operator_attribute(test, integers("strides", g->strides, g->rank));
    if (g->dilations[0])
        operator_attribute(test, integers("dilations", g->dilations, g->rank));
    for (size_t i = 0; i < 2 * g->rank; i++)
        if (g->pads[i] > 0) {
            operator_attribute(test, integers("pads", g->pads, 2 * g->rank));
            break;
        }
    if (g->output_padding[0])
        operator_attribute(test, integers("output_padding", g->output_padding, g->rank));
    if (g->auto_pad)
        operator_attribute(test, STRING("auto_pad", g->auto_pad));
}

/* What comes behind the convolution. Operands were added in this order: bias, what is added. */
static void finish(const struct operator_test *test, const struct shape *result, unsigned extras, double *values)
{
    size_t count = shape_elements(result), plane = count / (size_t)(result->dims[0] * result->dims[1]);
    const float *bias = test->operands[2].values, *added = test->operands[test->operand_count - 1].values;

    for (size_t i = 0; i < count; i++) {
        size_t channel = i / plane % (size_t)result->dims[1];

        if (extras & BIAS)
            values[i] += (double)bias[channel];
        if (extras & ADD)
            values[i] += (double)added[i];
        if (extras & ADD_CHANNEL)
            values[i] += (double)added[channel];
        if (extras & RELU)
            values[i] = fmax(values[i], 0.0);
    }
}

/* Sums have some hundred terms of up to 1; what Winograd's algorithm loses has to fit into the tolerance, too. */
static void check(struct geometry g, bool transposed, unsigned extras)
{
    struct operator_test test;
    struct shape result,
        weights = transposed ? SHAPE(g.channels, g.outputs / g.groups) : SHAPE(g.outputs, g.channels / g.groups);
    struct shape input = SHAPE(g.batch, g.channels), per_channel = SHAPE(1, g.outputs);
    int64_t before[SPATIAL];
    double *expected;

    for (size_t i = 0; i < g.rank; i++) {
        input.dims[input.rank++] = g.size[i];
        weights.dims[weights.rank++] = g.kernel[i];
        per_channel.dims[per_channel.rank++] = 1;
    }
    operator_begin(&test, transposed ? LAYER_DECONVOLUTION : LAYER_CONVOLUTION, transposed ? "ConvTranspose" : "Conv",
                   11);
    add_attributes(&test, &g);
    operator_input(&test, input, 1.0f);
    if (extras & RUNTIME_WEIGHTS)
        operator_input(&test, weights, 1.0f);
    else
        operator_constant(&test, weights, 1.0f);
    find_result(&g, transposed, before, &result);
    if (extras & BIAS)
        operator_constant(&test, SHAPE(g.outputs), 1.0f);
    if (extras & ADD)
        operator_input(&test, result, 1.0f);
    if (extras & ADD_CHANNEL)
        operator_constant(&test, per_channel, 1.0f);
    test.adds = (extras & (ADD | ADD_CHANNEL)) != 0;
    test.fused = extras & RELU ? ACTIVATION_RELU : ACTIVATION_NONE;
    expected = doubles(&result);
    convolve(&g, transposed, before, &result, test.operands[0].values, test.operands[1].values, expected);
    finish(&test, &result, extras, expected);
    operator_check(&test, &result, expected, 1e-4);
}

/* ---- convolutions ---- */

static void every_tactic_of_a_convolution_gives_its_sums(void **state)
{
    static const struct geometry geometries[] = {
        {2, 16, 32, 1, 2, {9, 11}, {3, 3}, .pads = {1, 1, 1, 1}}, /* Winograd, too */
        {1, 64, 64, 1, 2, {14, 14}, {3, 3}, .pads = {1, 1, 1, 1}},
        {1, 3, 16, 1, 2, {20, 17}, {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}}, /* few channels */
        {1, 32, 48, 1, 2, {7, 7}, {1, 1}, .auto_pad = NULL},
        {2, 64, 128, 1, 2, {8, 8}, {1, 1}, .strides = {2, 2}},
        {1, 16, 16, 1, 2, {12, 12}, {3, 3}, .dilations = {2, 3}, .pads = {2, 3, 2, 3}},
        {1, 8, 8, 1, 2, {6, 5}, {3, 2}, .pads = {0, 1, 2, 0}}, /* asymmetric */
        {2, 16, 24, 1, 1, {30}, {5}, .strides = {2}, .pads = {2, 2}},
        {1, 16, 16, 1, 3, {5, 6, 4}, {3, 3, 3}, .pads = {1, 1, 1, 1, 1, 1}},
        {1, 1, 1, 1, 2, {5, 5}, {3, 3}, .auto_pad = NULL},
    };

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(geometries); i++)
        check(geometries[i], false, i % 2 ? 0 : BIAS);
}

static void channels_that_do_not_fill_a_block_are_padded_with_zeros(void **state)
{
    static const struct geometry geometries[] = {
        {1, 5, 7, 1, 2, {9, 9}, {3, 3}, .pads = {1, 1, 1, 1}},
        {2, 17, 33, 1, 2, {6, 7}, {3, 3}, .pads = {1, 1, 1, 1}},
        {1, 20, 30, 1, 2, {5, 5}, {1, 1}, .auto_pad = NULL},
        {1, 1, 20, 1, 2, {8, 8}, {5, 5}, .pads = {2, 2, 2, 2}},
    };

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(geometries); i++)
        check(geometries[i], false, BIAS | RELU);
}

static void groups_and_depthwise_convolutions_are_right(void **state)
{
    static const struct geometry geometries[] = {
        {1, 32, 32, 2, 2, {8, 8}, {3, 3}, .pads = {1, 1, 1, 1}},
        {1, 12, 18, 3, 2, {7, 7}, {3, 3}, .auto_pad = NULL},
        {2, 32, 32, 32, 2, {9, 9}, {3, 3}, .pads = {1, 1, 1, 1}},
        {1, 19, 19, 19, 2, {9, 9}, {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}},
        {1, 8, 16, 8, 2, {6, 6}, {3, 3}, .pads = {1, 1, 1, 1}},
        {1, 16, 16, 4, 1, {12}, {3}, .auto_pad = NULL},
    };

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(geometries); i++)
        check(geometries[i], false, i % 2 ? BIAS : 0);
}

static void automatic_padding_is_that_of_onnx(void **state)
{
    static const struct geometry geometries[] = {
        {1, 16, 16, 1, 2, {7, 8}, {3, 4}, .strides = {2, 2}, .auto_pad = "SAME_UPPER"},
        {1, 16, 16, 1, 2, {7, 8}, {3, 4}, .strides = {2, 2}, .auto_pad = "SAME_LOWER"},
        {1, 16, 16, 1, 2, {7, 8}, {3, 4}, .auto_pad = "VALID"},
        {1, 16, 16, 1, 2, {7, 8}, {3, 4}, .auto_pad = "NOTSET"},
    };

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(geometries); i++)
        check(geometries[i], false, 0);
}

static void a_bias_an_addition_and_an_activation_are_fused(void **state)
{
    static const struct geometry three = {2, 32, 32, 1, 2, {8, 8}, {3, 3}, .pads = {1, 1, 1, 1}};
    static const struct geometry odd = {1, 6, 10, 1, 2, {7, 5}, {1, 1}, .auto_pad = NULL};

    REQUIRE_ONEDNN();
    for (unsigned extras = 0; extras < 8; extras++) {
        unsigned some = (extras & 1 ? BIAS : 0) | (extras & 2 ? RELU : 0) | (extras & 4 ? ADD_CHANNEL : ADD);

        check(three, false, some);
        check(odd, false, some);
    }
}

static void weights_may_come_at_run_time(void **state)
{
    REQUIRE_ONEDNN();
    check((struct geometry){1, 16, 16, 1, 2, {7, 7}, {3, 3}, .auto_pad = NULL}, false, RUNTIME_WEIGHTS);
    check((struct geometry){1, 16, 16, 2, 2, {7, 7}, {3, 3}, .auto_pad = NULL}, false, RUNTIME_WEIGHTS | BIAS);
}

/* ---- transposed convolutions ---- */

static void every_tactic_of_a_transposed_convolution_gives_its_sums(void **state)
{
    static const struct geometry geometries[] = {
        {1, 16, 32, 1, 2, {5, 6}, {3, 3}, .auto_pad = NULL},
        {2, 16, 16, 1, 2, {5, 6}, {4, 4}, .strides = {2, 2}, .pads = {1, 1, 1, 1}},
        {1, 5, 7, 1, 2, {5, 4}, {3, 3}, .strides = {3, 2}, .output_padding = {1, 1}},
        {1, 16, 16, 1, 2, {6, 6}, {3, 3}, .dilations = {2, 2}, .pads = {1, 0, 0, 2}},
        {1, 8, 12, 4, 2, {5, 5}, {3, 3}, .strides = {2, 2}},
        {1, 16, 8, 1, 1, {9}, {4}, .strides = {2}},
        {1, 4, 4, 1, 3, {3, 4, 3}, {2, 2, 2}, .strides = {2, 2, 2}},
    };

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(geometries); i++)
        check(geometries[i], true, i % 2 ? 0 : BIAS);
}

/* ---- what is left to others ---- */

static void what_onednn_cannot_say_has_no_tactics(void **state)
{
    static const int64_t size[] = {11, 11}, negative[] = {-1, 0, 0, 0}, one[] = {1};
    struct node_attribute bad[] = {integers("pads", negative, 4), integers("strides", one, 1), INTEGER("group", 3),
                                   STRING("auto_pad", "WHATEVER")};
    struct operator_test test;

    REQUIRE_ONEDNN();
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        operator_begin(&test, LAYER_CONVOLUTION, "Conv", 11);
        operator_attribute(&test, bad[i]);
        operator_input(&test, SHAPE(1, 4, 5, 5), 1.0f);
        operator_constant(&test, SHAPE(4, 4, 3, 3), 1.0f);
        operator_refuse(&test);
    }
    operator_begin(&test, LAYER_DECONVOLUTION, "ConvTranspose", 11);
    operator_attribute(&test, integers("output_shape", size, 2));
    operator_input(&test, SHAPE(1, 4, 5, 5), 1.0f);
    operator_constant(&test, SHAPE(4, 4, 3, 3), 1.0f);
    operator_refuse(&test);
}

static void types_other_than_float32_have_no_tactics(void **state)
{
    struct operator_test test;

    REQUIRE_ONEDNN();
    operator_begin(&test, LAYER_CONVOLUTION, "Conv", 11);
    operator_operand(&test, DATA_FLOAT64, SHAPE(1, 4, 5, 5));
    operator_operand(&test, DATA_FLOAT64, SHAPE(4, 4, 3, 3));
    operator_refuse(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tactic_of_a_convolution_gives_its_sums),
        cmocka_unit_test(channels_that_do_not_fill_a_block_are_padded_with_zeros),
        cmocka_unit_test(groups_and_depthwise_convolutions_are_right),
        cmocka_unit_test(automatic_padding_is_that_of_onnx),
        cmocka_unit_test(a_bias_an_addition_and_an_activation_are_fused),
        cmocka_unit_test(weights_may_come_at_run_time),
        cmocka_unit_test(every_tactic_of_a_transposed_convolution_gives_its_sums),
        cmocka_unit_test(what_onednn_cannot_say_has_no_tactics),
        cmocka_unit_test(types_other_than_float32_have_no_tactics),
    };

    return cmocka_run_group_tests(tests, open_onednn, close_onednn);
}
