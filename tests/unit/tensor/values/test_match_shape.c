/* Transposing and reshaping. */
#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/values/tensor.h"

static void assert_matched(struct tensor tensor, struct shape wanted, const void *expected)
{
    struct error error = {0};
    struct tensor result;

    if (tensor_match_shape(&tensor, &wanted, &result, &error) < 0)
        fail_msg("%s", error.message);
    assert_true(shape_equal(&result.shape, &wanted));
    assert_int_equal(result.size, tensor.size);
    assert_memory_equal(result.data, expected, result.size);
    tensor_release(&result);
}

static void other_rank_is_reshaped(void **state)
{
    const uint8_t numbers[] = {1, 2, 3, 4, 5, 6};

    assert_matched(tensor_of(DATA_UINT8, SHAPE(6), numbers), SHAPE(2, 1, 3), numbers);
    assert_matched(tensor_of(DATA_UINT8, SHAPE(2, 3), numbers), SHAPE(2, 3), numbers);
    assert_matched(tensor_of(DATA_UINT8, SHAPE(1), numbers), SCALAR, numbers);
}

static void same_rank_without_permutation_is_reshaped(void **state)
{
    const uint8_t numbers[] = {1, 2, 3, 4, 5, 6};

    assert_matched(tensor_of(DATA_UINT8, SHAPE(1, 6), numbers), SHAPE(2, 3), numbers);
}

static void permuted_dimensions_are_transposed(void **state)
{
    const uint8_t numbers[] = {1, 2, 3, 4, 5, 6}, turned[] = {1, 4, 2, 5, 3, 6};

    assert_matched(tensor_of(DATA_UINT8, SHAPE(2, 3), numbers), SHAPE(3, 2), turned);
    const int16_t wide[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const int16_t wide_turned[] = {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11};
    /* both 2s keep their order: (2, 2, 3) to (3, 2, 2) moves the last axis to the front */
    assert_matched(tensor_of(DATA_INT16, SHAPE(2, 2, 3), wide), SHAPE(3, 2, 2), wide_turned);
}

static void half_bytes_and_strings_are_transposed_too(void **state)
{
    const struct text texts[] = {TEXT("a"), TEXT("b"), TEXT("c"), TEXT("d"), TEXT("e"), TEXT("f")};
    const struct text turned[] = {texts[0], texts[3], texts[1], texts[4], texts[2], texts[5]};

    assert_matched(tensor_of(DATA_UINT4, SHAPE(2, 3), "\x21\x43\x65"), SHAPE(3, 2), "\x41\x52\x63");
    assert_matched(tensor_of(DATA_STRING, SHAPE(2, 3), texts), SHAPE(3, 2), turned);
}

static void empty_tensor_is_transposed(void **state)
{
    assert_matched(tensor_of(DATA_FLOAT32, SHAPE(0, 3), ""), SHAPE(3, 0), "");
}

static void other_number_of_elements_is_refused(void **state)
{
    static const float numbers[6] = {0};
    struct tensor tensor = tensor_of(DATA_FLOAT32, SHAPE(2, 3), numbers), result;
    struct error error = {0};

    assert_int_equal(tensor_match_shape(&tensor, &SHAPE(5), &result, &error), ERR_INVALID);
    assert_message_contains(&error, "(2, 3)");
    assert_message_contains(&error, "(5,)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_rank_is_reshaped),
        cmocka_unit_test(same_rank_without_permutation_is_reshaped),
        cmocka_unit_test(permuted_dimensions_are_transposed),
        cmocka_unit_test(half_bytes_and_strings_are_transposed_too),
        cmocka_unit_test(empty_tensor_is_transposed),
        cmocka_unit_test(other_number_of_elements_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
