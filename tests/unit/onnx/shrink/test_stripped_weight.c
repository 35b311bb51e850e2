/* Weights without their values, and what takes their place. */
#define _GNU_SOURCE /* memmem */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/shrink/sparsity.h"
#include "onnx/shrink/stripped_weight.h"
#include "tensor/values/elements.h"

static void stripped_weight_is_read_as_it_was_made(void **state)
{
    struct stripped_weight weight = {.type = DATA_FLOAT16, .shape = {3, {8, 64, 4}}}, read;
    struct arena arena;
    struct span message;

    arena_init(&arena);
    for (int sparse = 0; sparse < 2; sparse++) {
        weight.sparse = sparse;
        message = stripped_weight_make(&arena, TEXT("w"), &weight);
        assert_int_equal(stripped_weight_read(message, &read, NULL), 1);
        assert_int_equal(read.type, DATA_FLOAT16);
        assert_true(shape_equal(&read.shape, &weight.shape));
        assert_int_equal(read.sparse, sparse);
        assert_int_equal(read.sparse_axes, 0);
    }
    assert_non_null(memmem(message.data, message.size, "TRT_WEIGHTLESS/SPARSE_2_4", 25));
    assert_true(message.size < 64);
    arena_release(&arena);
}

/* What float32[rows, 16] "w" with this doc_string, and these fields behind it, is read as. */
static int reads_rows(char rows, const char *description, const char *fields, size_t size, struct stripped_weight *ret)
{
    struct string_builder message;
    int result;

    string_init(&message);
    string_add_bytes(&message, "\x08", 1);
    string_add_char(&message, rows);
    string_add_bytes(&message, "\x08\x10\x10\x01\x42\x01w\x62", 8);
    string_add_char(&message, (char)strlen(description));
    string_add(&message, description);
    string_add_bytes(&message, fields, size);
    result = stripped_weight_read((struct span){(const uint8_t *)message.data, message.size}, ret, NULL);
    string_release(&message);
    return result;
}

static int reads(const char *description)
{
    struct stripped_weight weight;

    return reads_rows(16, description, "", 0, &weight);
}

static void marks_of_polygraphy_and_of_older_versions_are_read(void **state)
{
    struct stripped_weight weight;

    assert_int_equal(reads_rows(16, "TRT_WEIGHTLESS/", "", 0, &weight), 1);
    assert_true(!weight.sparse && weight.sparse_axes == 0);
    assert_int_equal(reads_rows(16, "TRT_WEIGHTLESS/SPARSE_2_4", "", 0, &weight), 1);
    assert_true(weight.sparse && weight.sparse_axes == 0);
    assert_int_equal(reads_rows(16, "polygraphy:stripped 2:4:0 2:4:1", "", 0, &weight), 1);
    assert_true(!weight.sparse && weight.sparse_axes == 3);
    assert_int_equal(reads("polygraphy:stripped"), 1);
}

static void other_descriptions_are_no_marks(void **state)
{
    assert_int_equal(reads(""), 0);
    assert_int_equal(reads("polygraphy"), 0);
    assert_int_equal(reads("made for TRT_WEIGHTLESS/"), 0);
}

static void marks_that_make_no_sense_are_errors(void **state)
{
    static const char *const marks[] = {
        "TRT_WEIGHTLESS/SPARSE_2_4 and more",
        "TRT_WEIGHTLESS/SPARSE_1_8",
        "TRT_WEIGHTLESS?",
        "polygraphy:stripped?",
        "polygraphy:stripped 2:4:",
        "polygraphy:stripped 2:4:x",
        "polygraphy:stripped 2:4:2",
        "polygraphy:stripped 2:4:-1",
        "polygraphy:stripped 2:4:99999999999999999999",
        "polygraphy:stripped 2:4:1 and more",
    };
    struct stripped_weight weight;

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        assert_int_equal(reads(marks[i]), ERR_INVALID);
    assert_int_equal(reads_rows(15, "polygraphy:stripped 2:4:0", "", 0, &weight), ERR_INVALID);
    assert_int_equal(reads_rows(15, "polygraphy:stripped 2:4:1", "", 0, &weight), 1);
    assert_int_equal(reads_rows(0, "TRT_WEIGHTLESS/", "", 0, &weight), ERR_INVALID);
}

static void marked_weight_with_values_is_not_stripped(void **state)
{
    static const char empty_raw[] = {0x4a, 0}, raw[] = {0x4a, 1, 0}, typed[] = {0x22, 4, 0, 0, 0, 0};
    static const char typed_and_empty_raw[] = {0x22, 4, 0, 0, 0, 0, 0x4a, 0};
    struct stripped_weight weight;

    assert_int_equal(reads_rows(16, "TRT_WEIGHTLESS/", empty_raw, sizeof(empty_raw), &weight), 1);
    assert_int_equal(reads_rows(16, "TRT_WEIGHTLESS/", typed_and_empty_raw, sizeof(typed_and_empty_raw), &weight), 1);
    assert_int_equal(reads_rows(16, "TRT_WEIGHTLESS/", raw, sizeof(raw), &weight), 0);
    assert_int_equal(reads_rows(16, "TRT_WEIGHTLESS/", typed, sizeof(typed), &weight), 0);
}

static void model_is_marked_behind_what_it_says_of_itself(void **state)
{
    struct model *model = fixture_open("identity");

    stripped_model_mark(model);
    assert_true(text_equal_string(model_description(model), "TRT_WEIGHTLESS"));
    model_set_description(model, TEXT("a model"));
    for (int twice = 0; twice < 2; twice++)
        stripped_model_mark(model);
    assert_true(text_equal_string(model_description(model), "a model-TRT_WEIGHTLESS"));
    model_free(model);
}

/* A proxy for a weight called "w". */
static struct tensor fill(enum data_type type, struct shape shape, uint32_t sparse_axes, const char *name)
{
    struct stripped_weight weight = {.type = type, .shape = shape, .sparse_axes = sparse_axes};
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

static void wide_integers_are_the_ends_of_an_axis(void **state)
{
    struct tensor negative = fill(DATA_INT64, (struct shape){1, {256}}, 0, "w"),
                  positive = fill(DATA_UINT16, (struct shape){1, {256}}, 0, "w");
    const int64_t *wide = negative.data;
    const uint16_t *narrow = positive.data;
    size_t last = 0;

    for (size_t i = 0; i < 256; i++) {
        assert_true(wide[i] == 0 || wide[i] == -1);
        assert_int_equal(narrow[i], -wide[i]);
        last += narrow[i];
    }
    assert_in_range(last, 64, 192);
    tensor_release(&negative);
    tensor_release(&positive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stripped_weight_is_read_as_it_was_made),
        cmocka_unit_test(marks_of_polygraphy_and_of_older_versions_are_read),
        cmocka_unit_test(other_descriptions_are_no_marks),
        cmocka_unit_test(marks_that_make_no_sense_are_errors),
        cmocka_unit_test(marked_weight_with_values_is_not_stripped),
        cmocka_unit_test(model_is_marked_behind_what_it_says_of_itself),
        cmocka_unit_test(proxies_keep_the_size_of_what_passes_through_them),
        cmocka_unit_test(proxies_of_lower_rank_are_fit_for_a_variance),
        cmocka_unit_test(proxies_depend_on_the_name_alone),
        cmocka_unit_test(proxies_have_the_pattern_that_was_recorded),
        cmocka_unit_test(small_floats_are_finite),
        cmocka_unit_test(wide_integers_are_the_ends_of_an_axis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
