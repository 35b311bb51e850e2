/* .npy files: what is read, what is refused, and that NumPy's own bytes come out. */
#include "support/format_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "format/numpy/npy.h"

/* A .npy file that is made by hand; the data begin at an aligned address when the header is padded to 118 bytes. */
struct made_file {
    struct string_builder text;
};

static struct span make_file(struct made_file *file, int version, const char *header, const void *data, size_t size)
{
    size_t length = strlen(header);
    uint8_t preamble[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0};

    preamble[8] = (uint8_t)(length & 0xFF);
    preamble[9] = (uint8_t)(length >> 8);
    string_init(&file->text);
    string_add_bytes(&file->text, preamble, version == 1 ? 10 : 12);
    string_add(&file->text, header);
    string_add_bytes(&file->text, data, size);
    return (struct span){(const uint8_t *)file->text.data, file->text.size};
}

static void assert_read(int version, const char *header, const void *data, size_t size, enum data_type type,
                        const char *shape, const void *expected)
{
    struct made_file file;
    struct tensor tensor;
    struct error error = {0};
    struct string_builder text;

    if (npy_read(make_file(&file, version, header, data, size), &tensor, &error) < 0)
        fail_msg("%s: %s", header, error.message);
    string_init(&text);
    shape_to_text(&tensor.shape, &text);
    assert_string_equal(text.data, shape);
    assert_int_equal(tensor.type, type);
    assert_int_equal(tensor.size, size);
    assert_memory_equal(tensor.data, expected, size);
    tensor_release(&tensor);
    string_release(&text);
    string_release(&file.text);
}

static void assert_refused(int version, const char *header, const void *data, size_t size, int code, const char *part)
{
    struct made_file file;
    struct tensor tensor;
    struct error error = {0};

    assert_int_equal(npy_read(make_file(&file, version, header, data, size), &tensor, &error), code);
    assert_message_contains(&error, part);
    string_release(&file.text);
}

static void every_number_type_is_read(void **state)
{
    static const struct {
        const char *descr;
        enum data_type type;
        size_t size;
    } cases[] = {
        {"|b1", DATA_BOOL, 1},      {"|i1", DATA_INT8, 1},         {"<i2", DATA_INT16, 2},   {"<i4", DATA_INT32, 4},
        {"<i8", DATA_INT64, 8},     {"|u1", DATA_UINT8, 1},        {"<u2", DATA_UINT16, 2},  {"<u4", DATA_UINT32, 4},
        {"=u8", DATA_UINT64, 8},    {"f2", DATA_FLOAT16, 2},       {"<f4", DATA_FLOAT32, 4}, {"<f8", DATA_FLOAT64, 8},
        {"<c8", DATA_COMPLEX64, 8}, {"<c16", DATA_COMPLEX128, 16},
    };
    uint8_t data[32] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char header[128];

        snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n", cases[i].descr);
        assert_read(1, header, data, cases[i].size * 2, cases[i].type, "(2,)", data);
    }
}

static void header_may_have_any_version_order_and_spacing(void **state)
{
    const float data[2] = {1.5F, -2.0F};

    assert_read(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", data, 8, DATA_FLOAT32, "(1, 2)",
                data);
    assert_read(3, "{'shape':(2,1,1),'fortran_order':False,'descr':'<f4'}", data, 8, DATA_FLOAT32, "(2, 1, 1)", data);
    assert_read(1, " { \"fortran_order\" : False , 'shape' : ( 2L , ) , \"descr\" : '<f4' , } \n\n", data, 8,
                DATA_FLOAT32, "(2,)", data);
    assert_read(1, "{'descr': '<f4', 'fortran_order': True, 'shape': ()}", data, 4, DATA_FLOAT32, "()", data);
    assert_read(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 99999999999999999)}", data, 0, DATA_FLOAT32,
                "(0, 99999999999999999)", data);
}

static void data_that_fit_are_not_copied(void **state)
{
    struct made_file file;
    struct tensor tensor;
    float value = 7;
    char header[119];
    struct span span;

    snprintf(header, sizeof(header), "%-117s\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }");
    span = make_file(&file, 1, header, &value, sizeof(value));
    assert_int_equal(npy_read(span, &tensor, NULL), 0);
    assert_ptr_equal(tensor.data, span.data + 128);
    tensor_release(&tensor);
    string_release(&file.text);
}

