/* Protocol Buffers' wire format: what is written reads back, and no damaged byte is read past. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/proto/wire.h"

#define MESSAGE(literal) ((struct span){(const uint8_t *)(literal), sizeof(literal) - 1})

static void every_kind_of_field_is_read(void **state)
{
    struct span message = MESSAGE("\x08\x96\x01"                         /* 1: varint 150 */
                                  "\x11\x01\x02\x03\x04\x05\x06\x07\x88" /* 2: fixed 64 */
                                  "\x1a\x02hi"                           /* 3: bytes */
                                  "\x25\x01\x02\x03\x84");               /* 4: fixed 32 */
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.type, WIRE_VARINT);
    assert_int_equal(field.value, 150);
    assert_int_equal(field.whole.size, 3);
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.type, WIRE_FIXED64);
    assert_true(field.value == UINT64_C(0x8807060504030201));
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.number, 3);
    assert_int_equal(field.bytes.size, 2);
    assert_memory_equal(field.bytes.data, "hi", 2);
    assert_ptr_equal(field.whole.data, message.data + 12);
    assert_int_equal(field.whole.size, 4);
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.type, WIRE_FIXED32);
    assert_true(field.value == 0x84030201);
    assert_false(wire_next(&reader, &field));
    assert_false(reader.damaged);
}

static void message_without_bytes_has_no_fields(void **state)
{
    struct wire_reader reader = wire_reader_of((struct span){NULL, 0});
    struct wire_field field;

    assert_false(wire_next(&reader, &field));
    assert_false(reader.damaged);
}

static void integers_of_every_size_read_back(void **state)
{
    static const int64_t values[] = {0, 1, 127, 128, 16383, 16384, INT32_MAX, INT64_MAX, -1, INT64_MIN};

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct string_builder out;
        struct wire_reader reader;
        struct wire_field field;

        string_init(&out);
        wire_write_integer(&out, 536870911, values[i]); /* the largest number of a field */
        reader = wire_reader_of((struct span){(const uint8_t *)out.data, out.size});
        assert_true(wire_next(&reader, &field));
        assert_int_equal(field.number, 536870911);
        assert_true((int64_t)field.value == values[i]);
        assert_int_equal(out.size, 5 + wire_varint_size((uint64_t)values[i]));
        string_release(&out);
    }
}

static void bytes_that_were_written_read_back(void **state)
{
    struct string_builder out;
    struct wire_reader reader;
    struct wire_field field;

    string_init(&out);
    wire_write_bytes(&out, 1, NULL, 0);
    wire_write_text(&out, 2, TEXT("a text"));
    reader = wire_reader_of((struct span){(const uint8_t *)out.data, out.size});
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.bytes.size, 0);
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.bytes.size, 6);
    assert_memory_equal(field.bytes.data, "a text", 6);
    string_release(&out);
}

/* `at`: where the damaged field begins. */
static void assert_damaged(struct span message, size_t at)
{
    /* A block of exactly this size, so that reading past it is noticed. */
    uint8_t *copy = malloc(message.size);
    struct wire_reader reader;
    struct wire_field field;
    struct error err = {0};
    char expected[64];

    memcpy(copy, message.data, message.size);
    reader = wire_reader_of((struct span){copy, message.size});
    while (wire_next(&reader, &field))
        ;
    assert_true(reader.damaged);
    assert_false(wire_next(&reader, &field));
    assert_int_equal(wire_damage(&reader, (struct span){copy, message.size}, "the test", &err), ERR_CORRUPT);
    snprintf(expected, sizeof(expected), "the test is damaged at byte %zu of %zu:", at, message.size);
    assert_memory_equal(err.message, expected, strlen(expected));
    free(copy);
}

static void damaged_fields_are_noticed_where_they_begin(void **state)
{
    assert_damaged(MESSAGE("\x08"), 0);                                             /* no value */
    assert_damaged(MESSAGE("\x08\x01\x08\x80"), 2);                                 /* a varint without an end */
    assert_damaged(MESSAGE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0); /* more than ten bytes */
    assert_damaged(MESSAGE("\x11\1\2\3\4\5\6\7"), 0);                               /* seven bytes of eight */
    assert_damaged(MESSAGE("\x25\1\2\3"), 0);                                       /* three bytes of four */
    assert_damaged(MESSAGE("\x1a\x03hi"), 0);                                       /* two bytes of three */
    assert_damaged(MESSAGE("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01hi"), 0);   /* a length of 2^64 - 1 */
    assert_damaged(MESSAGE("\x0b"), 0);                                             /* a group */
    assert_damaged(MESSAGE("\x0f"), 0);                     /* a wire type that does not exist */
    assert_damaged(MESSAGE("\x02\x01"), 0);                 /* field number 0 */
    assert_damaged(MESSAGE("\x80\x80\x80\x80\x10\x01"), 0); /* a field number of 30 bits */
    assert_damaged(MESSAGE("\x80"), 0);                     /* half a tag */
}

static void packed_integers_are_walked_to_their_end(void **state)
{
    struct span cursor = MESSAGE("\x01\x96\x01\x00");
    static const uint64_t expected[] = {1, 150, 0};
    uint64_t value;
    bool damaged = false;

    for (size_t i = 0; i < 3; i++) {
        assert_true(wire_next_packed_varint(&cursor, &value, &damaged));
        assert_int_equal(value, expected[i]);
    }
    assert_false(wire_next_packed_varint(&cursor, &value, &damaged));
    assert_false(damaged);
}

static void packed_integer_without_an_end_is_damage(void **state)
{
    struct span cursor = MESSAGE("\x01\x96");
    uint64_t value;
    bool damaged = false;

    assert_true(wire_next_packed_varint(&cursor, &value, &damaged));
    assert_false(wire_next_packed_varint(&cursor, &value, &damaged));
    assert_true(damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_field_is_read),
        cmocka_unit_test(message_without_bytes_has_no_fields),
        cmocka_unit_test(integers_of_every_size_read_back),
        cmocka_unit_test(bytes_that_were_written_read_back),
        cmocka_unit_test(damaged_fields_are_noticed_where_they_begin),
        cmocka_unit_test(packed_integers_are_walked_to_their_end),
        cmocka_unit_test(packed_integer_without_an_end_is_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
