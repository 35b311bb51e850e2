/* TensorProto: data in every form that ONNX has for them, and descriptions that lie. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"

#define MESSAGE(literal) ((struct span){(const uint8_t *)(literal), sizeof(literal) - 1})

static struct span initializer(const struct model *model, const char *name)
{
    return model->initializers.items[model->values.items[fixture_value(model, name)].initializer].message;
}

static void typed_data_of_every_type_are_the_same_as_raw_data(void **state)
{
    struct model *model = fixture_open("typed_and_raw_data");
    unsigned types = 0;

    for (int type = 1; type < DATA_TYPE_COUNT; type++) {
        char raw_name[64], typed_name[64];
        struct tensor raw, typed;
        struct error err = {0};

        if (type == DATA_STRING)
            continue;
        snprintf(raw_name, sizeof(raw_name), "raw_%s", data_type_name((enum data_type)type));
        snprintf(typed_name, sizeof(typed_name), "typed_%s", data_type_name((enum data_type)type));
        if (tensor_proto_decode(initializer(model, raw_name), &raw, &err) < 0 ||
            tensor_proto_decode(initializer(model, typed_name), &typed, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(raw.type, type);
        assert_int_equal(raw.shape.rank, 1);
        assert_int_equal(raw.shape.dims[0], 3);
        assert_true(tensor_identical(&raw, &typed));
        tensor_release(&raw);
        tensor_release(&typed);
        types++;
    }
    assert_int_equal(types, 22);
    model_free(model);
}

static void raw_data_are_borrowed(void **state)
{
    struct model *model = fixture_open("typed_and_raw_data");
    struct span message = initializer(model, "raw_int64");
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_proto_decode(message, &tensor, &err), 0);
    assert_true((const uint8_t *)tensor.data > message.data &&
                (const uint8_t *)tensor.data < message.data + message.size);
    tensor_release(&tensor);
    model_free(model);
}

static void strings_are_decoded_with_all_their_bytes(void **state)
{
    struct model *model = fixture_open("weights_of_many_sizes");
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_proto_decode(initializer(model, "strings"), &tensor, &err), 0);
    assert_int_equal(tensor.type, DATA_STRING);
    assert_int_equal(((const struct text *)tensor.data)[0].size, 2000);
    assert_int_equal(((const struct text *)tensor.data)[1].size, 0);
    tensor_release(&tensor);
    model_free(model);
}

static void header_tells_name_type_shape_and_place(void **state)
{
    struct model *model = fixture_open("external_weights");
    struct tensor_header header;
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_proto_read(initializer(model, "weights"), &header, &err), 0);
    assert_true(text_equal_string(header.name, "weights"));
    assert_int_equal(header.type, DATA_FLOAT32);
    assert_int_equal(header.shape.rank, 1);
    assert_int_equal(header.shape.dims[0], 256);
    assert_true(header.external);
    assert_false(header.has_raw);
    assert_true(text_equal_string(header.place.location, "weights.data"));
    assert_int_equal(header.place.offset, 0);
    assert_true(header.place.has_length);
    assert_int_equal(header.place.length, 1024);
    assert_int_equal(tensor_proto_decode(initializer(model, "weights"), &tensor, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.message, "tensor 'weights' has external data");
    model_free(model);
}

/* Fields that are repeated may come packed, one by one, or both ways in turn. */
static void unpacked_fields_are_read_like_packed_ones(void **state)
{
    static const float floats[] = {1, 2};
    static const int64_t integers[] = {5, -1, 7};
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_proto_decode(MESSAGE("\x08\x01\x08\x02\x10\x01"
                                                 "\x25\x00\x00\x80\x3f\x25\x00\x00\x00\x40"),
                                         &tensor, &err),
                     0);
    assert_int_equal(tensor.shape.rank, 2);
    assert_memory_equal(tensor.data, floats, sizeof(floats));
    tensor_release(&tensor);
    assert_int_equal(tensor_proto_decode(MESSAGE("\x0a\x01\x03\x10\x07"
                                                 "\x38\x05\x3a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07"),
                                         &tensor, &err),
                     0);
    assert_memory_equal(tensor.data, integers, sizeof(integers));
    tensor_release(&tensor);
}

