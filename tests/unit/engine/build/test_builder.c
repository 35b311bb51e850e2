/* The builder: which tactic it takes, what it asks of the providers for that, what it remembers, and what it refuses.
 */
#include "support/builder_fixture.h"
#include "support/in_child.h"
#include "support/unit_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"

/* ---- Timing ---- */

static void test_takes_the_fastest_tactic(void **state)
{
    struct fake_tactic tactics[] = {{.name = "slow", .seconds = SLOW}, {.name = "fast"}};
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 2);
    engine = builder_fixture_build(&fixture);
    assert_int_equal(fixture.small.network->layers.count, 3);
    builder_fixture_chose(engine, "fast", "fast", "fast");
    assert_int_equal(engine->layers[0].tactic_count, 2);
    assert_true(engine->layers[0].seconds > 0 && engine->layers[0].seconds < SLOW);
    assert_true(engine->layers[0].share_of_fastest == 1);
    assert_true(captured_log_has(&fixture.log, "Layer 'first': fake:fast"));
    assert_true(captured_log_has(&fixture.log, "Built 3 layers: 3 float32; 3 with fake; "));
    engine_free(engine);
    builder_fixture_release(&fixture);
}

static void test_layers_are_counted_by_what_they_hold(void **state)
{
    struct fake_tactic tactics[] = {{.name = "only"}};
    const struct precision_override override = {"second", DATA_FLOAT32};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 1);
    fixture.settings.precision =
        (struct precision_settings){.constraints = PRECISION_CONSTRAINTS_OBEY, .layers = {&override, 1}};
    fixture.settings.precision.enabled[PRECISION_FLOAT16] = true;
    engine_free(builder_fixture_build(&fixture));
    assert_true(captured_log_has(&fixture.log, "Built 3 layers: 2 float16, 1 float32; "));
    assert_false(captured_log_has(&fixture.log, "requested precision"));
    fixture.settings.precision.enabled[PRECISION_FLOAT16] = false;
    fixture.settings.precision.enabled[PRECISION_TF32] = true;
    captured_log_release(&fixture.log);
    captured_log_init(&fixture.log);
    engine_free(builder_fixture_build(&fixture));
    assert_true(captured_log_has(&fixture.log, "Built 3 layers: 3 float32; "));
    assert_true(captured_log_has(&fixture.log, "No layer uses the requested precision tf32: "));
    builder_fixture_release(&fixture);
}

