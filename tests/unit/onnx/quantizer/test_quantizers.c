/* Which quantizers a model has, what they do, and what is wrong with them. */
#include <math.h>
#include <stdio.h>

#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "onnx/edit/model.h"
#include "onnx/quantizer/quantizers.h"

struct found {
    struct made_model made;
    struct model *model;
    struct quantizers quantizers;
};

static void find(struct found *found)
{
    struct error err = {0};

    found->model = made_open(&found->made);
    if (model_lower_constants(found->model, &err) < 0)
        fail_msg("%s", err.message);
    quantizers_find(found->model, NULL, &found->quantizers);
}

static void release(struct found *found)
{
    quantizers_release(&found->quantizers);
    model_free(found->model);
    made_release(&found->made);
}

static void add_scale(struct made_model *made, const char *name, float scale)
{
    made_tensor(made, name, DATA_FLOAT32, (struct shape){0}, &scale);
}

static void add_scales(struct made_model *made, const char *name, struct shape shape, float first)
{
    float scales[16];

    for (size_t i = 0; i < shape_elements(&shape); i++)
        scales[i] = first * (float)(i + 1);
    made_tensor(made, name, DATA_FLOAT32, shape, scales);
}

static void add_integers(struct made_model *made, const char *name, enum data_type type, struct shape shape)
{
    uint8_t bytes[256];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    assert_true(tensor_bytes(type, shape_elements(&shape)) <= sizeof(bytes));
    made_tensor(made, name, type, shape, bytes);
}

static void add_zero(struct made_model *made, const char *name, enum data_type type)
{
    add_integers(made, name, type, (struct shape){0}); /* its only byte is 0 */
}

/* "x pair activation uint8 axis -1 -> conv:0": one line for each quantizer. */
static void assert_quantizers(const struct found *found, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    for (size_t i = 0; i < found->quantizers.count; i++) {
        const struct quantizer *q = &found->quantizers.items[i];

        string_add_format(&text, "%s %s %s %s", q->name, quantizer_form_name(q->form), quantizer_role_name(q->role),
                          data_type_name(q->type));
        if (q->axis >= 0)
            string_add_format(&text, " axis %d", (int)q->axis);
        if (q->block_size > 0)
            string_add_format(&text, " blocks of %d", (int)q->block_size);
        if (q->dynamic)
            string_add(&text, " dynamic");
        if (q->reader != NODE_NONE)
            string_add_format(&text, " -> %s:%u", model_node_label(found->model, q->reader), q->reader_input);
        string_add(&text, q->problem != NULL ? " (problem)\n" : "\n");
    }
    assert_string_equal(text.data, expected);
    string_release(&text);
}

/* A convolution as ONNX Runtime's quantizer writes it: the weight in integers, one scale for each channel, the bias in
 * int32. */
static void a_convolution_has_four_quantizers(void **state)
{
    struct node_attribute axis = INTEGER("axis", 0);
    struct found found;

    made_init(&found.made, 13);
    made_input(&found.made, "x", MADE_SHAPE(1, 2, 5, 5));
    add_scale(&found.made, "xs", 0.5F);
    add_zero(&found.made, "xz", DATA_UINT8);
    add_integers(&found.made, "w_q", DATA_INT8, MADE_SHAPE(4, 2, 3, 3));
    add_scales(&found.made, "ws", MADE_SHAPE(4), 0.1F);
    add_integers(&found.made, "wz", DATA_INT8, MADE_SHAPE(4));
    add_integers(&found.made, "b_q", DATA_INT32, MADE_SHAPE(4));
    add_scales(&found.made, "bs", MADE_SHAPE(4), 0.05F);
    made_node(&found.made, "q", "QuantizeLinear", "x xs xz", "xi", NULL, 0);
    made_node(&found.made, "d", "DequantizeLinear", "xi xs xz", "xd", NULL, 0);
    made_node(&found.made, "dw", "DequantizeLinear", "w_q ws wz", "wd", &axis, 1);
    made_node(&found.made, "db", "DequantizeLinear", "b_q bs", "bd", &axis, 1);
    made_node(&found.made, "conv", "Conv", "xd wd bd", "c", NULL, 0);
    made_node(&found.made, "q2", "QuantizeLinear", "c xs", "ci", NULL, 0);
    made_node(&found.made, "d2", "DequantizeLinear", "ci xs", "y", NULL, 0);
    made_output(&found.made, "y");
    find(&found);
    assert_quantizers(&found, "x pair activation uint8 -> conv:0\n"
                              "w_q stored weight int8 axis 0 -> conv:1\n"
                              "b_q stored bias int32 axis 0 -> conv:2\n"
                              "c pair activation uint8\n");
    assert_int_equal(tensor_elements(&found.quantizers.items[1].scale), 4);
    assert_int_equal(quantizer_zero_point(&found.quantizers.items[1], 3), 3);
    assert_int_equal(quantizer_zero_point(&found.quantizers.items[0], 0), 0);
    assert_int_equal(found.quantizers.items[1].shape.dims[0], 4);
    assert_int_equal(found.quantizers.inside, 0);
    release(&found);
}

