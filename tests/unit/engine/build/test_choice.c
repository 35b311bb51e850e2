/* The builder's choice where something else than time has a say: replays, exclusions, lots. */
#include "support/builder_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/build/decisions.h"
#include "engine/plan/replay.h"

/* ---- Replays ---- */

static void pin(struct tactic_replay *replay, const char *layer, const char *name, int64_t implementation,
                int64_t number)
{
    struct tactic_algorithm *algorithm = tactic_replay_set(replay, layer);

    algorithm->name = name ? memory_strdup(name) : NULL;
    algorithm->implementation = implementation;
    algorithm->tactic = number;
}

static void test_replays_pin_layers_by_name(void **state)
{
    struct fake_tactic tactics[] = {{.name = "fast"}, {.name = "slow", .seconds = SLOW}};
    struct builder_fixture fixture;
    struct engine *engine;
    struct tactic_replay replay;

    builder_fixture_init(&fixture, tactics, 2);
    tactic_replay_init(&replay);
    pin(&replay, "second", "fake:slow", 0, 0);
    pin(&replay, "of another network", "fake:slow", 0, 0);
    fixture.settings.replay = &replay;
    engine = builder_fixture_build(&fixture);
    assert_true(captured_log_has(&fixture.log, "1 layer(s) that this network does not have, such as 'of another"));
    builder_fixture_chose(engine, "fast", "slow", "fast");
    assert_true(engine->layers[0].seconds > 0 && engine->layers[1].seconds == 0);
    engine_free(engine);
    tactic_replay_release(&replay);
    builder_fixture_release(&fixture);
}

