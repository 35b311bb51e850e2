/* Quantizers with other scales, more scales and more bits. */
#include <math.h>

#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/external/tensor.h"
#include "onnx/quantizer/refine.h"
#include "onnx/quantizer/quantizer.h"

enum { INPUT, WEIGHT, BIAS, QUANTIZERS };

/* Of x to float, then a Gemm with a stored weight of 2 columns, one of small values, and a stored bias. */
struct refined {
    struct made_model quantized_made, plain_made;
    struct model *model, *float_model;
    struct quantizers quantizers;
    struct quantizer_twins twins;
    struct quantizer_range ranges[QUANTIZERS];
    struct quantizer_knowledge knowledge;
    struct model *copy;
    struct quantizers after;
    bool has_microsoft;
};

static const float weight[] = {0.01F, 2, -0.02F, -4, 0.015F, 1, 0.005F, 3};
static const float input_scale = 0.5F, weight_scale = 0.5F, bias_scale = 0.125F; /* not their product */
static const int8_t stored_weight[] = {0, 4, 0, -8, 0, 2, 0, 6};
static const int32_t stored_bias[] = {80, -16};

static void add_operators(struct made_model *made, const char *inputs)
{
    made_node(made, "gemm", "Gemm", inputs, "g", NULL, 0);
    made_node(made, "relu", "Relu", "g", "y", NULL, 0);
    made_output(made, "y");
}

static void open_and_match(struct refined *refined, size_t count)
{
    refined->model = made_open(&refined->quantized_made);
    refined->float_model = made_open(&refined->plain_made);
    quantizers_find(refined->model, NULL, &refined->quantizers);
    quantizers_match(&refined->quantizers, refined->model, refined->float_model, &refined->twins);
    assert_int_equal(refined->quantizers.count, count);
    for (size_t i = 0; i < QUANTIZERS; i++)
        refined->ranges[i] = (struct quantizer_range){NAN, NAN};
    refined->knowledge = (struct quantizer_knowledge){.model = refined->model,
                                                      .quantizers = &refined->quantizers,
                                                      .twins = &refined->twins,
                                                      .ranges = refined->ranges};
}