/* Weights that pass QuantizeLinear as float constants, moved on their way; several readers; names that repeat. */
static void constants_behind_other_nodes_are_weights(void **state)
{
    struct found found;

    made_init(&found.made, 21);
    made_input(&found.made, "x", MADE_SHAPE(2, 8));
    made_constant(&found.made, "w", MADE_SHAPE(4, 8), -1, 1);
    add_scale(&found.made, "s", 0.5F);
    made_node(&found.made, "t", "Transpose", "w", "wt", NULL, 0);
    made_node(&found.made, "q", "QuantizeLinear", "wt s", "wi", &INTEGER("output_dtype", DATA_INT8), 1);
    made_node(&found.made, "d", "DequantizeLinear", "wi s", "wd", NULL, 0);
    made_node(&found.made, "id", "Identity", "wd", "we", NULL, 0);
    made_node(&found.made, "mm", "MatMul", "x we", "y", NULL, 0);
    made_node(&found.made, "q1", "QuantizeLinear", "y s", "y1", NULL, 0);
    made_node(&found.made, "d1a", "DequantizeLinear", "y1 s", "z1", NULL, 0);
    made_node(&found.made, "d1b", "DequantizeLinear", "y1 s", "z2", NULL, 0);
    made_node(&found.made, "q2", "QuantizeLinear", "y s", "y2", NULL, 0);
    made_node(&found.made, "d2", "DequantizeLinear", "y2 s", "z3", NULL, 0);
    made_node(&found.made, "add", "Sum", "z1 z2 z3", "out", NULL, 0);
    made_output(&found.made, "out");
    find(&found);
    assert_quantizers(&found, "wt pair weight int8 -> mm:1\n"
                              "y pair activation uint8 -> add:0\n"
                              "y -> q2 pair activation uint8 -> add:2\n");
    assert_int_equal(found.quantizers.items[1].dequantize.count, 2);
    release(&found);
}

static void blocks_and_small_types_are_read(void **state)
{
    struct node_attribute blocks[] = {INTEGER("axis", -1), INTEGER("block_size", 4)};
    const struct node_attribute unsaturated = INTEGER("saturate", 0);
    struct found found;

    made_init(&found.made, 21);
    made_input(&found.made, "x", MADE_SHAPE(2, 2));
    add_integers(&found.made, "w4", DATA_INT4, MADE_SHAPE(2, 10));
    add_scales(&found.made, "bs", MADE_SHAPE(2, 3), 0.1F);
    add_scales(&found.made, "bad", MADE_SHAPE(2, 4), 0.1F);
    add_scale(&found.made, "s", 0.5F);
    add_zero(&found.made, "f8", DATA_FLOAT8E4M3FN);
    made_node(&found.made, "dw", "DequantizeLinear", "w4 bs", "w", blocks, 2);
    made_node(&found.made, "dbad", "DequantizeLinear", "w4 bad", "v", blocks, 2);
    made_node(&found.made, "mm", "MatMul", "x w", "y", NULL, 0);
    made_node(&found.made, "mv", "MatMul", "x v", "y2", NULL, 0);
    made_node(&found.made, "q", "com.microsoft.QuantizeLinear", "y s f8", "yi", NULL, 0);
    made_node(&found.made, "d", "com.microsoft.DequantizeLinear", "yi s f8", "z", NULL, 0);
    made_node(&found.made, "qo", "QuantizeLinear", "y s f8", "yo", &unsaturated, 1);
    made_node(&found.made, "do", "DequantizeLinear", "yo s f8", "o", NULL, 0);
    made_node(&found.made, "qn", "QuantizeLinear", "y s", "yn", &unsaturated, 1); /* of integers it says nothing */
    made_node(&found.made, "dn", "DequantizeLinear", "yn s", "n", NULL, 0);
    made_output(&found.made, "z");
    made_output(&found.made, "y2");
    find(&found);
    assert_quantizers(&found, "w4 stored weight int4 axis 1 blocks of 4 -> mm:1\n"
                              "w4 -> dbad stored weight int4 axis 1 blocks of 4 -> mv:1 (problem)\n"
                              "y pair activation float8e4m3fn\n"
                              "y -> qo pair activation float8e4m3fn (problem)\n"
                              "y -> qn pair activation uint8\n");
    assert_true(found.quantizers.items[3].overflows && !found.quantizers.items[2].overflows &&
                !found.quantizers.items[4].overflows);
    assert_string_equal(found.quantizers.items[1].problem, "its scale has 4 elements along axis 1 instead of 3");
    release(&found);
}

