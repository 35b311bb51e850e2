/* oneDNN as a provider of tactics: names, layouts, threads, and tensors that lie anywhere. */
#include "support/operator_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A convolution with 3x3 weights, something that is added to its result, and a clip: what the tests below are about. */
struct fixture {
    struct operator_test test;
    struct kernel_input inputs[3];
    struct kernel_request request;
    struct tactic_list tactics;
    struct shape output;
};

static void fixture_describe(struct fixture *fixture, int64_t size)
{
    const struct operand *operands = fixture->test.operands;

    memset(fixture->inputs, 0, sizeof(fixture->inputs));
    for (size_t i = 0; i < fixture->test.operand_count; i++)
        fixture->inputs[i] = (struct kernel_input){.present = true,
                                                   .type = operands[i].type,
                                                   .shape = operands[i].shape,
                                                   .constant = operands[i].constant ? operands[i].values : NULL};
    fixture->inputs[0].shape = SHAPE(1, 16, size, size);
    fixture->inputs[2].shape = fixture->output = SHAPE(1, 16, size - 2, size - 2);
    fixture->request = (struct kernel_request){
        .network = &fixture->test.network, .layer = &fixture->test.layer, .inputs = fixture->inputs};
}

static void fixture_begin(struct fixture *fixture)
{
    struct error err = {0};

    memset(fixture, 0, sizeof(*fixture));
    operator_begin(&fixture->test, LAYER_CONVOLUTION, "Conv", 11);
    operator_input(&fixture->test, SHAPE(1, 16, 9, 9), 1.0f);
    operator_constant(&fixture->test, SHAPE(16, 16, 3, 3), 1.0f);
    operator_input(&fixture->test, SHAPE(1, 16, 7, 7), 1.0f);
    fixture->test.adds = true;
    fixture->test.fused = ACTIVATION_RELU;
    operator_build(&fixture->test);
    operator_make_layer(&fixture->test);
    fixture_describe(fixture, 9);
    if (onednn->list(onednn, &fixture->request, &fixture->tactics, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(fixture->tactics.count > 0);
}

static void fixture_end(struct fixture *fixture)
{
    tactic_list_release(&fixture->tactics);
    operator_end(&fixture->test);
}

/* Runs a tactic on tensors that begin `offset` bytes behind an aligned address. `in_place`: the operand of the addition
 * is in the memory of the result. Gives the result, row-major; to be freed. */
static float *run_at(struct fixture *fixture, const struct tactic *tactic, size_t offset, bool in_place)
{
    const struct layout row_major = {""};
    struct tensor inputs[3] = {0}, output;
    char *buffers[3];
    struct kernel *kernel = NULL;
    struct error err = {0};
    size_t size = layout_bytes(&tactic->output_layouts[0], DATA_FLOAT32, &fixture->output);
    char *result = aligned_alloc(64, size + 64 - size % 64 + 64);
    float *values;

    assert_non_null(result);
    if (onednn->create(onednn, &fixture->request, tactic, &kernel, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < 3; i++) {
        const struct operand *operand = &fixture->test.operands[i];
        size_t bytes = layout_bytes(&tactic->input_layouts[i], DATA_FLOAT32, &operand->shape);
        void *converted_values = converted(operand, &row_major, operand->values, &tactic->input_layouts[i]);

        buffers[i] = aligned_alloc(64, bytes + 64 - bytes % 64 + 64);
        assert_non_null(buffers[i]);
        memcpy(buffers[i] + offset, converted_values, bytes);
        tensor_borrow(DATA_FLOAT32, &operand->shape, buffers[i] + offset, bytes, &inputs[i]);
        free(converted_values);
    }
    tensor_borrow(DATA_FLOAT32, &fixture->output, result + offset, size, &output);
    if (in_place) {
        memcpy(result + offset, inputs[2].data, size);
        inputs[2].data = output.data;
    }
    if (kernel->functions->run(kernel, inputs, &output, &err) < 0)
        fail_msg("%s", err.message);
    values = converted(&(struct operand){.type = DATA_FLOAT32, .shape = fixture->output}, &tactic->output_layouts[0],
                       result + offset, &row_major);
    kernel_free(kernel);
    for (size_t i = 0; i < 3; i++)
        free(buffers[i]);
    free(result);
    return values;
}

static void names_are_unique_and_always_the_same(void **state)
{
    struct fixture fixture;
    struct tactic_list again = {0};
    struct error err = {0};

    REQUIRE_ONEDNN();
    fixture_begin(&fixture);
    assert_int_equal(onednn->list(onednn, &fixture.request, &again, &err), 0);
    assert_int_equal(again.count, fixture.tactics.count);
    for (size_t i = 0; i < again.count; i++) {
        assert_string_equal(again.items[i].name, fixture.tactics.items[i].name);
        assert_ptr_equal(again.items[i].provider, onednn);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(again.items[i].name, again.items[j].name);
            assert_true(again.items[i].number != again.items[j].number);
        }
    }
    tactic_list_release(&again);
    fixture_end(&fixture);
}

static void one_algorithm_in_two_layouts_is_one_implementation(void **state)
{
    struct fixture fixture;
    const struct tactic *plain = NULL, *last = NULL;

    REQUIRE_ONEDNN();
    fixture_begin(&fixture);
    for (size_t i = 0; i < fixture.tactics.count; i++) {
        if (strcmp(fixture.tactics.items[i].name, "ref:any abcd") == 0)
            plain = &fixture.tactics.items[i];
        if (strcmp(fixture.tactics.items[i].name, "ref:any acdb") == 0)
            last = &fixture.tactics.items[i];
    }
    assert_non_null(plain);
    assert_non_null(last);
    assert_true(plain->implementation == last->implementation && plain->number != last->number);
    assert_true(plain->implementation != fixture.tactics.items[0].implementation);
    fixture_end(&fixture);
}

static void tensors_may_lie_anywhere(void **state)
{
    struct fixture fixture;

    REQUIRE_ONEDNN();
    fixture_begin(&fixture);
    for (size_t i = 0; i < fixture.tactics.count; i++) {
        const struct tactic *tactic = &fixture.tactics.items[i];
        float *aligned = run_at(&fixture, tactic, 0, false), *shifted = run_at(&fixture, tactic, 4, false);

        for (size_t j = 0; j < shape_elements(&fixture.output); j++)
            if (aligned[j] != shifted[j])
                fail_msg("'%s': element %zu is %.9g and %.9g", tactic->name, j, (double)aligned[j], (double)shifted[j]);
        free(aligned);
        free(shifted);
    }
    fixture_end(&fixture);
}

static void constants_may_lie_anywhere(void **state)
{
    struct operator_test test;
    struct shape shape = SHAPE(1, 32, 6, 6);
    double *expected = doubles(&shape);
    char *buffer = aligned_alloc(64, 256);

    REQUIRE_ONEDNN();
    assert_non_null(buffer);
    operator_begin(&test, LAYER_CONVOLUTION, "Conv", 11);
    operator_input(&test, SHAPE(1, 16, 6, 6), 0.0f); /* what is left is the bias */
    operator_constant(&test, SHAPE(32, 16, 1, 1), 1.0f);
    float *bias = operator_constant(&test, SHAPE(32), 1.0f);
    for (size_t i = 0; i < shape_elements(&shape); i++)
        expected[i] = (double)bias[i / 36];
    memcpy(buffer + 4, bias, 32 * sizeof(*bias));
    test.operands[2].values = buffer + 4;
    assert_true(operator_run(&test, &shape, expected, 0) > 0);
    test.operands[2].values = bias;
    free(buffer);
    free(expected);
    operator_end(&test);
}

static void a_sum_may_be_added_where_its_operand_is(void **state)
{
    struct fixture fixture;
    size_t tried = 0;

    REQUIRE_ONEDNN();
    fixture_begin(&fixture);
    for (size_t i = 0; i < fixture.tactics.count; i++) {
        const struct tactic *tactic = &fixture.tactics.items[i];
        size_t length = strlen(tactic->name);
        float *apart, *in_place;

        if (length < 4 || strcmp(tactic->name + length - 4, " sum") != 0)
            continue;
        tried++;
        apart = run_at(&fixture, tactic, 0, false);
        in_place = run_at(&fixture, tactic, 0, true);
        assert_memory_equal(apart, in_place, shape_elements(&fixture.output) * sizeof(*apart));
        free(apart);
        free(in_place);
    }
    assert_true(tried > 0);
    fixture_end(&fixture);
}

static void tactics_serve_other_shapes_or_say_that_they_do_not(void **state)
{
    struct fixture fixture;
    struct tactic unknown = {0};
    struct kernel *kernel = NULL;
    struct error err = {0};
    size_t made = 0;

    REQUIRE_ONEDNN();
    fixture_begin(&fixture);
    fixture_describe(&fixture, 21);
    for (size_t i = 0; i < fixture.tactics.count; i++) {
        int rc = onednn->create(onednn, &fixture.request, &fixture.tactics.items[i], &kernel, &err);

        assert_true(rc == 0 || rc == ERR_UNSUPPORTED);
        if (rc == 0) {
            assert_true(shape_equal(&kernel->output_shapes[0], &fixture.output));
            kernel_free(kernel);
            made++;
        }
    }
    assert_true(made > 0);

    tactic_copy(&unknown, &fixture.tactics.items[0], fixture.request.layer);
    snprintf(unknown.name, sizeof(unknown.name), "magic abcd");
    assert_int_equal(onednn->create(onednn, &fixture.request, &unknown, &kernel, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "magic abcd"));
    tactic_release(&unknown);
    fixture_end(&fixture);
}

static void one_thread_gives_what_many_give(void **state)
{
    struct fixture fixture;

    REQUIRE_ONEDNN();
    fixture_begin(&fixture);
    for (size_t i = 0; i < fixture.tactics.count; i++) {
        float *many, *one;

        fixture.request.threads = 2;
        many = run_at(&fixture, &fixture.tactics.items[i], 0, false);
        fixture.request.threads = 1;
        one = run_at(&fixture, &fixture.tactics.items[i], 0, false);
        for (size_t j = 0; j < shape_elements(&fixture.output); j++)
            assert_true(error_of((double)one[j], (double)many[j]) < 1e-4);
        free(many);
        free(one);
    }
    fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_and_always_the_same),
        cmocka_unit_test(one_algorithm_in_two_layouts_is_one_implementation),
        cmocka_unit_test(tensors_may_lie_anywhere),
        cmocka_unit_test(constants_may_lie_anywhere),
        cmocka_unit_test(a_sum_may_be_added_where_its_operand_is),
        cmocka_unit_test(tactics_serve_other_shapes_or_say_that_they_do_not),
        cmocka_unit_test(one_thread_gives_what_many_give),
    };

    return cmocka_run_group_tests(tests, open_onednn, close_onednn);
}
