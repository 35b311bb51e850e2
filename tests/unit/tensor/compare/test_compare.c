/* Comparing outputs. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/compare.h"
#include "tensor/generate/mersenne_twister.h"
#include "tensor/values/elements.h"

static struct compare_result compare(const struct tensor *a, const struct tensor *b,
                                     const struct compare_options *options)
{
    struct error error = {0};
    struct compare_result result;

    if (compare_outputs(a, b, options, &result, &error) < 0)
        fail_msg("%s", error.message);
    return result;
}

static struct compare_result compare_by_default(struct tensor a, struct tensor b)
{
    return compare(&a, &b, &COMPARE_DEFAULTS);
}

static struct tensor random_floats(size_t count, uint32_t seed)
{
    struct mersenne_twister random;
    struct tensor tensor;

    mersenne_twister_seed(&random, seed);
    assert_int_equal(tensor_allocate(DATA_FLOAT32, &SHAPE((int64_t)count), &tensor, NULL), 0);
    for (size_t i = 0; i < count; i++)
        ((float *)tensor_writable(&tensor))[i] = (float)mersenne_twister_next_fraction(&random) - 0.5F;
    return tensor;
}

/* The same by the definition, one element after the other. */
static struct compare_result compare_slowly(const float *a, const float *b, size_t count, float atol, float rtol)
{
    struct compare_result ret = {.elements = count};
    double worst = -1;

    for (size_t i = 0; i < count; i++) {
        float absolute = fabsf(a[i] - b[i]);
        float relative = absolute / (b[i] == 0 ? 0x1p-52F : fabsf(b[i]));
        ret.absolute.maximum = fmax(ret.absolute.maximum, (double)absolute);
        ret.relative.maximum = fmax(ret.relative.maximum, (double)relative);
        ret.absolute.mean += (double)absolute / (double)count;
        ret.relative.mean += (double)relative / (double)count;
        ret.zeros_replaced |= b[i] == 0;
        bool fails = absolute > atol && relative > rtol;
        if (fails && ret.mismatches++ == 0) {
            ret.first = i;
            worst = -1; /* what passes does not count from now on */
        }
        if ((fails || ret.mismatches == 0) && (double)absolute > worst) {
            ret.worst = i;
            worst = (double)absolute;
        }
    }
    return ret;
}

static void assert_same_as_slowly(const float *a, const float *b, size_t count, double atol, double rtol)
{
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor left = tensor_of(DATA_FLOAT32, SHAPE((int64_t)count), a);
    struct tensor right = tensor_of(DATA_FLOAT32, SHAPE((int64_t)count), b);

    options.atol = atol;
    options.rtol = rtol;
    struct compare_result actual = compare(&left, &right, &options);
    struct compare_result expected = compare_slowly(a, b, count, (float)atol, (float)rtol);
    assert_int_equal(actual.mismatches, expected.mismatches);
    assert_int_equal(actual.passed, expected.mismatches == 0);
    assert_int_equal(actual.first, expected.first);
    assert_int_equal(actual.worst, expected.worst);
    assert_int_equal(actual.zeros_replaced, expected.zeros_replaced);
    assert_true(actual.absolute.maximum == expected.absolute.maximum);
    assert_true(actual.relative.maximum == expected.relative.maximum);
    assert_true(fabs(actual.absolute.mean - expected.absolute.mean) <= 1e-12 * expected.absolute.mean);
    assert_true(fabs(actual.relative.mean - expected.relative.mean) <= 1e-12 * expected.relative.mean);
}

static void long_float32_outputs_are_compared_as_defined(void **state)
{
    const size_t counts[] = {1, 7, 1023, 1024, 1025, 5000};

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct tensor a = random_floats(counts[i], 1), b = random_floats(counts[i], 2);
        ((float *)tensor_writable(&b))[counts[i] / 2] = 0;
        assert_same_as_slowly(a.data, b.data, counts[i], 0.1, 0.5);
        assert_same_as_slowly(a.data, b.data, counts[i], 0.9, 0.9);
        assert_same_as_slowly(a.data, a.data, counts[i], 0, 0);
        tensor_release(&a);
        tensor_release(&b);
    }
}

