/* test_tactic_diff.c: loading tactic replays and making a table of them. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>

#include "debug/tactics/diff.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

/* Saves a replay with one tactic of each layer: layers are letters, tactics digits, "a1b2". */
static void make_replay(const char *path, const char *choices)
{
    struct tactic_replay replay;
    struct error err;

    tactic_replay_init(&replay);
    for (size_t i = 0; choices[i]; i += 2)
        tactic_replay_set(&replay, (const char[]){choices[i], '\0'})->tactic = choices[i + 1] - '0';
    if (tactic_replay_save(&replay, path, &err) < 0)
        fail_msg("%s", err.message);
    tactic_replay_release(&replay);
}

static void load(struct tactic_builds *builds, const char *path, struct captured_log *log)
{
    struct error err;

    if (tactic_builds_load(builds, path, log ? &log->log : NULL, &err) < 0)
        fail_msg("%s", err.message);
}

static void assert_tactic(const struct tactic_diff *diff, size_t index, const char *layer, int64_t number)
{
    assert_string_equal(diff->layers.items[diff->tactics.items[index].layer].name, layer);
    assert_true(diff->tactics.items[index].algorithm->tactic == number);
}

static void table_has_a_column_for_each_tactic_and_bad_builds_first(void **state)
{
    struct tactic_diff diff;
    struct association association;

    make_replay("good/0.json", "a1b1");
    make_replay("good/1.json", "a2b1c1");
    make_replay("bad/0.json", "b2a1");
    tactic_diff_init(&diff);
    load(&diff.good, "good", NULL);
    load(&diff.bad, "bad", NULL);
    tactic_diff_compare(&diff);
    assert_int_equal(diff.tactics.count, 5);
    assert_tactic(&diff, 0, "b", 2);
    assert_tactic(&diff, 1, "a", 1);
    assert_tactic(&diff, 2, "b", 1);
    assert_tactic(&diff, 3, "a", 2);
    assert_tactic(&diff, 4, "c", 1);
    assert_int_equal(diff.layers.items[0].tactics.count, 2);
    assert_int_equal(diff.layers.items[0].tactics.items[1], 2);
    assert_true(bitset_has(&diff.table.failed, 0));
    assert_int_equal(bitset_count(&diff.table.failed), 1);
    association = blame_table_association(&diff.table, 1);
    assert_int_equal(association.failed_with, 1);
    assert_int_equal(association.passed_with, 1);
    assert_int_equal(association.passed_without, 1);
    assert_true(tactic_diff_is_ranked(&diff));
    tactic_diff_release(&diff);
}

static void tactic_of_another_layer_does_not_clear_one(void **state)
{
    struct tactic_diff diff;

    make_replay("good/0.json", "a1b2");
    make_replay("bad/0.json", "a2b2");
    tactic_diff_init(&diff);
    load(&diff.good, "good", NULL);
    load(&diff.bad, "bad", NULL);
    tactic_diff_compare(&diff);
    assert_true(tactic_diff_only_in_bad(&diff, 0));
    assert_false(tactic_diff_only_in_bad(&diff, 1));
    assert_false(tactic_diff_only_in_bad(&diff, 2)); /* a1: only in good */
    tactic_diff_release(&diff);
}

/* Adds a choice with these numbers, and one tensor of this stride. */
static void choose(struct tactic_replay *replay, const char *layer, const char *name, int64_t tactic, int64_t stride)
{
    struct tactic_algorithm *algorithm = tactic_replay_set(replay, layer);

    algorithm->implementation = name[0];
    algorithm->tactic = tactic;
    algorithm->name = strdup(name);
    tactic_tensors_add(&algorithm->inputs, text_of("DataType.FLOAT"), &stride, 1);
}

static void save(struct tactic_replay *replay, const char *path)
{
    struct error err;

    if (tactic_replay_save(replay, path, &err) < 0)
        fail_msg("%s", err.message);
    tactic_replay_release(replay);
    tactic_replay_init(replay);
}

static void assert_pool(const struct tactic_diff *diff, size_t pool, enum tactic_pool_scope scope, const char *name,
                        size_t tactics, size_t layers)
{
    struct string_builder text;

    string_init(&text);
    assert_true(tactic_diff_pool(diff, diff->tactics.count + pool) == &diff->pools.items[pool]);
    assert_int_equal(diff->pools.items[pool].scope, scope);
    assert_int_equal(diff->pools.items[pool].tactics.count, tactics);
    assert_int_equal(diff->pools.items[pool].layers.count, layers);
    tactic_pool_name(diff, &diff->pools.items[pool], &text);
    assert_string_equal(text.data, name);
    string_release(&text);
}

