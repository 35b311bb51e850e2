/* The inputs of a decoder in each step. */
#include <string.h>

#include "base/memory.h"
#include "comparator/infer/decoder_steps.h"
#include "support/results_fixture.h"

enum { RUNNERS = 2, ROWS = 2, WORDS = 5 };

/* Inputs as loaded for a prefill of three tokens: two rows, the second one padded at its beginning. */
static struct decoder_input roles[] = {
    {.name = "ids", .role = DECODER_TOKENS},
    {.name = "mask", .role = DECODER_MASK, .axis = 1},
    {.name = "positions", .role = DECODER_POSITIONS},
    {.name = "past", .role = DECODER_CACHE, .present = "present", .axis = 1},
    {.name = "past_length", .role = DECODER_PAST_LENGTH},
    {.name = "total", .role = DECODER_TOTAL_LENGTH},
    {.name = "encoded", .role = DECODER_CONSTANT},
};
static const struct decoder decoder = {.inputs = roles, .count = ARRAY_LEN(roles), .logits = "logits"};
static const struct decoder_iteration in_order[] = {{.step = 0}, {.step = 1}, {.step = 2}};

struct steps_test {
    struct decoder_steps steps;
    struct data_loader *loader;
    struct tensor_list prefill;
    struct backend_io inputs[ARRAY_LEN(roles)];
};

static void begin(struct steps_test *test)
{
    static const struct data_loader_settings settings = {.iterations = 1};
    struct error error;

    *test = (struct steps_test){.steps = {.decoder = &decoder, .iterations = in_order, .count = 3}};
    add_tensor(&test->prefill, "ids", DATA_INT32, SHAPE(2, 3), (int32_t[]){1, 2, 3, 0, 4, 2});
    add_tensor(&test->prefill, "mask", DATA_BOOL, SHAPE(2, 3), (bool[]){1, 1, 1, 0, 1, 1});
    add_tensor(&test->prefill, "positions", DATA_INT64, SHAPE(2, 3), (int64_t[]){0, 1, 2, 0, 0, 1});
    add_tensor(&test->prefill, "past", DATA_FLOAT32, SHAPE(2, 0), (float[]){0});
    add_tensor(&test->prefill, "past_length", DATA_INT64, SHAPE(1), (int64_t[]){0});
    add_tensor(&test->prefill, "total", DATA_INT32, SHAPE(2, 1), (int32_t[]){3, 2});
    add_tensor(&test->prefill, "encoded", DATA_FLOAT32, SHAPE(2), (float[]){7, 8});
    for (size_t i = 0; i < test->prefill.count; i++)
        test->inputs[i] = (struct backend_io){.name = test->prefill.items[i].name,
                                              .type = test->prefill.items[i].tensor.type,
                                              .has_shape = true,
                                              .shape = test->prefill.items[i].tensor.shape};
    assert_int_equal(data_loader_new(&settings, NULL, &test->loader, &error), 0);
    data_loader_replace(test->loader, &test->prefill);
}

static void end(struct steps_test *test)
{
    decoder_steps_release(&test->steps);
    data_loader_free(test->loader);
    tensor_list_release(&test->prefill);
}

/* The outputs of a runner: the logits of `places` prefer word 1, and of the last place words 3 and 4. */
static void take(struct steps_test *test, size_t runner, int64_t places, float present)
{
    struct tensor_list outputs = {0};
    float logits[ROWS * 3 * WORDS] = {0};
    struct error error;

    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t place = 0; place < places; place++)
            logits[(row * places + place) * WORDS + (place + 1 < places ? 1 : 3 + row)] = 1;
    add_tensor(&outputs, "logits", DATA_FLOAT32, SHAPE(ROWS, places, WORDS), logits);
    add_tensor(&outputs, "present", DATA_FLOAT32, SHAPE(ROWS, 1), (float[]){present, present});
    assert_int_equal(decoder_steps_take(&test->steps, runner, &outputs, &error), 0);
    tensor_list_release(&outputs);
}

static int try_feed(struct steps_test *test, size_t runner, size_t iteration, struct tensor_list *ret,
                    struct error *error)
{
    const struct fed_runner fed = {runner, test->inputs, ARRAY_LEN(roles)};

    return decoder_steps_feed(&test->steps, test->loader, &fed, iteration, ret, error);
}

static struct tensor_list feed(struct steps_test *test, size_t runner, size_t iteration)
{
    struct tensor_list ret = {0};
    struct error error;

