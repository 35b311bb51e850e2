/* Scales of int8 tensors: what the methods choose, and what a cache holds. */
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/precision/calibration.h"
#include "support/scratch_folder.h"
#include "tensor/generate/mersenne_twister.h"

static float scale_of(const struct calibration *calibration, const char *name)
{
    float ret = 0;

    assert_true(calibration_scale(calibration, text_of(name), &ret));
    return ret;
}

static int parse(struct calibration *calibration, const char *content, struct error *err)
{
    return calibration_parse(calibration, (struct span){(const uint8_t *)content, strlen(content)}, "cache", err);
}

static void minmax_keeps_the_largest_absolute_value(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
    const float first[] = {0, 1, -2, NAN}, second[] = {INFINITY, -25.4F, 3};

    calibration_observe(calibration, TEXT("x"), first, ARRAY_LEN(first));
    assert_true(fabsf(scale_of(calibration, "x") - 2.0F / 127) < 1e-9F);
    calibration_observe(calibration, TEXT("x"), second, ARRAY_LEN(second));
    assert_true(fabsf(scale_of(calibration, "x") - 0.2F) < 1e-6F);
    calibration_free(calibration);
}

static void nothing_is_known_of_a_tensor_without_finite_values(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    const float values[] = {NAN, INFINITY};
    float scale;

    assert_false(calibration_scale(calibration, TEXT("x"), &scale));
    calibration_observe(calibration, TEXT("x"), values, ARRAY_LEN(values));
    assert_false(calibration_scale(calibration, TEXT("x"), &scale));
    calibration_free(calibration);
}

static void zeros_have_a_scale(void **state)
{
    for (enum calibration_method method = CALIBRATION_ENTROPY; method <= CALIBRATION_PERCENTILE; method++) {
        struct calibration *calibration = calibration_new(method, 0.99);
        const float zeros[3] = {0};

        calibration_observe(calibration, TEXT("x"), zeros, ARRAY_LEN(zeros));
        assert_true(scale_of(calibration, "x") > 0);
        calibration_free(calibration);
    }
}

static void percentile_leaves_out_the_share_that_is_larger(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_PERCENTILE, 0.9);
    float values[1000];

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        values[i] = (float)(i + 1);
    calibration_observe(calibration, TEXT("x"), values, ARRAY_LEN(values));
    assert_true(fabsf(scale_of(calibration, "x") * 127 - 900) < 1);
    calibration_free(calibration);
}

/* Values come in any order of size: widening the bins loses none. */
static void values_that_grow_from_call_to_call_are_all_counted(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_PERCENTILE, 0.5);

    for (int i = 1; i <= 1000; i++) {
        float value = (float)i;
        calibration_observe(calibration, TEXT("x"), &value, 1);
    }
    assert_true(fabsf(scale_of(calibration, "x") * 127 - 500) < 2);
    calibration_free(calibration);
}

static double normal_value(struct mersenne_twister *twister)
{
    double a = 0;

    for (int i = 0; i < 12; i++) /* the sum of twelve uniform numbers is close enough */
        a += mersenne_twister_next_fraction(twister);
    return a - 6;
}

/* The outliers are few and far away: keeping them would cost all others most of their steps. */
static void entropy_gives_up_a_few_outliers_for_the_many(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    struct mersenne_twister twister;
    const float outliers[] = {100, -100};
    float *values = memory_alloc(100000 * sizeof(*values));

    mersenne_twister_seed(&twister, 1);
    for (size_t i = 0; i < 100000; i++)
        values[i] = (float)normal_value(&twister);
    calibration_observe(calibration, TEXT("x"), values, 100000);
    calibration_observe(calibration, TEXT("x"), outliers, 2);
    float range = scale_of(calibration, "x") * 127;
    assert_true(range > 3 && range < 10);
    calibration_free(calibration);
    free(values);
}

/* 990 values of 1 and 10 of 991: half of the sum lies in the few. */
static void what_a_scale_cuts_off_is_counted_and_summed_up(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_PERCENTILE, 0.9);
    struct calibration_clipping clipping;
    float values[1000];

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        values[i] = i % 100 == 0 ? -991 : 1;
    assert_false(calibration_clipping(calibration, TEXT("x"), &clipping));
    calibration_observe(calibration, TEXT("x"), values, ARRAY_LEN(values));
    assert_true(calibration_clipping(calibration, TEXT("x"), &clipping));
    assert_true(clipping.largest == 991);
    assert_true(clipping.range >= 1 && clipping.range < 2);
    assert_true(fabs(clipping.clipped_values - 0.01) < 1e-9);
    assert_true(fabs(clipping.clipped_sum - 9900.0 / 10900) < 0.03);
    calibration_free(calibration);
}

