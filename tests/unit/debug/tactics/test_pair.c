/* Which two replays are set against each other. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/tactics/pair.h"

/* A replay whose layers "0", "1", ... have the tactics of these letters. */
static void add(struct tactic_builds *builds, const char *path, const char *tactics, const char *option)
{
    struct tactic_build build = {.path = memory_strdup(path)};

    tactic_replay_init(&build.replay);
    for (size_t i = 0; tactics[i] != '\0'; i++) {
        char layer[24];

        snprintf(layer, sizeof(layer), "%zu", i);
        tactic_replay_set(&build.replay, layer)->tactic = tactics[i];
    }
    if (option != NULL) {
        build.replay.precision.known = true;
        if (*option != '\0')
            tactic_options_add(&build.replay.precision, text_of(option));
    }
    *VECTOR_APPEND(builds) = build;
}

static void those_that_differ_least_are_taken(void **state)
{
    struct tactic_diff replays;
    struct tactic_pair pair;
    struct error error = {0};

    tactic_diff_init(&replays);
    add(&replays.good, "g0", "aaaa", NULL);
    add(&replays.good, "g1", "abab", NULL);
    add(&replays.bad, "b0", "bbbb", NULL);
    add(&replays.bad, "b1", "abbb", NULL);
    assert_int_equal(tactic_pair_choose(&replays.good, &replays.bad, &pair, &error), 0);
    assert_string_equal(pair.good->path, "g1");
    assert_string_equal(pair.bad->path, "b1");
    assert_int_equal(pair.differences, 1);
    assert_int_equal(pair.count, 4);
    assert_null(pair.same_good);
    add(&replays.bad, "b2", "aaaa", NULL); /* as g0, which passed */
    assert_int_equal(tactic_pair_choose(&replays.good, &replays.bad, &pair, &error), 0);
    assert_int_equal(pair.differences, 1);
    assert_string_equal(pair.same_good->path, "g0");
    assert_string_equal(pair.same_bad->path, "b2");
    tactic_diff_release(&replays);
}

static void builds_in_different_precisions_are_no_pair(void **state)
{
    struct tactic_diff replays;
    struct tactic_pair pair;
    struct error error = {0};

    tactic_diff_init(&replays);
    add(&replays.good, "g0", "aaab", "");
    add(&replays.bad, "b0", "aaaa", "--fp16");
    assert_int_equal(tactic_pair_choose(&replays.good, &replays.bad, &pair, &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "'b0' of one with --fp16"));
    add(&replays.good, "g1", "bbbb", "--fp16");
    assert_int_equal(tactic_pair_choose(&replays.good, &replays.bad, &pair, &error), 0);
    assert_string_equal(pair.good->path, "g1");
    add(&replays.good, "g2", "aabb", NULL); /* it may be, since it does not say */
    assert_int_equal(tactic_pair_choose(&replays.good, &replays.bad, &pair, &error), 0);
    assert_string_equal(pair.good->path, "g2");
    tactic_diff_release(&replays);
}

static void both_kinds_are_needed(void **state)
{
    struct tactic_diff replays;
    struct tactic_pair pair;
    struct error error = {0};

    tactic_diff_init(&replays);
    add(&replays.good, "g0", "a", NULL);
    assert_int_equal(tactic_pair_choose(&replays.good, &replays.bad, &pair, &error), ERR_MISSING);
    assert_non_null(strstr(error.message, "bad"));
    tactic_diff_release(&replays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_differ_least_are_taken),
        cmocka_unit_test(builds_in_different_precisions_are_no_pair),
        cmocka_unit_test(both_kinds_are_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
