/* The search for layers that need higher precision, with a target made up for it: a candidate is a file with the names
 * of the layers that were chosen, and the check a shell script that reads it. */
#include "support/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/precision/precision.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

#define LAYERS 8

/* Layers are called L0, L1, ... */
struct fake_target {
    char names[LAYERS][8];
    bool fixed[LAYERS]; /* not lowered */
    double scores[LAYERS];
    enum precision_range ranges[LAYERS];
    uint32_t sets[LAYERS];    /* that would be cheaper in higher precision */
    bool build_fails_for_one; /* with a single layer chosen */
    bool has_other_form;
    struct string_builder content;
    int prepared, scored;
};

static const char *name_of(void *data, size_t layer)
{
    return ((struct fake_target *)data)->names[layer];
}

static bool is_lowered(void *data, size_t layer)
{
    return !((struct fake_target *)data)->fixed[layer];
}

static int score(void *data, double *ret, struct error *err)
{
    struct fake_target *target = data;

    target->scored++;
    memcpy(ret, target->scores, sizeof(target->scores));
    return 0;
}

static enum precision_range range_of(void *data, size_t layer)
{
    return ((struct fake_target *)data)->ranges[layer];
}

static uint32_t savings(void *data, const struct bitset *chosen, uint32_t *ret)
{
    const struct fake_target *target = data;
    uint32_t count = 0;

    memcpy(ret, target->sets, sizeof(target->sets));
    for (size_t i = 0; i < LAYERS; i++) {
        assert_false(ret[i] != 0 && bitset_has(chosen, i));
        count = ret[i] > count ? ret[i] : count;
    }
    return count;
}

static int prepare(void *data, const struct bitset *chosen, struct error *err)
{
    struct fake_target *target = data;

    target->prepared++;
    if (target->build_fails_for_one && bitset_count(chosen) == 1)
        return error_set(err, ERR_BACKEND, "this cannot be built");
    string_clear(&target->content);
    for (size_t i = 0; i < LAYERS; i++)
        if (bitset_has(chosen, i))
            string_add_format(&target->content, "%s\n", target->names[i]);
    return 0;
}

static int write_candidate(void *data, const char *path, struct error *err)
{
    struct fake_target *target = data;

    return file_write(path, target->content.data ? target->content.data : "", target->content.size, FILE_INTERMEDIATE,
                      err);
}

static bool insist(void *data)
{
    struct fake_target *target = data;

    string_clear(&target->content);
    return target->has_other_form && file_write("insists", "", 0, FILE_INTERMEDIATE, NULL) == 0;
}

struct fixture {
    struct fake_target target;
    struct precision_run_settings settings;
    struct session_settings session;
    const char *command[3];
    struct captured_log log;
    struct precision_result result;
    struct error err;
};

static void init(struct fixture *fixture, enum precision_mode mode, const char *check)
{
    *fixture = (struct fixture){.settings = {.mode = mode, .verify = true}, .command = {"sh", "-c", check}};
    fixture->session = (struct session_settings){.check = {.command = {fixture->command, 3}},
                                                 .artifacts = {.folder = "sorted"},
                                                 .check.files.items[CANDIDATE_ARTIFACT] = "candidate",
                                                 .save_replay = "replay.json"};
    for (size_t i = 0; i < LAYERS; i++)
        snprintf(fixture->target.names[i], sizeof(fixture->target.names[i]), "L%zu", i);
    string_init(&fixture->target.content);
    captured_log_init(&fixture->log);
}

static struct precision_target target_of(struct fake_target *target)
{
    return (struct precision_target){.data = target,
                                     .count = LAYERS,
                                     .name = name_of,
                                     .is_lowered = is_lowered,
                                     .score = score,
                                     .range = range_of,
                                     .savings = savings,
                                     .prepare = prepare,
                                     .write = write_candidate,
                                     .saving = "Saving candidate to",
                                     .insist = insist};
}

static void run_session(struct fixture *fixture)
{
    struct precision_target target = target_of(&fixture->target);
    struct debug_session *session;

    if (session_new(&fixture->session, NULL, &fixture->log.log, &session, &fixture->err) < 0 ||
        precision_run(&target, &fixture->settings, session, &fixture->log.log, &fixture->result, &fixture->err) < 0)
        fail_msg("%s", fixture->err.message);
    session_free(session);
}

static void release(struct fixture *fixture)
{
    precision_result_release(&fixture->result);
    string_release(&fixture->target.content);
    captured_log_release(&fixture->log);
}

static void assert_chosen(const struct fixture *fixture, const char *expected)
{
    struct string_builder names;

    string_init(&names);
    for (size_t i = 0; i < LAYERS; i++)
        if (bitset_has(&fixture->result.chosen, i))
            string_add_format(&names, "%s%s", names.size > 0 ? " " : "", fixture->target.names[i]);
    assert_string_equal(names.size > 0 ? names.data : "", expected);
    string_release(&names);
}

static void assert_logged(const struct fixture *fixture, const char *line)
{
    if (!captured_log_has(&fixture->log, line))
        fail_msg("'%s' is not in\n%s", line, fixture->log.text.data);
}