static void scale_that_keeps_all_or_was_loaded_cuts_off_nothing(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
    struct calibration_clipping clipping;
    struct error err = {0};

    calibration_observe(calibration, TEXT("x"), (const float[]){1, -100, 3}, 3);
    calibration_observe(calibration, TEXT("zeros"), (const float[]){0, 0}, 2);
    assert_true(calibration_clipping(calibration, TEXT("x"), &clipping));
    assert_true(clipping.clipped_values == 0 && clipping.clipped_sum == 0);
    assert_true(calibration_clipping(calibration, TEXT("zeros"), &clipping));
    assert_true(clipping.clipped_values == 0 && clipping.clipped_sum == 0);
    assert_int_equal(parse(calibration, "TRT-8601-MinMaxCalibration\nx: 3c010a14\n", &err), 0);
    assert_false(calibration_clipping(calibration, TEXT("x"), &clipping));
    calibration_free(calibration);
}

static void tensor_without_values_is_remembered_by_the_cache(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    struct calibration *again = calibration_new(CALIBRATION_ENTROPY, 0);
    struct string_builder cache;
    struct error err = {0};
    float scale;

    string_init(&cache);
    assert_false(calibration_saw_nothing(calibration, TEXT("empty")));
    calibration_observe(calibration, TEXT("empty"), NULL, 0);
    calibration_observe(calibration, TEXT("no numbers"), (const float[]){NAN}, 1);
    calibration_observe(calibration, TEXT("x"), (const float[]){1}, 1);
    assert_true(calibration_saw_nothing(calibration, TEXT("empty")));
    assert_true(calibration_saw_nothing(calibration, TEXT("no numbers")));
    assert_false(calibration_saw_nothing(calibration, TEXT("x")));
    assert_int_equal(calibration_write(calibration, &cache, &err), 0);
    assert_int_equal(parse(again, cache.data, &err), 0);
    assert_true(calibration_saw_nothing(again, TEXT("empty")));
    assert_true(calibration_saw_nothing(again, TEXT("no numbers")));
    assert_false(calibration_saw_nothing(again, TEXT("x")));
    assert_false(calibration_scale(again, TEXT("empty"), &scale));
    calibration_observe(calibration, TEXT("empty"), (const float[]){1}, 1);
    assert_false(calibration_saw_nothing(calibration, TEXT("empty")));
    string_release(&cache);
    calibration_free(calibration);
    calibration_free(again);
}

/* Nothing is gained by clipping what is spread evenly. */
static void entropy_keeps_the_range_of_evenly_spread_values(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    float *values = memory_alloc(204800 * sizeof(*values));

    for (size_t i = 0; i < 204800; i++)
        values[i] = (float)i / 204800;
    calibration_observe(calibration, TEXT("x"), values, 204800);
    assert_true(scale_of(calibration, "x") * 127 > 0.95F);
    calibration_free(calibration);
    free(values);
}

static void cache_of_tensorrt_is_read_and_goes_before_what_is_seen(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
    const float values[] = {127};
    struct error err = {0};

    calibration_observe(calibration, TEXT("seen"), values, 1);
    calibration_observe(calibration, TEXT("input"), values, 1);
    assert_false(calibration_is_loaded(calibration));
    assert_int_equal(parse(calibration,
                           "TRT-8601-EntropyCalibration2\ninput: 3c010a14\n(Unnamed Layer* 1) [A]_output: 3f800000\r\n"
                           "a: b: 40000000\nno_scale: 00000000\n",
                           &err),
                     0);
    assert_true(calibration_is_loaded(calibration));
    assert_true(scale_of(calibration, "input") == 0x1.021428p-7F);
    assert_true(scale_of(calibration, "(Unnamed Layer* 1) [A]_output") == 1);
    assert_true(scale_of(calibration, "a: b") == 2);
    assert_true(scale_of(calibration, "seen") == 1);
    float scale;
    assert_false(calibration_scale(calibration, TEXT("no_scale"), &scale));
    calibration_free(calibration);
}

static void empty_cache_loads_nothing(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
    struct error err = {0};

    assert_int_equal(parse(calibration, "", &err), 0);
    assert_false(calibration_is_loaded(calibration));
    assert_int_equal(parse(calibration, "TRT-8601-EntropyCalibration2\n", &err), 0);
    assert_false(calibration_is_loaded(calibration));
    calibration_free(calibration);
}

