/* ValueInfoProto: types and shapes, decoded and made. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <string.h>

#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"

static struct value_type type_of(const struct model *model, const char *name)
{
    struct value_type type;

    value_info_decode(model->values.items[fixture_value(model, name)].info, &type);
    return type;
}

static void dimensions_may_be_numbers_names_or_nothing(void **state)
{
    struct model *model = fixture_open("symbolic_dimensions");
    struct value_type type = type_of(model, "a");

    assert_null(type.not_a_tensor);
    assert_int_equal(type.element, DATA_FLOAT32);
    assert_true(type.has_shape);
    assert_int_equal(type.shape.rank, 3);
    assert_int_equal(type.shape.dims[0], -1);
    assert_true(text_equal_string(type.symbols[0], "n"));
    assert_int_equal(type.shape.dims[1], -1);
    assert_int_equal(type.symbols[1].size, 0);
    assert_int_equal(type.shape.dims[2], 2);
    assert_true(value_type_is_complete(&type));
    model_free(model);
}

static void scalar_is_told_apart_from_an_unknown_shape(void **state)
{
    struct model *model = fixture_open("scalar_and_unknown_shape");
    struct value_type scalar = type_of(model, "scalar"), unknown = type_of(model, "unknown");

    assert_true(scalar.has_shape);
    assert_int_equal(scalar.shape.rank, 0);
    assert_true(value_type_is_complete(&scalar));
    assert_false(unknown.has_shape);
    assert_int_equal(unknown.element, DATA_FLOAT32);
    assert_false(value_type_is_complete(&unknown));
    model_free(model);
}

static void sequence_is_no_tensor(void **state)
{
    struct model *model = fixture_open("sequences");
    struct value_type type = type_of(model, "sequence");

    assert_string_equal(type.not_a_tensor, "sequence");
    assert_true(value_type_is_complete(&type));
    model_free(model);
}

static void value_that_nothing_is_said_about_has_no_type(void **state)
{
    struct value_type type;

    value_info_decode((struct span){NULL, 0}, &type);
    assert_null(type.not_a_tensor);
    assert_int_equal(type.element, DATA_UNDEFINED);
    assert_false(type.has_shape);
    assert_false(value_type_is_complete(&type));
}

static void negative_dimension_is_an_unknown_one(void **state)
{
    /* name "x", type { tensor { element 1, shape { dimension { value -1 } } } } */
    static const char info[] =
        "\x0a\x01x\x12\x13\x0a\x11\x08\x01\x12\x0d\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    struct value_type type;

    value_info_decode((struct span){(const uint8_t *)info, sizeof(info) - 1}, &type);
    assert_true(type.has_shape);
    assert_int_equal(type.shape.rank, 1);
    assert_int_equal(type.shape.dims[0], -1);
}

static void type_that_is_not_known_here_is_undefined(void **state)
{
    static const char info[] = "\x0a\x01x\x12\x04\x0a\x02\x08\x63";
    struct value_type type;

    value_info_decode((struct span){(const uint8_t *)info, sizeof(info) - 1}, &type);
    assert_int_equal(type.element, DATA_UNDEFINED);
}

static void shape_of_too_many_dimensions_is_unknown(void **state)
{
    struct string_builder shape, tensor, type, info;
    struct value_type decoded;

    string_init(&shape);
    string_init(&tensor);
    string_init(&type);
    string_init(&info);
    for (size_t i = 0; i < TENSOR_MAX_RANK + 1; i++)
        wire_write_bytes(&shape, 1, NULL, 0);
    wire_write_integer(&tensor, 1, DATA_INT64);
    wire_write_bytes(&tensor, 2, shape.data, shape.size);
    wire_write_bytes(&type, 1, tensor.data, tensor.size);
    wire_write_bytes(&info, 2, type.data, type.size);
    value_info_decode((struct span){(const uint8_t *)info.data, info.size}, &decoded);
    assert_int_equal(decoded.element, DATA_INT64);
    assert_false(decoded.has_shape);
    string_release(&shape);
    string_release(&tensor);
    string_release(&type);
    string_release(&info);
}

static void damaged_shape_is_unknown(void **state)
{
    static const char info[] = "\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x00\x0a\x05";
    struct value_type type;

    value_info_decode((struct span){(const uint8_t *)info, sizeof(info) - 1}, &type);
    assert_int_equal(type.element, DATA_FLOAT32);
    assert_false(type.has_shape);
}

static void description_that_was_made_reads_back(void **state)
{
    struct value_type type = {.element = DATA_FLOAT16, .has_shape = true, .shape = {3, {-1, 0, -1}}};
    struct value_type again;
    struct arena arena;
    struct span info;

    type.symbols[0] = TEXT("batch");
    arena_init(&arena);
    info = value_info_make(&arena, TEXT("x"), &type);
    assert_memory_equal(info.data, "\x0a\x01x", 3);
    value_info_decode(info, &again);
    assert_int_equal(again.element, DATA_FLOAT16);
    assert_true(again.has_shape);
    assert_true(shape_equal(&again.shape, &type.shape));
    assert_true(text_equal_string(again.symbols[0], "batch"));
    assert_int_equal(again.symbols[2].size, 0);
    type.has_shape = false;
    value_info_decode(value_info_make(&arena, TEXT("x"), &type), &again);
    assert_int_equal(again.element, DATA_FLOAT16);
    assert_false(again.has_shape);
    assert_int_equal(value_info_make(&arena, TEXT("x"), NULL).size, 3);
    arena_release(&arena);
}

static void renamed_description_says_the_same(void **state)
{
    struct model *model = fixture_open("sequence_output");
    uint32_t pair = fixture_value(model, "pair"), other = model_add_value(model, TEXT("other"));
    struct span before = model->values.items[pair].info, after;

    after = value_info_rename(&model->arena, before, TEXT("other"));
    model->values.items[other].info = after;
    assert_string_equal(type_of(model, "other").not_a_tensor, "sequence");
    assert_int_equal(after.size, before.size + strlen("other") - strlen("pair"));
    assert_memory_equal(after.data, "\x0a\x05other", 7);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_may_be_numbers_names_or_nothing),
        cmocka_unit_test(scalar_is_told_apart_from_an_unknown_shape),
        cmocka_unit_test(sequence_is_no_tensor),
        cmocka_unit_test(value_that_nothing_is_said_about_has_no_type),
        cmocka_unit_test(negative_dimension_is_an_unknown_one),
        cmocka_unit_test(type_that_is_not_known_here_is_undefined),
        cmocka_unit_test(shape_of_too_many_dimensions_is_unknown),
        cmocka_unit_test(damaged_shape_is_unknown),
        cmocka_unit_test(description_that_was_made_reads_back),
        cmocka_unit_test(renamed_description_says_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