static void bisection_counts_layers_from_the_first_or_the_last(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_BISECT, "grep -q L2 candidate && grep -q L5 candidate");
    run_session(&fixture);
    assert_int_equal(fixture.result.outcome, PRECISION_FOUND);
    assert_int_equal(fixture.result.selected, 6);
    assert_chosen(&fixture, "L0 L1 L2 L3 L4 L5");
    assert_logged(&fixture, "Selecting first 8 layer(s) to run in higher precision\n");
    assert_logged(&fixture, "Identical to all layers in higher precision: its verdict is reused");
    assert_logged(&fixture, "F To achieve acceptable accuracy, try running the first 6 layer(s) in higher precision\n");
    release(&fixture);
    init(&fixture, PRECISION_BISECT, "grep -q L2 candidate && grep -q L5 candidate");
    fixture.settings.reverse = true;
    fixture.session.save_replay = NULL;
    run_session(&fixture);
    assert_chosen(&fixture, "L2 L3 L4 L5 L6 L7");
    assert_logged(&fixture, "F To achieve acceptable accuracy, try running the last 6 layer(s) in higher precision\n");
    release(&fixture);
}

static void minimal_search_takes_layers_from_anywhere(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_MINIMAL, "grep -q L2 candidate && grep -q L5 candidate");
    fixture.target.scores[5] = INFINITY;
    fixture.target.scores[7] = 3;
    fixture.target.scores[2] = 2;
    run_session(&fixture);
    assert_chosen(&fixture, "L2 L5");
    assert_true(fixture.result.is_minimal);
    assert_true(fixture.result.scores[5] == (double)INFINITY);
    assert_logged(&fixture, "I         Selecting 1 layer(s) to run in higher precision: 'L5'\n");
    assert_logged(&fixture, "F To achieve acceptable accuracy, try running these 2 layer(s) in higher precision\n");
    release(&fixture);
}

/* Whatever their scores are. What overflows is presumed to be needed, and taken out last. */
static void layers_outside_of_the_range_are_tried_first(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_MINIMAL, "grep -q L3 candidate && grep -q L6 candidate");
    fixture.target.scores[1] = 5;
    fixture.target.ranges[3] = PRECISION_VANISHES;
    fixture.target.ranges[6] = PRECISION_OVERFLOWS;
    run_session(&fixture);
    assert_chosen(&fixture, "L3 L6");
    assert_int_equal(fixture.result.unfit, 2);
    assert_logged(&fixture, "values overflow in 1, underflow in 1. They are tried in higher precision first");
    assert_logged(&fixture, "Selecting 2 layer(s) to run in higher precision: 'L3', 'L6'\n");
    assert_int_equal(fixture.target.prepared, 7); /* all, none, both, each alone, none and both once more */
    release(&fixture);
}

static void assert_added(const struct fixture *fixture, const char *layers)
{
    for (size_t i = 0; i < LAYERS; i++)
        assert_int_equal(bitset_has(&fixture->result.added, i), strchr(layers, (char)('0' + i)) != NULL);
}

/* What is found to be needed stays that; what the check refuses is not added. */
static void layers_are_added_where_that_is_cheaper_and_passes(void **state)
{
    static const char *const checks[] = {"grep -q L2 candidate",
                                         "grep -q L2 candidate && { ! grep -q L6 candidate || grep -q L5 candidate; }"};
    static const char *const added[] = {"0136", "013"};

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        struct fixture fixture;

        init(&fixture, PRECISION_MINIMAL, checks[i]);
        fixture.target.scores[2] = 1;
        fixture.target.sets[0] = fixture.target.sets[1] = 1;
        fixture.target.sets[3] = 3;
        fixture.target.sets[6] = 2;
        run_session(&fixture);
        assert_chosen(&fixture, "L2");
        assert_true(fixture.result.is_minimal);
        assert_int_equal(fixture.result.selected, 1);
        assert_added(&fixture, added[i]);
        release(&fixture);
    }
}

/* Layers that are as they are in any case count, but make no other candidate. */
static void layers_that_are_not_lowered_are_counted_and_not_chosen(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_LINEAR, "grep -q L3 candidate");
    fixture.target.fixed[0] = fixture.target.fixed[1] = true;
    run_session(&fixture);
    assert_int_equal(fixture.result.selected, 4);
    assert_chosen(&fixture, "L2 L3");
    assert_int_equal(fixture.target.prepared, 6); /* all, none, L2, L2 and L3, none and both once more */
    release(&fixture);
}

static void high_precision_that_does_not_help_ends_the_session(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_MINIMAL, "wc -c <candidate; false");
    run_session(&fixture);
    assert_int_equal(fixture.result.outcome, PRECISION_NOT_FOUND);
    assert_int_equal(fixture.target.prepared, 2); /* all, twice */
    assert_int_equal(fixture.target.scored, 0);
    assert_logged(&fixture, "E Could not find a configuration that satisfied accuracy requirements.\n");
    assert_logged(&fixture, "W The check fails with all layers in higher precision");
    release(&fixture);
}