static void damaged_cache_is_refused_with_its_line_and_loads_nothing(void **state)
{
    static const char *const damaged[] = {
        "TRT-1-E\na: 3f800000\nb: 3f80000\n",  "TRT-1-E\na: 3f800000\nb 3f800000\n",
        "TRT-1-E\na: 3f800000\nb: 7fc00000\n", "TRT-1-E\na: 3f800000\nb: bf800000\n",
        "TRT-1-E\na: 3f800000\nb: 3f80000g",
    };

    for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
        struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
        struct error err = {0};
        float scale;

        assert_int_equal(parse(calibration, damaged[i], &err), ERR_CORRUPT);
        assert_non_null(strstr(err.message, "line 3"));
        assert_false(calibration_scale(calibration, TEXT("a"), &scale));
        assert_false(calibration_is_loaded(calibration));
        calibration_free(calibration);
    }
}

static void what_is_no_cache_is_refused(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
    struct error err = {0};

    assert_int_equal(parse(calibration, "{\"a\": 1}\n", &err), ERR_INVALID);
    assert_string_equal(err.message, "'cache' is not a calibration cache: its first line does not begin with 'TRT-'");
    calibration_free(calibration);
}

static void saved_cache_gives_the_same_scales(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
    struct calibration *again = calibration_new(CALIBRATION_ENTROPY, 0);
    const float values[] = {0.3F};
    struct error err = {0};

    calibration_observe(calibration, TEXT("x"), values, 1);
    calibration_observe(calibration, TEXT("y: z"), values, 1);
    assert_int_equal(calibration_save(calibration, "calibration.cache", &err), 0);
    assert_int_equal(calibration_load(again, "calibration.cache", &err), 0);
    assert_true(scale_of(again, "x") == scale_of(calibration, "x"));
    assert_true(scale_of(again, "y: z") == scale_of(calibration, "x"));
    calibration_free(calibration);
    calibration_free(again);
}

static void name_with_a_line_break_is_an_error_when_saved(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0);
    struct string_builder text;
    struct error err = {0};

    string_init(&text);
    calibration_observe(calibration, TEXT("a\nb"), (const float[]){1}, 1);
    assert_int_equal(calibration_write(calibration, &text, &err), ERR_UNSUPPORTED);
    string_release(&text);
    calibration_free(calibration);
}

static void cache_remembers_that_data_were_generated(void **state)
{
    struct calibration *calibration = calibration_new(CALIBRATION_MINMAX, 0),
                       *read = calibration_new(CALIBRATION_MINMAX, 0);
    struct string_builder cache;
    const float value = 127;
    float scale;

    string_init(&cache);
    calibration_observe(calibration, TEXT("x"), &value, 1);
    assert_int_equal(calibration_write(calibration, &cache, NULL), 0);
    assert_int_equal(parse(read, cache.data, NULL), 0);
    assert_false(calibration_is_generated(read));
    calibration_mark_generated(calibration);
    string_clear(&cache);
    assert_int_equal(calibration_write(calibration, &cache, NULL), 0);
    assert_int_equal(parse(read, cache.data, NULL), 0);
    assert_true(calibration_is_generated(read));
    assert_int_equal(scale_of(read, "x"), 1);
    assert_false(calibration_scale(read, TEXT("(calibrated with randomly generated data)"), &scale));
    string_release(&cache);
    calibration_free(calibration);
    calibration_free(read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minmax_keeps_the_largest_absolute_value),
        cmocka_unit_test(nothing_is_known_of_a_tensor_without_finite_values),
        cmocka_unit_test(zeros_have_a_scale),
        cmocka_unit_test(what_a_scale_cuts_off_is_counted_and_summed_up),
        cmocka_unit_test(scale_that_keeps_all_or_was_loaded_cuts_off_nothing),
        cmocka_unit_test(tensor_without_values_is_remembered_by_the_cache),
        cmocka_unit_test(percentile_leaves_out_the_share_that_is_larger),
        cmocka_unit_test(values_that_grow_from_call_to_call_are_all_counted),
        cmocka_unit_test(entropy_gives_up_a_few_outliers_for_the_many),
        cmocka_unit_test(entropy_keeps_the_range_of_evenly_spread_values),
        cmocka_unit_test(cache_of_tensorrt_is_read_and_goes_before_what_is_seen),
        cmocka_unit_test(empty_cache_loads_nothing),
        cmocka_unit_test(damaged_cache_is_refused_with_its_line_and_loads_nothing),
        cmocka_unit_test(what_is_no_cache_is_refused),
        cmocka_unit_test_setup_teardown(saved_cache_gives_the_same_scales, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test(name_with_a_line_break_is_an_error_when_saved),
        cmocka_unit_test(cache_remembers_that_data_were_generated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