static void init(struct refined *refined, int64_t opset)
{
    struct made_model *made = &refined->quantized_made, *plain = &refined->plain_made;
    static const uint8_t zero = 0;
    static const float bias[] = {10, -2};

    *refined = (struct refined){.has_microsoft = false};
    made_init(made, opset);
    made_input(made, "x", MADE_SHAPE(1, 4));
    made_tensor(made, "sx", DATA_FLOAT32, (struct shape){0}, &input_scale);
    made_tensor(made, "zx", DATA_UINT8, (struct shape){0}, &zero);
    made_tensor(made, "sw", DATA_FLOAT32, (struct shape){0}, &weight_scale);
    made_tensor(made, "sb", DATA_FLOAT32, (struct shape){0}, &bias_scale);
    made_tensor(made, "w_q", DATA_INT8, MADE_SHAPE(4, 2), stored_weight);
    made_tensor(made, "b_q", DATA_INT32, MADE_SHAPE(2), stored_bias);
    made_node(made, "copy", "Identity", "x", "xi", NULL, 0);
    made_node(made, "qx", "QuantizeLinear", "xi sx zx", "x_i", NULL, 0);
    made_node(made, "dx", "DequantizeLinear", "x_i sx zx", "x_d", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w_q sw", "w_d", NULL, 0);
    made_node(made, "db", "DequantizeLinear", "b_q sb", "b_d", NULL, 0);
    add_operators(made, "x_d w_d b_d");
    made_init(plain, opset);
    made_input(plain, "x", MADE_SHAPE(1, 4));
    made_tensor(plain, "w", DATA_FLOAT32, MADE_SHAPE(4, 2), weight);
    made_tensor(plain, "b", DATA_FLOAT32, MADE_SHAPE(2), bias);
    made_node(plain, "copy", "Identity", "x", "xi", NULL, 0);
    add_operators(plain, "xi w b");
    open_and_match(refined, QUANTIZERS);
    refined->ranges[INPUT] = (struct quantizer_range){-1, 51};
}

static void release(struct refined *refined)
{
    quantizers_release(&refined->after);
    model_free(refined->copy);
    quantizer_twins_release(&refined->twins);
    quantizers_release(&refined->quantizers);
    model_free(refined->float_model);
    model_free(refined->model);
    made_release(&refined->quantized_made);
    made_release(&refined->plain_made);
}

/* Refines, and finds the quantizers of what came of it: as many, in the same nodes. */
static void refine(struct refined *refined, enum quantizer_refinement input, enum quantizer_refinement weights)
{
    const enum quantizer_refinement how[QUANTIZERS] = {input, weights, REFINE_NOT};
    struct error err = {0};

    for (size_t i = 0; i < QUANTIZERS; i++)
        if (how[i] != REFINE_NOT)
            assert_null(quantizer_why_not_refined(&refined->knowledge, i, how[i]));
    refined->copy = model_copy(refined->model);
    if (quantizers_refine(refined->copy, &refined->knowledge, how, &refined->has_microsoft, &err) < 0)
        fail_msg("%s", err.message);
    quantizers_find(refined->copy, NULL, &refined->after);
    assert_int_equal(refined->after.count, refined->quantizers.count);
    for (size_t i = 0; i < refined->after.count; i++) {
        assert_null(refined->after.items[i].problem);
        assert_int_equal(refined->after.items[i].dequantize.items[0], refined->quantizers.items[i].dequantize.items[0]);
    }
}

static double scale_of(const struct refined *refined, size_t quantizer, size_t number)
{
    return (double)((const float *)refined->after.items[quantizer].scale.data)[number];
}

/* What is dequantized; returns how many values. */
static size_t restore(const struct refined *refined, size_t quantizer, float ret[8])
{
    const struct quantizer *it = &refined->after.items[quantizer];
    const struct initializer *stored =
        &refined->copy->initializers.items[refined->copy->values.items[it->integers].initializer];
    struct scale_layout layout;
    struct tensor integers;
    struct error err = {0};
    size_t count;

    assert_int_equal(external_tensor_read_constant(refined->copy, stored, &integers, &err), 0);
    assert_true(scale_layout_of(it, &integers.shape, &layout));
    count = tensor_elements(&integers);
    quantizer_restore_run(it, &layout, &integers, 0, count, ret);
    tensor_release(&integers);
    return count;
}

/* The largest difference of what is dequantized from these values. */
static double farthest(const struct refined *refined, size_t quantizer, const float *values)
{
    float restored[8];
    size_t count = restore(refined, quantizer, restored);
    double ret = 0;

    for (size_t i = 0; i < count; i++)
        ret = fmax(ret, fabs((double)(restored[i] - values[i])));
    return ret;
}

/* The range seen begins below 0, but the quantizer did not, maybe in place of a Relu. */
static void scales_are_those_of_the_values(void **state)
{
    static const float bias[] = {10, -2};
    struct refined refined;

    init(&refined, 13);
    refine(&refined, REFINE_FIT, REFINE_FIT);
    assert_float_equal((float)scale_of(&refined, INPUT, 0), (float)(51.0 / 255), 1e-6F);
    assert_int_equal(quantizer_zero_point(&refined.after.items[INPUT], 0), 0);
    assert_float_equal((float)scale_of(&refined, WEIGHT, 0), (float)(4.0 / 127), 1e-6F);
    assert_true(farthest(&refined, WEIGHT, weight) <= 4.0 / 127 / 2 + 1e-6F);
    assert_float_equal((float)scale_of(&refined, BIAS, 0), (float)(51.0 / 255 * 4 / 127), 1e-7F);
    assert_true(farthest(&refined, BIAS, bias) < 0.01);
    assert_false(refined.has_microsoft);
    release(&refined);
}

static void each_channel_has_a_scale_and_the_bias_follows(void **state)
{
    static const float bias[] = {10, -2};
    struct refined refined;

    init(&refined, 13);
    refine(&refined, REFINE_NOT, REFINE_PER_CHANNEL);
    assert_int_equal(refined.after.items[WEIGHT].axis, 1);
    assert_float_equal((float)scale_of(&refined, WEIGHT, 0), (float)(0.02 / 127), 1e-8F);
    assert_float_equal((float)scale_of(&refined, WEIGHT, 1), (float)(4.0 / 127), 1e-6F);
    assert_true(farthest(&refined, WEIGHT, weight) <= 4.0 / 127 / 2 + 1e-6F);
    assert_int_equal(refined.after.items[BIAS].axis, 0);
    assert_float_equal((float)scale_of(&refined, BIAS, 0), (float)(0.5 * 0.02 / 127), 1e-8F);
    assert_true(farthest(&refined, BIAS, bias) < 0.01);
    release(&refined);
}

static void sixteen_bits_have_the_same_range(void **state)
{
    for (int64_t opset = 13; opset <= 21; opset += 8) {
        struct refined refined;

        init(&refined, opset);
        refine(&refined, REFINE_16_BITS, REFINE_16_BITS);
        assert_int_equal(refined.after.items[INPUT].type, DATA_UINT16);
        assert_int_equal(refined.after.items[WEIGHT].type, DATA_INT16);
        assert_float_equal((float)scale_of(&refined, INPUT, 0), (float)(0.5 / 256), 0);
        assert_true(farthest(&refined, WEIGHT, weight) <= 0.5 / 256 / 2);
        assert_float_equal((float)scale_of(&refined, BIAS, 0), bias_scale, 0);
        assert_int_equal(refined.has_microsoft, opset < 21);
        release(&refined);
    }
}

static void a_bias_stays_as_long_as_its_product_does(void **state)
{
    struct refined refined;

    init(&refined, 13);
    refine(&refined, REFINE_NOT, REFINE_NOT);
    assert_float_equal((float)scale_of(&refined, BIAS, 0), bias_scale, 0);
    release(&refined);
}

/* With several scales of the input there is no product for all channels of the output. */
static void a_bias_stays_where_the_input_has_several_scales(void **state)
{
    static const float input_scales[] = {0.5F, 0.25F, 0.5F, 0.25F}, bias[] = {10, -2};
    struct refined refined = {.has_microsoft = false};
    struct made_model *made = &refined.quantized_made, *plain = &refined.plain_made;

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 4));
    made_tensor(made, "sx", DATA_FLOAT32, MADE_SHAPE(4), input_scales);
    made_tensor(made, "sw", DATA_FLOAT32, (struct shape){0}, &weight_scale);
    made_tensor(made, "sb", DATA_FLOAT32, (struct shape){0}, &bias_scale);
    made_tensor(made, "w_q", DATA_INT8, MADE_SHAPE(4, 2), stored_weight);
    made_tensor(made, "b_q", DATA_INT32, MADE_SHAPE(2), stored_bias);
    made_node(made, "qx", "QuantizeLinear", "x sx", "x_i", NULL, 0);
    made_node(made, "dx", "DequantizeLinear", "x_i sx", "x_d", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w_q sw", "w_d", NULL, 0);
    made_node(made, "db", "DequantizeLinear", "b_q sb", "b_d", NULL, 0);
    add_operators(made, "x_d w_d b_d");
    made_init(plain, 13);
    made_input(plain, "x", MADE_SHAPE(1, 4));
    made_tensor(plain, "w", DATA_FLOAT32, MADE_SHAPE(4, 2), weight);
    made_tensor(plain, "b", DATA_FLOAT32, MADE_SHAPE(2), bias);
    add_operators(plain, "x w b");
    open_and_match(&refined, QUANTIZERS);
    refine(&refined, REFINE_NOT, REFINE_FIT);
    assert_float_equal((float)scale_of(&refined, WEIGHT, 0), (float)(4.0 / 127), 1e-6F);
    assert_float_equal((float)scale_of(&refined, BIAS, 0), bias_scale, 0);
    release(&refined);
}

