/* Order statistics, against sorting. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/generate/mersenne_twister.h"
#include "tensor/statistics/selection.h"
#include "tensor/values/elements.h"

enum { COUNT = 5000 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void assert_ranks_are_those_of_sorting(const struct tensor *tensor)
{
    const size_t ranks[] = {0, 1, COUNT / 2 - 1, COUNT / 2, COUNT * 9 / 10, COUNT - 3, COUNT - 2, COUNT - 1};
    double *sorted = memory_alloc(COUNT * sizeof(*sorted));
    double found[ARRAY_LEN(ranks)];

    elements_to_float64(tensor, 0, COUNT, sorted);
    qsort(sorted, COUNT, sizeof(*sorted), by_value);
    selection_find(tensor, ranks, ARRAY_LEN(ranks), found);
    for (size_t i = 0; i < ARRAY_LEN(ranks); i++) {
        if (found[i] != sorted[ranks[i]])
            fail_msg("%s: rank %zu is %g, not %g", data_type_name(tensor->type), ranks[i], found[i], sorted[ranks[i]]);
    }
    free(sorted);
}

static void ranks_of_every_type_are_found(void **state)
{
    const enum data_type types[] = {
        DATA_BOOL,  DATA_UINT8, DATA_INT8, DATA_UINT16,     DATA_INT16,   DATA_UINT32,   DATA_INT32,   DATA_UINT64,
        DATA_INT64, DATA_UINT4, DATA_INT4, DATA_FLOAT4E2M1, DATA_FLOAT16, DATA_BFLOAT16, DATA_FLOAT32, DATA_FLOAT64,
    };
    struct mersenne_twister random;
    struct tensor tensor;

    mersenne_twister_seed(&random, 1);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        assert_int_equal(tensor_allocate(types[i], &SHAPE(COUNT), &tensor, NULL), 0);
        uint8_t *bytes = tensor_writable(&tensor);
        for (size_t j = 0; j < tensor.size; j++)
            bytes[j] = (uint8_t)mersenne_twister_next(&random);
        for (size_t j = 0; j < COUNT; j++) { /* no NaN: their order is not that of sorting */
            if (types[i] == DATA_FLOAT16)
                ((uint16_t *)(void *)bytes)[j] &= 0xbfff;
            if (types[i] == DATA_BFLOAT16)
                ((uint16_t *)(void *)bytes)[j] &= 0xff7f;
            if (types[i] == DATA_FLOAT32)
                ((uint32_t *)(void *)bytes)[j] &= 0xff7fffff;
            if (types[i] == DATA_FLOAT64)
                ((uint64_t *)(void *)bytes)[j] &= 0xffefffffffffffff;
        }
        assert_ranks_are_those_of_sorting(&tensor);
        tensor_release(&tensor);
    }
}

static void ranks_among_equal_elements_are_found(void **state)
{
    static float numbers[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        numbers[i] = i % 10 == 0 ? (float)i : 0.25F;
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, numbers);
    assert_ranks_are_those_of_sorting(&tensor);
}

static void infinities_are_the_outermost_numbers(void **state)
{
    const double numbers[] = {1, INFINITY, -INFINITY, 0};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT64, numbers);
    double found[2];

    selection_find(&tensor, (const size_t[]){0, 3}, 2, found);
    assert_true(found[0] == -INFINITY && found[1] == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_every_type_are_found),
        cmocka_unit_test(ranks_among_equal_elements_are_found),
        cmocka_unit_test(infinities_are_the_outermost_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
