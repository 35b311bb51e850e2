/* Random data: the same as Polygraphy's. */
#include <math.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/generate/data_generator.h"

static void twister_gives_the_numbers_of_its_authors(void **state)
{
    struct mersenne_twister random;
    uint32_t number = 0;

    mersenne_twister_seed(&random, 5489);
    assert_int_equal(mersenne_twister_next(&random), 3499211612);
    for (int i = 1; i < 10000; i++)
        number = mersenne_twister_next(&random);
    assert_int_equal(number, 4123659995); /* the value that ISO C++ demands of std::mt19937 */
}

/* A range is null, a pair, or pairs by input name with "" for all others. */
static void range_of(const json_t *ranges, const char *name, double *minimum, double *maximum)
{
    json_t *range = json_is_object(ranges) ? json_object_get(ranges, name) : (json_t *)ranges;

    if (!range)
        range = json_object_get(ranges, "");
    *minimum = json_is_array(range) ? json_number_value(json_array_get(range, 0)) : 0;
    *maximum = json_is_array(range) ? json_number_value(json_array_get(range, 1)) : 1;
}

static void check_vector(const json_t *vector, size_t number)
{
    json_t *seed = json_object_get(vector, "seed");
    uint32_t iteration = (uint32_t)json_integer_value(json_object_get(vector, "iteration"));
    struct mersenne_twister random;
    json_t *input;
    size_t i;

    mersenne_twister_seed(&random, (json_is_null(seed) ? 1 : (uint32_t)json_integer_value(seed)) + iteration);
    json_array_foreach (json_object_get(vector, "inputs"), i, input) {
        struct tensor expected = golden_tensor(input), tensor;
        double minimum, maximum;

        range_of(json_object_get(vector, "val_range"), json_string_value(json_object_get(input, "name")), &minimum,
                 &maximum);
        assert_int_equal(tensor_generate(&random, expected.type, &expected.shape,
                                         (struct number_range){minimum, maximum}, &tensor, NULL),
                         0);
        if (!tensor_identical(&tensor, &expected))
            fail_msg("vector %zu, input %zu differs", number, i);
        tensor_release(&tensor);
        tensor_release(&expected);
    }
}

static void data_are_those_of_all_golden_vectors(void **state)
{
    json_t *vectors = golden_vectors("data_loader_vectors.json"), *vector;
    size_t i;

    assert_int_equal(json_array_size(vectors), 33);
    json_array_foreach (vectors, i, vector)
        check_vector(vector, i);
    json_decref(vectors);
}

static struct tensor generate(enum data_type type, struct shape shape, double minimum, double maximum)
{
    struct mersenne_twister random;
    struct error error = {0};
    struct tensor tensor;

    mersenne_twister_seed(&random, 1);
    if (tensor_generate(&random, type, &shape, (struct number_range){minimum, maximum}, &tensor, &error) < 0)
        fail_msg("%s", error.message);
    return tensor;
}

static void strings_are_the_text_of_floats(void **state)
{
    struct tensor tensor = generate(DATA_STRING, SHAPE(2), 0, 1);
    const struct text *texts = tensor.data;

    assert_true(text_equal_string(texts[0], "0.417022004702574"));
    assert_true(text_equal_string(texts[1], "0.7203244934421581"));
    tensor_release(&tensor);
}

static void infinite_bounds_make_every_value_infinite(void **state)
{
    const struct {
        double minimum, maximum, value;
    } rows[] = {{0, INFINITY, INFINITY}, {-INFINITY, 5, -INFINITY}, {-INFINITY, INFINITY, INFINITY}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tensor tensor = generate(DATA_FLOAT64, SHAPE(100), rows[i].minimum, rows[i].maximum);
        for (size_t j = 0; j < 100; j++)
            assert_true(((const double *)tensor.data)[j] == rows[i].value);
        tensor_release(&tensor);
    }
}

static void integers_cover_their_whole_type(void **state)
{
    struct tensor tensor = generate(DATA_INT64, SHAPE(64), -0x1p63, 0x1p63);
    int negative = 0;

    for (size_t i = 0; i < 64; i++)
        negative += ((const int64_t *)tensor.data)[i] < 0;
    assert_in_range(negative, 10, 54);
    tensor_release(&tensor);
    tensor = generate(DATA_UINT64, SHAPE(2), 0x1p64, 0x1p64);
    assert_true(((const uint64_t *)tensor.data)[1] == UINT64_MAX);
    tensor_release(&tensor);
}

static void wide_integers_in_a_narrow_range_take_one_output_each(void **state)
{
    struct tensor narrow = generate(DATA_UINT32, SHAPE(100), 0, 4294967295.0);
    struct tensor wide = generate(DATA_INT64, SHAPE(100), 0, 4294967295.0);

    for (size_t i = 0; i < 100; i++)
        assert_true(((const int64_t *)wide.data)[i] == ((const uint32_t *)narrow.data)[i]);
    tensor_release(&narrow);
    tensor_release(&wide);
}