static void outputs_need_not_be_aligned(void **state)
{
    enum { COUNT = 3000 };
    struct tensor a = random_floats(COUNT, 1), b = random_floats(COUNT, 2);
    char *bytes = memory_alloc(a.size + 1);

    memcpy(bytes + 1, a.data, a.size);
    struct tensor shifted = tensor_of(DATA_FLOAT32, SHAPE(COUNT), bytes + 1);
    struct compare_result expected = compare_by_default(a, b), actual = compare_by_default(shifted, b);
    assert_int_equal(actual.mismatches, expected.mismatches);
    assert_true(actual.relative.mean == expected.relative.mean);
    free(bytes);
    tensor_release(&a);
    tensor_release(&b);
}

static void worst_element_is_one_that_fails(void **state)
{
    /* The greatest difference, at 0, is within the relative tolerance. */
    const float a[] = {1e9F, 1.5F, 2, 1.25F}, b[] = {1e9F + 1024, 1, 2, 1};
    struct compare_result result = compare_by_default(VECTOR_OF(DATA_FLOAT32, a), VECTOR_OF(DATA_FLOAT32, b));

    assert_int_equal(result.mismatches, 2);
    assert_int_equal(result.worst, 1);
    assert_true(result.absolute.maximum == 1024);
}

static void nan_is_the_worst_element(void **state)
{
    static float a[3000], b[3000];

    a[100] = INFINITY;
    a[2000] = NAN;
    a[2500] = NAN;
    struct compare_result result = compare_by_default(VECTOR_OF(DATA_FLOAT32, a), VECTOR_OF(DATA_FLOAT32, b));
    assert_int_equal(result.mismatches, 3);
    assert_int_equal(result.worst, 2000);
    assert_true(isnan(result.absolute.maximum) && isnan(result.absolute.mean));
}

static void tolerance_is_rounded_to_float32_for_float32_only(void **state)
{
    const float narrow[] = {0.1F}, narrow_zero[] = {0};
    const double wide[] = {(double)0.1F}, wide_zero[] = {0};
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor a = VECTOR_OF(DATA_FLOAT32, narrow), b = VECTOR_OF(DATA_FLOAT32, narrow_zero);
    struct tensor c = VECTOR_OF(DATA_FLOAT64, wide), d = VECTOR_OF(DATA_FLOAT64, wide_zero);

    options.atol = 0.1; /* less than the float32 nearest to it */
    assert_true(compare(&a, &b, &options).passed);
    assert_false(compare(&c, &d, &options).passed);
}

static void worst_element_fails_by_the_rounded_tolerance(void **state)
{
    /* 0.1 rounded to float32 at 0, which is within, and 0.5 at 1. */
    const float a[] = {1100, 1.5F}, b[] = {1000, 1};
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor left = VECTOR_OF(DATA_FLOAT32, a), right = VECTOR_OF(DATA_FLOAT32, b);

    options.rtol = 0.1;
    struct compare_result result = compare(&left, &right, &options);
    assert_int_equal(result.mismatches, 1);
    assert_int_equal(result.worst, 1);
}

static void zeros_of_integers_are_not_replaced(void **state)
{
    const int32_t integers[] = {0, 5};
    const float floats[] = {0, 5};
    struct tensor a = VECTOR_OF(DATA_INT32, integers), b = VECTOR_OF(DATA_FLOAT32, floats);

    assert_false(compare_by_default(b, a).zeros_replaced);
    assert_true(compare_by_default(a, b).zeros_replaced);
    assert_true(isnan(compare_by_default(b, a).relative.maximum));
    assert_true(compare_by_default(a, b).relative.maximum == 0);
}