static void assert_why_not(const struct refined *refined, size_t quantizer, enum quantizer_refinement how,
                           const char *expected)
{
    const char *why_not = quantizer_why_not_refined(&refined->knowledge, quantizer, how);

    assert_non_null(why_not);
    assert_string_equal(why_not, expected);
}

static void what_cannot_be_refined_is_told(void **state)
{
    struct refined refined;

    init(&refined, 10);
    assert_why_not(&refined, WEIGHT, REFINE_PER_CHANNEL,
                   "only a weight with one scale gets one for each channel, from operator set 13 on");
    refined.ranges[INPUT].least = NAN;
    assert_why_not(&refined, INPUT, REFINE_FIT, "its float values are unknown");
    assert_why_not(&refined, INPUT, REFINE_PER_CHANNEL, "its float values are unknown");
    assert_why_not(&refined, BIAS, REFINE_16_BITS, "it is a bias, or not an integer type of 4 or 8 bits");
    refined.knowledge.twins = NULL;
    assert_why_not(&refined, WEIGHT, REFINE_16_BITS, "its float values are unknown");
    release(&refined);
}

/* Other scales are made of the values; finer steps are made of the old ones. */
static void a_scale_that_cannot_be_divided_is_made_anew(void **state)
{
    static const float denormal = 1e-42F;
    struct refined refined;

    init(&refined, 13);
    refined.quantizers.items[INPUT].scale.data = &denormal;
    assert_why_not(&refined, INPUT, REFINE_16_BITS, "its scale is too small to be divided, or not finite");
    refine(&refined, REFINE_FIT, REFINE_NOT);
    assert_float_equal((float)scale_of(&refined, INPUT, 0), (float)(51.0 / 255), 1e-6F);
    release(&refined);
}

