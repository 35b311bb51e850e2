/* A model with switches gives, for any set of quantizers, what a model gives in which the others have been left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/settings.h"
#include "backend/subgraph_session.h"
#include "debug/quantization/switched_model.h"
#include "onnx/edit/model.h"
#include "onnx/quantizer/bypass.h"
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

/* The same kernels, in the same order, so that bits can be compared: no rewriting, no constants packed anew. */
static const struct onnxrt_entry plainly[] = {{.key = "session.disable_prepacking", .value = "1"}};
static const struct backend_request request = {
    .settings = &(struct onnxrt_settings){
        .execution.session_config = {.items = plainly, .count = 1}, .intra_threads = 1, .inter_threads = 1}};

enum { X, HIDDEN, MIDDLE, WEIGHT_1, WEIGHT_2, WEIGHT_3, QUANTIZERS };

static const char *const names[] = {"x", "h", "m", "w1_q", "w2", "w3_q"};

struct fixture {
    struct made_model quantized, original;
    struct quantization_subject subject;
    struct switched_model *switched;
    struct tensor_list feed;
};

static void add_scale(struct made_model *made, const char *name, float scale)
{
    made_tensor(made, name, DATA_FLOAT32, (struct shape){0}, &scale);
}

static int level_8(size_t i)
{
    return (int8_t)(37 * i);
}

static int level_4(size_t i)
{
    return (int)(5 * i % 16) - 8;
}

static float scale_1(size_t i)
{
    return 0.001F * (float)(3 + i % 8);
}

static float scale_3(size_t i)
{
    return 0.02F * (float)(1 + i / 32) + 0.01F * (float)(i % 8);
}

/* Weights that lie a third of a step beside what they are rounded to. */
static void make_original(struct made_model *made)
{
    float w1[64], w3[64];

    for (size_t i = 0; i < 64; i++) {
        w1[i] = ((float)level_8(i) + 0.3F) * scale_1(i);
        w3[i] = ((float)level_4(i) + 0.3F) * scale_3(i);
    }
    made_init(made, 21);
    made_input(made, "x", MADE_SHAPE(2, 8));
    made_tensor(made, "w1", DATA_FLOAT32, MADE_SHAPE(8, 8), w1);
    made->seed = 7;
    made_constant(made, "w2", MADE_SHAPE(8, 8), -1, 1);
    made_tensor(made, "w3", DATA_FLOAT32, MADE_SHAPE(8, 8), w3);
    made_node(made, "first", "MatMul", "x w1", "c", NULL, 0);
    made_node(made, "relu", "Relu", "c", "h", NULL, 0);
    made_node(made, "second", "MatMul", "h w2", "m", NULL, 0);
    made_node(made, "third", "MatMul", "m w3", "y", NULL, 0);
    made_output(made, "y");
}

/* Integers of 8 bits (for each channel), 16 bits, 4 bits (in blocks), and float8. The second pair does what a Relu
 * did. */