    if (try_feed(test, runner, iteration, &ret, &error) < 0)
        fail_msg("%s", error.message);
    return ret;
}

static void assert_fed(const struct tensor_list *fed, const char *name, enum data_type type, struct shape shape,
                       const void *data)
{
    const struct named_tensor *found = tensor_list_find(fed, text_of(name));
    struct tensor expected;

    assert_non_null(found);
    tensor_borrow(type, &shape, data, tensor_bytes(type, shape_elements(&shape)), &expected);
    if (!tensor_identical(&found->tensor, &expected))
        fail_msg("'%s' is not as expected", name);
}

static void inputs_advance_by_their_roles(void **state)
{
    struct steps_test test;
    struct tensor_list fed;

    begin(&test);
    for (size_t step = 0; step < 3; step++) {
        fed = feed(&test, 0, step);
        if (step < 2)
            tensor_list_release(&fed);
        take(&test, 0, step == 0 ? 3 : 1, (float)step);
    }
    assert_fed(&fed, "ids", DATA_INT32, SHAPE(2, 1), (int32_t[]){3, 4});
    assert_fed(&fed, "mask", DATA_BOOL, SHAPE(2, 5), (bool[]){1, 1, 1, 1, 1, 0, 1, 1, 1, 1});
    assert_fed(&fed, "positions", DATA_INT64, SHAPE(2, 1), (int64_t[]){4, 3});
    assert_fed(&fed, "past", DATA_FLOAT32, SHAPE(2, 1), (float[]){1, 1});
    assert_fed(&fed, "past_length", DATA_INT64, SHAPE(1), (int64_t[]){4});
    assert_fed(&fed, "total", DATA_INT32, SHAPE(2, 1), (int32_t[]){5, 4});
    assert_fed(&fed, "encoded", DATA_FLOAT32, SHAPE(2), (float[]){7, 8});
    tensor_list_release(&fed);
    end(&test);
}

static void runners_have_own_caches_and_the_tokens_of_the_first(void **state)
{
    const struct decoder_iteration exchanged[] = {
        {.step = 1, .of_reference = true}, {.step = 1}, {.step = 1, .own = "past"}, {.step = 1, .own = "another"}};
    const float expected[] = {10, 20, 20, 10};
    struct steps_test test;

    begin(&test);
    for (size_t runner = 0; runner < RUNNERS; runner++) {
        struct tensor_list fed = feed(&test, runner, 0);

        tensor_list_release(&fed);
        take(&test, runner, 3, runner == 0 ? 10 : 20);
    }
    for (size_t i = 0; i < ARRAY_LEN(exchanged); i++) {
        struct tensor_list fed;

        test.steps.iterations = exchanged;
        fed = feed(&test, 0, i);
        assert_fed(&fed, "past", DATA_FLOAT32, SHAPE(2, 1), (float[]){10, 10});
        tensor_list_release(&fed);
        fed = feed(&test, 1, i);
        assert_fed(&fed, "past", DATA_FLOAT32, SHAPE(2, 1), (float[]){expected[i], expected[i]});
        assert_fed(&fed, "ids", DATA_INT32, SHAPE(2, 1), (int32_t[]){3, 4});
        tensor_list_release(&fed);
    }
    end(&test);
}

static void missing_cache_and_logits_are_errors(void **state)
{
    struct steps_test test;
    struct tensor_list fed, outputs = {0};
    struct error error;

    begin(&test);
    fed = feed(&test, 0, 0);
    tensor_list_release(&fed);
    add_tensor(&outputs, "present", DATA_FLOAT32, SHAPE(ROWS, 1), (float[]){1, 1});
    assert_int_equal(decoder_steps_take(&test.steps, 0, &outputs, &error), 0);
    assert_int_equal(try_feed(&test, 0, 1, &fed, &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "step 1: the logits 'logits' give 0 tokens"));
    take(&test, 0, 3, 1);
    fed = feed(&test, 0, 1);
    tensor_list_release(&fed);
    assert_int_equal(try_feed(&test, 1, 1, &fed, &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "runner 2 has no output 'present'"));
    tensor_list_release(&fed);
    tensor_list_release(&outputs);
    end(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_advance_by_their_roles),
        cmocka_unit_test(runners_have_own_caches_and_the_tokens_of_the_first),
        cmocka_unit_test(missing_cache_and_logits_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
