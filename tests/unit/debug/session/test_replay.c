/* test_loop_replay.c: sessions that are resumed. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/polygraphy/debug_replay.h"
#include "support/session_fixture.h"
#include "support/scratch_folder.h"

/* Runs `count` iterations and prepares the next session to load their verdicts and to save to another file. */
static void run_and_prepare_resumption(struct fixture *fixture, int64_t count)
{
    fixture->subject.count = count;
    fixture_run(fixture, NULL);
    unlink("runs");
    fixture->settings.load_replay = "replay.json";
    fixture->settings.save_replay = "second.json";
}

static void whole_replay_needs_no_check_and_saves_nothing(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "exit $POLYGRAPHY_ITERATION # debug.bin");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.settings.check.files.items[CANDIDATE_INFORMATION] = "info.json";
    run_and_prepare_resumption(&fixture, 2);
    fixture_run(&fixture, NULL);
    fixture_assert_log(&fixture, "I Loading debug replay from replay.json\n"
                                 "S     RUNNING | Iteration 1\n"
                                 "I     Loading iteration information from debug replay: success=True\n"
                                 "F     PASSED | Iteration 1 | Duration #s\n"
                                 "S     RUNNING | Iteration 2\n"
                                 "I     Loading iteration information from debug replay: success=False\n"
                                 "E     FAILED | Iteration 2 | Duration #s\n"
                                 "F Finished 2 iteration(s) | Passed: 1/2 | Pass Rate: 50.0%\n");
    assert_string_equal(fixture.subject.learned.data, "0:10:pass 1:11:fail ");
    assert_int_equal(fixture.subject.written, 0);
    assert_false(file_exists("runs"));
    assert_false(file_exists("second.json"));
    assert_false(file_exists("second_skip_current.json"));
    fixture_release(&fixture);
}

static void session_goes_on_behind_its_replay(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    run_and_prepare_resumption(&fixture, 2);
    fixture.subject.count = 4;
    fixture_run(&fixture, NULL);
    assert_true(scratch_file_is("runs", "2\n3\n"));
    assert_string_equal(fixture.subject.learned.data, "0:10:pass 1:11:pass 2:12:pass 3:13:pass ");

    struct debug_replay replay;
    debug_replay_init(&replay);
    assert_int_equal(debug_replay_load(&replay, "second.json", &fixture.err), 0);
    assert_int_equal(replay.count, 4);
    debug_replay_release(&replay);
    fixture_release(&fixture);
}

static void resumed_session_leaves_the_same_replay_as_one_in_one_piece(void **state)
{
    struct fixture fixture;
    char *whole, *resumed;
    size_t size;

    fixture_init(&fixture, "exit $POLYGRAPHY_ITERATION");
    run_and_prepare_resumption(&fixture, 1);
    fixture.subject.count = 3;
    fixture_run(&fixture, NULL);
    fixture.settings.load_replay = NULL;
    fixture.settings.save_replay = "whole.json";
    fixture_run(&fixture, NULL);
    assert_int_equal(file_read("second.json", 1 << 20, &resumed, &size, &fixture.err), 0);
    assert_int_equal(file_read("whole.json", 1 << 20, &whole, &size, &fixture.err), 0);
    assert_string_equal(resumed, whole);
    free(resumed);
    free(whole);
    fixture_release(&fixture);
}

static void number_of_nodes_comes_from_the_replay(void **state)
{
    struct fixture fixture;

    scratch_file("replay.json", "{\"_N0\": {\"state\": {\"num_nodes\": 77}, \"iteration_info\": {\"iteration\": 0}, "
                                "\"success\": true, \"polygraphy_class\": \"IterationContext\"}}");
    fixture_init(&fixture, "true");
    fixture.settings.load_replay = "replay.json";
    fixture_run(&fixture, NULL);
    assert_string_equal(fixture.subject.learned.data, "0:77:pass ");
    fixture_release(&fixture);
}

static void replay_that_names_no_session_is_accepted_with_one_warning(void **state)
{
    struct fixture fixture;

    scratch_file("replay.json", "{\"_N0\": {\"state\": {}, \"iteration_info\": {\"iteration\": 0}, \"success\": false, "
                                "\"polygraphy_class\": \"IterationContext\"}}");
    fixture_init(&fixture, "true");
    fixture.settings.load_replay = "replay.json";
    fixture.subject.count = 2;
    fixture_run(&fixture, NULL);
    assert_true(captured_log_has(&fixture.log, "I Loading debug replay from replay.json\n"
                                               "W The debug replay does not record its model and check. Make sure that "
                                               "it belongs to this model and this check\n"
                                               "S     RUNNING | Iteration 1\n"));
    assert_string_equal(fixture.subject.learned.data, "0:10:fail 1:11:pass ");

    fixture_run(&fixture, NULL); /* what was saved says it */
    assert_false(captured_log_has(&fixture.log, "W "));
    fixture_release(&fixture);
}

static void replay_of_another_model_is_refused(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    run_and_prepare_resumption(&fixture, 1);
    fixture.model.low++;
    assert_int_equal(fixture_begin(&fixture), ERR_INVALID);
    assert_string_equal(
        fixture.err.message,
        "debug replay 'replay.json' belongs to another model, or to other options, so its verdicts may not apply. "
        "Leave it out, or pass --force-debug-replay to use it anyway");
    fixture_release(&fixture);
}

