/* Comparing rankings. */
#include <math.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/ranking.h"

static struct indices_result compare(struct tensor a, struct tensor b, size_t tolerance)
{
    struct error error = {0};
    struct indices_result result;

    if (compare_indices(&a, &b, tolerance, &result, &error) < 0)
        fail_msg("%s", error.message);
    return result;
}

static struct indices_result compare_rows(const int64_t *a, const int64_t *b, int64_t length, size_t tolerance)
{
    return compare(tensor_of(DATA_INT64, SHAPE(length), a), tensor_of(DATA_INT64, SHAPE(length), b), tolerance);
}

static void value_may_move_as_far_as_the_tolerance(void **state)
{
    const int64_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {3, 1, 2, 4, 5, 6};

    assert_true(compare_rows(a, b, 6, 2).passed);
    struct indices_result result = compare_rows(a, b, 6, 1);
    assert_false(result.passed);
    assert_int_equal(result.failures, 1);
    assert_int_equal(result.position, 2);
    assert_string_equal(result.value, "3");
    assert_true(result.found);
    assert_int_equal(result.found_at, 0);
}

static void missing_value_is_named_with_its_row(void **state)
{
    const int32_t a[] = {1, 2, 3, -7}, b[] = {1, 2, 3, 4};
    struct indices_result result =
        compare(tensor_of(DATA_INT32, SHAPE(2, 2), a), tensor_of(DATA_INT32, SHAPE(2, 2), b), 0);

    assert_false(result.passed || result.found);
    assert_int_equal(result.row, 1);
    assert_int_equal(result.position, 1);
    assert_string_equal(result.value, "-7");
}

static void last_values_may_drop_off_the_end(void **state)
{
    const int64_t a[] = {1, 2, 3, 9}, b[] = {1, 2, 3, 4};

    assert_true(compare_rows(a, b, 4, 1).passed);
    assert_false(compare_rows(a, b, 4, 0).passed);
}

static void row_no_longer_than_the_tolerance_is_looked_at(void **state)
{
    const int64_t a[] = {5, 6}, b[] = {6, 5}, c[] = {5, 7};

    assert_true(compare_rows(a, b, 2, 2).passed);
    assert_false(compare_rows(a, c, 2, 2).passed);
    assert_false(compare_rows(a, c, 2, 100).passed);
}

static void nearest_of_several_equal_values_counts(void **state)
{
    const int64_t a[] = {7, 1, 2, 3, 4, 7}, b[] = {7, 1, 2, 3, 7, 4};

    assert_true(compare_rows(a, b, 6, 1).passed);
    const int64_t c[] = {1, 1, 1, 2}, d[] = {1, 1, 1, 2};
    assert_true(compare_rows(c, d, 4, 0).passed);
}

static void scalar_is_a_row_of_one(void **state)
{
    const int64_t three = 3, four = 4;

    assert_true(compare(tensor_of(DATA_INT64, SCALAR, &three), tensor_of(DATA_INT64, SCALAR, &three), 0).passed);
    assert_false(compare(tensor_of(DATA_INT64, SCALAR, &three), tensor_of(DATA_INT64, SCALAR, &four), 0).passed);
}

static void types_may_differ(void **state)
{
    const int32_t integers[] = {3, 1, 2};
    const float floats[] = {3, 1, 2};
    const uint64_t words[] = {3, 1, UINT64_MAX};
    const int64_t negative[] = {3, 1, -1};

    assert_true(compare(VECTOR_OF(DATA_INT32, integers), VECTOR_OF(DATA_FLOAT32, floats), 0).passed);
    assert_false(compare(VECTOR_OF(DATA_UINT64, words), VECTOR_OF(DATA_INT64, negative), 0).passed);
    assert_false(compare(VECTOR_OF(DATA_INT64, negative), VECTOR_OF(DATA_UINT64, words), 0).passed);
    struct indices_result result = compare(VECTOR_OF(DATA_FLOAT32, floats), VECTOR_OF(DATA_INT64, negative), 0);
    assert_string_equal(result.value, "2.0");
}

static void long_rows_of_floats_are_read_whole(void **state)
{
    static float a[3000], b[3000];

    for (int i = 0; i < 3000; i++)
        a[i] = b[i] = (float)i;
    b[2999] = -1;
    struct indices_result result = compare(VECTOR_OF(DATA_FLOAT32, a), VECTOR_OF(DATA_FLOAT32, b), 0);
    assert_int_equal(result.failures, 1);
    assert_int_equal(result.position, 2999);
}

static void different_shapes_are_a_mismatch(void **state)
{
    static const int64_t numbers[4] = {0};

    assert_true(compare(tensor_of(DATA_INT64, SHAPE(4), numbers), tensor_of(DATA_INT64, SHAPE(2, 2), numbers), 0)
                    .shape_mismatch);
}

static void empty_rankings_agree(void **state)
{
    struct tensor empty = tensor_of(DATA_INT64, SHAPE(3, 0), "");

    assert_true(compare(empty, empty, 0).passed);
}

static void strings_are_no_indices(void **state)
{
    const struct text texts[] = {TEXT("a")};
    const int64_t numbers[] = {1};
    struct tensor a = VECTOR_OF(DATA_INT64, numbers), b = VECTOR_OF(DATA_STRING, texts);
    struct error error = {0};
    struct indices_result result;

    assert_int_equal(compare_indices(&a, &b, 0, &result, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_may_move_as_far_as_the_tolerance),
        cmocka_unit_test(missing_value_is_named_with_its_row),
        cmocka_unit_test(last_values_may_drop_off_the_end),
        cmocka_unit_test(row_no_longer_than_the_tolerance_is_looked_at),
        cmocka_unit_test(nearest_of_several_equal_values_counts),
        cmocka_unit_test(scalar_is_a_row_of_one),
        cmocka_unit_test(types_may_differ),
        cmocka_unit_test(long_rows_of_floats_are_read_whole),
        cmocka_unit_test(different_shapes_are_a_mismatch),
        cmocka_unit_test(empty_rankings_agree),
        cmocka_unit_test(strings_are_no_indices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