static void differences_of_integers_do_not_wrap(void **state)
{
    const int64_t low[] = {INT64_MIN}, high[] = {INT64_MAX}, minus_one[] = {-1};
    const uint64_t most[] = {UINT64_MAX}, three[] = {3};
    const int8_t small[] = {-128};
    struct tensor tensors[][2] = {
        {VECTOR_OF(DATA_INT64, low), VECTOR_OF(DATA_INT64, high)},
        {VECTOR_OF(DATA_INT64, high), VECTOR_OF(DATA_INT64, low)},
        {VECTOR_OF(DATA_INT64, minus_one), VECTOR_OF(DATA_UINT64, three)},
        {VECTOR_OF(DATA_UINT64, three), VECTOR_OF(DATA_INT64, minus_one)},
        {VECTOR_OF(DATA_INT64, low), VECTOR_OF(DATA_UINT64, most)},
        {VECTOR_OF(DATA_INT64, minus_one), VECTOR_OF(DATA_UINT64, most)},
        {VECTOR_OF(DATA_INT8, small), VECTOR_OF(DATA_INT64, high)},
        {VECTOR_OF(DATA_INT64, low), VECTOR_OF(DATA_INT8, small)},
    };
    const double expected[] = {0x1p64, 0x1p64, 4, 4, 0x1p64, 0x1p64, 0x1p63 + 128, 0x1p63 - 128};

    for (size_t i = 0; i < ARRAY_LEN(tensors); i++) {
        struct compare_result result = compare_by_default(tensors[i][0], tensors[i][1]);
        assert_false(result.passed);
        assert_true(result.absolute.maximum == expected[i]);
    }
}

static void large_integers_differ_by_one(void **state)
{
    const int64_t a[] = {INT64_MAX}, b[] = {INT64_MAX - 1};
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor left = VECTOR_OF(DATA_INT64, a), right = VECTOR_OF(DATA_INT64, b);

    options.rtol = 0;
    assert_false(compare(&left, &right, &options).passed);
    assert_true(compare(&left, &right, &options).absolute.maximum == 1);
    options.atol = 1;
    assert_true(compare(&left, &right, &options).passed);
}

static void small_floating_types_are_widened(void **state)
{
    const uint16_t large[] = {0x7bff}, negative[] = {0xfbff}; /* float16 65504 and -65504 */
    struct compare_result result =
        compare_by_default(VECTOR_OF(DATA_FLOAT16, large), VECTOR_OF(DATA_FLOAT16, negative));

    assert_true(result.absolute.maximum == 131008);
    result = compare_by_default(tensor_of(DATA_BFLOAT16, SHAPE(1), "\x80\x3f"),
                                tensor_of(DATA_FLOAT8E4M3FN, SHAPE(1), "\xb8"));
    assert_true(result.absolute.maximum == 2 && result.relative.maximum == 2);
    result = compare_by_default(tensor_of(DATA_INT4, SHAPE(2), "\x87"), tensor_of(DATA_INT4, SHAPE(2), "\x78"));
    assert_int_equal(result.mismatches, 2);
    assert_true(result.absolute.maximum == 15);
}

static void strings_have_to_be_equal(void **state)
{
    const struct text texts[] = {TEXT("a"), TEXT("b"), TEXT("c")}, others[] = {TEXT("a"), TEXT("x"), TEXT("cc")};
    const float floats[] = {1, 2, 3};
    struct tensor a = VECTOR_OF(DATA_STRING, texts), b = VECTOR_OF(DATA_STRING, others);
    struct tensor numbers = VECTOR_OF(DATA_FLOAT32, floats);
    struct compare_options options = COMPARE_DEFAULTS;

    options.atol = options.rtol = 5;
    options.statistic = COMPARE_QUANTILE;
    assert_true(compare(&a, &a, &options).passed);
    struct compare_result result = compare(&a, &b, &options);
    assert_false(result.passed);
    assert_int_equal(result.mismatches, 2);
    assert_int_equal(result.worst, 1);
    assert_true(result.absolute.maximum == 1 && result.absolute.mean == 2.0 / 3);
    assert_int_equal(compare(&numbers, &a, &options).mismatches, 3);
    assert_false(compare(&a, &numbers, &options).passed);
}

