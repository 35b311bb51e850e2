/* Positions of the largest values. */
#include <math.h>

#include "base/memory.h"
#include "support/results_fixture.h"
#include "tensor/compare/ranking.h"
#include "tensor/generate/mersenne_twister.h"

static void assert_top(struct tensor tensor, int64_t k, int64_t axis, const char *shape, const int64_t *expected)
{
    struct error error = {0};
    struct tensor result;

    if (top_k(&tensor, k, axis, &result, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(result.type, DATA_INT64);
    assert_shape(&result.shape, shape);
    assert_memory_equal(result.data, expected, result.size);
    tensor_release(&result);
}

static void largest_comes_first_and_ties_keep_their_order(void **state)
{
    const float numbers[] = {0.1F, 0.9F, 0.5F, 0.9F};

    assert_top(VECTOR_OF(DATA_FLOAT32, numbers), 3, -1, "(3,)", (const int64_t[]){1, 3, 2});
    const float zeros[] = {-0.0F, 0, -1, 0};
    assert_top(VECTOR_OF(DATA_FLOAT32, zeros), 4, 0, "(4,)", (const int64_t[]){0, 1, 3, 2});
}

static void nan_comes_after_all_numbers(void **state)
{
    const float numbers[] = {NAN, -INFINITY, -NAN, 1};

    assert_top(VECTOR_OF(DATA_FLOAT32, numbers), 9, -1, "(4,)", (const int64_t[]){3, 1, 0, 2});
}

static void lines_run_along_the_axis(void **state)
{
    const int32_t numbers[] = {1, 5, 3, 4, 2, 6, 9, 8, 7, 0, -1, 10};
    struct tensor tensor = tensor_of(DATA_INT32, SHAPE(2, 3, 2), numbers);

    assert_top(tensor, 1, 0, "(1, 3, 2)", (const int64_t[]){1, 1, 1, 0, 0, 1});
    assert_top(tensor, 2, -2, "(2, 2, 2)", (const int64_t[]){1, 2, 2, 0, 0, 2, 1, 0});
    assert_top(tensor, 1, 2, "(2, 3, 1)", (const int64_t[]){1, 1, 1, 0, 0, 1});
}

static void extremes_of_integers_rank_where_they_belong(void **state)
{
    const uint64_t words[] = {0, UINT64_MAX, 1};
    const int64_t integers[] = {INT64_MIN, 0, INT64_MAX};

    assert_top(VECTOR_OF(DATA_UINT64, words), 3, 0, "(3,)", (const int64_t[]){1, 2, 0});
    assert_top(VECTOR_OF(DATA_INT64, integers), 3, 0, "(3,)", (const int64_t[]){2, 1, 0});
    assert_top(tensor_of(DATA_BOOL, SHAPE(4), "\0\1\0\1"), 3, 0, "(3,)", (const int64_t[]){1, 3, 0});
}

static void long_lines_are_ranked_as_by_sorting(void **state)
{
    enum { COUNT = 4000 };
    static float numbers[COUNT];
    static int64_t expected[COUNT];
    struct mersenne_twister random;

    mersenne_twister_seed(&random, 3);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = (float)(mersenne_twister_next(&random) % 500);
        int place = i; /* insertion keeps the order of equal ones */
        while (place > 0 && numbers[expected[place - 1]] < numbers[i]) {
            expected[place] = expected[place - 1];
            place--;
        }
        expected[place] = i;
    }
    assert_top(VECTOR_OF(DATA_FLOAT32, numbers), COUNT, 0, "(4000,)", expected);
    assert_top(VECTOR_OF(DATA_FLOAT32, numbers), 100, 0, "(100,)", expected);
}

static void empty_axis_has_no_largest_value(void **state)
{
    assert_top(tensor_of(DATA_FLOAT32, SHAPE(2, 0), ""), 3, 1, "(2, 0)", NULL);
    assert_top(tensor_of(DATA_FLOAT32, SHAPE(0, 2), ""), 1, 1, "(0, 1)", NULL);
}

static void what_makes_no_sense_is_refused(void **state)
{
    const float numbers[] = {1, 2};
    const struct text texts[] = {TEXT("a")};
    struct tensor vector = VECTOR_OF(DATA_FLOAT32, numbers), scalar = tensor_of(DATA_FLOAT32, SCALAR, numbers);
    struct tensor strings = VECTOR_OF(DATA_STRING, texts), result;

    assert_int_equal(top_k(&vector, 0, 0, &result, NULL), ERR_INVALID);
    assert_int_equal(top_k(&vector, 1, 1, &result, NULL), ERR_INVALID);
    assert_int_equal(top_k(&vector, 1, -2, &result, NULL), ERR_INVALID);
    assert_int_equal(top_k(&scalar, 1, -1, &result, NULL), ERR_INVALID);
    assert_int_equal(top_k(&strings, 1, 0, &result, NULL), ERR_UNSUPPORTED);
}

static void named_rules_go_before_the_one_for_all(void **state) /* an axis belongs to one rule only */
{
    const struct top_k_rule rules[] = {{"columns", 1, 0}, {"", 2, -1}};
    struct tensor_list outputs = {0}, next = {0};

    add_tensor(&outputs, "columns", DATA_FLOAT32, SHAPE(2, 2), (float[]){1, 9, 5, 2});
    ADD_FLOATS(&outputs, "rows", 3, 1, 2);
    ADD_FLOATS(&next, "rows", 1, 2, 3);
    assert_int_equal(top_k_replace(&outputs, rules, 2, NULL), 0);
    assert_int_equal(top_k_replace(&next, rules, 2, NULL), 0);
    assert_shape(&outputs.items[0].tensor.shape, "(1, 2)");
    assert_memory_equal(outputs.items[0].tensor.data, ((int64_t[]){1, 0}), 16);
    assert_memory_equal(outputs.items[1].tensor.data, ((int64_t[]){0, 2}), 16);
    assert_memory_equal(next.items[0].tensor.data, ((int64_t[]){2, 1}), 16);
    tensor_list_release(&outputs);
    tensor_list_release(&next);
}

static void outputs_without_a_rule_stay(void **state)
{
    const struct top_k_rule rules[] = {{"x", 1, -1}};
    struct tensor_list outputs = {0};

    ADD_FLOATS(&outputs, "y", 3, 1);
    assert_int_equal(top_k_replace(&outputs, rules, 1, NULL), 0);
    assert_int_equal(outputs.items[0].tensor.type, DATA_FLOAT32);
    tensor_list_release(&outputs);
}

static void an_axis_that_is_not_there_names_the_output(void **state)
{
    const struct top_k_rule rules[] = {{"", 1, 3}};
    struct tensor_list outputs = {0};
    struct error error;

    ADD_FLOATS(&outputs, "y", 3, 1);
    assert_int_equal(top_k_replace(&outputs, rules, 1, &error), ERR_INVALID);
    assert_message_contains(&error, "output 'y': ");
    tensor_list_release(&outputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_comes_first_and_ties_keep_their_order),
        cmocka_unit_test(nan_comes_after_all_numbers),
        cmocka_unit_test(lines_run_along_the_axis),
        cmocka_unit_test(extremes_of_integers_rank_where_they_belong),
        cmocka_unit_test(long_lines_are_ranked_as_by_sorting),
        cmocka_unit_test(empty_axis_has_no_largest_value),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(named_rules_go_before_the_one_for_all),
        cmocka_unit_test(outputs_without_a_rule_stay),
        cmocka_unit_test(an_axis_that_is_not_there_names_the_output),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