/* A Gemm with a transposed weight in uint8, and zero points that are not 0. */
static void init_asymmetric(struct refined *refined)
{
    static const uint8_t weight_zero = 128, input_zero = 16, stored[] = {128, 128, 128, 128, 132, 120, 130, 255};
    static const float transposed[] = {0.01F, -0.02F, 0.015F, 0.005F, 2, -4, 1, 100};
    struct made_model *made = &refined->quantized_made, *plain = &refined->plain_made;

    *refined = (struct refined){.has_microsoft = false};
    made_init(made, 21);
    made_input(made, "x", MADE_SHAPE(1, 4));
    made_tensor(made, "s", DATA_FLOAT32, (struct shape){0}, &weight_scale);
    made_tensor(made, "zx", DATA_UINT8, (struct shape){0}, &input_zero);
    made_tensor(made, "zw", DATA_UINT8, (struct shape){0}, &weight_zero);
    made_tensor(made, "w_q", DATA_UINT8, MADE_SHAPE(2, 4), stored);
    made_node(made, "q", "QuantizeLinear", "x s zx", "i", NULL, 0);
    made_node(made, "d", "DequantizeLinear", "i s zx", "x_d", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w_q s zw", "w_d", NULL, 0);
    made_node(made, "gemm", "Gemm", "x_d w_d", "y", &INTEGER("transB", 1), 1);
    made_output(made, "y");
    made_init(plain, 21);
    made_input(plain, "x", MADE_SHAPE(1, 4));
    made_tensor(plain, "w", DATA_FLOAT32, MADE_SHAPE(2, 4), transposed);
    made_node(plain, "gemm", "Gemm", "x w", "y", &INTEGER("transB", 1), 1);
    made_output(plain, "y");
    open_and_match(refined, BIAS);
    refined->ranges[INPUT] = (struct quantizer_range){-1, 50};
}

static void zero_points_go_along(void **state)
{
    static const float transposed[] = {0.01F, -0.02F, 0.015F, 0.005F, 2, -4, 1, 100};
    struct refined refined;

    init_asymmetric(&refined);
    refine(&refined, REFINE_16_BITS, REFINE_16_BITS);
    assert_int_equal(quantizer_zero_point(&refined.after.items[INPUT], 0), 16 * 256);
    assert_float_equal((float)farthest(&refined, WEIGHT, transposed), 36, 0.01F); /* 100 is clipped as before */
    release(&refined);
    init_asymmetric(&refined);
    refine(&refined, REFINE_FIT, REFINE_PER_CHANNEL);
    assert_int_equal(quantizer_zero_point(&refined.after.items[INPUT], 0), 5); /* of 255 steps from -1 to 50 */
    assert_int_equal(refined.after.items[WEIGHT].axis, 0);
    assert_int_equal(quantizer_zero_point(&refined.after.items[WEIGHT], 1), 10); /* from -4 to 100 */
    assert_true(farthest(&refined, WEIGHT, transposed) <= 104.0 / 255);
    release(&refined);
}

/* A weight with zero point 0 in an unsigned type, whose negative values are lost: it does not do the work of a Relu.
 * NaN is taken for 0. */
static void negative_weights_get_a_range_that_has_them(void **state)
{
    static const float plain_weight[] = {-2, 4, NAN, 3}, scale = 0.5F;
    static const uint8_t zero = 0, stored[] = {0, 8, 0, 6};
    struct refined refined = {.has_microsoft = false};
    struct made_model *made = &refined.quantized_made, *plain = &refined.plain_made;
    float restored[8];

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2));
    made_tensor(made, "s", DATA_FLOAT32, (struct shape){0}, &scale);
    made_tensor(made, "z", DATA_UINT8, (struct shape){0}, &zero);
    made_tensor(made, "w_q", DATA_UINT8, MADE_SHAPE(2, 2), stored);
    made_node(made, "q", "QuantizeLinear", "x s z", "i", NULL, 0);
    made_node(made, "d", "DequantizeLinear", "i s z", "x_d", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w_q s z", "w_d", NULL, 0);
    made_node(made, "mm", "MatMul", "x_d w_d", "y", NULL, 0);
    made_output(made, "y");
    made_init(plain, 13);
    made_input(plain, "x", MADE_SHAPE(1, 2));
    made_tensor(plain, "w", DATA_FLOAT32, MADE_SHAPE(2, 2), plain_weight);
    made_node(plain, "mm", "MatMul", "x w", "y", NULL, 0);
    made_output(plain, "y");
    open_and_match(&refined, BIAS);
    refine(&refined, REFINE_NOT, REFINE_FIT);
    assert_int_equal(quantizer_zero_point(&refined.after.items[WEIGHT], 0), 85); /* of 255 steps from -2 to 4 */
    assert_true(farthest(&refined, WEIGHT, plain_weight) <= 6.0 / 255);
    restore(&refined, WEIGHT, restored);
    assert_float_equal(restored[2], 0, 0);
    release(&refined);
}

