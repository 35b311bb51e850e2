/* Weights without their values, and what takes their place. */
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/sparsity.h"
#include "onnx/stripped_weight.h"
#include "tensor/elements.h"

static struct tensor_header header_of(enum data_type type, int64_t first, int64_t second)
{
    return (struct tensor_header){.type = type, .shape = {2, {first, second}}};
}

static void only_large_weights_are_stripped(void **state)
{
    struct tensor_header header = header_of(DATA_FLOAT32, 16, 16);

    assert_true(stripped_weight_applies(&header)); /* 1024 bytes */
    header.shape.dims[0] = 15;
    assert_false(stripped_weight_applies(&header));
    header.shape.dims[0] = 0;
    assert_false(stripped_weight_applies(&header));
}

static void shapes_and_indices_are_not_stripped(void **state)
{
    static const enum data_type kept[] = {DATA_INT64,  DATA_INT32, DATA_INT16,  DATA_UINT16,   DATA_UINT32,
                                          DATA_UINT64, DATA_BOOL,  DATA_STRING, DATA_UNDEFINED};
    static const enum data_type stripped[] = {
        DATA_FLOAT64,        DATA_FLOAT32,    DATA_FLOAT16,        DATA_BFLOAT16,   DATA_FLOAT8E4M3FN,
        DATA_FLOAT8E4M3FNUZ, DATA_FLOAT8E5M2, DATA_FLOAT8E5M2FNUZ, DATA_FLOAT4E2M1, DATA_INT8,
        DATA_UINT8,          DATA_INT4,       DATA_UINT4};

    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        struct tensor_header header = header_of(kept[i], 1024, 1024);

        assert_false(stripped_weight_applies(&header));
    }
    for (size_t i = 0; i < ARRAY_LEN(stripped); i++) {
        struct tensor_header header = header_of(stripped[i], 1024, 1024);

        assert_true(stripped_weight_applies(&header));
    }
}

static void stripped_weight_is_read_as_it_was_made(void **state)
{
    struct stripped_weight weight = {DATA_FLOAT16, {3, {8, 64, 4}}, 0}, read;
    struct arena arena;
    struct span message;

    arena_init(&arena);
    for (uint32_t axes = 0; axes < 8; axes++) {
        weight.sparse_axes = axes;
        message = stripped_weight_make(&arena, TEXT("w"), &weight);
        assert_true(stripped_weight_read(message, &read));
        assert_int_equal(read.type, DATA_FLOAT16);
        assert_true(shape_equal(&read.shape, &weight.shape));
        assert_int_equal(read.sparse_axes, axes);
    }
    message = stripped_weight_make(&arena, TEXT("w"), &weight);
    assert_non_null(memmem(message.data, message.size, "polygraphy:stripped 2:4:0 2:4:1 2:4:2", 37));
    assert_true(message.size < 64);
    arena_release(&arena);
}

/* float32[16, 16] "w", and the text. */
static bool reads(const char *description)
{
    struct string_builder message;
    struct stripped_weight read;
    bool result;

    string_init(&message);
    string_add_bytes(&message, "\x08\x10\x08\x10\x10\x01\x42\x01w\x62", 10);
    string_add_char(&message, (char)strlen(description));
    string_add(&message, description);
    result = stripped_weight_read((struct span){(const uint8_t *)message.data, message.size}, &read);
    string_release(&message);
    return result;
}

static void only_marks_that_make_sense_are_believed(void **state)
{
    assert_true(reads("polygraphy:stripped"));
    assert_true(reads("polygraphy:stripped 2:4:0"));
    assert_true(reads("polygraphy:stripped 2:4:0 2:4:1"));
    assert_false(reads(""));
    assert_false(reads("polygraphy"));
    assert_false(reads("polygraphy:stripped?"));
    assert_false(reads("polygraphy:stripped 2:4:"));
    assert_false(reads("polygraphy:stripped 2:4:x"));
    assert_false(reads("polygraphy:stripped 2:4:2"));
    assert_false(reads("polygraphy:stripped 2:4:-1"));
    assert_false(reads("polygraphy:stripped 2:4:99999999999999999999"));
    assert_false(reads("polygraphy:stripped 2:4:1 and more"));
}

static void pattern_that_the_shape_does_not_allow_is_no_stripped_weight(void **state)
{
    struct stripped_weight weight = {DATA_FLOAT32, {2, {15, 256}}, 1}, read;
    struct arena arena;

    arena_init(&arena);
    assert_false(stripped_weight_read(stripped_weight_make(&arena, TEXT("w"), &weight), &read));
    weight.sparse_axes = 2;
    assert_true(stripped_weight_read(stripped_weight_make(&arena, TEXT("w"), &weight), &read));
    weight.type = DATA_INT8;
    assert_false(stripped_weight_read(stripped_weight_make(&arena, TEXT("w"), &weight), &read));
    arena_release(&arena);
}

