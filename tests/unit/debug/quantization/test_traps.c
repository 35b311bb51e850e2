/* What is known to go wrong with quantized models is found where it is, and nowhere else. */
#include <math.h>

#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "base/memory.h"
#include "debug/quantization/traps.h"
#include "onnx/edit/model.h"

struct fixture {
    struct made_model made;
    struct quantization_subject subject;
    struct quantization_rewriting rewriting; /* not known */
    struct quantization_traps traps;
};

static void add_scalar(struct made_model *made, const char *name, enum data_type type, const void *value)
{
    made_tensor(made, name, type, (struct shape){0}, value);
}

static void add_scale(struct made_model *made, const char *name, float scale)
{
    add_scalar(made, name, DATA_FLOAT32, &scale);
}

static void add_zero_point(struct made_model *made, const char *name, enum data_type type, int8_t value)
{
    add_scalar(made, name, type, &value);
}

/* x in `type`, times a weight in int8 with a zero point, plus a bias with a scale: y, which is quantized and then goes
 * through a Relu. */
static void add_layers(struct fixture *fixture, enum data_type type, float scale, int8_t weight_zero_point,
                       float bias_scale)
{
    struct made_model *made = &fixture->made;
    const int8_t weight[] = {1, 2, 3, 100};
    const int32_t bias[] = {5, 6};

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2));
    add_scale(made, "xs", scale);
    add_zero_point(made, "xz", type, 0);
    made_tensor(made, "w", DATA_INT8, MADE_SHAPE(2, 2), weight);
    add_scale(made, "ws", 0.5F);
    add_zero_point(made, "wz", DATA_INT8, weight_zero_point);
    made_tensor(made, "b", DATA_INT32, MADE_SHAPE(2), bias);
    add_scale(made, "bs", bias_scale);
    add_zero_point(made, "yz", DATA_INT8, 0);
    made_node(made, "q", "QuantizeLinear", "x xs xz", "xi", NULL, 0);
    made_node(made, "d", "DequantizeLinear", "xi xs xz", "xd", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w ws wz", "wd", NULL, 0);
    made_node(made, "db", "DequantizeLinear", "b bs", "bd", NULL, 0);
    made_node(made, "gemm", "Gemm", "xd wd bd", "g", NULL, 0);
    made_node(made, "qg", "QuantizeLinear", "g ws yz", "gi", NULL, 0);
    made_node(made, "dg", "DequantizeLinear", "gi ws yz", "gd", NULL, 0);
    made_node(made, "relu", "Relu", "gd", "y", NULL, 0);
    made_output(made, "y");
}

static void open_and_find(struct fixture *fixture)
{
    struct error err = {0};

    fixture->subject = (struct quantization_subject){.model = made_open(&fixture->made)};
    if (model_lower_constants(fixture->subject.model, &err) < 0)
        fail_msg("%s", err.message);
    quantizers_find(fixture->subject.model, NULL, &fixture->subject.quantizers);
}

static void make(struct fixture *fixture, enum data_type type, float scale, int8_t weight_zero_point, float bias_scale)
{
    add_layers(fixture, type, scale, weight_zero_point, bias_scale);
    open_and_find(fixture);
}

/* "bias-scale: b; ..." */
static void assert_traps(struct fixture *fixture, bool saturates, const char *expected)
{
    struct string_builder text;

    quantization_traps_find(&fixture->subject, saturates, &fixture->rewriting, &fixture->traps);
    string_init(&text);
    string_add(&text, "");
    for (size_t i = 0; i < fixture->traps.list.count; i++) {
        const struct quantization_trap *trap = &fixture->traps.list.items[i];

        string_add_format(&text, "%s:", trap->key);
        for (size_t k = 0; k < trap->quantizers.count; k++)
            string_add_format(&text, " %s", fixture->subject.quantizers.items[trap->quantizers.items[k]].name);
        string_add(&text, "; ");
    }
    assert_string_equal(text.data, expected);
    string_release(&text);
    quantization_traps_release(&fixture->traps);
}

static void release(struct fixture *fixture)
{
    quantizers_release(&fixture->subject.quantizers);
    model_free(fixture->subject.model);
    made_release(&fixture->made);
}

static void what_is_as_it_should_be_is_no_trap(void **state)
{
    struct fixture fixture = {0};

    make(&fixture, DATA_INT8, 0.25F, 0, 0.125F);
    assert_traps(&fixture, true, "prevents-fusion: g; ");
    release(&fixture);
}

static void a_bias_of_another_scale_is_one(void **state)
{
    struct fixture fixture = {0};

    make(&fixture, DATA_INT8, 0.25F, 0, 0.126F);
    assert_traps(&fixture, true, "bias-scale: b; prevents-fusion: g; ");
    release(&fixture);
}