static void replay_of_another_check_is_refused(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    run_and_prepare_resumption(&fixture, 1);
    fixture.script[strlen(fixture.script) - 1] = ' ';
    assert_int_equal(fixture_begin(&fixture), ERR_INVALID);
    assert_non_null(strstr(fixture.err.message, "belongs to another check,"));
    fixture.model.low++;
    assert_int_equal(fixture_begin(&fixture), ERR_INVALID);
    assert_non_null(strstr(fixture.err.message, "belongs to another model or other options, and to another check,"));
    fixture_release(&fixture);
}

static void refused_replay_can_be_forced(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "false");
    run_and_prepare_resumption(&fixture, 1);
    fixture.model.low++;
    fixture.settings.force_replay = true;
    fixture_run(&fixture, NULL);
    assert_string_equal(fixture.subject.learned.data, "0:10:fail ");
    assert_false(file_exists("runs"));
    assert_true(captured_log_has(&fixture.log, "W The debug replay belongs to another model or check."));
    fixture_release(&fixture);
}

static void missing_or_damaged_replay_is_refused(void **state)
{
    struct fixture fixture;

    scratch_file("torn.json", "{\"_N0\": {\"state\"");
    fixture_init(&fixture, "true");
    fixture.settings.load_replay = "missing.json";
    assert_int_equal(fixture_begin(&fixture), ERR_MISSING);
    assert_non_null(strstr(fixture.err.message, "missing.json"));
    fixture.settings.load_replay = "torn.json";
    assert_true(fixture_begin(&fixture) < 0);
    assert_non_null(strstr(fixture.err.message, "torn.json"));
    fixture_release(&fixture);
}

static void entries_that_are_not_reached_are_carried_along(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    run_and_prepare_resumption(&fixture, 3);
    fixture.subject.count = 1;
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_int_equal(fixture_run_phase(&fixture, "inputs"), 0);

    struct debug_replay replay;
    debug_replay_init(&replay);
    assert_int_equal(debug_replay_load(&replay, "second.json", &fixture.err), 0);
    assert_int_equal(replay.count, 4);
    assert_non_null(debug_replay_find(&replay, "_N2"));
    assert_non_null(debug_replay_find(&replay, "_N0_inputs"));
    debug_replay_release(&replay);
    fixture_release(&fixture);
}

static void check_apart_is_replayed_too(void **state)
{
    struct fixture fixture;
    enum verdict verdict;

    fixture_init(&fixture, "false");
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_int_equal(fixture_check_apart(&fixture, "_verify", &verdict), 0);
    run_and_prepare_resumption(&fixture, 1);
    assert_true(fixture_begin(&fixture) == 0);
    assert_int_equal(fixture_check_apart(&fixture, "_other", &verdict), 0);
    assert_true(scratch_file_is("runs", "-1\n"));

    fixture.settings.load_replay = "second.json";
    fixture.settings.save_replay = "third.json";
    assert_int_equal(fixture_begin(&fixture), 0);
    verdict = VERDICT_PASS;
    assert_int_equal(fixture_check_apart(&fixture, "_other", &verdict), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    assert_true(scratch_file_is("runs", "-1\n"));
    assert_true(captured_log_has(&fixture.log, "Loading iteration information from debug replay: success=False"));
    fixture_release(&fixture);
}

static void identity_of_a_replayed_candidate_counts(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "exit 1");
    fixture.subject.identities[0] = 5;
    run_and_prepare_resumption(&fixture, 1);
    fixture.subject.identities[1] = 5;
    fixture.subject.count = 2;
    fixture_run(&fixture, NULL);
    assert_false(file_exists("runs"));
    assert_true(captured_log_has(&fixture.log, "Identical to iteration 1: its verdict is reused"));
    assert_string_equal(fixture.subject.learned.data, "0:10:fail 1:11:fail ");
    fixture_release(&fixture);
}

static void hint_names_the_replay_that_holds_the_most(void **state)
{
    const char *const words[] = {"polygraphy", "debug", "repeat", "--check", "c", NULL};
    struct fixture fixture;

    fixture_init(&fixture, "true");
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_null(session_resume_hint(fixture.session, words));
    run_and_prepare_resumption(&fixture, 1);
    assert_string_equal(session_resume_hint(fixture.session, words),
                        "Resume with: polygraphy debug repeat --load-debug-replay replay.json --check c");
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_string_equal(session_resume_hint(fixture.session, words),
                        "Resume with: polygraphy debug repeat --load-debug-replay replay.json --check c");
    fixture.subject.count = 2;
    assert_int_equal(fixture_run_phase(&fixture, NULL), 0);
    assert_string_equal(session_resume_hint(fixture.session, words),
                        "Resume with: polygraphy debug repeat --load-debug-replay second.json --check c");
    fixture_release(&fixture);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(whole_replay_needs_no_check_and_saves_nothing),
        IN_SCRATCH(session_goes_on_behind_its_replay),
        IN_SCRATCH(resumed_session_leaves_the_same_replay_as_one_in_one_piece),
        IN_SCRATCH(number_of_nodes_comes_from_the_replay),
        IN_SCRATCH(replay_that_names_no_session_is_accepted_with_one_warning),
        IN_SCRATCH(replay_of_another_model_is_refused),
        IN_SCRATCH(replay_of_another_check_is_refused),
        IN_SCRATCH(refused_replay_can_be_forced),
        IN_SCRATCH(missing_or_damaged_replay_is_refused),
        IN_SCRATCH(entries_that_are_not_reached_are_carried_along),
        IN_SCRATCH(check_apart_is_replayed_too),
        IN_SCRATCH(identity_of_a_replayed_candidate_counts),
        IN_SCRATCH(hint_names_the_replay_that_holds_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