static void make_quantized(struct made_model *made)
{
    static const uint8_t zero[2], half = 128;
    float s1[8], s3[16];
    int8_t w1[64];
    uint8_t w3[32] = {0};
    struct node_attribute blocks[] = {INTEGER("axis", 0), INTEGER("block_size", 4)};

    for (size_t i = 0; i < 64; i++) {
        w1[i] = (int8_t)level_8(i);
        w3[i / 2] |= (uint8_t)((level_4(i) & 15) << (i % 2 * 4));
        s1[i % 8] = scale_1(i);
        s3[i / 32 * 8 + i % 8] = scale_3(i);
    }
    made_init(made, 21);
    made_input(made, "x", MADE_SHAPE(2, 8));
    made->seed = 7;
    made_constant(made, "w2", MADE_SHAPE(8, 8), -1, 1);
    made_tensor(made, "s1", DATA_FLOAT32, MADE_SHAPE(8), s1);
    made_tensor(made, "s3", DATA_FLOAT32, MADE_SHAPE(2, 8), s3);
    made_tensor(made, "w1_q", DATA_INT8, MADE_SHAPE(8, 8), w1);
    made_tensor(made, "w3_q", DATA_INT4, MADE_SHAPE(8, 8), w3);
    made_tensor(made, "z8", DATA_UINT8, (struct shape){0}, zero);
    made_tensor(made, "z16", DATA_INT16, (struct shape){0}, zero);
    made_tensor(made, "zf", DATA_FLOAT8E4M3FN, (struct shape){0}, zero);
    made_tensor(made, "half", DATA_UINT8, (struct shape){0}, &half);
    add_scale(made, "sx", 0.01F);
    add_scale(made, "sh", 0.02F);
    add_scale(made, "sm", 0.0007F);
    add_scale(made, "s2", 0.3F);
    made_node(made, "xq", "QuantizeLinear", "x sx half", "xi", NULL, 0);
    made_node(made, "xd", "DequantizeLinear", "xi sx half", "xr", NULL, 0);
    made_node(made, "d1", "DequantizeLinear", "w1_q s1", "w1_d", &INTEGER("axis", 1), 1);
    made_node(made, "first", "MatMul", "xr w1_d", "h", NULL, 0);
    made_node(made, "hq", "QuantizeLinear", "h sh z8", "hi", NULL, 0);
    made_node(made, "hd", "DequantizeLinear", "hi sh z8", "hr", NULL, 0);
    made_node(made, "wq", "QuantizeLinear", "w2 s2 zf", "w2_i", NULL, 0);
    made_node(made, "wd", "DequantizeLinear", "w2_i s2 zf", "w2_d", NULL, 0);
    made_node(made, "second", "MatMul", "hr w2_d", "m", NULL, 0);
    made_node(made, "mq", "QuantizeLinear", "m sm z16", "mi", NULL, 0);
    made_node(made, "md", "DequantizeLinear", "mi sm z16", "mr", NULL, 0);
    made_node(made, "d3", "DequantizeLinear", "w3_q s3", "w3_d", blocks, 2);
    made_node(made, "third", "MatMul", "mr w3_d", "y", NULL, 0);
    made_output(made, "y");
}

static void must(int rc, const struct error *err)
{
    if (rc < 0)
        fail_msg("%s", err->message);
}

static struct model *open_lowered(struct made_model *made)
{
    struct model *model = made_open(made);
    struct error err = {0};

    must(model_lower_constants(model, &err), &err);
    return model;
}

/* With a float model, or without. */
static void begin(struct fixture *fixture, bool with_original)
{
    struct quantization_subject *subject = &fixture->subject;
    struct error err = {0};

    *fixture = (struct fixture){0};
    make_quantized(&fixture->quantized);
    subject->model = open_lowered(&fixture->quantized);
    quantizers_find(subject->model, NULL, &subject->quantizers);
    assert_int_equal(subject->quantizers.count, QUANTIZERS);
    if (with_original) {
        make_original(&fixture->original);
        subject->float_model = open_lowered(&fixture->original);
        quantizers_match(&subject->quantizers, subject->model, subject->float_model, &subject->twins);
    }
    made_feed(subject->model, &fixture->feed);
    must(switched_model_new(subject, &fixture->switched, &err), &err);
    must(switched_model_open(fixture->switched, &onnxrt_backend, &request, &err), &err);
}

static void end(struct fixture *fixture)
{
    bool with_original = fixture->subject.float_model != NULL;

    switched_model_free(fixture->switched);
    tensor_list_release(&fixture->feed);
    quantization_subject_release(&fixture->subject);
    made_release(&fixture->quantized);
    if (with_original)
        made_release(&fixture->original);
}

static size_t find(const struct fixture *fixture, const char *name)
{
    for (size_t i = 0; i < fixture->subject.quantizers.count; i++)
        if (strcmp(fixture->subject.quantizers.items[i].name, name) == 0)
            return i;
    fail_msg("no quantizer '%s'", name);
    return 0;
}

static void run_model(struct model *model, const struct tensor_list *feed, struct tensor_list *ret)
{
    struct subgraph_session session = {0};
    struct subgraph whole;
    struct error err = {0};

    subgraph_init_whole(&whole, model);
    must(subgraph_session_open(&session, &whole, &onnxrt_backend, &request, &err), &err);
    must(subgraph_session_run(&session, feed, ret, &err), &err);
    subgraph_session_close(&session);
    subgraph_release(&whole);
}

static void run_switched(struct fixture *fixture, const struct bitset *on, struct tensor_list *ret)
{
    struct error err = {0};

    must(switched_model_run(fixture->switched, &fixture->feed, on, NULL, ret, &err), &err);
    assert_int_equal(ret->count, 1);
    assert_int_equal(ret->items[0].tensor.size, 2 * 8 * sizeof(float));
}

static bool same_bits(const struct tensor_list *a, const struct tensor_list *b)
{
    return memcmp(a->items[0].tensor.data, b->items[0].tensor.data, 2 * 8 * sizeof(float)) == 0;
}