static void complex_outputs_are_refused(void **state)
{
    const float parts[] = {1, 2};
    struct tensor a = tensor_of(DATA_COMPLEX64, SHAPE(1), parts), b = tensor_of(DATA_FLOAT32, SHAPE(1), parts);
    struct error error = {0};
    struct compare_result result;

    assert_int_equal(compare_outputs(&b, &a, &COMPARE_DEFAULTS, &result, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "complex64");
}

static void empty_outputs_agree_by_every_statistic(void **state)
{
    struct tensor empty = tensor_of(DATA_FLOAT32, SHAPE(0, 3), "");
    struct compare_options options = COMPARE_DEFAULTS;

    for (int statistic = COMPARE_ELEMWISE; statistic <= COMPARE_QUANTILE; statistic++) {
        options.statistic = (enum compare_statistic)statistic;
        assert_true(compare(&empty, &empty, &options).passed);
    }
}

static void statistics_are_held_against_tolerances(void **state)
{
    /* absolute 0 1 2 3 10, relative the same */
    const float a[] = {1, 2, 3, 4, 11}, b[] = {1, 1, 1, 1, 1};
    const struct {
        enum compare_statistic statistic;
        double value;
    } rows[] = {{COMPARE_MAX, 10}, {COMPARE_MEAN, 3.2}, {COMPARE_MEDIAN, 2}, {COMPARE_QUANTILE, 6.5}};
    struct tensor left = VECTOR_OF(DATA_FLOAT32, a), right = VECTOR_OF(DATA_FLOAT32, b);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct compare_options options = COMPARE_DEFAULTS;
        options.statistic = rows[i].statistic;
        options.quantile = 0.875;
        options.atol = rows[i].value;
        assert_true(compare(&left, &right, &options).passed);
        options.atol = rows[i].value - 0.01;
        assert_false(compare(&left, &right, &options).passed);
        options.rtol = rows[i].value;
        assert_true(compare(&left, &right, &options).passed);
        assert_int_equal(compare(&left, &right, &options).has_medians, rows[i].statistic == COMPARE_MEDIAN);
        assert_int_equal(compare(&left, &right, &options).has_quantiles, rows[i].statistic == COMPARE_QUANTILE);
    }
}

static void statistics_have_names(void **state)
{
    enum compare_statistic statistic;

    for (int i = COMPARE_ELEMWISE; i <= COMPARE_QUANTILE; i++) {
        assert_true(compare_statistic_parse(text_of(compare_statistic_name((enum compare_statistic)i)), &statistic));
        assert_int_equal(statistic, i);
    }
    assert_false(compare_statistic_parse(TEXT("Mean"), &statistic));
}

static void bad_options_are_refused(void **state)
{
    struct compare_options rows[] = {COMPARE_DEFAULTS, COMPARE_DEFAULTS, COMPARE_DEFAULTS, COMPARE_DEFAULTS};
    const char *const parts[] = {"absolute tolerance", "relative tolerance", "quantile", "quantile"};
    const float number[] = {1};
    struct tensor tensor = VECTOR_OF(DATA_FLOAT32, number);
    struct compare_result result;

    rows[0].atol = NAN;
    rows[1].rtol = -1;
    rows[2].quantile = 1.5;
    rows[3].quantile = NAN;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error error = {0};
        assert_int_equal(compare_outputs(&tensor, &tensor, &rows[i], &result, &error), ERR_INVALID);
        assert_message_contains(&error, parts[i]);
    }
    assert_int_equal(compare_options_check(&COMPARE_DEFAULTS, NULL), 0);
}