static void low_precision_that_does_no_harm_ends_the_session(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_BISECT, "! grep -q model candidate");
    run_session(&fixture);
    assert_int_equal(fixture.result.outcome, PRECISION_FOUND);
    assert_true(fixture.result.none_needed);
    assert_int_equal(fixture.target.prepared, 3); /* all, none twice */
    assert_chosen(&fixture, "");
    assert_logged(&fixture, "F To achieve acceptable accuracy, try running the first 0 layer(s) in higher precision\n");
    release(&fixture);
}

static void target_may_insist_on_low_precision(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_MINIMAL, "! test -e insists || grep -q L4 candidate");
    fixture.target.has_other_form = true;
    run_session(&fixture);
    assert_chosen(&fixture, "L4");
    assert_logged(&fixture, "RUNNING | Check of all layers in lower precision, rounded by Casts");
    release(&fixture);
}

static void failed_build_is_a_failed_iteration(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_LINEAR, "grep -q L0 candidate");
    fixture.target.build_fails_for_one = true;
    run_session(&fixture);
    assert_int_equal(fixture.result.selected, 2);
    assert_logged(&fixture, "W         this cannot be built\n");
    assert_logged(&fixture, "W         Failed to create network or engine, continuing to the next iteration.\n");
    release(&fixture);
}

/* The check of the low end fails with exit code 1: a failed build is another failure, which nothing is known of. */
static void failed_build_is_not_the_failure_that_is_searched_for(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_LINEAR, "grep -q L0 candidate");
    fixture.session.check.rules.compare_failures = fixture.session.check.rules.compare_reasons = true;
    fixture.target.build_fails_for_one = true;
    run_session(&fixture);
    assert_int_equal(fixture.result.selected, 2);
    assert_logged(&fixture, "Inconclusive, a different failure: exit code 3 (message: this cannot be built); the first "
                            "failure: exit code 1");
    release(&fixture);
}

static void end_that_cannot_be_built_is_an_error(void **state)
{
    struct fixture fixture;
    struct precision_target target;
    struct debug_session *session;

    init(&fixture, PRECISION_LINEAR, "true");
    target = target_of(&fixture.target);
    for (size_t i = 1; i < LAYERS; i++)
        fixture.target.fixed[i] = true;
    fixture.target.build_fails_for_one = true;
    assert_int_equal(session_new(&fixture.session, NULL, &fixture.log.log, &session, &fixture.err), 0);
    assert_int_equal(
        precision_run(&target, &fixture.settings, session, &fixture.log.log, &fixture.result, &fixture.err),
        ERR_BACKEND);
    assert_string_equal(fixture.err.message, "there is nothing to compare with, because no engine with all layers in "
                                             "higher precision could be made: this cannot be built");
    session_free(session);
    release(&fixture);
}

static void session_without_verification_is_polygraphys(void **state)
{
    struct fixture fixture;

    init(&fixture, PRECISION_LINEAR, "true");
    fixture.settings.verify = false;
    run_session(&fixture);
    assert_int_equal(fixture.result.selected, 0);
    assert_false(fixture.result.none_needed);
    assert_int_equal(fixture.target.prepared, 1);
    assert_false(captured_log_has(&fixture.log, "Check of all layers"));
    release(&fixture);
}

/* What a replay knows is neither built nor checked again, the verification included. */
static void result_of_a_replay_is_checked_once(void **state)
{
    struct fixture fixture;

    for (int i = 0; i < 2; i++) {
        init(&fixture, PRECISION_MINIMAL,
             i == 0 ? "grep -q L1 candidate && grep -q L6 candidate" : "cat candidate >>checks");
        fixture.session.load_replay = i == 0 ? NULL : "replay.json";
        fixture.session.force_replay = true; /* the check is another one */
        run_session(&fixture);
        assert_chosen(&fixture, "L1 L6");
        assert_true(i == 0 || fixture.target.prepared == 1);
        release(&fixture);
    }
    assert_true(scratch_file_is("checks", "L1\nL6\n"));
}

#define IN_SCRATCH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH_FOLDER(bisection_counts_layers_from_the_first_or_the_last),
        IN_SCRATCH_FOLDER(minimal_search_takes_layers_from_anywhere),
        IN_SCRATCH_FOLDER(layers_outside_of_the_range_are_tried_first),
        IN_SCRATCH_FOLDER(layers_are_added_where_that_is_cheaper_and_passes),
        IN_SCRATCH_FOLDER(layers_that_are_not_lowered_are_counted_and_not_chosen),
        IN_SCRATCH_FOLDER(high_precision_that_does_not_help_ends_the_session),
        IN_SCRATCH_FOLDER(low_precision_that_does_no_harm_ends_the_session),
        IN_SCRATCH_FOLDER(target_may_insist_on_low_precision),
        IN_SCRATCH_FOLDER(failed_build_is_a_failed_iteration),
        IN_SCRATCH_FOLDER(failed_build_is_not_the_failure_that_is_searched_for),
        IN_SCRATCH_FOLDER(end_that_cannot_be_built_is_an_error),
        IN_SCRATCH_FOLDER(session_without_verification_is_polygraphys),
        IN_SCRATCH_FOLDER(result_of_a_replay_is_checked_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