/* Both ways to leave out all but these. */
static void assert_as_left_out(struct fixture *fixture, const struct bitset *on)
{
    struct model *copy = model_copy(fixture->subject.model);
    struct tensor_list switched = {0}, expected = {0};
    struct bitset off;
    struct error err = {0};

    bitset_init(&off, QUANTIZERS);
    for (size_t i = 0; i < QUANTIZERS; i++)
        if (!bitset_has(on, i))
            bitset_add(&off, i);
    must(quantizers_bypass(copy, &fixture->subject.quantizers, &off, &fixture->subject.twins, &err), &err);
    run_model(copy, &fixture->feed, &expected);
    run_switched(fixture, on, &switched);
    assert_true(same_bits(&switched, &expected));
    tensor_list_release(&switched);
    tensor_list_release(&expected);
    bitset_release(&off);
    model_free(copy);
}

static void all_off_is_the_float_model_and_all_on_the_quantized_one(void **state)
{
    struct fixture fixture;
    struct tensor_list off = {0}, on = {0}, original = {0}, quantized = {0};
    struct bitset set;

    require_onnxruntime();
    begin(&fixture, true);
    bitset_init(&set, QUANTIZERS);
    run_switched(&fixture, &set, &off);
    bitset_fill(&set);
    run_switched(&fixture, &set, &on);
    run_model(fixture.subject.float_model, &fixture.feed, &original);
    run_model(fixture.subject.model, &fixture.feed, &quantized);
    assert_true(same_bits(&off, &original));
    assert_true(same_bits(&on, &quantized));
    assert_false(same_bits(&off, &on));
    tensor_list_release(&off);
    tensor_list_release(&on);
    tensor_list_release(&original);
    tensor_list_release(&quantized);
    bitset_release(&set);
    end(&fixture);
}

static void each_one_alone_and_left_out_is_the_model_without_the_others(void **state)
{
    struct fixture fixture;
    struct bitset set;

    require_onnxruntime();
    begin(&fixture, true);
    for (size_t i = 0; i < QUANTIZERS; i++) {
        assert_null(switched_model_why_not(fixture.switched, find(&fixture, names[i])));
        bitset_init(&set, QUANTIZERS);
        bitset_add(&set, i);
        assert_as_left_out(&fixture, &set);
        bitset_fill(&set);
        bitset_remove(&set, i);
        assert_as_left_out(&fixture, &set);
        bitset_release(&set);
    }
    end(&fixture);
}

static void values_of_a_tensor_are_those_of_the_float_model(void **state)
{
    const char *const wanted_names[] = {"m"};
    const struct words wanted = {.items = wanted_names, .count = 1};
    struct fixture fixture;
    struct tensor_list values = {0};
    struct bitset none;
    struct error err = {0};

    require_onnxruntime();
    begin(&fixture, true);
    bitset_init(&none, QUANTIZERS);
    must(switched_model_run(fixture.switched, &fixture.feed, &none, &wanted, &values, &err), &err);
    assert_int_equal(values.count, 1);
    assert_string_equal(values.items[0].name, "m");
    assert_int_equal(values.items[0].tensor.size, 2 * 8 * sizeof(float));
    assert_non_null(switched_model_constant(fixture.switched, find(&fixture, names[WEIGHT_1])));
    assert_null(switched_model_constant(fixture.switched, find(&fixture, names[HIDDEN])));
    tensor_list_release(&values);
    bitset_release(&none);
    end(&fixture);
}

static void what_is_stored_stays_on_without_a_float_model(void **state)
{
    struct fixture fixture;

    require_onnxruntime();
    begin(&fixture, false);
    assert_non_null(switched_model_why_not(fixture.switched, find(&fixture, names[WEIGHT_1])));
    assert_non_null(switched_model_why_not(fixture.switched, find(&fixture, names[WEIGHT_3])));
    assert_null(switched_model_why_not(fixture.switched, find(&fixture, names[WEIGHT_2])));
    assert_null(switched_model_why_not(fixture.switched, find(&fixture, names[MIDDLE])));
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_off_is_the_float_model_and_all_on_the_quantized_one),
        cmocka_unit_test(each_one_alone_and_left_out_is_the_model_without_the_others),
        cmocka_unit_test(values_of_a_tensor_are_those_of_the_float_model),
        cmocka_unit_test(what_is_stored_stays_on_without_a_float_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
