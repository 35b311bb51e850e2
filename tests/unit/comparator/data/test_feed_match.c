/* test_feed_match.c: which tensor of a feed dict an input gets. */
#include <stdlib.h>

#include "base/memory.h"
#include "comparator/data/feed_match.h"
#include "support/results_fixture.h"

struct fixture {
    struct captured_log log;
    struct tensor_list feed;
    struct backend_io inputs[3];
    size_t count;
    bool by_name;
    struct tensor result;
    struct error error;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    captured_log_init(&fixture->log);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    tensor_list_release(&fixture->feed);
    tensor_release(&fixture->result);
    captured_log_release(&fixture->log);
    free(fixture);
    return 0;
}

static void add_input(struct fixture *fixture, const char *name, enum data_type type, struct shape shape)
{
    fixture->inputs[fixture->count++] = input_of(name, type, shape);
}

/* Matches input `k`; returns what feed_match() does. */
static int match(struct fixture *fixture, size_t k)
{
    struct feed_inputs inputs = {fixture->inputs, fixture->count, fixture->by_name, &fixture->log.log};

    tensor_release(&fixture->result);
    return feed_match(&fixture->feed, &inputs, k, &fixture->result, &fixture->error);
}

static float first_float(const struct fixture *fixture)
{
    return *(const float *)fixture->result.data;
}

static void an_exact_name_wins_wherever_it_stands(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "x", DATA_FLOAT32, SHAPE(1));
    ADD_FLOATS(&fixture->feed, "xx", 1);
    ADD_FLOATS(&fixture->feed, "x", 2);
    assert_int_equal(match(fixture, 0), 1);
    assert_true(first_float(fixture) == 2);
    assert_ptr_equal(fixture->result.data, fixture->feed.items[1].tensor.data); /* not a copy */
    assert_string_equal(fixture->log.text.data, "");
}

static void a_similar_name_is_taken_with_a_warning(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "Input", DATA_FLOAT32, SHAPE(1));
    ADD_FLOATS(&fixture->feed, "other", 1);
    ADD_FLOATS(&fixture->feed, "input:0", 2);
    assert_int_equal(match(fixture, 0), 1);
    assert_true(first_float(fixture) == 2);
    assert_logged(&fixture->log, "W Buffer name (input:0) does not match expected input name (Input)");
}

static void by_name_alone_nothing_else_is_taken(void **state)
{
    struct fixture *fixture = *state;

    fixture->by_name = true;
    add_input(fixture, "logits", DATA_FLOAT32, SHAPE(1));
    ADD_FLOATS(&fixture->feed, "logits:0", 1);
    assert_int_equal(match(fixture, 0), 0);
    ADD_FLOATS(&fixture->feed, "logits", 2);
    assert_int_equal(match(fixture, 0), 1);
    assert_true(((const float *)fixture->result.data)[0] == 2);
}

static void two_similar_names_are_one_too_many(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "x", DATA_FLOAT32, SHAPE(1));
    ADD_FLOATS(&fixture->feed, "x1", 1);
    ADD_FLOATS(&fixture->feed, "x2", 2);
    assert_int_equal(match(fixture, 0), 0);
    assert_string_equal(fixture->log.text.data, "");
}

static void an_entry_that_two_inputs_could_mean_goes_to_neither(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "x", DATA_FLOAT32, SHAPE(1));
    add_input(fixture, "x1", DATA_FLOAT32, SHAPE(1));
    ADD_FLOATS(&fixture->feed, "x1_data", 1);
    assert_int_equal(match(fixture, 0), 0);
    assert_int_equal(match(fixture, 1), 0);
}

static void an_entry_with_another_inputs_name_is_never_taken(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "hidden", DATA_FLOAT32, SHAPE(1)); /* as in a part of a model */
    add_input(fixture, "x", DATA_FLOAT32, SHAPE(1));
    ADD_FLOATS(&fixture->feed, "x", 1);
    assert_int_equal(match(fixture, 0), 0);
    assert_int_equal(match(fixture, 1), 1);
}

static void a_position_counts_only_for_the_single_entry_that_fits(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "a", DATA_FLOAT32, SHAPE(2));
    add_input(fixture, "b", DATA_FLOAT32, SHAPE(1));
    ADD_FLOATS(&fixture->feed, "p", 1, 2);
    ADD_FLOATS(&fixture->feed, "q", 3);
    assert_int_equal(match(fixture, 0), 1);
    assert_int_equal(match(fixture, 1), 1);
    assert_true(first_float(fixture) == 3);
    assert_logged(&fixture->log, "W Buffer name (p) does not match expected input name (a)");

    ADD_FLOATS(&fixture->feed, "r", 4);
    assert_int_equal(match(fixture, 1), 0); /* q or r? */
}

static void a_single_entry_at_another_position_is_not_taken(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "a", DATA_FLOAT32, SHAPE(1));
    add_input(fixture, "b", DATA_INT32, SHAPE(1));
    add_tensor(&fixture->feed, "p", DATA_INT32, SHAPE(1), (int32_t[]){1});
    ADD_FLOATS(&fixture->feed, "q", 3);
    assert_int_equal(match(fixture, 0), 0);
    assert_int_equal(match(fixture, 1), 0);
}