/* What others read as well, on either side of the quantizer, is not fused anyway. */
static void a_quantizer_prevents_no_fusion_of_what_others_read(void **state)
{
    static const struct {
        const char *read, *output; /* another reader, another output */
    } cases[] = {{"g", "z"}, {"gd", "z"}, {NULL, "gd"}, {NULL, "g"}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture fixture = {0};

        add_layers(&fixture, DATA_INT8, 0.25F, 0, 0.125F);
        if (cases[i].read != NULL)
            made_node(&fixture.made, "other", "Neg", cases[i].read, "z", NULL, 0);
        made_output(&fixture.made, cases[i].output);
        open_and_find(&fixture);
        assert_traps(&fixture, true, "");
        release(&fixture);
    }
}

static void only_products_saturate(void **state)
{
    struct fixture fixture = {0};
    struct made_model *made = &fixture.made;
    const int8_t weight[] = {1, 2};

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2));
    made_tensor(made, "w", DATA_INT8, MADE_SHAPE(2), weight);
    add_scale(made, "s", 0.5F);
    made_node(made, "q", "QuantizeLinear", "x s", "xi", NULL, 0);
    made_node(made, "d", "DequantizeLinear", "xi s", "xd", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w s", "wd", NULL, 0);
    made_node(made, "sum", "Add", "xd wd", "y", NULL, 0);
    made_output(made, "y");
    open_and_find(&fixture);
    assert_traps(&fixture, true, "asymmetric-activation: x; ");
    release(&fixture);
}

/* One of another type can be. */
static void a_zero_point_that_the_type_has_not_is_out_of_range(void **state)
{
    struct fixture fixture = {0};
    struct made_model *made = &fixture.made;

    made_init(made, 21);
    made_input(made, "x", MADE_SHAPE(1, 2));
    add_scale(made, "s", 0.5F);
    add_zero_point(made, "z", DATA_INT8, -3);
    made_node(made, "q", "QuantizeLinear", "x s z", "i", &INTEGER("output_dtype", DATA_UINT8), 1);
    made_node(made, "d", "DequantizeLinear", "i s z", "y", NULL, 0);
    made_output(made, "y");
    open_and_find(&fixture);
    assert_traps(&fixture, true, "zero-point-out-of-range: x; asymmetric-activation: x; ");
    release(&fixture);
}

/* Of 3 scales for 2 outputs nothing is compared. */
static void scales_that_do_not_go_together_are_not_compared(void **state)
{
    static const float weight_scales[] = {0.5F, 0.25F}, bias_scales[] = {0.25F, 0.125F, 1};
    static const int8_t weight[4];
    static const int32_t bias[3];
    struct fixture fixture = {0};
    struct made_model *made = &fixture.made;

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2));
    made_tensor(made, "w", DATA_INT8, MADE_SHAPE(2, 2), weight);
    made_tensor(made, "ws", DATA_FLOAT32, MADE_SHAPE(2), weight_scales);
    made_tensor(made, "b", DATA_INT32, MADE_SHAPE(3), bias);
    made_tensor(made, "bs", DATA_FLOAT32, MADE_SHAPE(3), bias_scales);
    add_scale(made, "s", 0.5F);
    add_zero_point(made, "z", DATA_INT8, 0);
    made_node(made, "q", "QuantizeLinear", "x s z", "xi", NULL, 0);
    made_node(made, "d", "DequantizeLinear", "xi s z", "xd", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w ws", "wd", NULL, 0);
    made_node(made, "db", "DequantizeLinear", "b bs", "bd", &INTEGER("axis", 0), 1);
    made_node(made, "gemm", "Gemm", "xd wd bd", "y", NULL, 0);
    made_output(made, "y");
    open_and_find(&fixture);
    assert_traps(&fixture, false, "");
    release(&fixture);
}

/* A normalization adds its bias in float. */
static void a_bias_of_no_product_may_have_any_scale(void **state)
{
    struct fixture fixture = {0};
    struct made_model *made = &fixture.made;
    const int8_t weight[] = {1, 2};
    const int32_t bias[] = {5, 6};

    made_init(made, 17);
    made_input(made, "x", MADE_SHAPE(1, 2));
    made_tensor(made, "w", DATA_INT8, MADE_SHAPE(2), weight);
    made_tensor(made, "b", DATA_INT32, MADE_SHAPE(2), bias);
    add_scale(made, "s", 0.5F);
    add_zero_point(made, "z", DATA_INT8, 0);
    made_node(made, "q", "QuantizeLinear", "x s z", "xi", NULL, 0);
    made_node(made, "d", "DequantizeLinear", "xi s z", "xd", NULL, 0);
    made_node(made, "dw", "DequantizeLinear", "w s z", "wd", NULL, 0);
    made_node(made, "db", "DequantizeLinear", "b s", "bd", NULL, 0);
    made_node(made, "norm", "LayerNormalization", "xd wd bd", "y", NULL, 0);
    made_output(made, "y");
    open_and_find(&fixture);
    assert_int_equal(fixture.subject.quantizers.items[2].role, QUANTIZER_BIAS);
    assert_traps(&fixture, true, "");
    release(&fixture);
}