static void test_equal_layers_are_timed_once(void **state)
{
    struct fake_tactic tactics[] = {{.name = "slow", .seconds = SLOW}, {.name = "fast"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 2);
    engine_free(builder_fixture_build(&fixture));
    /* 'first' and 'second' are the same; the chosen kernel of each layer is made once more, and runs once. */
    assert_int_equal(tactics[0].created, 2);
    assert_int_equal(tactics[1].created, 2 + 3);
    builder_fixture_release(&fixture);
}

static void test_a_hopeless_tactic_is_given_up_early(void **state)
{
    struct fake_tactic tactics[] = {{.name = "fast"}, {.name = "slow", .seconds = SLOW}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 2);
    engine_free(builder_fixture_build(&fixture));
    assert_int_equal(tactics[1].created, 2);
    assert_int_equal(tactics[1].runs, 2);
    assert_true(tactics[0].runs > 6);
    builder_fixture_release(&fixture);
}

static void test_with_a_warm_cache_only_chosen_kernels_are_made(void **state)
{
    struct fake_tactic tactics[] = {{.name = "slow", .seconds = SLOW}, {.name = "fast"}};
    struct timing_cache *cache = timing_cache_new();
    struct builder_fixture fixture;
    struct engine *first, *second;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.settings.cache = cache;
    first = builder_fixture_build(&fixture);
    tactics[0].created = tactics[1].created = tactics[1].runs = 0;
    fixture.settings.effort.error_on_timing_cache_miss = true;
    second = builder_fixture_build(&fixture);
    builder_fixture_chose(second, "fast", "fast", "fast");
    assert_int_equal(tactics[0].created, 0);
    assert_int_equal(tactics[1].created, 3);
    assert_int_equal(tactics[1].runs, 3);
    assert_true(first->layers[1].seconds == second->layers[1].seconds);
    engine_free(first);
    engine_free(second);
    timing_cache_free(cache);
    builder_fixture_release(&fixture);
}

static void test_a_time_that_has_to_be_in_the_cache_is_missed(void **state)
{
    struct fake_tactic tactics[] = {{.name = "one"}, {.name = "two"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.settings.cache = timing_cache_new();
    fixture.settings.effort.error_on_timing_cache_miss = true;
    builder_fixture_fails(&fixture, ERR_MISSING, "layer 'first'", "'fake:one'");
    assert_int_equal(fixture.fake.created, 0);
    timing_cache_free(fixture.settings.cache);
    builder_fixture_release(&fixture);
}

static void test_deterministic_builds_take_the_first_tactic_untimed(void **state)
{
    struct fake_tactic tactics[] = {{.name = "slow", .seconds = SLOW}, {.name = "fast"}};
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.settings.deterministic = true;
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "slow", "slow", "slow");
    assert_true(engine->layers[0].seconds == 0 && engine->layers[0].share_of_fastest == 0);
    assert_int_equal(tactics[0].runs, 3);
    assert_int_equal(tactics[1].created, 0);
    engine_free(engine);
    fixture.settings.deterministic = false;
    fixture.settings.effort.optimization_level = 0;
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "slow", "slow", "slow");
    engine_free(engine);
    builder_fixture_release(&fixture);
}

static void test_an_only_tactic_is_not_timed(void **state)
{
    struct fake_tactic tactics[] = {{.name = "one"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 1);
    engine_free(builder_fixture_build(&fixture));
    assert_int_equal(tactics[0].runs, 3);
    builder_fixture_release(&fixture);
}

static void test_a_low_level_times_few_tactics(void **state)
{
    struct fake_tactic tactics[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 5);
    fixture.settings.effort.optimization_level = 1;
    engine_free(builder_fixture_build(&fixture));
    assert_true(tactics[0].created > 0 && tactics[2].created > 0);
    assert_int_equal(tactics[3].created + tactics[4].created, 0);
    builder_fixture_release(&fixture);
}

static void test_reorders_count(void **state)
{
    struct fake_tactic tactics[] = {{.name = "transposed", .layout = "ba"}, {.name = "slow", .seconds = SLOW}};
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 2);
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "transposed", "transposed", "transposed");
    assert_string_equal(engine->layers[0].tactic.output_layouts[0].text, "ba");
    engine_free(engine);
    builder_fixture_release(&fixture);
}

/* ---- What does not work ---- */

static void test_a_tactic_that_fails_is_skipped(void **state)
{
    struct fake_tactic tactics[] = {
        {.name = "unmade", .create_fails = true}, {.name = "broken", .run_fails = true}, {.name = "good"}};
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 3);
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "good", "good", "good");
    assert_true(captured_log_has(&fixture.log, "tactic 'fake:unmade' is skipped: the fake kernel cannot be made"));
    assert_true(captured_log_has(&fixture.log, "tactic 'fake:broken' is skipped"));
    engine_free(engine);
    fixture.settings.deterministic = true;
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "good", "good", "good");
    engine_free(engine);
    builder_fixture_release(&fixture);
}