/* The kernel w in four layers: twice in one layout, of which twice with the same shape, and one more in another. */
static void tactics_with_a_kernel_in_common_are_pools(void **state)
{
    struct association association;
    struct tactic_replay replay;
    struct tactic_diff diff;

    tactic_replay_init(&replay);
    choose(&replay, "a", "w:x 1", 1, 8);
    choose(&replay, "b", "w:x 1", 1, 8);
    choose(&replay, "c", "other", 1, 8);
    save(&replay, "pools/bad/0.json");
    choose(&replay, "a", "w:x 1", 1, 9);
    choose(&replay, "c", "w:x 2", 2, 9);
    save(&replay, "pools/bad/1.json");
    choose(&replay, "a", "other", 1, 9);
    choose(&replay, "b", "more", 1, 9);
    save(&replay, "pools/good/0.json");
    tactic_diff_init(&diff);
    load(&diff.good, "pools/good", NULL);
    load(&diff.bad, "pools/bad", NULL);
    tactic_diff_compare(&diff);
    assert_int_equal(diff.tactics.count, 7);
    assert_int_equal(diff.pools.count, 4);
    assert_pool(&diff, 0, POOL_IMPLEMENTATION, "w:x", 4, 3);
    assert_pool(&diff, 1, POOL_IMPLEMENTATION, "other", 2, 2);
    assert_pool(&diff, 2, POOL_TACTIC, "w:x 1", 3, 2);
    assert_pool(&diff, 3, POOL_TENSORS, "w:x 1", 2, 2);
    association = blame_table_association(&diff.table, 7);
    assert_int_equal(association.failed_with, 2);
    assert_int_equal(association.passed_with, 0);
    assert_null(tactic_diff_pool(&diff, 6));
    tactic_diff_release(&diff);
    tactic_replay_release(&replay);
}

static void nothing_at_all_can_be_compared(void **state)
{
    struct tactic_diff diff;

    tactic_diff_init(&diff);
    tactic_diff_compare(&diff);
    assert_false(tactic_diff_is_ranked(&diff));
    assert_int_equal(diff.blame.count, 0);
    tactic_diff_release(&diff);
}

static void replays_come_in_the_order_of_their_paths(void **state)
{
    struct tactic_builds *builds;
    struct tactic_diff diff;

    make_replay("good/b.json", "a1");
    make_replay("good/a/z.json", "a2");
    make_replay("good/c.json", "a3");
    tactic_diff_init(&diff);
    builds = &diff.good;
    load(builds, "good/c.json", NULL);
    load(builds, "good", NULL);
    assert_int_equal(builds->count, 4);
    assert_string_equal(builds->items[0].path, "good/c.json");
    assert_string_equal(builds->items[1].path, "good/a/z.json");
    assert_string_equal(builds->items[2].path, "good/b.json");
    assert_int_equal(builds->items[1].replay.items[0].algorithm.tactic, 2);
    tactic_diff_release(&diff);
}

static void what_is_skipped_is_said_and_why(void **state)
{
    struct captured_log log;
    struct tactic_diff diff;

    make_replay("good/a.json", "a1");
    scratch_file("good/log.txt", "text");
    scratch_file("good/list.json", "[]");
    assert_int_equal(symlink("self", "self"), 0);
    captured_log_init(&log);
    tactic_diff_init(&diff);
    load(&diff.good, "good", &log);
    load(&diff.bad, "missing", &log);
    load(&diff.bad, "self", &log);
    assert_int_equal(diff.good.count, 1);
    assert_int_equal(diff.bad.count, 0);
    assert_true(captured_log_has(&log, "V good/log.txt is not a valid tactic replay file, skipping.\n"
                                       "'good/log.txt': byte 0, line 1"));
    assert_true(captured_log_has(&log, "V good/list.json is not a valid tactic replay file, skipping."));
    assert_true(captured_log_has(&log, "V missing is not a valid tactic replay file, skipping."));
    assert_true(captured_log_has(&log, "W "));
    assert_true(captured_log_has(&log, "'self'"));
    tactic_diff_release(&diff);
    captured_log_release(&log);
}

static void make_layer_info(const char *path, const char *kernel)
{
    char text[256];

    snprintf(text, sizeof(text),
             "{\"Layers\": [{\"Name\": \"conv\", \"LayerType\": \"gemm\", \"TacticName\": \"%s\"}]}", kernel);
    scratch_file(path, text);
}

static void layer_information_stands_in_where_there_is_no_replay(void **state)
{
    struct captured_log log;
    struct tactic_diff diff;

    make_replay("good/0/replay.json", "a1");
    make_layer_info("good/0/layers.json", "k1");
    assert_int_equal(file_make_folders("bad", NULL), 0);
    make_layer_info("bad/0.json", "k1");
    make_layer_info("bad/1.json", "k2");
    scratch_file("bad/2.json", "{\"Layers\": [\"conv\"]}");
    captured_log_init(&log);
    tactic_diff_init(&diff);
    load(&diff.good, "good", &log);
    load(&diff.bad, "bad", &log);
    assert_int_equal(diff.good.count, 1); /* one build, told of twice */
    assert_string_equal(diff.good.items[0].path, "good/0/replay.json");
    assert_int_equal(diff.bad.count, 2);
    assert_string_equal(diff.bad.items[1].path, "bad/1.json");
    assert_false(tactic_algorithm_equal(&diff.bad.items[0].replay.items[0].algorithm,
                                        &diff.bad.items[1].replay.items[0].algorithm));
    assert_true(captured_log_has(&log, "W bad/2.json: no tactic is told of any of the 1 layer(s)"));
    tactic_diff_release(&diff);
    captured_log_release(&log);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(table_has_a_column_for_each_tactic_and_bad_builds_first),
        TEST(tactic_of_another_layer_does_not_clear_one),
        TEST(tactics_with_a_kernel_in_common_are_pools),
        TEST(nothing_at_all_can_be_compared),
        TEST(replays_come_in_the_order_of_their_paths),
        TEST(what_is_skipped_is_said_and_why),
        TEST(layer_information_stands_in_where_there_is_no_replay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