static void unsigned_activations_saturate_where_the_processor_does(void **state)
{
    struct fixture fixture = {0};

    make(&fixture, DATA_UINT8, 0.25F, 0, 0.125F);
    assert_traps(&fixture, true, "saturation: w; prevents-fusion: g; asymmetric-activation: x; ");
    assert_traps(&fixture, false, "prevents-fusion: g; asymmetric-activation: x; ");
    release(&fixture);
}

/* 255 * 64 * 2 is less than 32768, and 255 * 65 * 2 is not. */
static void weights_of_7_bits_do_not_saturate(void **state)
{
    static const struct {
        int8_t largest;
        bool saturates;
    } cases[] = {{64, false}, {-64, false}, {65, true}, {-65, true}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture fixture = {0};
        struct made_model *made = &fixture.made;
        const int8_t weight[] = {1, 2, cases[i].largest, 4};

        made_init(made, 13);
        made_input(made, "x", MADE_SHAPE(1, 2));
        made_tensor(made, "w", DATA_INT8, MADE_SHAPE(2, 2), weight);
        add_scale(made, "s", 0.5F);
        made_node(made, "q", "QuantizeLinear", "x s", "xi", NULL, 0);
        made_node(made, "d", "DequantizeLinear", "xi s", "xd", NULL, 0);
        made_node(made, "dw", "DequantizeLinear", "w s", "wd", NULL, 0);
        made_node(made, "mm", "MatMul", "xd wd", "y", NULL, 0);
        made_output(made, "y");
        open_and_find(&fixture);
        assert_traps(&fixture, true,
                     cases[i].saturates ? "saturation: w; asymmetric-activation: x; " : "asymmetric-activation: x; ");
        release(&fixture);
    }
}

static void weights_without_a_sign_are_asymmetric(void **state)
{
    static const enum data_type types[] = {DATA_UINT4, DATA_UINT8, DATA_UINT16};
    static const uint16_t weight[4];

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct fixture fixture = {0};
        struct made_model *made = &fixture.made;

        made_init(made, 21);
        made_input(made, "x", MADE_SHAPE(1, 2));
        made_tensor(made, "w", types[i], MADE_SHAPE(2, 2), weight);
        add_scale(made, "s", 0.5F);
        made_node(made, "dw", "DequantizeLinear", "w s", "wd", NULL, 0);
        made_node(made, "mm", "MatMul", "x wd", "y", NULL, 0);
        made_output(made, "y");
        open_and_find(&fixture);
        assert_traps(&fixture, false, "asymmetric-weight: w; ");
        release(&fixture);
    }
}

static void a_weight_with_a_zero_point_is_asymmetric(void **state)
{
    struct fixture fixture = {0};

    make(&fixture, DATA_INT8, 0.25F, 3, 0.125F);
    assert_traps(&fixture, false, "prevents-fusion: g; asymmetric-weight: w; ");
    release(&fixture);
}

static void scales_that_lose_everything_are_bad(void **state)
{
    const float scales[] = {0, -1, 1e-40F, INFINITY, NAN};

    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        struct fixture fixture = {0};

        make(&fixture, DATA_INT8, scales[i], 0, 0.125F);
        quantization_traps_find(&fixture.subject, false, &fixture.rewriting, &fixture.traps);
        assert_true(fixture.traps.list.count > 0);
        assert_string_equal(fixture.traps.list.items[0].key, "bad-scale");
        quantization_traps_release(&fixture.traps);
        release(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_as_it_should_be_is_no_trap),
        cmocka_unit_test(a_bias_of_another_scale_is_one),
        cmocka_unit_test(a_quantizer_prevents_no_fusion_of_what_others_read),
        cmocka_unit_test(only_products_saturate),
        cmocka_unit_test(a_zero_point_that_the_type_has_not_is_out_of_range),
        cmocka_unit_test(scales_that_do_not_go_together_are_not_compared),
        cmocka_unit_test(a_bias_of_no_product_may_have_any_scale),
        cmocka_unit_test(unsigned_activations_saturate_where_the_processor_does),
        cmocka_unit_test(weights_of_7_bits_do_not_saturate),
        cmocka_unit_test(weights_without_a_sign_are_asymmetric),
        cmocka_unit_test(a_weight_with_a_zero_point_is_asymmetric),
        cmocka_unit_test(scales_that_lose_everything_are_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