static void shapes_that_do_not_go_together_are_a_mismatch(void **state)
{
    static const float numbers[6] = {0};
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor a = tensor_of(DATA_FLOAT32, SHAPE(2, 3), numbers), b = tensor_of(DATA_FLOAT32, SHAPE(3, 2), numbers);
    struct tensor five = tensor_of(DATA_FLOAT32, SHAPE(5), numbers), empty = tensor_of(DATA_FLOAT32, SHAPE(0), "");
    struct tensor differences;

    assert_true(compare(&a, &b, &options).shape_mismatch);
    assert_false(compare(&a, &b, &options).passed);
    options.check_shapes = false;
    assert_true(compare(&a, &b, &options).passed);
    assert_true(compare(&a, &five, &options).shape_mismatch);
    assert_true(compare(&a, &empty, &options).shape_mismatch);
    assert_int_equal(compare_differences(&a, &five, &options, DIFFERENCE_ABSOLUTE, &differences, NULL), ERR_INVALID);
}

static void transposed_output_is_compared_element_by_element(void **state)
{
    const float a[] = {0, 1, 2, 3, 4, 5}, b[] = {0, 3, 1, 4, 2, 7};
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor left = tensor_of(DATA_FLOAT32, SHAPE(2, 3), a), right = tensor_of(DATA_FLOAT32, SHAPE(3, 2), b);

    options.check_shapes = false;
    struct compare_result result = compare(&left, &right, &options);
    assert_int_equal(result.mismatches, 1);
    assert_int_equal(result.worst, 5);
}

static void all_differences_can_be_had(void **state)
{
    enum { COUNT = 2500 };
    static float a[COUNT], b[COUNT];
    static int32_t integers[COUNT];
    struct tensor left = VECTOR_OF(DATA_FLOAT32, a), right = VECTOR_OF(DATA_FLOAT32, b);
    struct tensor whole = VECTOR_OF(DATA_INT32, integers), differences;

    a[2400] = 3;
    b[2400] = 2;
    integers[2400] = 2;
    assert_int_equal(compare_differences(&left, &right, &COMPARE_DEFAULTS, DIFFERENCE_RELATIVE, &differences, NULL), 0);
    assert_int_equal(differences.type, DATA_FLOAT32);
    assert_shape(&differences.shape, "(2500,)");
    assert_true(((const float *)differences.data)[2400] == 0.5F && ((const float *)differences.data)[2499] == 0);
    tensor_release(&differences);
    assert_int_equal(compare_differences(&left, &whole, &COMPARE_DEFAULTS, DIFFERENCE_ABSOLUTE, &differences, NULL), 0);
    assert_int_equal(differences.type, DATA_FLOAT64);
    assert_true(((const double *)differences.data)[2400] == 1);
    tensor_release(&differences);
}

static void equal_infinities_agree_when_allowed(void **state)
{
    const double a[] = {INFINITY, -INFINITY}, b[] = {INFINITY, INFINITY};
    struct compare_options options = COMPARE_DEFAULTS;
    struct tensor left = VECTOR_OF(DATA_FLOAT64, a), right = VECTOR_OF(DATA_FLOAT64, b);

    assert_int_equal(compare(&left, &right, &options).mismatches, 2);
    options.infinities_compare_equal = true;
    assert_int_equal(compare(&left, &right, &options).mismatches, 1);
    assert_int_equal(compare(&left, &right, &options).worst, 1);
}

static void nans_agree_when_allowed(void **state)
{
    const double a[] = {NAN, NAN, 1, 2}, b[] = {NAN, 1, NAN, 2};
    const float narrow_a[] = {NAN, NAN, 1, 2}, narrow_b[] = {NAN, 1, NAN, 2};
    const struct tensor lefts[] = {VECTOR_OF(DATA_FLOAT64, a), VECTOR_OF(DATA_FLOAT32, narrow_a)};
    const struct tensor rights[] = {VECTOR_OF(DATA_FLOAT64, b), VECTOR_OF(DATA_FLOAT32, narrow_b)};

    for (size_t i = 0; i < 2; i++) {
        struct compare_options options = COMPARE_DEFAULTS;

        assert_int_equal(compare(&lefts[i], &rights[i], &options).mismatches, 3);
        assert_int_equal(compare(&lefts[i], &rights[i], &options).equal_nans, 0);
        options.nans_compare_equal = true;
        assert_int_equal(compare(&lefts[i], &rights[i], &options).mismatches, 2);
        assert_int_equal(compare(&lefts[i], &rights[i], &options).first, 1);
        assert_int_equal(compare(&lefts[i], &rights[i], &options).equal_nans, 1);
        assert_true(compare(&lefts[i], &lefts[i], &options).passed);
    }
}

