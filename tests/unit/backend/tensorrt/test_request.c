/* test_request.c: settings arrive in the worker process as they were sent, member by member. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "backend/tensorrt/request.h"
#include "base/memory.h"

static void send_record(const struct message_record *record, const void *object, struct arena *arena, void *ret)
{
    struct message message;
    struct message_reader reader = {0};

    message_init(&message);
    message_put_record(&message, record, object);
    reader.data = arena_copy(arena, message.head.data, message.head.size);
    reader.size = message.head.size;
    message_take_record(&reader, arena, record, ret);
    assert_false(reader.damaged);
    assert_int_equal(reader.at, reader.size);
    message_release(&message);
}

static void send_settings(const struct tensorrt_settings *settings, struct arena *arena, struct tensorrt_settings *ret)
{
    *ret = (struct tensorrt_settings){0};
    send_record(&tensorrt_settings_record, settings, arena, ret);
}

static void assert_same_words(const struct words *a, const struct words *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->items[i], b->items[i]);
}

static void assert_same_types(const struct tensorrt_named_types *a, const struct tensorrt_named_types *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->items[i].name, b->items[i].name);
        assert_int_equal(a->items[i].type, b->items[i].type);
    }
}

static void assert_same_profile(const struct tensorrt_profile *a, const struct tensorrt_profile *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->items[i].name, b->items[i].name);
        assert_true(shape_equal(&a->items[i].minimum, &b->items[i].minimum));
        assert_true(shape_equal(&a->items[i].optimum, &b->items[i].optimum));
        assert_true(shape_equal(&a->items[i].maximum, &b->items[i].maximum));
    }
}

static void lists_arrive(void **state)
{
    static const struct tensorrt_named_type layers[] = {{"conv1", DATA_FLOAT32}, {"fc", DATA_INT8}};
    static const struct tensorrt_shapes shapes[] = {{"x", {2, {1, 3}}, {2, {4, 3}}, {2, {8, 3}}},
                                                    {"y", {0, {0}}, {1, {7}}, {1, {9}}}};
    static const struct tensorrt_profile profiles[] = {{shapes, 2}, {shapes, 1}};
    static const char *const names[] = {"a", "b, c"};
    const struct tensorrt_settings settings = {.layer_precisions = {layers, 2},
                                               .optional_precisions = {layers, 1},
                                               .tensor_types = {layers + 1, 1},
                                               .profiles = {profiles, 2},
                                               .default_shapes = {shapes + 1, 1},
                                               .outputs = {.mark_all = true, .names = {names, 1}},
                                               .excluded_outputs = {names, 2},
                                               .barriers = {names + 1, 1},
                                               .pool_limits = {names, 2},
                                               .mark_debug = {names, 2},
                                               .build_route = {names, 1}};
    struct tensorrt_settings there;
    SCOPED_ARENA(arena);

    (void)state;
    send_settings(&settings, &arena, &there);
    assert_same_types(&settings.layer_precisions, &there.layer_precisions);
    assert_same_types(&settings.optional_precisions, &there.optional_precisions);
    assert_same_types(&settings.tensor_types, &there.tensor_types);
    assert_int_equal(there.profiles.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_same_profile(&profiles[i], &there.profiles.items[i]);
    assert_same_profile(&settings.default_shapes, &there.default_shapes);
    assert_true(there.outputs.mark_all);
    assert_same_words(&settings.outputs.names, &there.outputs.names);
    assert_same_words(&settings.excluded_outputs, &there.excluded_outputs);
    assert_same_words(&settings.barriers, &there.barriers);
    assert_same_words(&settings.pool_limits, &there.pool_limits);
    assert_same_words(&settings.mark_debug, &there.mark_debug);
    assert_same_words(&settings.build_route, &there.build_route);
}

static void single_values_arrive(void **state)
{
    const struct tensorrt_settings settings = {
        .tf32 = true,
        .int8 = true,
        .strongly_typed = true,
        .constraints = TENSORRT_CONSTRAINTS_OBEY,
        .calibration_cache = "scales",
        .load_timing_cache = "times",
        .effort = {.optimization_level = 5, .has_optimization_level = true, .error_on_timing_cache_miss = true},
        .regression_cutoff = 0.25,
        .max_aux_streams = 3,
        .has_max_aux_streams = true,
        .profiling_verbosity = "none",
        .optimization_profile = -1,
        .weight_streaming_budget = "50%",
        .profile = true};
    struct tensorrt_settings there;
    SCOPED_ARENA(arena);

    (void)state;
    send_settings(&settings, &arena, &there);
    assert_true(there.tf32 && there.int8 && there.strongly_typed && there.has_max_aux_streams && there.profile);
    assert_false(there.fp16 || there.bf16 || there.fp8 || there.refittable || there.use_dla);
    assert_int_equal(there.constraints, TENSORRT_CONSTRAINTS_OBEY);
    assert_string_equal(there.calibration_cache, "scales");
    assert_string_equal(there.load_timing_cache, "times");
    assert_int_equal(there.effort.optimization_level, 5);
    assert_true(there.effort.has_optimization_level && there.effort.error_on_timing_cache_miss);
    assert_true(there.regression_cutoff == 0.25);
    assert_int_equal(there.max_aux_streams, 3);
    assert_string_equal(there.profiling_verbosity, "none");
    assert_null(there.lean_runtime);
    assert_int_equal(there.optimization_profile, -1);
    assert_string_equal(there.weight_streaming_budget, "50%");
}

/* A member that has no row in the table would not be sent: two settings that differ in one byte arrive differently, but
 * for the members that are not to be sent. */
