/* Attributes of every kind, written by hand in each form that the wire format allows. */
#include "support/unit_test.h"

#include <string.h>

#include "onnx/proto/attribute.h"
#include "onnx/proto/fields.h"

static struct attribute read_message(const struct string_builder *message)
{
    struct attribute attribute;

    attribute_read((struct span){(const uint8_t *)message->data, message->size}, &attribute);
    return attribute;
}

static void write_float(struct string_builder *out, uint32_t number, float value)
{
    wire_write_tag(out, number, WIRE_FIXED32);
    string_add_bytes(out, &value, sizeof(value));
}

static void single_values_are_read(void **state)
{
    struct string_builder message;
    struct attribute attribute;

    string_init(&message);
    wire_write_text(&message, ATTRIBUTE_NAME, TEXT("axis"));
    wire_write_integer(&message, ATTRIBUTE_INTEGER, -1);
    wire_write_integer(&message, ATTRIBUTE_KIND, ATTRIBUTE_ONE_INTEGER);
    attribute = read_message(&message);
    assert_true(text_equal_string(attribute.name, "axis"));
    assert_int_equal(attribute.type, ATTRIBUTE_ONE_INTEGER);
    assert_true(attribute.integer == -1);

    string_clear(&message);
    write_float(&message, ATTRIBUTE_FLOAT, 0.5F);
    attribute = read_message(&message);
    assert_int_equal(attribute.type, ATTRIBUTE_ONE_FLOAT);
    assert_true(attribute.number == 0.5F);

    string_clear(&message);
    wire_write_text(&message, ATTRIBUTE_STRING, TEXT("SAME_UPPER"));
    attribute = read_message(&message);
    assert_int_equal(attribute.type, ATTRIBUTE_ONE_STRING);
    assert_true(text_equal_string(span_text(attribute.bytes), "SAME_UPPER"));
    string_release(&message);
}

static void value_that_is_not_written_is_zero(void **state)
{
    struct string_builder message;
    struct attribute attribute;

    string_init(&message);
    wire_write_integer(&message, ATTRIBUTE_KIND, ATTRIBUTE_ONE_INTEGER);
    attribute = read_message(&message);
    assert_int_equal(attribute.type, ATTRIBUTE_ONE_INTEGER);
    assert_true(attribute.integer == 0);
    string_release(&message);
}

static void lists_are_read_packed_and_one_by_one_and_mixed(void **state)
{
    struct string_builder message;
    struct attribute attribute;
    struct attribute_walk walk;
    const float numbers[2] = {1.5F, 2.5F};
    const int64_t expected[] = {3, 1, 300, 4};
    int64_t integer;
    float number;
    size_t count = 0;

    string_init(&message);
    wire_write_integer(&message, ATTRIBUTE_INTEGERS, 3);
    wire_write_bytes(&message, ATTRIBUTE_INTEGERS, "\x01\xac\x02", 3);
    wire_write_bytes(&message, ATTRIBUTE_INTEGERS, "", 0);
    wire_write_integer(&message, ATTRIBUTE_INTEGERS, 4);
    attribute = read_message(&message);
    assert_int_equal(attribute.type, ATTRIBUTE_MANY_INTEGERS);
    for (walk = attribute_walk(&attribute); attribute_next_integer(&walk, &integer); count++)
        assert_true(count < 4 && integer == expected[count]);
    assert_int_equal(count, 4);

    string_clear(&message);
    wire_write_bytes(&message, ATTRIBUTE_FLOATS, numbers, sizeof(numbers));
    write_float(&message, ATTRIBUTE_FLOATS, 3.5F);
    attribute = read_message(&message);
    count = 0;
    for (walk = attribute_walk(&attribute); attribute_next_float(&walk, &number); count++)
        assert_true(number == 1.5F + (float)count);
    assert_int_equal(count, 3);
    string_release(&message);
}

static void lists_end_where_they_are_damaged(void **state)
{
    struct string_builder message;
    struct attribute attribute;
    struct attribute_walk walk;
    int64_t integer;
    float number;

    string_init(&message);
    wire_write_bytes(&message, ATTRIBUTE_INTEGERS, "\x07\xff", 2); /* the second number is cut off */
    attribute = read_message(&message);
    walk = attribute_walk(&attribute);
    assert_true(attribute_next_integer(&walk, &integer));
    assert_true(integer == 7);
    assert_false(attribute_next_integer(&walk, &integer));

    string_clear(&message);
    wire_write_bytes(&message, ATTRIBUTE_FLOATS, "\0\0\0", 3);
    attribute = read_message(&message);
    walk = attribute_walk(&attribute);
    assert_false(attribute_next_float(&walk, &number));
    string_release(&message);
}

static void reference_of_a_function_is_read(void **state)
{
    struct string_builder message;
    struct attribute attribute;

    string_init(&message);
    wire_write_text(&message, ATTRIBUTE_NAME, TEXT("alpha"));
    wire_write_text(&message, ATTRIBUTE_REFERENCE, TEXT("slope"));
    attribute = read_message(&message);
    assert_true(text_equal_string(attribute.reference, "slope"));
    string_release(&message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_values_are_read),
        cmocka_unit_test(value_that_is_not_written_is_zero),
        cmocka_unit_test(lists_are_read_packed_and_one_by_one_and_mixed),
        cmocka_unit_test(lists_end_where_they_are_damaged),
        cmocka_unit_test(reference_of_a_function_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