static struct compare_options norm_alone(double tolerance)
{
    struct compare_options options = COMPARE_DEFAULTS;

    options.atol = options.rtol = 0;
    options.norm_tolerance = tolerance;
    return options;
}

static void norm_tolerance_goes_by_the_largest_element_of_the_second_output(void **state)
{
    const float a[] = {1000, 0.5F, -0.25F}, b[] = {1000, 0, 0};
    struct tensor left = VECTOR_OF(DATA_FLOAT32, a), right = VECTOR_OF(DATA_FLOAT32, b);
    struct compare_options options = norm_alone(0.4e-3);
    struct compare_result result = compare(&left, &right, &options);

    assert_int_equal(result.mismatches, 1);
    assert_int_equal(result.first, 1);
    assert_true(result.norm == 1000 && fabs(result.atol - 0.4) < 1e-12);
    options = norm_alone(0.5e-3);
    assert_true(compare(&left, &right, &options).passed);
    options = norm_alone(0.4e-3);
    options.atol = 0.5; /* the larger one holds */
    assert_true(compare(&left, &right, &options).passed);
    options = norm_alone(0.4e-3);
    options.statistic = COMPARE_MEAN;
    assert_true(compare(&left, &right, &options).passed);
    assert_false(compare(&right, &left, &(struct compare_options){.norm_tolerance = 0.4e-3}).passed);
}

static void masks_give_no_scale_and_are_compared_by_position(void **state)
{
    const float scores[] = {-3.4e38F, 2, 1, -INFINITY}, wrong[] = {-3.4e38F, 2, 1.5F, -INFINITY};
    const float others[] = {-3.3e38F, 2, 1, -3.4e38F}, unmasked[] = {0, 2, 1, -INFINITY};
    const uint16_t halves[] = {0xfbff, 0x4000}, wrong_halves[] = {0xfbff, 0x4200}; /* -65504 and 2 or 3 */
    struct tensor reference = VECTOR_OF(DATA_FLOAT32, scores), half = VECTOR_OF(DATA_FLOAT16, halves);
    struct tensor other = VECTOR_OF(DATA_FLOAT32, wrong), other_half = VECTOR_OF(DATA_FLOAT16, wrong_halves);
    struct tensor other_masks = VECTOR_OF(DATA_FLOAT32, others), no_mask = VECTOR_OF(DATA_FLOAT32, unmasked);
    struct compare_options options = norm_alone(0.01);
    struct compare_result result;

    options.infinities_compare_equal = true;
    result = compare(&other, &reference, &options);
    assert_int_equal(result.mismatches, 1);
    assert_int_equal(result.first, 2);
    assert_true(result.norm == 2);
    assert_true(compare(&other_masks, &reference, &options).passed);
    assert_int_equal(compare(&no_mask, &reference, &options).first, 0);
    assert_int_equal(compare(&other_half, &half, &options).mismatches, 1);
}

static void norm_tolerance_takes_no_class_for_another(void **state)
{
    const int64_t a[] = {999, 1, 7}, b[] = {999, 2, 7};
    const int8_t c[] = {99, 1, 7}, d[] = {99, 2, 7};
    struct tensor left = VECTOR_OF(DATA_INT64, a), right = VECTOR_OF(DATA_INT64, b);
    struct tensor quantized = VECTOR_OF(DATA_INT8, c), other = VECTOR_OF(DATA_INT8, d);
    struct compare_options options = norm_alone(0.02);

    assert_int_equal(compare(&left, &right, &options).mismatches, 1);
    assert_true(compare(&quantized, &other, &options).passed);
}