static void every_flag_has_a_row(void **state)
{
    struct tensorrt_settings settings = {0}, there;
    const bool *const flags[] = {&settings.fp16,
                                 &settings.bf16,
                                 &settings.fp8,
                                 &settings.plugin_instance_norm,
                                 &settings.without_timing_cache,
                                 &settings.has_tactic_sources,
                                 &settings.sparse_weights,
                                 &settings.version_compatible,
                                 &settings.exclude_lean_runtime,
                                 &settings.disable_compilation_cache,
                                 &settings.safety_restricted,
                                 &settings.refittable,
                                 &settings.strip_plan,
                                 &settings.use_dla,
                                 &settings.allow_gpu_fallback,
                                 &settings.weight_streaming,
                                 &settings.direct_io,
                                 &settings.mark_unfused,
                                 &settings.reports_tactics,
                                 &settings.frees_other_layers};
    SCOPED_ARENA(arena);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        size_t at = (size_t)((const char *)flags[i] - (const char *)&settings);

        settings = (struct tensorrt_settings){0};
        ((char *)&settings)[at] = true;
        send_settings(&settings, &arena, &there);
        for (size_t k = 0; k < ARRAY_LEN(flags); k++) {
            size_t other = (size_t)((const char *)flags[k] - (const char *)&settings);

            assert_int_equal(((const char *)&there)[other], k == i);
        }
    }
}

static void what_the_parser_supports_arrives(void **state)
{
    static const struct tensorrt_taken_node taken[] = {{0, 0}, {2, 1}};
    static const struct tensorrt_refusal errors[] = {{1, "secret", "Secret", "", "no plug-in"},
                                                     {-1, "", "", "outer -> inner", "unknown"}};
    const struct tensorrt_support support = {.taken = {taken, 2}, .errors = {errors, 2}};
    struct tensorrt_support there = {.takes_all = true};
    SCOPED_ARENA(arena);

    (void)state;
    send_record(&tensorrt_support_record, &support, &arena, &there);
    assert_false(there.takes_all);
    assert_int_equal(there.taken.count, 2);
    assert_int_equal(there.taken.items[1].node, 2);
    assert_int_equal(there.taken.items[1].group, 1);
    assert_int_equal(there.errors.count, 2);
    assert_string_equal(there.errors.items[0].op_type, "Secret");
    assert_string_equal(there.errors.items[0].reason, "no plug-in");
    assert_int_equal(there.errors.items[1].node, -1);
    assert_string_equal(there.errors.items[1].stack, "outer -> inner");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_arrive),
        cmocka_unit_test(single_values_arrive),
        cmocka_unit_test(every_flag_has_a_row),
        cmocka_unit_test(what_the_parser_supports_arrives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