static void scalar_and_empty_tensor_are_decoded(void **state)
{
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_proto_decode(MESSAGE("\x10\x03\x4a\x01\x7f"), &tensor, &err), 0);
    assert_int_equal(tensor.shape.rank, 0);
    assert_int_equal(*(const int8_t *)tensor.data, 127);
    tensor_release(&tensor);
    assert_int_equal(tensor_proto_decode(MESSAGE("\x08\x00\x10\x01"), &tensor, &err), 0);
    assert_int_equal(tensor.size, 0);
    tensor_release(&tensor);
}

static void assert_refused(struct span message, int code, const char *expected)
{
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_proto_decode(message, &tensor, &err), code);
    assert_string_equal(err.message, expected);
}

/* Dimensions stand in front of the name; the message has it all the same. */
static void tensors_that_lie_are_refused_by_name(void **state)
{
    assert_refused(MESSAGE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01\x42\x01w"), ERR_CORRUPT,
                   "tensor 'w' has a negative dimension");
    assert_refused(MESSAGE("\x0a\x02\x01\x80\x10\x01\x42\x01w"), ERR_CORRUPT, "tensor 'w' has damaged dimensions");
    assert_refused(MESSAGE("\x0a\x21\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\x42\x01w"),
                   ERR_CORRUPT, "tensor 'w' has too many dimensions");
    assert_refused(MESSAGE("\x08\x02\x10\x01\x42\x01w\x4a\x04\1\2\3\4"), ERR_CORRUPT,
                   "tensor 'w' has data that do not fit its shape");
    assert_refused(MESSAGE("\x08\x02\x10\x07\x3a\x01\x05\x42\x01w"), ERR_CORRUPT,
                   "tensor 'w' has data that do not fit its shape");
    assert_refused(MESSAGE("\x08\x01\x10\x07\x3a\x02\x05\x06\x42\x01w"), ERR_CORRUPT,
                   "tensor 'w' has data that do not fit its shape");
    assert_refused(MESSAGE("\x08\x01\x10\x08\x42\x01w"), ERR_CORRUPT,
                   "tensor 'w' has more or fewer strings than its shape requires");
    assert_refused(MESSAGE("\x08\x01\x10\x63\x42\x01w\x4a\x01\1"), ERR_CORRUPT, "tensor 'w' has an unknown data type");
    assert_refused(MESSAGE("\x08\x01\x10\x01\x1a\x00\x42\x01w"), ERR_CORRUPT,
                   "tensor 'w' is split into segments, which no runtime supports");
    assert_refused(MESSAGE("\x08\x01\x10\x01\x42\x01w\x4a\x05\1"), ERR_CORRUPT, "tensor 'w' is damaged");
}

/* 2^31 elements, 2^62 elements, and dimensions whose product wraps around to 1. */
static void shapes_of_more_data_than_the_file_has_are_refused_before_memory_is_asked_for(void **state)
{
    assert_refused(MESSAGE("\x0a\x05\x80\x80\x80\x80\x08\x10\x07\x42\x01w"), ERR_CORRUPT,
                   "tensor 'w' has less data than its shape requires");
    assert_refused(MESSAGE("\x0a\x0a\x80\x80\x80\x80\x08\x80\x80\x80\x80\x08\x10\x01\x42\x01w"), ERR_CORRUPT,
                   "tensor 'w' has less data than its shape requires");
    assert_refused(MESSAGE("\x0a\x0a\x80\x80\x80\x80\x08\x80\x80\x80\x80\x08\x10\x03\x42\x01w\x4a\x00"), ERR_CORRUPT,
                   "tensor 'w' has data that do not fit its shape");
    /* 3 * 0x2aaaaaaaaaaaaaab = 2^63 + 1; times 4 bytes, that is 4 in 64 bits */
    assert_refused(MESSAGE("\x0a\x0a\x03\xab\xd5\xaa\xd5\xaa\xd5\xaa\xd5\x2a\x10\x01\x42\x01w\x4a\x04\1\2\3\4"),
                   ERR_CORRUPT, "tensor 'w' has data that do not fit its shape");
}