static void test_a_kernel_that_cannot_be_made_is_not_tried_again(void **state)
{
    struct fake_tactic tactics[] = {{.name = "unmade", .create_fails = true}, {.name = "good"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.settings.cache = timing_cache_new();
    engine_free(builder_fixture_build(&fixture));
    tactics[0].created = 0;
    fixture.settings.effort.error_on_timing_cache_miss = true;
    engine_free(builder_fixture_build(&fixture));
    assert_int_equal(tactics[0].created, 0);
    timing_cache_free(fixture.settings.cache);
    builder_fixture_release(&fixture);
}

static void test_a_layer_without_a_working_tactic_is_named_with_the_reason(void **state)
{
    struct fake_tactic tactics[] = {{.name = "good", .for_layer = "first"},
                                    {.name = "broken", .for_layer = "second", .run_fails = true},
                                    {.name = "unmade", .for_layer = "second", .create_fails = true}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 3);
    builder_fixture_fails(&fixture, ERR_BACKEND, "layer 'second'", "the fake kernel cannot be made");
    fixture.fake.count = 2;
    builder_fixture_fails(&fixture, ERR_BACKEND, "layer 'second'", "the fake kernel does not run");
    fixture.fake.count = 1;
    builder_fixture_fails(&fixture, ERR_BACKEND, "layer 'second'", "Neg");
    builder_fixture_release(&fixture);
}

/* ---- Inputs ---- */

static struct shape shape_of(int64_t rows)
{
    return (struct shape){.rank = 2, .dims = {rows, 3}};
}

static void test_without_profiles_all_that_the_model_allows_is_allowed(void **state)
{
    struct fake_tactic tactics[] = {{.name = "one"}};
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 1);
    small_network_release(&fixture.small);
    small_network_init(&fixture.small, -1);
    engine = builder_fixture_build(&fixture);
    assert_int_equal(engine->profiles.count, 1);
    assert_int_equal(engine->profiles.items[0].minimum[0].dims[0], 0);
    assert_int_equal(engine->profiles.items[0].optimum[0].dims[0], 2);
    assert_true(engine->profiles.items[0].maximum[0].dims[0] == INT64_MAX);
    assert_int_equal(engine->profiles.items[0].maximum[0].dims[1], 3);
    engine_free(engine);
    builder_fixture_release(&fixture);
}

static void test_profiles_give_optimal_shapes_to_the_sample(void **state)
{
    struct fake_tactic tactics[] = {{.name = "one"}};
    const struct input_profile profile = {"x", shape_of(1), shape_of(4), shape_of(8)};
    const struct input_profile *profiles[] = {&profile, NULL};
    const size_t sizes[] = {1, 0};
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 1);
    small_network_release(&fixture.small);
    small_network_init(&fixture.small, -1);
    fixture.settings.profiles = profiles;
    fixture.settings.profile_sizes = sizes;
    fixture.settings.profile_count = 2;
    engine = builder_fixture_build(&fixture);
    assert_int_equal(engine->layers[0].input_shapes[0].dims[0], 4);
    assert_int_equal(engine->profiles.count, 2);
    assert_int_equal(engine->profiles.items[0].maximum[0].dims[0], 8);
    assert_int_equal(engine->profiles.items[1].minimum[0].dims[0], 4); /* not named: the sample's */
    engine_free(engine);
    builder_fixture_release(&fixture);
}

static void assert_profile_fails(struct input_profile profile, const char *part, const char *another)
{
    struct fake_tactic tactics[] = {{.name = "one"}};
    const struct input_profile *profiles[] = {&profile};
    const size_t sizes[] = {1};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 1);
    small_network_release(&fixture.small);
    small_network_init(&fixture.small, -1);
    fixture.settings.profiles = profiles;
    fixture.settings.profile_sizes = sizes;
    fixture.settings.profile_count = 1;
    fixture.given = shape_of(4);
    builder_fixture_fails(&fixture, ERR_INVALID, part, another);
    builder_fixture_release(&fixture);
}

static void test_profiles_that_make_no_sense_are_refused(void **state)
{
    const struct shape flat = {.rank = 1, .dims = {3}}, wide = {.rank = 2, .dims = {4, 4}};

    assert_profile_fails((struct input_profile){"y", shape_of(1), shape_of(4), shape_of(8)}, "'y'", "no input");
    assert_profile_fails((struct input_profile){"x", shape_of(5), shape_of(4), shape_of(8)}, "optimum shape (4, 3)",
                         "smaller than the minimum");
    assert_profile_fails((struct input_profile){"x", shape_of(1), shape_of(4), shape_of(3)}, "maximum shape (3, 3)",
                         "smaller than the optimum");
    assert_profile_fails((struct input_profile){"x", flat, shape_of(4), shape_of(8)}, "(3,)", "model allows");
    assert_profile_fails((struct input_profile){"x", shape_of(1), wide, wide}, "(4, 4)", "model allows");
    assert_profile_fails((struct input_profile){"x", shape_of(-1), shape_of(4), shape_of(8)}, "(-1, 3)", "not known");
    assert_profile_fails((struct input_profile){"x", shape_of(5), shape_of(6), shape_of(8)}, "(4, 3)",
                         "outside of the first profile");
}