static void operators_on_integers_fix_their_quantizers(void **state)
{
    struct found found;

    made_init(&found.made, 13);
    made_input(&found.made, "x", MADE_SHAPE(1, 2, 5, 5));
    add_scale(&found.made, "s", 0.5F);
    add_zero(&found.made, "z", DATA_UINT8);
    add_zero(&found.made, "wz", DATA_INT8);
    add_integers(&found.made, "w", DATA_INT8, MADE_SHAPE(4, 2, 3, 3));
    add_integers(&found.made, "b", DATA_INT32, MADE_SHAPE(4));
    made_node(&found.made, "q", "QuantizeLinear", "x s z", "xi", NULL, 0);
    made_node(&found.made, "conv", "QLinearConv", "xi s z w s wz s z b", "c", NULL, 0);
    made_node(&found.made, "shape", "Identity", "c", "c_too", NULL, 0); /* integers that are listed with their maker */
    made_node(&found.made, "pool", "com.microsoft.QLinearGlobalAveragePool", "c_too s z s z", "p", NULL, 0);
    made_node(&found.made, "join", "com.microsoft.QLinearConcat", "s z p s z p s z", "j", NULL, 0);
    made_node(&found.made, "d", "DequantizeLinear", "j s z", "y", NULL, 0);
    made_node(&found.made, "dyn", "DynamicQuantizeLinear", "y", "yi ys yz", NULL, 0);
    made_node(&found.made, "d2", "DequantizeLinear", "yi ys yz", "out", NULL, 0);
    made_output(&found.made, "out");
    find(&found);
    assert_quantizers(&found, "x fixed activation uint8\n"
                              "w fixed weight int8 -> conv:3\n"
                              "b fixed bias int32 -> conv:8 (problem)\n"
                              "c fixed activation uint8\n"
                              "p fixed activation uint8\n"
                              "j fixed activation uint8\n"
                              "y fixed activation undefined dynamic (problem)\n");
    assert_int_equal(found.quantizers.items[5].dequantize.count, 1);
    release(&found);
}

/* Each case is a QuantizeLinear of a (2, 3) tensor, and what is wrong with it. */
static void what_makes_no_sense_is_told(void **state)
{
    static const float nan_scale[] = {1, NAN}, negative[] = {-1}, zero[] = {0}, two[] = {1, 2};
    static const uint8_t points[] = {0, 3, 5};
    const struct {
        const float *scales;
        int64_t count;
        int64_t axis;
        int64_t block_size;
        const char *zero_point;
        const char *problem;
    } cases[] = {
        {nan_scale, 2, 0, 0, "-", "scale 2 of 2 is nan: scales must be finite and larger than 0"},
        {negative, 1, 0, 0, "-", "scale 1 of 1 is -1: scales must be finite and larger than 0"},
        {zero, 1, 0, 0, "-", "scale 1 of 1 is 0: scales must be finite and larger than 0"},
        {two, 2, 1, 0, "-", "it has 2 scales for 3 slices along axis 1"},
        {two, 2, 2, 0, "-", "its axis 2 is out of range for a tensor of rank 2"},
        {two, 2, 7, 0, "-", "its axis 7 is out of range for a tensor of rank 2"},
        {two, 2, -3, 0, "-", "its axis -3 is out of range for a tensor of rank 2"},
        {two, 2, 0, 0, "three", "it has 3 zero points for 2 scales"},
        {two, 2, 0, -1, "-", "its blocks have -1 elements"},
        {two, 2, 0, 2, "-", "its scale has rank 1, which does not fit blocks along axis 0"},
        {two, 1, 0, 0, "words", "its zero point 'words' is a string tensor"},
        {two, 1, 0, 0, "wide", "int64 is not a quantized type"},
        {two, 1, 0, 0, "one", "its zero point is not 0, which float8e4m3fn requires"},
        {two, 0, 0, 0, "-", "its scale has no elements"},
        {NULL, 0, 0, 0, "-", "its scale has the invalid type int8"},
    };
    static const struct text words[] = {{"a", 1}};
    static const int64_t wide[] = {0};
    static const uint8_t one[] = {0x38};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct node_attribute attributes[] = {INTEGER("axis", cases[i].axis),
                                              INTEGER("block_size", cases[i].block_size)};
        struct found found;
        char inputs[32];

        made_init(&found.made, 21);
        made_input(&found.made, "x", MADE_SHAPE(2, 3));
        if (cases[i].scales != NULL)
            made_tensor(&found.made, "s", DATA_FLOAT32, MADE_SHAPE(cases[i].count), cases[i].scales);
        else
            add_zero(&found.made, "s", DATA_INT8);
        made_tensor(&found.made, "three", DATA_UINT8, MADE_SHAPE(3), points);
        made_integers(&found.made, "wide", wide, 1);
        made_tensor(&found.made, "one", DATA_FLOAT8E4M3FN, MADE_SHAPE(1), one);
        made_tensor(&found.made, "words", DATA_STRING, MADE_SHAPE(1), words);
        snprintf(inputs, sizeof(inputs), "x s %s", cases[i].zero_point);
        made_node(&found.made, "q", "QuantizeLinear", inputs, "i", attributes, 2);
        snprintf(inputs, sizeof(inputs), "i s %s", cases[i].zero_point);
        made_node(&found.made, "d", "DequantizeLinear", inputs, "y", attributes, 2);
        made_output(&found.made, "y");
        find(&found);
        assert_int_equal(found.quantizers.count, 1);
        assert_non_null(found.quantizers.items[0].problem);
        assert_string_equal(found.quantizers.items[0].problem, cases[i].problem);
        release(&found);
    }
}

