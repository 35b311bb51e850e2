/* How much of a tensor is signal and how much is noise. */
#include <math.h>

#include "support/tensor_fixture.h"
#include "tensor/quantization/noise.h"

static double ratio_of(struct tensor actual, struct tensor expected)
{
    struct noise noise = {0};

    noise_add(&noise, &actual, &expected);
    return noise_ratio(&noise);
}

static void the_ratio_is_of_powers(void **state)
{
    const float expected[] = {10, 0, -10}, actual[] = {11, 0, -9};

    assert_true(fabs(ratio_of(VECTOR_OF(DATA_FLOAT32, actual), VECTOR_OF(DATA_FLOAT32, expected)) - 20) < 1e-12);
    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT32, expected), VECTOR_OF(DATA_FLOAT32, expected)) == INFINITY);
}

static void tensors_add_up(void **state)
{
    const float signal[] = {3}, noise_only[] = {4}, zero[] = {0};
    struct noise noise = {0};
    struct tensor a = VECTOR_OF(DATA_FLOAT32, signal), b = VECTOR_OF(DATA_FLOAT32, noise_only);
    struct tensor none = VECTOR_OF(DATA_FLOAT32, zero);

    noise_add(&noise, &a, &a);
    noise_add(&noise, &b, &none);
    assert_true(noise.signal == 9 && noise.noise == 16);
}

static void what_is_no_number_in_one_alone_is_infinite_noise(void **state)
{
    const float number[] = {1, 2}, nan[] = {1, NAN}, infinite[] = {1, INFINITY};
    const double no_number[] = {NAN}, huge[] = {1e200}; /* whose square is infinite */

    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT32, nan), VECTOR_OF(DATA_FLOAT32, number)) == -INFINITY);
    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT32, infinite), VECTOR_OF(DATA_FLOAT32, number)) == -INFINITY);
    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT32, number), VECTOR_OF(DATA_FLOAT32, nan)) == INFINITY);
    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT32, number), VECTOR_OF(DATA_FLOAT32, infinite)) == INFINITY);
    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT64, no_number), VECTOR_OF(DATA_FLOAT64, huge)) == -INFINITY);
}

static void where_all_is_left_out_nothing_is_known(void **state)
{
    const float infinite[] = {-INFINITY, INFINITY}, nan[] = {NAN, NAN}, number[] = {1, 2};
    struct noise noise = {0};
    struct tensor a = VECTOR_OF(DATA_FLOAT32, number), b = VECTOR_OF(DATA_FLOAT32, nan);

    assert_true(isnan(ratio_of(VECTOR_OF(DATA_FLOAT32, nan), VECTOR_OF(DATA_FLOAT32, nan))));
    assert_true(isnan(ratio_of(VECTOR_OF(DATA_FLOAT32, number), VECTOR_OF(DATA_FLOAT32, infinite))));
    noise_add(&noise, &a, &b);
    noise_add(&noise, &a, &a);
    assert_true(noise.compared == 2 && noise.left_out == 2 && noise_ratio(&noise) == INFINITY);
}

static void other_shapes_and_signals_of_nothing(void **state)
{
    const float two[] = {1, 2}, one[] = {1}, zeros[] = {0, 0};

    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT32, one), VECTOR_OF(DATA_FLOAT32, two)) == -INFINITY);
    assert_true(ratio_of(VECTOR_OF(DATA_FLOAT32, two), VECTOR_OF(DATA_FLOAT32, zeros)) == -INFINITY);
    assert_true(ratio_of(tensor_of(DATA_FLOAT32, SHAPE(0), ""), tensor_of(DATA_FLOAT32, SHAPE(0), "")) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ratio_is_of_powers),
        cmocka_unit_test(tensors_add_up),
        cmocka_unit_test(what_is_no_number_in_one_alone_is_infinite_noise),
        cmocka_unit_test(where_all_is_left_out_nothing_is_known),
        cmocka_unit_test(other_shapes_and_signals_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