static void test_a_sample_of_another_shape_than_the_models_is_refused(void **state)
{
    struct fake_tactic tactics[] = {{.name = "one"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 1);
    fixture.given = shape_of(5);
    builder_fixture_fails(&fixture, ERR_INVALID, "'x'", "(5, 3)");
    builder_fixture_release(&fixture);
}

/* ---- int8 ---- */

static void test_int8_calibrates_with_every_iteration(void **state)
{
    struct fake_tactic tactics[] = {{.name = "a"}, {.name = "b"}};
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.settings.precision.enabled[PRECISION_INT8] = true;
    fixture.settings.calibration = calibration_new(CALIBRATION_MINMAX, 0);
    fixture.settings.sample.iterations = 3;
    engine = builder_fixture_build(&fixture);
    assert_int_equal(engine->layers[0].precision.precision, PRECISION_FLOAT32);
    assert_null(engine->layers[0].input_scales);
    assert_int_equal(engine->layers[2].precision.precision, PRECISION_INT8);
    /* b is x + 2 here, and x goes up to 5 + 200. */
    assert_float_equal(engine->layers[2].input_scales[0], 207.0 / 127, 0.02);
    assert_true(engine->layers[2].input_scales[1] == 0);
    assert_int_equal(fixture.fed, 3);
    engine_free(engine);
    engine_free(builder_fixture_build(&fixture)); /* the scales are known now */
    assert_int_equal(fixture.fed, 4);
    calibration_free(fixture.settings.calibration);
    builder_fixture_release(&fixture);
}

static void test_a_calibration_cache_that_lacks_a_tensor_is_an_error(void **state)
{
    static const char cache[] = "TRT-8600-EntropyCalibration2\na: 3c010a14\n";
    struct fake_tactic tactics[] = {{.name = "a"}};
    struct error error = {0};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 1);
    fixture.settings.precision.enabled[PRECISION_INT8] = true;
    fixture.settings.calibration = calibration_new(CALIBRATION_ENTROPY, 0);
    assert_int_equal(calibration_parse(fixture.settings.calibration,
                                       (struct span){(const uint8_t *)cache, sizeof(cache) - 1}, "cache", &error),
                     0);
    builder_fixture_fails(&fixture, ERR_INVALID, "tensor 'b'", "calibrate");
    calibration_free(fixture.settings.calibration);
    builder_fixture_release(&fixture);
}

/* ---- Interruption ---- */

static void note_and_interrupt(void *context, const char *layer, size_t done, size_t all)
{
    (void)context;
    if (layer != NULL && strcmp(layer, "second") == 0 && done == 1 && all == 3)
        raise(SIGINT);
}

static int build_and_interrupt(void)
{
    struct fake_tactic tactics[] = {{.name = "a"}, {.name = "b"}};
    struct engine *engine = NULL;
    struct error error = {0};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.settings.progress = note_and_interrupt;
    interrupt_install();
    CHECK_OR_FAIL(engine_build(fixture.small.network, &fixture.settings, &engine, &error) == ERR_INTERRUPTED);
    CHECK_OR_FAIL(engine == NULL && fixture.fake.alive == 0);
    builder_fixture_release(&fixture);
    return 0;
}

static void test_an_interrupted_build_ends(void **state)
{
    assert_int_equal(in_child(build_and_interrupt), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_the_fastest_tactic),
        cmocka_unit_test(test_layers_are_counted_by_what_they_hold),
        cmocka_unit_test(test_equal_layers_are_timed_once),
        cmocka_unit_test(test_a_hopeless_tactic_is_given_up_early),
        cmocka_unit_test(test_with_a_warm_cache_only_chosen_kernels_are_made),
        cmocka_unit_test(test_a_time_that_has_to_be_in_the_cache_is_missed),
        cmocka_unit_test(test_deterministic_builds_take_the_first_tactic_untimed),
        cmocka_unit_test(test_an_only_tactic_is_not_timed),
        cmocka_unit_test(test_a_low_level_times_few_tactics),
        cmocka_unit_test(test_reorders_count),
        cmocka_unit_test(test_a_tactic_that_fails_is_skipped),
        cmocka_unit_test(test_a_kernel_that_cannot_be_made_is_not_tried_again),
        cmocka_unit_test(test_a_layer_without_a_working_tactic_is_named_with_the_reason),
        cmocka_unit_test(test_without_profiles_all_that_the_model_allows_is_allowed),
        cmocka_unit_test(test_profiles_give_optimal_shapes_to_the_sample),
        cmocka_unit_test(test_profiles_that_make_no_sense_are_refused),
        cmocka_unit_test(test_a_sample_of_another_shape_than_the_models_is_refused),
        cmocka_unit_test(test_int8_calibrates_with_every_iteration),
        cmocka_unit_test(test_a_calibration_cache_that_lacks_a_tensor_is_an_error),
        cmocka_unit_test(test_an_interrupted_build_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