static void data_at_an_odd_address_are_copied_to_an_even_one(void **state)
{
    struct made_file file;
    struct tensor tensor;
    double value = 7;
    char header[119];

    snprintf(header, sizeof(header), "%-116s\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }");
    assert_int_equal(npy_read(make_file(&file, 1, header, &value, sizeof(value)), &tensor, NULL), 0);
    assert_int_equal((uintptr_t)tensor.data % sizeof(value), 0);
    assert_true(*(const double *)tensor.data == 7);
    tensor_release(&tensor);
    string_release(&file.text);
}

static void fortran_layout_is_transposed(void **state)
{
    int16_t data[24], expected[24];

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) {
                expected[(i * 3 + j) * 4 + k] = (int16_t)(100 * i + 10 * j + k);
                data[i + 2 * j + 6 * k] = (int16_t)(100 * i + 10 * j + k);
            }
    assert_read(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4)}", data, sizeof(data), DATA_INT16,
                "(2, 3, 4)", expected);
    assert_read(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (1, 24)}", data, sizeof(data), DATA_INT16,
                "(1, 24)", data);
    assert_read(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (0, 3, 4)}", data, 0, DATA_INT16, "(0, 3, 4)",
                data);
}

static void big_endian_numbers_are_swapped(void **state)
{
    assert_read(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", "\1\2\3\4", 4, DATA_INT16, "(2,)",
                "\2\1\4\3");
    assert_read(1, "{'descr': '>f8', 'fortran_order': False, 'shape': ()}", "\1\2\3\4\5\6\7\10", 8, DATA_FLOAT64, "()",
                "\10\7\6\5\4\3\2\1");
    assert_read(1, "{'descr': '>c8', 'fortran_order': False, 'shape': ()}", "\1\2\3\4\5\6\7\10", 8, DATA_COMPLEX64,
                "()", "\4\3\2\1\10\7\6\5");
    assert_read(1, "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 2)}", "\1\2\3\4\5\6\7\10", 8, DATA_UINT16,
                "(2, 2)", "\2\1\6\5\4\3\10\7");
}

static void assert_texts(const char *header, const void *data, size_t size, const char *const *expected, size_t count)
{
    struct made_file file;
    struct tensor tensor;
    struct error error = {0};

    if (npy_read(make_file(&file, 1, header, data, size), &tensor, &error) < 0)
        fail_msg("%s: %s", header, error.message);
    assert_int_equal(tensor.type, DATA_STRING);
    assert_int_equal(tensor_elements(&tensor), count);
    for (size_t i = 0; i < count; i++)
        assert_true(text_equal_string(((const struct text *)tensor.data)[i], expected[i]));
    tensor_release(&tensor);
    string_release(&file.text);
}

static void both_kinds_of_text_become_utf8_strings(void **state)
{
    const uint32_t characters[] = {'a', 0, 0, 0x1F600, 'b', 0xE9, 0, 0, 0, 'x', 0, 'y'};
    const char smiling[] = "\xf0\x9f\x98\x80"
                           "b\xc3\xa9"; /* "\x80b" would be one escape */
    const char *const three[] = {"a", smiling, ""};
    const char *const swapped[] = {"A\xe2\x82\xac"};
    const char *const bytes[] = {"ab", "c"};
    const char *const fortran[] = {"1", "3", "2", "4"};

    assert_texts("{'descr': '<U3', 'fortran_order': False, 'shape': (3,)}", characters, 36, three, 3);
    assert_texts("{'descr': '>U2', 'fortran_order': False, 'shape': ()}", "\0\0\0A\0\0\x20\xac", 8, swapped, 1);
    assert_texts("{'descr': '|S2', 'fortran_order': False, 'shape': (2,)}", "abc\0", 4, bytes, 2);
    assert_texts("{'descr': '|S1', 'fortran_order': True, 'shape': (2, 2)}", "1234", 4, fortran, 4);
}