/* Which of its axes are output channels, a Transpose in between decides, and so none of them is taken. */
static void a_weight_that_is_moved_has_no_channels(void **state)
{
    static const float scale = 0.5F;
    static const int8_t stored[] = {1, 2, 3, 4, 5, 6};
    struct refined refined = {.has_microsoft = false};
    struct made_model *models[] = {&refined.quantized_made, &refined.plain_made};

    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        made_init(models[i], 13);
        made_input(models[i], "x", MADE_SHAPE(1, 3));
        made_tensor(models[i], "s", DATA_FLOAT32, (struct shape){0}, &scale);
        made_tensor(models[i], "w_q", DATA_INT8, MADE_SHAPE(2, 3), stored);
        made_constant(models[i], "w", MADE_SHAPE(2, 3), 0.5F, 3);
        if (i == 0)
            made_node(models[i], "dw", "DequantizeLinear", "w_q s", "w_d", NULL, 0);
        made_node(models[i], "t", "Transpose", i == 0 ? "w_d" : "w", "wt", NULL, 0);
        made_node(models[i], "mm", "MatMul", "x wt", "y", NULL, 0);
        made_output(models[i], "y");
    }
    open_and_match(&refined, 1);
    assert_null(quantizer_why_not_refined(&refined.knowledge, 0, REFINE_FIT));
    assert_why_not(&refined, 0, REFINE_PER_CHANNEL, "it has no output channels");
    release(&refined);
}