static void reference_of_zeros_alone_gives_no_norm_tolerance(void **state)
{
    const float a[] = {1e-30F, 0}, b[] = {0, 0};
    struct tensor left = VECTOR_OF(DATA_FLOAT32, a), right = VECTOR_OF(DATA_FLOAT32, b);
    struct compare_options options = norm_alone(0.5);

    assert_false(compare(&left, &right, &options).passed);
    assert_true(compare(&right, &right, &options).passed);
    options.atol = 1e-20;
    assert_true(compare(&left, &right, &options).passed);
}

static void no_norm_lets_nan_or_infinities_pass(void **state)
{
    const float a[] = {INFINITY, NAN, INFINITY, 1, 1e29F}, b[] = {1, 1, INFINITY, -INFINITY, 1e29F};
    struct tensor left = VECTOR_OF(DATA_FLOAT32, a), right = VECTOR_OF(DATA_FLOAT32, b);
    struct compare_options options = norm_alone(1e10);
    struct compare_result result = compare(&left, &right, &options);

    assert_int_equal(result.mismatches, 4);
    assert_true(result.norm == (double)1e29F && result.atol == (double)FLT_MAX);
    options.infinities_compare_equal = true;
    assert_int_equal(compare(&left, &right, &options).mismatches, 3);
    assert_int_equal(compare_options_check(&(struct compare_options){.norm_tolerance = INFINITY}, NULL), ERR_INVALID);
    assert_int_equal(compare_options_check(&(struct compare_options){.norm_tolerance = -1}, NULL), ERR_INVALID);
}

static void worst_element_of_outputs_that_match_is_the_greatest_difference(void **state)
{
    enum { COUNT = 3000 };
    static float a[COUNT], b[COUNT];
    struct tensor left = VECTOR_OF(DATA_FLOAT32, a), right = VECTOR_OF(DATA_FLOAT32, b);

    a[2048] = 1e-6F;
    a[2049] = 2e-6F;
    assert_true(compare(&left, &right, &COMPARE_DEFAULTS).passed);
    assert_int_equal(compare(&left, &right, &COMPARE_DEFAULTS).worst, 2049);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_float32_outputs_are_compared_as_defined),
        cmocka_unit_test(outputs_need_not_be_aligned),
        cmocka_unit_test(worst_element_is_one_that_fails),
        cmocka_unit_test(norm_tolerance_goes_by_the_largest_element_of_the_second_output),
        cmocka_unit_test(masks_give_no_scale_and_are_compared_by_position),
        cmocka_unit_test(norm_tolerance_takes_no_class_for_another),
        cmocka_unit_test(reference_of_zeros_alone_gives_no_norm_tolerance),
        cmocka_unit_test(no_norm_lets_nan_or_infinities_pass),
        cmocka_unit_test(worst_element_of_outputs_that_match_is_the_greatest_difference),
        cmocka_unit_test(nan_is_the_worst_element),
        cmocka_unit_test(tolerance_is_rounded_to_float32_for_float32_only),
        cmocka_unit_test(worst_element_fails_by_the_rounded_tolerance),
        cmocka_unit_test(zeros_of_integers_are_not_replaced),
        cmocka_unit_test(differences_of_integers_do_not_wrap),
        cmocka_unit_test(large_integers_differ_by_one),
        cmocka_unit_test(small_floating_types_are_widened),
        cmocka_unit_test(strings_have_to_be_equal),
        cmocka_unit_test(complex_outputs_are_refused),
        cmocka_unit_test(empty_outputs_agree_by_every_statistic),
        cmocka_unit_test(statistics_are_held_against_tolerances),
        cmocka_unit_test(statistics_have_names),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(shapes_that_do_not_go_together_are_a_mismatch),
        cmocka_unit_test(transposed_output_is_compared_element_by_element),
        cmocka_unit_test(all_differences_can_be_had),
        cmocka_unit_test(equal_infinities_agree_when_allowed),
        cmocka_unit_test(nans_agree_when_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