static void what_only_python_understands_is_refused(void **state)
{
    assert_refused(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "x", 1, ERR_UNSUPPORTED,
                   "Python objects");
    assert_refused(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "x", 1, ERR_UNSUPPORTED,
                   "record");
    assert_refused(1, "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}", "x", 1, ERR_UNSUPPORTED,
                   "'<M8[ns]'");
    assert_refused(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}", "x", 1, ERR_UNSUPPORTED, "'<V2'");
    assert_refused(1, "{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "x", 1, ERR_UNSUPPORTED, "'<f16'");
    assert_refused(1, "{'descr': '<U0', 'fortran_order': False, 'shape': (9999999999,)}", "", 0, ERR_UNSUPPORTED,
                   "'<U0'");
    assert_refused(4, "{}", "", 0, ERR_UNSUPPORTED, "version 4");
}

static void header_that_is_no_such_dict_is_refused(void **state)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
    };

    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        assert_refused(1, headers[i], "1234", 4, ERR_UNSUPPORTED, "header");
    assert_refused(1,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
                   "1234", 4, ERR_UNSUPPORTED, "32 dimensions");
}

static void data_that_end_early_are_refused(void **state)
{
    assert_refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "1234567", 7, ERR_CORRUPT, "7 bytes");
    assert_refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,)}", "1234", 4,
                   ERR_CORRUPT, "4 bytes");
    assert_refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "1234", 4,
                   ERR_CORRUPT, "4 bytes");
}

static void file_cut_off_in_its_header_is_refused(void **state)
{
    struct made_file file;
    struct span span = make_file(&file, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "1234", 4);

    for (size_t size = 0; size < span.size; size++) {
        uint8_t *cut = (uint8_t *)memory_copy((const char *)span.data, size);
        struct tensor tensor;

        assert_true(npy_read((struct span){cut, size}, &tensor, NULL) < 0);
        free(cut);
    }
    string_release(&file.text);
}