static void a_pair_that_does_not_agree_is_told(void **state)
{
    struct found found;

    made_init(&found.made, 13);
    made_input(&found.made, "x", MADE_SHAPE(2, 3));
    add_scale(&found.made, "s", 0.5F);
    add_scale(&found.made, "same", 0.5F);
    add_scale(&found.made, "other", 0.25F);
    add_zero(&found.made, "z", DATA_UINT8);
    add_zero(&found.made, "signed", DATA_INT8);
    made_node(&found.made, "q1", "QuantizeLinear", "x s z", "i", NULL, 0);
    made_node(&found.made, "d1", "DequantizeLinear", "i same", "a", NULL, 0);
    made_node(&found.made, "q2", "QuantizeLinear", "a s z", "j", NULL, 0);
    made_node(&found.made, "d2", "DequantizeLinear", "j other z", "b", NULL, 0);
    made_node(&found.made, "q3", "QuantizeLinear", "b s z", "k", NULL, 0);
    made_node(&found.made, "d3", "DequantizeLinear", "k s signed", "c", NULL, 0);
    made_node(&found.made, "size", "ReduceMax", "c", "computed", NULL, 0);
    made_node(&found.made, "q4", "QuantizeLinear", "c computed z", "l", NULL, 0);
    made_node(&found.made, "d4", "DequantizeLinear", "l computed z", "e", NULL, 0);
    made_output(&found.made, "e");
    find(&found);
    assert_quantizers(&found, "x pair activation uint8 -> q2:0\n"
                              "a pair activation uint8 -> q3:0 (problem)\n"
                              "b pair activation uint8 -> size:0 (problem)\n"
                              "c pair activation uint8 dynamic\n");
    assert_string_equal(found.quantizers.items[1].problem, "it is dequantized with a different scale");
    assert_string_equal(found.quantizers.items[2].problem, "its zero point is int8, its integers are uint8");
    release(&found);
}

/* Of a square both axes take the same scales. */
static void a_pair_with_two_axes_does_not_agree(void **state)
{
    struct found found;

    made_init(&found.made, 13);
    made_input(&found.made, "x", MADE_SHAPE(2, 2));
    add_scales(&found.made, "s", MADE_SHAPE(2), 0.5F);
    made_node(&found.made, "q", "QuantizeLinear", "x s", "i", &INTEGER("axis", 0), 1);
    made_node(&found.made, "d", "DequantizeLinear", "i s", "y", &INTEGER("axis", 1), 1);
    made_output(&found.made, "y");
    find(&found);
    assert_string_equal(found.quantizers.items[0].problem, "it is dequantized with a different scale");
    release(&found);
}

static void integers_that_come_out_of_the_model_have_to_stay(void **state)
{
    struct found found;

    made_init(&found.made, 13);
    made_input(&found.made, "x", MADE_SHAPE(2, 3));
    add_scale(&found.made, "s", 0.5F);
    made_node(&found.made, "q", "QuantizeLinear", "x s", "i", NULL, 0);
    made_node(&found.made, "d", "DequantizeLinear", "i s", "y", NULL, 0);
    made_output(&found.made, "y");
    made_typed_output(&found.made, "i", DATA_UINT8);
    find(&found);
    assert_quantizers(&found, "x fixed activation uint8\n");
    assert_string_equal(found.quantizers.items[0].fixed_by, "its integers are an output of the model");
    release(&found);
}

