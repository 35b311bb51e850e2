/* Tensors: shapes, ownership, identity, lists. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"

static void shapes_look_like_python_tuples(void **state)
{
    assert_shape(&SCALAR, "()");
    assert_shape(&SHAPE(5), "(5,)");
    assert_shape(&SHAPE(1, 3), "(1, 3)");
    assert_shape(&SHAPE(-7, 3), "(-1, 3)");
}

static void number_of_elements_is_checked_for_overflow(void **state)
{
    assert_int_equal(shape_elements(&SCALAR), 1);
    assert_int_equal(shape_elements(&SHAPE(2, 3, 4)), 24);
    assert_int_equal(shape_elements(&SHAPE(2, 0, 4)), 0);
    assert_int_equal(shape_elements(&SHAPE(INT64_MAX, INT64_MAX, 0)), 0);
    assert_true(shape_elements(&SHAPE(INT64_MAX, 3)) == SIZE_MAX);
    assert_true(shape_elements(&SHAPE(-1, 0)) == SIZE_MAX);
}

static void bytes_are_checked_for_overflow(void **state)
{
    assert_int_equal(tensor_bytes(DATA_INT4, 3), 2);
    assert_int_equal(tensor_bytes(DATA_FLOAT64, 3), 24);
    assert_int_equal(tensor_bytes(DATA_COMPLEX128, 3), 48);
    assert_true(tensor_bytes(DATA_FLOAT32, SIZE_MAX / 2) == SIZE_MAX);
    assert_true(tensor_bytes(DATA_UINT4, SIZE_MAX) == SIZE_MAX);
}

static void positions_count_the_last_dimension_first(void **state)
{
    struct shape position;

    shape_position(&SHAPE(2, 3, 4), 23, &position);
    assert_shape(&position, "(1, 2, 3)");
    shape_position(&SHAPE(2, 3, 4), 5, &position);
    assert_shape(&position, "(0, 1, 1)");
    shape_position(&SCALAR, 0, &position);
    assert_shape(&position, "()");
}

static void shape_is_static_without_negative_dimensions(void **state)
{
    assert_true(shape_is_static(&SCALAR) && shape_is_static(&SHAPE(0, 3)));
    assert_false(shape_is_static(&SHAPE(3, -1)));
    assert_true(shape_equal(&SHAPE(3, 1), &SHAPE(3, 1)));
    assert_false(shape_equal(&SHAPE(3, 1), &SHAPE(3)));
    assert_false(shape_equal(&SHAPE(3, 1), &SHAPE(1, 3)));
}

static void empty_tensor_has_data_all_the_same(void **state)
{
    struct tensor tensor;

    assert_int_equal(tensor_allocate(DATA_FLOAT32, &SHAPE(0, 4), &tensor, NULL), 0);
    assert_non_null(tensor.data);
    assert_int_equal(tensor.size, 0);
    tensor_release(&tensor);
    tensor_borrow(DATA_FLOAT32, &SHAPE(0), NULL, 0, &tensor);
    assert_non_null(tensor.data);
    tensor_release(&tensor);
}

static void tensor_that_cannot_be_had_is_an_error(void **state)
{
    struct error error = {0};
    struct tensor tensor;

    assert_int_equal(tensor_allocate(DATA_FLOAT64, &SHAPE(INT64_MAX), &tensor, &error), ERR_MEMORY);
    assert_message_contains(&error, "float64 tensor of shape (9223372036854775807,)");
    assert_int_equal(tensor_allocate(DATA_UINT8, &SHAPE(INT64_MAX), &tensor, &error), ERR_MEMORY);
    assert_int_equal(tensor_allocate(DATA_STRING, &SHAPE(INT64_MAX), &tensor, &error), ERR_MEMORY);
    assert_int_equal(tensor_set_strings(&SHAPE(INT64_MAX, 4), NULL, &tensor, &error), ERR_MEMORY);
}

static void copy_does_not_share_data(void **state)
{
    int32_t numbers[] = {1, 2, 3};
    struct tensor tensor = VECTOR_OF(DATA_INT32, numbers), copy;

    assert_int_equal(tensor_copy(&tensor, &copy, NULL), 0);
    assert_true(tensor_identical(&tensor, &copy));
    numbers[1] = 7;
    assert_false(tensor_identical(&tensor, &copy));
    tensor_release(&copy);
}

static void strings_belong_to_their_tensor(void **state)
{
    char bytes[] = "oneseven";
    struct text texts[] = {{bytes, 3}, {bytes + 3, 5}, {NULL, 0}};
    struct tensor tensor, copy;

    assert_int_equal(tensor_set_strings(&SHAPE(3), texts, &tensor, NULL), 0);
    assert_int_equal(tensor_copy(&tensor, &copy, NULL), 0);
    memset(bytes, 'x', sizeof(bytes));
    assert_true(text_equal_string(((const struct text *)tensor.data)[1], "seven"));
    assert_true(tensor_identical(&tensor, &copy));
    tensor_release(&tensor);
    assert_true(text_equal_string(((const struct text *)copy.data)[0], "one"));
    tensor_release(&copy);
    tensor_release(&copy);
    assert_null(copy.data);
}

static void new_strings_are_empty(void **state)
{
    struct tensor tensor;

    assert_int_equal(tensor_allocate(DATA_STRING, &SHAPE(2), &tensor, NULL), 0);
    assert_int_equal(((const struct text *)tensor.data)[1].size, 0);
    tensor_release(&tensor);
}

static void identity_needs_type_shape_and_bytes(void **state)
{
    static const float ones[] = {1, 1}, other[] = {1, 2};
    static const struct text texts[] = {{"a", 1}, {"b", 1}}, other_texts[] = {{"a", 1}, {"c", 1}};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, ones);
    struct tensor different[] = {
        VECTOR_OF(DATA_FLOAT32, other),
        tensor_of(DATA_FLOAT32, SHAPE(2, 1), ones),
        tensor_of(DATA_INT32, SHAPE(2), ones),
    };
    struct tensor strings = VECTOR_OF(DATA_STRING, texts), other_strings = VECTOR_OF(DATA_STRING, other_texts);

    for (size_t i = 0; i < ARRAY_LEN(different); i++)
        assert_false(tensor_identical(&tensor, &different[i]));
    assert_true(tensor_identical(&strings, &strings));
    assert_false(tensor_identical(&strings, &other_strings));
}

static void unused_half_of_the_last_byte_does_not_count(void **state)
{
    struct tensor a = tensor_of(DATA_INT4, SHAPE(3), "\x21\x03"), b = tensor_of(DATA_INT4, SHAPE(3), "\x21\xf3");
    struct tensor c = tensor_of(DATA_INT4, SHAPE(3), "\x21\x04");

    assert_true(tensor_identical(&a, &b));
    assert_false(tensor_identical(&a, &c));
}

static void list_takes_tensors_over(void **state)
{
    static const float number = 3;
    struct tensor borrowed = tensor_of(DATA_FLOAT32, SCALAR, &number), tensor;
    struct tensor_list list = {0};

    assert_int_equal(tensor_copy(&borrowed, &tensor, NULL), 0);
    tensor_list_add(&list, TEXT("x"), &borrowed);
    tensor_list_add(&list, TEXT("xy"), &tensor);
    assert_null(tensor.data);
    assert_ptr_equal(tensor_list_find(&list, TEXT("xy")), &list.items[1]);
    assert_string_equal(list.items[0].name, "x");
    assert_null(tensor_list_find(&list, TEXT("y")));
    tensor_list_release(&list);
    assert_int_equal(list.count, 0);
}

static void list_of_many_finds_the_first_of_each_name(void **state)
{
    static const float number = 3;
    struct tensor_list list = {0};
    char name[16];

    for (int i = 0; i < 100; i++) {
        struct tensor tensor = tensor_of(DATA_FLOAT32, SCALAR, &number);

        snprintf(name, sizeof(name), "t%d", i % 60);
        tensor_list_add(&list, text_of(name), &tensor);
        for (int k = 0; k <= i && k < 60; k++) {
            snprintf(name, sizeof(name), "t%d", k);
            assert_ptr_equal(tensor_list_find(&list, text_of(name)), &list.items[k]);
        }
        assert_null(tensor_list_find(&list, TEXT("t60")));
    }
    tensor_list_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_look_like_python_tuples),
        cmocka_unit_test(number_of_elements_is_checked_for_overflow),
        cmocka_unit_test(bytes_are_checked_for_overflow),
        cmocka_unit_test(positions_count_the_last_dimension_first),
        cmocka_unit_test(shape_is_static_without_negative_dimensions),
        cmocka_unit_test(empty_tensor_has_data_all_the_same),
        cmocka_unit_test(tensor_that_cannot_be_had_is_an_error),
        cmocka_unit_test(copy_does_not_share_data),
        cmocka_unit_test(strings_belong_to_their_tensor),
        cmocka_unit_test(new_strings_are_empty),
        cmocka_unit_test(identity_needs_type_shape_and_bytes),
        cmocka_unit_test(unused_half_of_the_last_byte_does_not_count),
        cmocka_unit_test(list_takes_tensors_over),
        cmocka_unit_test(list_of_many_finds_the_first_of_each_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