static void test_a_replay_of_an_engine_gives_the_same_engine(void **state)
{
    struct fake_tactic tactics[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    struct builder_fixture fixture;
    struct engine *engine, *again;
    struct tactic_replay replay;

    builder_fixture_init(&fixture, tactics, 3);
    fixture.settings.explore = true;
    fixture.settings.explore_within = 1e9;
    engine = builder_fixture_build(&fixture);
    tactic_replay_init(&replay);
    engine_replay(engine, &replay);
    for (size_t i = 0; i < replay.count; i++) { /* numbers alone do, too */
        free(replay.items[i].algorithm.name);
        replay.items[i].algorithm.name = NULL;
    }
    fixture.settings.replay = &replay;
    again = builder_fixture_build(&fixture);
    builder_fixture_chose(again, engine->layers[0].tactic.name, engine->layers[1].tactic.name,
                          engine->layers[2].tactic.name);
    engine_free(engine);
    engine_free(again);
    tactic_replay_release(&replay);
    builder_fixture_release(&fixture);
}

static void test_a_replay_tells_types_and_layouts(void **state)
{
    struct fake_tactic tactics[] = {{.name = "plain", .for_layer = "first"},
                                    {.name = "plain", .for_layer = "second"},
                                    {.name = "blocked", .layout = "aB8b", .for_layer = "third"}};
    struct builder_fixture fixture;
    struct engine *engine;
    struct tactic_replay replay;
    struct string_builder text;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.fake.tactics = tactics;
    fixture.fake.count = 3;
    fixture.settings.precision.enabled[PRECISION_FLOAT16] = true;
    engine = builder_fixture_build(&fixture);
    tactic_replay_init(&replay);
    engine_replay(engine, &replay);
    assert_int_equal(replay.count, 3);
    assert_string_equal(replay.items[0].layer, "first");
    assert_true(replay.precision.known);
    assert_int_equal(replay.precision.count, 1);
    assert_string_equal(replay.precision.items[0], "--fp16");
    assert_string_equal(replay.items[0].algorithm.name, "fake:plain");
    string_init(&text);
    tactic_algorithm_text(&replay.items[0].algorithm, &text);
    assert_non_null(strstr(text.data, "Inputs: (TensorInfo(DataType.HALF, (3, 1), -1, 1),)"));
    string_clear(&text);
    tactic_algorithm_text(&replay.items[2].algorithm, &text); /* without the constant */
    assert_non_null(strstr(text.data, "Inputs: (TensorInfo(DataType.HALF, (8, 8), 1, 8),) | Outputs: (TensorInfo"));
    string_release(&text);
    engine_free(engine);
    tactic_replay_release(&replay);
    builder_fixture_release(&fixture);
}

static void test_a_replayed_tactic_that_does_not_exist_is_named_with_its_layer(void **state)
{
    struct fake_tactic tactics[] = {{.name = "fast"}};
    struct builder_fixture fixture;
    struct tactic_replay replay;

    builder_fixture_init(&fixture, tactics, 1);
    tactic_replay_init(&replay);
    pin(&replay, "second", "other:fast", 5, 7);
    fixture.settings.replay = &replay;
    builder_fixture_fails(&fixture, ERR_MISSING, "layer 'second'", "'other:fast'");
    pin(&replay, "second", NULL, 5, 7);
    builder_fixture_fails(&fixture, ERR_MISSING, "layer 'second'", "tactic 7");
    tactic_replay_release(&replay);
    builder_fixture_release(&fixture);
}

/* ---- Exclusions ---- */

static void test_rules_cover_names_their_beginnings_and_patterns(void **state)
{
    const char *name = "onednn:jit_wino_4x3:avx512_core aBcd16b";

    assert_true(tactic_rule_covers(name, name));
    assert_true(tactic_rule_covers("onednn:jit_wino_4x3:avx512_core", name));
    assert_true(tactic_rule_covers("onednn:jit_wino_4x3", name));
    assert_true(tactic_rule_covers("onednn:jit_wino_?x3", name));
    assert_true(tactic_rule_covers("*wino*", name));
    assert_true(tactic_rule_covers("*aBcd16b", name));
    assert_true(tactic_rule_covers("odd:[x]", "odd:[x]"));
    assert_false(tactic_rule_covers("onednn:jit_wino", name));
    assert_false(tactic_rule_covers("jit_wino_4x3", name));
    assert_false(tactic_rule_covers("onednn:jit_wino_4x3:avx512_core aBcd8b", name));
    assert_false(tactic_rule_covers("", name));
}

static void exclude(struct builder_fixture *fixture, const char *const *rules, size_t count)
{
    fixture->settings.excluded = (struct words){rules, count};
}

static void test_excluded_tactics_are_neither_taken_nor_timed(void **state)
{
    static const char *const rules[] = {"fake:fast", "fake:nobody"};
    struct fake_tactic tactics[] = {{.name = "fast plain"}, {.name = "fast"}, {.name = "slow", .seconds = SLOW}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 3);
    exclude(&fixture, rules, 2);
    for (int explore = 0; explore < 2; explore++) {
        struct engine *engine;

        fixture.settings.explore = explore > 0;
        fixture.settings.explore_within = 1e9;
        engine = builder_fixture_build(&fixture);
        builder_fixture_chose(engine, "slow", "slow", "slow");
        engine_free(engine);
    }
    assert_int_equal(tactics[0].created + tactics[1].created, 0);
    assert_true(captured_log_has(&fixture.log, "no layer has a tactic 'fake:nobody'"));
    assert_false(captured_log_has(&fixture.log, "'fake:fast': nothing"));
    builder_fixture_release(&fixture);
}

static void test_a_layer_that_has_no_other_tactic_is_named(void **state)
{
    static const char *const rules[] = {"fake:*"};
    struct fake_tactic tactics[] = {{.name = "one"}, {.name = "two"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 2);
    exclude(&fixture, rules, 1);
    builder_fixture_fails(&fixture, ERR_BACKEND, "layer 'first'", "'fake:one', 'fake:two'");
    fixture.settings.deterministic = true;
    builder_fixture_fails(&fixture, ERR_BACKEND, "layer 'first'", "--exclude-tactics");
    builder_fixture_release(&fixture);
}

static void test_an_exclusion_outweighs_a_replay(void **state)
{
    static const char *const rules[] = {"fake:slow"};
    struct fake_tactic tactics[] = {{.name = "fast"}, {.name = "slow", .seconds = SLOW}};
    struct tactic_replay replay;
    struct builder_fixture fixture;
    struct engine *engine;

    builder_fixture_init(&fixture, tactics, 2);
    fixture.log.log.threshold = LOG_INFO;
    engine = builder_fixture_build(&fixture);
    tactic_replay_init(&replay);
    engine_replay(engine, &replay);
    engine_free(engine);
    pin(&replay, "second", "fake:slow", 0, 0);
    fixture.settings.replay = &replay;
    exclude(&fixture, rules, 1);
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "fast", "fast", "fast");
    assert_true(captured_log_has(&fixture.log, "1 layer has another tactic than in the replay"));
    assert_false(captured_log_has(&fixture.log, "so nothing is excluded"));
    engine_free(engine);
    tactic_replay_release(&replay);
    builder_fixture_release(&fixture);
}

/* ---- Exploration ---- */

static void test_exploration_draws_among_those_that_are_fast_enough(void **state)
{
    struct fake_tactic tactics[] = {{.name = "a"}, {.name = "b"}, {.name = "slow", .seconds = SLOW}};
    int seen[2] = {0}, different = 0;
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 3);
    fixture.settings.cache = timing_cache_new();
    fixture.settings.explore = true;
    fixture.settings.explore_within = 1e3; /* times about a microsecond */
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct engine *engine, *again;

        fixture.settings.seed = seed;
        engine = builder_fixture_build(&fixture);
        again = builder_fixture_build(&fixture);
        for (size_t i = 0; i < 3; i++) {
            const char *name = engine->layers[i].tactic.name;

            assert_string_equal(name, again->layers[i].tactic.name);
            assert_string_not_equal(name, "slow");
            seen[strcmp(name, "b") == 0]++;
        }
        different += strcmp(engine->layers[0].tactic.name, engine->layers[1].tactic.name) != 0;
        engine_free(engine);
        engine_free(again);
    }
    assert_in_range(seen[0], 30, 90);
    assert_in_range(different, 5, 35);
    timing_cache_free(fixture.settings.cache);
    builder_fixture_release(&fixture);
}