/* ONNX Runtime's own products: with weights that may be transposed, or packed. */
static void operators_on_integers_say_how_their_weights_lie(void **state)
{
    const struct node_attribute packed[] = {INTEGER("bits", 4), INTEGER("block_size", 32)};
    struct found found;

    made_init(&found.made, 13);
    made_input(&found.made, "x", MADE_SHAPE(1, 2));
    add_scale(&found.made, "s", 0.5F);
    add_zero(&found.made, "z", DATA_UINT8);
    add_integers(&found.made, "w", DATA_INT8, MADE_SHAPE(4, 2));
    add_scales(&found.made, "ws", MADE_SHAPE(4), 0.1F);
    add_integers(&found.made, "wz", DATA_INT8, MADE_SHAPE(4));
    add_integers(&found.made, "b", DATA_UINT8, MADE_SHAPE(8, 1, 16));
    add_scales(&found.made, "bs", MADE_SHAPE(8), 0.1F);
    made_node(&found.made, "q", "QuantizeLinear", "x s z", "xi", NULL, 0);
    made_node(&found.made, "gemm", "com.microsoft.QGemm", "xi s z w ws wz", "g", &INTEGER("transB", 1), 1);
    made_node(&found.made, "mm", "com.microsoft.MatMulNBits", "g b bs", "y", packed, 2);
    made_output(&found.made, "y");
    find(&found);
    assert_quantizers(&found, "x fixed activation uint8\n"
                              "w fixed weight int8 axis 0 -> gemm:3\n"
                              "b fixed weight uint4 blocks of 32 -> mm:1 (problem)\n");
    release(&found);
}

/* Since operator set 23 a DequantizeLinear says what it makes: left out, readers would get another type. */
static void a_pair_that_changes_the_type_has_to_stay(void **state)
{
    struct found found;

    made_init(&found.made, 23);
    made_input(&found.made, "x", MADE_SHAPE(2, 3));
    add_scale(&found.made, "s", 0.5F);
    made_node(&found.made, "q1", "QuantizeLinear", "x s", "i", NULL, 0);
    made_node(&found.made, "d1", "DequantizeLinear", "i s", "a", NULL, 0);
    made_node(&found.made, "d2", "DequantizeLinear", "i s", "b", &INTEGER("output_dtype", DATA_FLOAT16), 1);
    made_node(&found.made, "q3", "QuantizeLinear", "x s", "j", &INTEGER("output_dtype", 0), 1);
    made_node(&found.made, "d3", "DequantizeLinear", "j s", "c", &INTEGER("output_dtype", 0), 1);
    made_typed_output(&found.made, "a", DATA_FLOAT32);
    made_typed_output(&found.made, "b", DATA_FLOAT16);
    made_typed_output(&found.made, "c", DATA_FLOAT32);
    find(&found);
    assert_quantizers(&found, "x fixed activation uint8\n"
                              "x -> q3 pair activation uint8\n");
    assert_string_equal(found.quantizers.items[0].fixed_by, "its input is float32 and its output is float16");
    assert_int_equal(quantizer_type_behind(&found.quantizers.items[1], &found.model->nodes.items[4]), DATA_FLOAT32);
    release(&found);
}

static void those_in_bodies_are_counted(void **state)
{
    struct model *model;
    struct quantizers quantizers;
    struct error err = {0};

    if (model_open(fixture_path("../fuzz/corpus/fuzz_quantizers/in_a_branch.onnx"), NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    quantizers_find(model, NULL, &quantizers);
    assert_int_equal(quantizers.count, 0);
    assert_int_equal(quantizers.inside, 2);
    quantizers_release(&quantizers);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_has_four_quantizers),
        cmocka_unit_test(constants_behind_other_nodes_are_weights),
        cmocka_unit_test(blocks_and_small_types_are_read),
        cmocka_unit_test(operators_on_integers_fix_their_quantizers),
        cmocka_unit_test(what_makes_no_sense_is_told),
        cmocka_unit_test(a_pair_that_does_not_agree_is_told),
        cmocka_unit_test(a_pair_with_two_axes_does_not_agree),
        cmocka_unit_test(integers_that_come_out_of_the_model_have_to_stay),
        cmocka_unit_test(operators_on_integers_say_how_their_weights_lie),
        cmocka_unit_test(a_pair_that_changes_the_type_has_to_stay),
        cmocka_unit_test(those_in_bodies_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