static void boolean_that_is_neither_true_nor_false_is_refused(void **state)
{
    assert_refused(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\1\2", 2, ERR_CORRUPT, "element 1");
}

static void character_beyond_unicode_is_refused(void **state)
{
    assert_refused(1, "{'descr': '<U1', 'fortran_order': False, 'shape': ()}", "\0\0\x11\0", 4, ERR_CORRUPT, "Unicode");
    assert_refused(1, "{'descr': '<U1', 'fortran_order': False, 'shape': ()}", "\0\xd8\0\0", 4, ERR_CORRUPT, "Unicode");
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static int add_to_builder(void *context, const void *data, size_t size, struct error *err)
{
    (void)err;
    string_add_bytes(context, data, size);
    return 0;
}

static void write_tensor(const struct tensor *tensor, struct string_builder *ret)
{
    struct npy_sink sink = {add_to_builder, ret};
    struct error error = {0};

    string_init(ret);
    if (npy_write(tensor, &sink, &error) < 0)
        fail_msg("%s", error.message);
}

/* Lengths of headers included: rank14 has the last header of 128 bytes, rank15 the first of 192, because NumPy leaves
 * room for the first dimension to grow; a header that fits exactly gets 64 blanks all the same. */
static void numpys_own_files_come_out_as_they_were(void **state)
{
    static const char *const names[] = {
        "float32_2x3", "bool_scalar", "complex128", "int64_empty",         "strings",
        "bytes",       "rank14",      "rank15",     "header_of_128_bytes", "one_empty_string",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[128];
        struct string_builder file;
        struct tensor tensor;
        struct error error = {0};
        size_t size;
        char *content;

        snprintf(path, sizeof(path), "tests/golden/npy/%s.npy", names[i]);
        content = content_of(path, &size);
        if (npy_read((struct span){(const uint8_t *)content, size}, &tensor, &error) < 0)
            fail_msg("%s: %s", path, error.message);
        write_tensor(&tensor, &file);
        if (file.size != size || memcmp(file.data, content, size) != 0)
            fail_msg("%s comes out differently", path);
        string_release(&file);
        tensor_release(&tensor);
        free(content);
    }
}

/* Writes a tensor and reads it back. */
static void write_and_read(const struct tensor *tensor, struct string_builder *ret_file, struct tensor *ret)
{
    struct error error = {0};

    write_tensor(tensor, ret_file);
    if (npy_read((struct span){(const uint8_t *)ret_file->data, ret_file->size}, ret, &error) < 0)
        fail_msg("%s", error.message);
}

static void assert_widened(enum data_type type, const void *data, size_t elements, enum data_type wide,
                           const void *expected)
{
    struct shape shape = {1, {(int64_t)elements}};
    struct tensor tensor, back;
    struct string_builder file;

    tensor_borrow(type, &shape, data, tensor_bytes(type, elements), &tensor);
    write_and_read(&tensor, &file, &back);
    assert_int_equal(back.type, wide);
    assert_true(shape_equal(&back.shape, &shape));
    assert_memory_equal(back.data, expected, back.size);
    tensor_release(&back);
    string_release(&file);
}

static void types_that_numpy_lacks_are_written_as_wider_ones(void **state)
{
    const uint16_t bfloat16[] = {0x3FC0, 0xC000, 0x7F80};
    const float from_bfloat16[] = {1.5F, -2.0F, (float)HUGE_VAL};
    const uint8_t float8[] = {0x38, 0xB8};
    const float from_float8[] = {1.0F, -1.0F};
    const uint8_t four_bits[] = {0x71, 0x08};
    const float from_float4[] = {0.5F, 6.0F, -0.0F};

    assert_widened(DATA_BFLOAT16, bfloat16, 3, DATA_FLOAT32, from_bfloat16);
    assert_widened(DATA_FLOAT8E4M3FN, float8, 2, DATA_FLOAT32, from_float8);
    assert_widened(DATA_FLOAT4E2M1, four_bits, 3, DATA_FLOAT32, from_float4);
    assert_widened(DATA_INT4, four_bits, 3, DATA_INT8, "\x01\x07\xf8");
    assert_widened(DATA_UINT4, four_bits, 3, DATA_UINT8, "\x01\x07\x08");
}

static void widening_reaches_the_end_of_large_tensors(void **state)
{
    struct shape shape = {1, {5000}};
    struct tensor tensor, back;
    struct string_builder file;
    struct error error;

    assert_int_equal(tensor_allocate(DATA_BFLOAT16, &shape, &tensor, &error), 0);
    for (size_t i = 0; i < 5000; i++)
        ((uint16_t *)tensor_writable(&tensor))[i] = float32_to_bfloat16((float)(i % 256));
    write_and_read(&tensor, &file, &back);
    for (size_t i = 0; i < 5000; i++)
        assert_true(((const float *)back.data)[i] == (float)(i % 256));
    tensor_release(&back);
    tensor_release(&tensor);
    string_release(&file);
}

static void tensor_without_a_type_cannot_be_written(void **state)
{
    struct string_builder file;
    struct npy_sink sink = {add_to_builder, &file};
    struct tensor tensor = {0};

    string_init(&file);
    assert_int_equal(npy_write(&tensor, &sink, NULL), ERR_UNSUPPORTED);
    assert_int_equal(file.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_type_is_read),
        cmocka_unit_test(header_may_have_any_version_order_and_spacing),
        cmocka_unit_test(data_that_fit_are_not_copied),
        cmocka_unit_test(data_at_an_odd_address_are_copied_to_an_even_one),
        cmocka_unit_test(fortran_layout_is_transposed),
        cmocka_unit_test(big_endian_numbers_are_swapped),
        cmocka_unit_test(both_kinds_of_text_become_utf8_strings),
        cmocka_unit_test(what_only_python_understands_is_refused),
        cmocka_unit_test(header_that_is_no_such_dict_is_refused),
        cmocka_unit_test(data_that_end_early_are_refused),
        cmocka_unit_test(file_cut_off_in_its_header_is_refused),
        cmocka_unit_test(boolean_that_is_neither_true_nor_false_is_refused),
        cmocka_unit_test(character_beyond_unicode_is_refused),
        cmocka_unit_test(numpys_own_files_come_out_as_they_were),
        cmocka_unit_test(types_that_numpy_lacks_are_written_as_wider_ones),
        cmocka_unit_test(widening_reaches_the_end_of_large_tensors),
        cmocka_unit_test(tensor_without_a_type_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
