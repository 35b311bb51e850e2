/* The 2:4 pattern: which weights it is looked for in, whether it is there, and making it. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/shrink/sparsity.h"

static bool holds(enum data_type type, const struct shape *shape, size_t axis, const void *data)
{
    struct tensor tensor;

    tensor_borrow(type, shape, data, tensor_bytes(type, shape_elements(shape)), &tensor);
    return sparsity_holds(&tensor, axis);
}

static void weights_are_found_once_for_each_axis(void **state)
{
    struct model *model = fixture_open("sparse_weights");
    struct sparsity_candidates found = {0};
    struct string_builder text;

    string_init(&text);
    assert_int_equal(sparsity_find(model, &found, NULL), 0);
    for (size_t i = 0; i < found.count; i++)
        string_add_format(
            &text, "%.*s:%u ",
            TEXT_ARGS(model->values.items[model->initializers.items[found.items[i].initializer].value].name),
            found.items[i].axis);
    assert_string_equal(text.data, "columns:0 rows:1 rows_too:1 dense:0 quantized:1 bfloat16:0 ");
    string_release(&text);
    free(found.items);
    model_free(model);
}

static void pattern_is_looked_for_along_the_axis(void **state)
{
    const struct shape shape = {2, {4, 4}};
    const float columns[16] = {1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 2, 2, 0, -0.0F, 0, 0};

    assert_true(holds(DATA_FLOAT32, &shape, 0, columns));
    assert_false(holds(DATA_FLOAT32, &shape, 1, columns));
}

static void every_group_of_four_counts_by_itself(void **state)
{
    const struct shape shape = {2, {1, 8}};
    const float five_zeros[8] = {0, 0, 0, 0, 0, 1, 1, 1};

    assert_false(holds(DATA_FLOAT32, &shape, 1, five_zeros));
}

static void more_than_two_zeros_are_fine_and_nan_is_none(void **state)
{
    const struct shape shape = {2, {1, 4}};
    const float zeros[4] = {0, 0, 0, 0}, numbers[4] = {0, NAN, NAN, NAN};

    assert_true(holds(DATA_FLOAT32, &shape, 1, zeros));
    assert_false(holds(DATA_FLOAT32, &shape, 1, numbers));
}

static void small_types_are_compared_by_all_of_their_bits(void **state)
{
    const struct shape shape = {2, {1, 4}};
    const uint16_t low_byte[4] = {0x0001, 0x0100, 0x0001, 0}; /* one zero, whichever byte one looks at */
    const uint16_t negative_zero[4] = {0x8000, 0x3f80, 0x8000, 0x3f80};

    assert_false(holds(DATA_BFLOAT16, &shape, 1, low_byte));
    assert_true(holds(DATA_BFLOAT16, &shape, 1, negative_zero));
    assert_true(holds(DATA_FLOAT16, &shape, 1, negative_zero));
}

static void tensor_without_elements_has_the_pattern(void **state)
{
    const struct shape shape = {2, {4, 0}};

    assert_true(holds(DATA_FLOAT32, &shape, 0, ""));
}

static void pruning_clears_the_two_smallest_magnitudes(void **state)
{
    const struct shape shape = {2, {1, 8}};
    float data[8] = {-4, 3, 2, -1, 1, -1, 1, 1};
    const float expected[8] = {-4, 3, 0, 0, 0, 0, 1, 1};

    sparsity_prune(DATA_FLOAT32, &shape, 1, data);
    assert_memory_equal(data, expected, sizeof(data));
}

static void pruning_goes_along_the_axis(void **state)
{
    const struct shape shape = {3, {1, 4, 2}};
    float data[8] = {1, 8, 2, 7, 3, 6, 4, 5};
    const float expected[8] = {0, 8, 0, 7, 3, 0, 4, 0};

    sparsity_prune(DATA_FLOAT32, &shape, 1, data);
    assert_memory_equal(data, expected, sizeof(data));
}

static void what_was_pruned_has_the_pattern_and_stays(void **state)
{
    const struct shape shape = {3, {3, 8, 5}};
    uint16_t data[120], again[120];

    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        data[i] = (uint16_t)((i * 40503 + 12345) & 0xffff);
    sparsity_prune(DATA_BFLOAT16, &shape, 1, data);
    assert_true(holds(DATA_BFLOAT16, &shape, 1, data));
    memcpy(again, data, sizeof(data));
    sparsity_prune(DATA_BFLOAT16, &shape, 1, again);
    assert_memory_equal(data, again, sizeof(data));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_found_once_for_each_axis),
        cmocka_unit_test(pattern_is_looked_for_along_the_axis),
        cmocka_unit_test(every_group_of_four_counts_by_itself),
        cmocka_unit_test(more_than_two_zeros_are_fine_and_nan_is_none),
        cmocka_unit_test(small_types_are_compared_by_all_of_their_bits),
        cmocka_unit_test(tensor_without_elements_has_the_pattern),
        cmocka_unit_test(pruning_clears_the_two_smallest_magnitudes),
        cmocka_unit_test(pruning_goes_along_the_axis),
        cmocka_unit_test(what_was_pruned_has_the_pattern_and_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