/* Two kernels that are always avoided together are drawn as ever; so it takes some pairs of builds. */
static void test_exploration_avoids_each_kernel_in_all_layers_of_some_builds(void **state)
{
    struct fake_tactic tactics[] = {{.name = "a"}, {.name = "b"}, {.name = "slow", .seconds = SLOW}};
    size_t avoided[2] = {0}, together[2] = {0};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 3);
    fixture.settings.cache = timing_cache_new();
    fixture.settings.explore = true;
    fixture.settings.explore_within = 1e3;
    for (uint64_t seed = 0; seed < 80; seed++) {
        struct engine *engine;
        size_t count = 0;

        fixture.settings.seed = seed;
        engine = builder_fixture_build(&fixture);
        for (size_t i = 0; i < 3; i++)
            count += strcmp(engine->layers[i].tactic.name, "a") == 0;
        avoided[seed % 2] += count == 0 || count == 3;
        together[seed % 2] += count == 0;
        engine_free(engine);
    }
    assert_in_range(avoided[0], 3, 18);  /* of 40: one in four by lot */
    assert_in_range(avoided[1], 20, 35); /* half, and one in four of the rest */
    assert_in_range(together[1], 8, 20);
    timing_cache_free(fixture.settings.cache);
    builder_fixture_release(&fixture);
}

static void test_a_source_is_switched_off_by_its_name(void **state)
{
    struct fake_tactic tactics[] = {{.name = "fast"}};
    struct builder_fixture fixture;

    builder_fixture_init(&fixture, tactics, 1);
    fixture.settings.sources_off = (struct words){(const char *const[]){"fake"}, 1};
    builder_fixture_fails(&fixture, ERR_BACKEND, "the list of disabled decisions leaves no tactic", "'fake:fast'");
    fixture.settings.sources_off = (struct words){(const char *const[]){"fakes"}, 1};
    builder_fixture_fails(&fixture, ERR_INVALID, "'tactics:fakes' cannot be disabled", "did you mean 'fake'?");
    builder_fixture_release(&fixture);
}

/* A replay does not bring them back. */
static void test_layouts_that_are_not_row_by_row_are_switched_off(void **state)
{
    struct fake_tactic tactics[] = {{.name = "blocked", .layout = "aB8b"}, {.name = "plain"}};
    struct decision_list decisions = {0};
    struct builder_fixture fixture;
    struct engine *engine;
    struct tactic_replay replay;
    struct arena arena;

    arena_init(&arena);
    builder_fixture_init(&fixture, tactics, 2);
    tactic_replay_init(&replay);
    pin(&replay, "second", "fake:blocked", 0, 0);
    fixture.settings.replay = &replay;
    fixture.settings.deterministic = true;
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "blocked", "blocked", "blocked");
    engine_decisions(engine, &fixture.settings, &arena, &decisions);
    assert_int_equal(decisions.count, 2);
    assert_string_equal(decisions.items[0].name, "tactics:fake");
    assert_string_equal(decisions.items[1].name, "layout:blocked");
    assert_int_equal(decisions.items[1].state, DECISION_TAKEN);
    engine_free(engine);
    fixture.settings.plain_layouts = true;
    engine = builder_fixture_build(&fixture);
    builder_fixture_chose(engine, "plain", "plain", "plain");
    assert_true(captured_log_has(&fixture.log, "Decisions: tactics:fake; disabled: layout:blocked"));
    engine_free(engine);
    free(decisions.items);
    tactic_replay_release(&replay);
    builder_fixture_release(&fixture);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replays_pin_layers_by_name),
        cmocka_unit_test(test_a_replay_of_an_engine_gives_the_same_engine),
        cmocka_unit_test(test_a_replay_tells_types_and_layouts),
        cmocka_unit_test(test_a_replayed_tactic_that_does_not_exist_is_named_with_its_layer),
        cmocka_unit_test(test_rules_cover_names_their_beginnings_and_patterns),
        cmocka_unit_test(test_excluded_tactics_are_neither_taken_nor_timed),
        cmocka_unit_test(test_a_source_is_switched_off_by_its_name),
        cmocka_unit_test(test_layouts_that_are_not_row_by_row_are_switched_off),
        cmocka_unit_test(test_a_layer_that_has_no_other_tactic_is_named),
        cmocka_unit_test(test_an_exclusion_outweighs_a_replay),
        cmocka_unit_test(test_exploration_draws_among_those_that_are_fast_enough),
        cmocka_unit_test(test_exploration_avoids_each_kernel_in_all_layers_of_some_builds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