/* Blocks of 4 bits keep their type and get a scale each that spans their values. */
static void blocks_of_4_bits_get_scales_that_fit(void **state)
{
    static const float scales[] = {8, 8, 8, 8}, values[] = {0.7F, 1.4F, -0.3F, -2.8F, 7, 0.02F, 3, 0.07F};
    static const double largest[] = {0.7, 2.8, 7, 0.07}; /* blocks of two rows, in two columns */
    static const uint8_t stored[] = {0x21, 0x43, 0x65, 0x07};
    const struct node_attribute blocks[] = {INTEGER("axis", 0), INTEGER("block_size", 2)};

    for (int64_t opset = 20; opset <= 21; opset++) {
        struct refined refined = {.has_microsoft = false};
        struct made_model *models[] = {&refined.quantized_made, &refined.plain_made};

        for (size_t i = 0; i < ARRAY_LEN(models); i++) {
            made_init(models[i], opset);
            made_input(models[i], "x", MADE_SHAPE(1, 4));
            made_tensor(models[i], "s", DATA_FLOAT32, MADE_SHAPE(2, 2), scales);
            made_tensor(models[i], "w_q", DATA_INT4, MADE_SHAPE(4, 2), stored);
            made_tensor(models[i], "w", DATA_FLOAT32, MADE_SHAPE(4, 2), values);
            if (i == 0)
                made_node(models[i], "dw", "DequantizeLinear", "w_q s", "w_d", blocks, 2);
            made_node(models[i], "mm", "MatMul", i == 0 ? "x w_d" : "x w", "y", NULL, 0);
            made_output(models[i], "y");
        }
        open_and_match(&refined, 1);
        refined.twins.items[0].tensor =
            model_find_tensor(refined.float_model, TEXT("w")); /* unlike with these scales */
        if (opset < 21) {
            assert_why_not(&refined, 0, REFINE_FIT, "this operator set does not support blocks");
        } else {
            refine(&refined, REFINE_FIT, REFINE_NOT);
            assert_int_equal(refined.after.items[0].type, DATA_INT4);
            assert_int_equal(refined.after.items[0].block_size, 2);
            for (size_t i = 0; i < ARRAY_LEN(largest); i++)
                assert_float_equal((float)scale_of(&refined, 0, i), (float)(largest[i] / 7), 1e-6F);
            assert_true(farthest(&refined, 0, values) <= 0.5 + 1e-6); /* half of the largest scale */
        }
        release(&refined);
    }
}

/* Of groups, each has output channels of its own along the second axis. */
static void a_transposed_convolution_has_its_channels_behind(void **state)
{
    static const float scale = 0.5F;
    static const int8_t stored[8];

    for (int64_t groups = 1; groups <= 2; groups++) {
        struct refined refined = {.has_microsoft = false};
        struct made_model *models[] = {&refined.quantized_made, &refined.plain_made};

        for (size_t i = 0; i < ARRAY_LEN(models); i++) {
            made_init(models[i], 13);
            made_input(models[i], "x", MADE_SHAPE(1, 2, 4, 4));
            made_tensor(models[i], "s", DATA_FLOAT32, (struct shape){0}, &scale);
            made_tensor(models[i], "w_q", DATA_INT8, MADE_SHAPE(2, 4, 1, 1), stored);
            made_constant(models[i], "w", MADE_SHAPE(2, 4, 1, 1), -0.1F, 0.1F);
            if (i == 0)
                made_node(models[i], "dw", "DequantizeLinear", "w_q s", "w_d", NULL, 0);
            made_node(models[i], "ct", "ConvTranspose", i == 0 ? "x w_d" : "x w", "y", &INTEGER("group", groups), 1);
            made_output(models[i], "y");
        }
        open_and_match(&refined, 1);
        if (groups > 1) {
            assert_why_not(&refined, 0, REFINE_PER_CHANNEL, "it has no output channels");
        } else {
            const enum quantizer_refinement how[] = {REFINE_PER_CHANNEL};

            refined.copy = model_copy(refined.model);
            assert_int_equal(quantizers_refine(refined.copy, &refined.knowledge, how, NULL, NULL), 0);
            quantizers_find(refined.copy, NULL, &refined.after);
            assert_int_equal(refined.after.items[0].axis, 1);
        }
        release(&refined);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_are_those_of_the_values),
        cmocka_unit_test(each_channel_has_a_scale_and_the_bias_follows),
        cmocka_unit_test(sixteen_bits_have_the_same_range),
        cmocka_unit_test(a_bias_stays_as_long_as_its_product_does),
        cmocka_unit_test(a_bias_stays_where_the_input_has_several_scales),
        cmocka_unit_test(what_cannot_be_refined_is_told),
        cmocka_unit_test(a_scale_that_cannot_be_divided_is_made_anew),
        cmocka_unit_test(zero_points_go_along),
        cmocka_unit_test(negative_weights_get_a_range_that_has_them),
        cmocka_unit_test(a_weight_that_is_moved_has_no_channels),
        cmocka_unit_test(blocks_of_4_bits_get_scales_that_fit),
        cmocka_unit_test(a_transposed_convolution_has_its_channels_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