static void another_type_or_shape_is_not_taken_by_guessing(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "x", DATA_FLOAT32, SHAPE(2));
    ADD_FLOATS(&fixture->feed, "x:0", 1);
    assert_int_equal(match(fixture, 0), 0);
    fixture->inputs[0] = input_of("x", DATA_FLOAT64, SHAPE(1));
    assert_int_equal(match(fixture, 0), 0);
}

static void an_exact_name_with_another_type_is_converted_with_a_warning(void **state)
{
    struct fixture *fixture = *state;
    const double values[] = {1.5, 1e300};
    const float expected[] = {1.5f, (float)1e300};

    add_input(fixture, "x", DATA_FLOAT32, SHAPE(-1));
    add_tensor(&fixture->feed, "x", DATA_FLOAT64, SHAPE(2), values);
    assert_int_equal(match(fixture, 0), 1);
    assert_memory_equal(fixture->result.data, expected, sizeof(expected));
    assert_logged(&fixture->log, "W Input tensor: x | The data are float64, but the model takes float32");
    assert_logged(&fixture->log, "W Input tensor: x | 1 values lie outside of the range of float32");
}

static void text_for_numbers_is_an_error(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "x", DATA_FLOAT32, SHAPE(-1));
    add_tensor(&fixture->feed, "x", DATA_STRING, SHAPE(1), (struct text[]){TEXT("a")});
    assert_int_equal(match(fixture, 0), ERR_UNSUPPORTED);
    assert_message_contains(&fixture->error, "input 'x': string cannot be converted to float32");
}

static void an_exact_name_with_another_shape_is_reshaped_or_transposed(void **state)
{
    struct fixture *fixture = *state;
    const float transposed[] = {1, 4, 2, 5, 3, 6};

    add_input(fixture, "flat", DATA_FLOAT32, SHAPE(6));
    add_input(fixture, "turned", DATA_FLOAT32, SHAPE(3, 2));
    add_input(fixture, "open", DATA_FLOAT32, SHAPE(-1, 1, 2));
    for (size_t i = 0; i < 3; i++)
        add_tensor(&fixture->feed, fixture->inputs[i].name, DATA_FLOAT32, SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6});
    assert_int_equal(match(fixture, 0), 1);
    assert_shape(&fixture->result.shape, "(6,)");
    assert_int_equal(match(fixture, 1), 1);
    assert_shape(&fixture->result.shape, "(3, 2)");
    assert_memory_equal(fixture->result.data, transposed, sizeof(transposed));
    assert_int_equal(match(fixture, 2), 1);
    assert_shape(&fixture->result.shape, "(3, 1, 2)");
    assert_logged(&fixture->log, "W Input tensor: turned | Changing the shape of the data from (2, 3) to (3, 2)");
}

static void a_converted_tensor_can_be_reshaped_too(void **state)
{
    struct fixture *fixture = *state;

    add_input(fixture, "x", DATA_FLOAT32, SHAPE(2, 1));
    add_tensor(&fixture->feed, "x", DATA_INT64, SHAPE(1, 2), (int64_t[]){7, 8});
    assert_int_equal(match(fixture, 0), 1);
    assert_shape(&fixture->result.shape, "(2, 1)");
    assert_true(((const float *)fixture->result.data)[1] == 8);
}

static void a_shape_of_another_size_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    const struct shape shapes[] = {SHAPE(5), SHAPE(4, -1), SHAPE(-1, -1), SHAPE(0, -1)};

    ADD_FLOATS(&fixture->feed, "x", 1, 2, 3, 4, 5, 6);
    add_input(fixture, "x", DATA_FLOAT32, SHAPE(1));
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        fixture->inputs[0].shape = shapes[i];
        assert_int_equal(match(fixture, 0), ERR_INVALID);
        assert_message_contains(&fixture->error, "input 'x': the data have shape (6,), the model takes (");
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_exact_name_wins_wherever_it_stands),
        TEST(a_similar_name_is_taken_with_a_warning),
        TEST(by_name_alone_nothing_else_is_taken),
        TEST(two_similar_names_are_one_too_many),
        TEST(an_entry_that_two_inputs_could_mean_goes_to_neither),
        TEST(an_entry_with_another_inputs_name_is_never_taken),
        TEST(a_position_counts_only_for_the_single_entry_that_fits),
        TEST(a_single_entry_at_another_position_is_not_taken),
        TEST(another_type_or_shape_is_not_taken_by_guessing),
        TEST(an_exact_name_with_another_type_is_converted_with_a_warning),
        TEST(text_for_numbers_is_an_error),
        TEST(an_exact_name_with_another_shape_is_reshaped_or_transposed),
        TEST(a_converted_tensor_can_be_reshaped_too),
        TEST(a_shape_of_another_size_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