/* A proxy for a weight called "w". */
static struct tensor fill(enum data_type type, struct shape shape, uint32_t sparse_axes, const char *name)
{
    struct stripped_weight weight = {type, shape, sparse_axes};
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_allocate(type, &shape, &tensor, &err), 0);
    stripped_weight_fill(&weight, text_of(name), tensor_writable(&tensor));
    return tensor;
}

static void moments(const struct tensor *tensor, double *ret_mean, double *ret_variance)
{
    size_t count = tensor_elements(tensor);
    double *values = memory_alloc_zero(count, sizeof(*values)), sum = 0, squares = 0;

    elements_to_float64(tensor, 0, count, values);
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    *ret_mean = sum / (double)count;
    *ret_variance = squares / (double)count - *ret_mean * *ret_mean;
    free(values);
}

static void proxies_keep_the_size_of_what_passes_through_them(void **state)
{
    static const enum data_type types[] = {DATA_FLOAT64, DATA_FLOAT32, DATA_FLOAT16, DATA_BFLOAT16};

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct tensor tensor = fill(types[i], (struct shape){4, {32, 64, 3, 3}}, 0, "w");
        double mean, variance;

        moments(&tensor, &mean, &variance);
        assert_true(fabs(mean) < 0.001);
        assert_true(fabs(variance * 576 - 1) < 0.05);
        tensor_release(&tensor);
    }
}

static void proxies_of_lower_rank_are_fit_for_a_variance(void **state)
{
    struct tensor tensor = fill(DATA_FLOAT32, (struct shape){1, {512}}, 0, "w");
    const float *values = tensor.data;

    for (size_t i = 0; i < 512; i++)
        assert_true(values[i] >= 0.5f && values[i] < 1.5f);
    tensor_release(&tensor);
}

static void proxies_depend_on_the_name_alone(void **state)
{
    const struct shape shape = {2, {16, 16}};
    struct tensor a = fill(DATA_FLOAT32, shape, 0, "w"), b = fill(DATA_FLOAT32, shape, 0, "w"),
                  c = fill(DATA_FLOAT32, shape, 0, "v");

    assert_true(tensor_identical(&a, &b));
    assert_false(tensor_identical(&a, &c));
    tensor_release(&a);
    tensor_release(&b);
    tensor_release(&c);
}

static void proxies_have_the_pattern_that_was_recorded(void **state)
{
    const struct shape shape = {2, {16, 16}};
    struct tensor plain = fill(DATA_FLOAT16, shape, 0, "w"), first = fill(DATA_FLOAT16, shape, 1, "w"),
                  both = fill(DATA_FLOAT16, shape, 3, "w");

    assert_false(sparsity_holds(&plain, 0) || sparsity_holds(&plain, 1));
    assert_true(sparsity_holds(&first, 0) && !sparsity_holds(&first, 1));
    assert_true(sparsity_holds(&both, 0) && sparsity_holds(&both, 1));
    tensor_release(&plain);
    tensor_release(&first);
    tensor_release(&both);
}

static void small_floats_are_finite(void **state)
{
    static const enum data_type types[] = {DATA_FLOAT8E4M3FN, DATA_FLOAT8E4M3FNUZ, DATA_FLOAT8E5M2, DATA_FLOAT8E5M2FNUZ,
                                           DATA_FLOAT4E2M1};
    float values[4096];

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct tensor tensor = fill(types[i], (struct shape){2, {64, 64}}, 0, "w");
        float largest = 0;

        elements_to_float32(&tensor, 0, 4096, values);
        for (size_t k = 0; k < 4096; k++) {
            assert_true(isfinite(values[k]));
            largest = fmaxf(largest, fabsf(values[k]));
        }
        assert_true(largest > 0.8f && largest <= (types[i] == DATA_FLOAT4E2M1 ? 6 : 2));
        tensor_release(&tensor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_large_weights_are_stripped),
        cmocka_unit_test(shapes_and_indices_are_not_stripped),
        cmocka_unit_test(stripped_weight_is_read_as_it_was_made),
        cmocka_unit_test(only_marks_that_make_sense_are_believed),
        cmocka_unit_test(pattern_that_the_shape_does_not_allow_is_no_stripped_weight),
        cmocka_unit_test(proxies_keep_the_size_of_what_passes_through_them),
        cmocka_unit_test(proxies_of_lower_rank_are_fit_for_a_variance),
        cmocka_unit_test(proxies_depend_on_the_name_alone),
        cmocka_unit_test(proxies_have_the_pattern_that_was_recorded),
        cmocka_unit_test(small_floats_are_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