/* A float tensor with doubles, an integer one with floats. */
static void data_in_the_field_of_another_type_are_refused(void **state)
{
    assert_refused(MESSAGE("\x08\x02\x10\x01\x42\x01w\x52\x08\1\2\3\4\5\6\7\x08"), ERR_CORRUPT,
                   "tensor 'w' has data that do not fit its shape");
    assert_refused(MESSAGE("\x08\x01\x10\x06\x42\x01w\x25\1\2\3\4"), ERR_CORRUPT,
                   "tensor 'w' has data that do not fit its shape");
    assert_refused(MESSAGE("\x08\x02\x10\x01\x42\x01w\x21\1\2\3\4\5\6\7\x08"), ERR_CORRUPT,
                   "tensor 'w' has data that do not fit its shape"); /* float_data, but 64 bits wide */
}

static int read_external(const char *key, const char *value, struct tensor_header *ret, struct error *err)
{
    struct string_builder entry, proto;
    int rc;

    string_init(&entry);
    string_init(&proto);
    wire_write_text(&entry, 1, text_of(key));
    wire_write_text(&entry, 2, text_of(value));
    wire_write_bytes(&proto, 13, entry.data, entry.size);
    wire_write_integer(&proto, 14, 1);
    wire_write_text(&proto, 8, TEXT("w"));
    rc = tensor_proto_read((struct span){(const uint8_t *)proto.data, proto.size}, ret, err);
    string_release(&entry);
    string_release(&proto);
    return rc;
}

static void offsets_and_lengths_have_to_be_numbers(void **state)
{
    static const char *const bad[] = {"-1", "1x", "", "9223372036854775808", "0x10", "1.5"};
    struct tensor_header header;
    struct error err = {0};

    assert_int_equal(read_external("offset", "9223372036854775807", &header, &err), 0);
    assert_true(header.place.offset == INT64_MAX);
    assert_false(header.place.has_length);
    assert_int_equal(read_external("length", "12", &header, &err), 0);
    assert_true(header.place.has_length);
    assert_int_equal(header.place.length, 12);
    assert_int_equal(read_external("checksum", "whatever", &header, &err), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(read_external("offset", bad[i], &header, &err), ERR_CORRUPT);
        assert_string_equal(err.message, "tensor 'w' has external data whose offset or length is not a number");
        assert_int_equal(read_external("length", bad[i], &header, &err), ERR_CORRUPT);
    }
}

static void written_header_reads_back(void **state)
{
    static const int8_t data[] = {1, 2, 3, 4, 5, 6};
    struct string_builder out;
    struct tensor tensor, again;
    struct error err = {0};

    tensor_borrow(DATA_INT8, &(struct shape){2, {3, 2}}, data, sizeof(data), &tensor);
    string_init(&out);
    tensor_proto_write_header(&out, TEXT("w"), &tensor);
    wire_write_bytes(&out, 9, data, sizeof(data));
    assert_int_equal(tensor_proto_decode((struct span){(const uint8_t *)out.data, out.size}, &again, &err), 0);
    assert_true(tensor_identical(&tensor, &again));
    tensor_release(&again);
    string_release(&out);
}

static void written_strings_read_back(void **state)
{
    static const struct text texts[] = {{"a\0b", 3}, {"", 0}};
    struct string_builder out;
    struct tensor tensor, again;
    struct error err = {0};

    assert_int_equal(tensor_set_strings(&(struct shape){1, {2}}, texts, &tensor, &err), 0);
    string_init(&out);
    tensor_proto_write_header(&out, TEXT("w"), &tensor);
    assert_int_equal(tensor_proto_decode((struct span){(const uint8_t *)out.data, out.size}, &again, &err), 0);
    assert_true(tensor_identical(&tensor, &again));
    tensor_release(&tensor);
    tensor_release(&again);
    string_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_data_of_every_type_are_the_same_as_raw_data),
        cmocka_unit_test(raw_data_are_borrowed),
        cmocka_unit_test(strings_are_decoded_with_all_their_bytes),
        cmocka_unit_test(header_tells_name_type_shape_and_place),
        cmocka_unit_test(unpacked_fields_are_read_like_packed_ones),
        cmocka_unit_test(scalar_and_empty_tensor_are_decoded),
        cmocka_unit_test(tensors_that_lie_are_refused_by_name),
        cmocka_unit_test(shapes_of_more_data_than_the_file_has_are_refused_before_memory_is_asked_for),
        cmocka_unit_test(data_in_the_field_of_another_type_are_refused),
        cmocka_unit_test(offsets_and_lengths_have_to_be_numbers),
        cmocka_unit_test(written_header_reads_back),
        cmocka_unit_test(written_strings_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