static void float16_values_are_rounded_once(void **state)
{
    enum { COUNT = 200000 }; /* among so many, rounding to float32 first changes some */
    struct tensor wide = generate(DATA_FLOAT64, SHAPE(COUNT), -1, 1);
    struct tensor narrow = generate(DATA_FLOAT16, SHAPE(COUNT), -1, 1);

    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(((const uint16_t *)narrow.data)[i], float64_to_float16(((const double *)wide.data)[i]));
    tensor_release(&wide);
    tensor_release(&narrow);
}

static void bounds_of_integers_are_truncated(void **state)
{
    struct tensor tensor = generate(DATA_INT8, SHAPE(50), -1.9, 1.9);

    for (size_t i = 0; i < 50; i++)
        assert_in_range(((const int8_t *)tensor.data)[i] + 1, 0, 2);
    tensor_release(&tensor);
    tensor = generate(DATA_UINT8, SHAPE(3), -0.5, 0.5);
    assert_memory_equal(tensor.data, "\0\0\0", 3);
    tensor_release(&tensor);
}

static void range_that_does_not_fit_an_integer_type_is_an_error(void **state)
{
    const struct {
        enum data_type type;
        double minimum, maximum;
    } rows[] = {
        {DATA_INT8, 0, 128},       {DATA_INT8, -129, 0},       {DATA_UINT8, -1, 3},  {DATA_INT32, 5, 4},
        {DATA_INT64, 0, 0x1.1p63}, {DATA_UINT64, 0, INFINITY}, {DATA_INT32, NAN, 1},
    };
    struct mersenne_twister random;

    mersenne_twister_seed(&random, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error error = {0};
        struct tensor tensor;
        assert_int_equal(tensor_generate(&random, rows[i].type, &SHAPE(1),
                                         (struct number_range){rows[i].minimum, rows[i].maximum}, &tensor, &error),
                         ERR_INVALID);
        assert_message_contains(&error, data_type_name(rows[i].type));
        assert_message_contains(&error, "--val-range");
    }
}

static void integers_of_4_bits_are_those_of_8_two_to_a_byte(void **state)
{
    const struct {
        enum data_type narrow, wide;
        double minimum, maximum;
    } rows[] = {{DATA_INT4, DATA_INT8, -8, 7}, {DATA_UINT4, DATA_UINT8, 0, 15}, {DATA_INT4, DATA_INT8, -3, 1}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tensor narrow = generate(rows[i].narrow, SHAPE(101), rows[i].minimum, rows[i].maximum);
        struct tensor wide = generate(rows[i].wide, SHAPE(101), rows[i].minimum, rows[i].maximum);
        const uint8_t *bytes = narrow.data, *values = wide.data;

        assert_int_equal(narrow.size, 51);
        for (size_t k = 0; k < 101; k++)
            assert_int_equal(bytes[k / 2] >> k % 2 * 4 & 0xF, values[k] & 0xF);
        assert_int_equal(bytes[50] >> 4, 0);
        tensor_release(&narrow);
        tensor_release(&wide);
    }
}

static void types_without_random_data_ask_for_inputs(void **state)
{
    const enum data_type types[] = {DATA_BFLOAT16, DATA_FLOAT8E4M3FN, DATA_FLOAT4E2M1, DATA_COMPLEX64};
    struct mersenne_twister random;

    mersenne_twister_seed(&random, 1);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct error error = {0};
        struct tensor tensor;
        assert_int_equal(tensor_generate(&random, types[i], &SHAPE(1), (struct number_range){0, 1}, &tensor, &error),
                         ERR_UNSUPPORTED);
        assert_message_contains(&error, "--load-inputs");
    }
}

static void tensor_too_large_for_memory_is_an_error(void **state)
{
    struct mersenne_twister random;
    struct tensor tensor;

    mersenne_twister_seed(&random, 1);
    assert_int_equal(
        tensor_generate(&random, DATA_FLOAT32, &SHAPE(INT64_MAX), (struct number_range){0, 1}, &tensor, NULL),
        ERR_MEMORY);
    assert_int_equal(
        tensor_generate(&random, DATA_STRING, &SHAPE(INT64_MAX), (struct number_range){0, 1}, &tensor, NULL),
        ERR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twister_gives_the_numbers_of_its_authors),
        cmocka_unit_test(data_are_those_of_all_golden_vectors),
        cmocka_unit_test(strings_are_the_text_of_floats),
        cmocka_unit_test(infinite_bounds_make_every_value_infinite),
        cmocka_unit_test(integers_cover_their_whole_type),
        cmocka_unit_test(wide_integers_in_a_narrow_range_take_one_output_each),
        cmocka_unit_test(float16_values_are_rounded_once),
        cmocka_unit_test(bounds_of_integers_are_truncated),
        cmocka_unit_test(range_that_does_not_fit_an_integer_type_is_an_error),
        cmocka_unit_test(integers_of_4_bits_are_those_of_8_two_to_a_byte),
        cmocka_unit_test(types_without_random_data_ask_for_inputs),
        cmocka_unit_test(tensor_too_large_for_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
