/* test_session.c: what happens in an iteration. Sessions that are resumed are in test_replay.c. */
#include "support/unit_test.h"

#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/polygraphy/debug_replay.h"
#include "support/session_fixture.h"
#include "support/scratch_folder.h"

/* Which iterations were really checked, one number in each line. */
static void assert_runs(const char *expected)
{
    if (*expected ? !scratch_file_is("runs", expected) : file_exists("runs"))
        fail_msg("other iterations were checked");
}

static void log_reads_like_polygraphys(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "exit $POLYGRAPHY_ITERATION # debug.bin");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.subject.count = 2;
    fixture.subject.shows_remaining = true;
    fixture_run(&fixture, "outputs");
    fixture_assert_log(
        &fixture,
        "S     RUNNING | Iteration 1 | Approximately 2 iteration(s) remaining\n"
        "I         This is candidate 0\n"
        "I         Saving candidate 0 to debug.bin\n"
        "I     Running check command: sh -c echo $POLYGRAPHY_ITERATION >>runs; exit $POLYGRAPHY_ITERATION # debug.bin\n"
        "I     Saving debug replay to replay.json\n"
        "F     PASSED | Iteration 1 | Duration #s\n"
        "S     RUNNING | Iteration 2 | Approximately 2 iteration(s) remaining\n"
        "I         This is candidate 1\n"
        "I         Saving candidate 1 to debug.bin\n"
        "I     Running check command: sh -c echo $POLYGRAPHY_ITERATION >>runs; exit $POLYGRAPHY_ITERATION # debug.bin\n"
        "I     ========== CAPTURED STDOUT ==========\n\n"
        "E     ========== CAPTURED STDERR ==========\n\n"
        "I     Saving debug replay to replay.json\n"
        "E     FAILED | Iteration 2 | Duration #s\n"
        "F Finished 2 iteration(s) | Passed: 1/2 | Pass Rate: 50.0%\n");
    assert_string_equal(fixture.subject.learned.data, "0:10:pass 1:11:fail ");
    assert_int_equal(session_state(fixture.session).passed, 1);
    assert_int_equal(session_state(fixture.session).failed, 1);
    fixture_release(&fixture);
}

static void pass_rate_has_all_its_digits(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "test $POLYGRAPHY_ITERATION != 1");
    fixture.subject.count = 3;
    fixture_run(&fixture, NULL);
    assert_true(captured_log_has(&fixture.log, "S     RUNNING | Iteration 1\n"));
    assert_true(
        captured_log_has(&fixture.log, "F Finished 3 iteration(s) | Passed: 2/3 | Pass Rate: 66.66666666666667%\n"));
    fixture_release(&fixture);
}

static void check_sees_candidate_iteration_and_current_replay(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture,
                 "test \"$(cat $POLYGRAPHY_ARTIFACT)\" = \"candidate $POLYGRAPHY_ITERATION\" && "
                 "cp info.json info$POLYGRAPHY_ITERATION && cp replay_skip_current.json skip$POLYGRAPHY_ITERATION");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "folder/debug.bin";
    fixture.settings.check.files.items[CANDIDATE_INFORMATION] = "info.json";
    fixture.subject.count = 2;
    fixture_run(&fixture, "outputs");
    assert_string_equal(fixture.subject.learned.data, "0:10:pass 1:11:pass ");
    assert_true(scratch_file_is("info0", "{\n    \"iteration\": 0\n}"));
    assert_true(scratch_file_is("info1", "{\n    \"iteration\": 1\n}"));

    struct debug_replay replay;
    debug_replay_init(&replay);
    assert_int_equal(debug_replay_load(&replay, "skip1", &fixture.err), 0);
    assert_int_equal(replay.count, 2);
    assert_true(debug_replay_find(&replay, "_N0_outputs")->success);
    assert_false(debug_replay_find(&replay, "_N1_outputs")->success);
    assert_int_equal(debug_replay_load(&replay, "replay.json", &fixture.err), 0);
    assert_true(debug_replay_find(&replay, "_N1_outputs")->success);
    assert_int_equal(debug_replay_find(&replay, "_N1_outputs")->num_nodes, 11);
    assert_int_equal(debug_replay_find(&replay, "_N1_outputs")->iteration, 1);
    debug_replay_release(&replay);
    fixture_release(&fixture);
}

static void nothing_but_replays_and_artifacts_remains(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "cp debug.bin copy.bin");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.settings.check.files.items[CANDIDATE_INFORMATION] = "info.json";
    fixture.settings.artifacts.paths.items = (const char *const[]){"copy.bin"};
    fixture.settings.artifacts.paths.count = 1;
    fixture.subject.count = 3;
    fixture_run(&fixture, NULL);
    session_free(fixture.session); /* and with it its locks */
    fixture.session = NULL;
    assert_int_equal(scratch_count("."), 4); /* sorted, replay.json, replay_skip_current.json, runs */
    assert_int_equal(scratch_count("sorted/good"), 3);
    assert_false(captured_log_has(&fixture.log, "Could not clean up"));
    fixture_release(&fixture);
}

static void intermediate_artifact_that_is_sorted_is_not_missed(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.settings.check.files.items[CANDIDATE_INFORMATION] = "info.json";
    fixture.settings.artifacts.paths.items = (const char *const[]){"./debug.bin", "info.json"};
    fixture.settings.artifacts.paths.count = 2;
    fixture_run(&fixture, NULL);
    assert_int_equal(scratch_count("sorted/good"), 2);
    assert_false(captured_log_has(&fixture.log, "Could not clean up"));
    fixture_release(&fixture);
}

static void temporary_file_that_is_gone_is_told(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "rm debug.bin");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture_run(&fixture, NULL);
    assert_true(captured_log_has(&fixture.log, "s\nW Could not clean up: debug.bin\nF Finished"));
    fixture_release(&fixture);
}

static void link_or_device_that_receives_the_iteration_is_not_removed(void **state)
{
    struct fixture fixture;

    assert_int_equal(symlink("target", "link"), 0);
    fixture_init(&fixture, "grep -q 0 target");
    fixture.settings.check.files.items[CANDIDATE_INFORMATION] = "link";
    fixture_run(&fixture, NULL);
    assert_string_equal(fixture.subject.learned.data, "0:10:pass ");
    assert_true(file_exists("link"));
    assert_false(captured_log_has(&fixture.log, "Could not clean up"));
    fixture_release(&fixture);
}

static void intermediate_artifact_is_kept_when_asked(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.settings.keep_intermediate = true;
    fixture.subject.count = 2;
    fixture_run(&fixture, NULL);
    assert_true(scratch_file_is("debug.bin", "candidate 1"));
    fixture_release(&fixture);
}

static void existing_intermediate_artifact_is_not_overwritten(void **state)
{
    struct fixture fixture;

    scratch_file("debug.bin", "the user's");
    fixture_init(&fixture, "true");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    assert_int_equal(fixture_begin(&fixture), ERR_EXISTS);
    assert_non_null(strstr(fixture.err.message, "'debug.bin' already exists, refusing to overwrite: move it"));
    assert_true(scratch_file_is("debug.bin", "the user's"));
    fixture_release(&fixture);
}

static void check_that_cannot_run_is_refused_at_once(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    fixture.command[0] = "./missing";
    assert_int_equal(fixture_begin(&fixture), ERR_MISSING);
    assert_int_equal(scratch_count("."), 0);
    fixture_release(&fixture);
}

static void candidate_that_cannot_be_written_ends_the_session_without_a_trace(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.subject.write_fails = true;
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_int_equal(fixture_run_phase(&fixture, NULL), ERR_IO);
    assert_string_equal(fixture.err.message, "cannot write 'debug.bin'");
    session_free(fixture.session); /* and with it its locks */
    fixture.session = NULL;
    assert_int_equal(scratch_count("."), 0);
    assert_false(captured_log_has(&fixture.log, "Could not clean up"));
    assert_false(captured_log_has(&fixture.log, "Finished"));
    assert_int_equal(fixture.log.log.depth, 0);
    fixture_release(&fixture);
}

static void replay_that_cannot_be_written_ends_the_session_before_the_check(void **state)
{
    struct fixture fixture;

    scratch_file("file", "x");
    fixture_init(&fixture, "true");
    fixture.settings.save_replay = "file/replay.json";
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_true(fixture_run_phase(&fixture, NULL) < 0);
    assert_non_null(strstr(fixture.err.message, "'file"));
    assert_runs("");
    assert_false(file_exists("debug.bin"));
    fixture_release(&fixture);
}

static void without_a_replay_nothing_is_saved(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    fixture.settings.save_replay = NULL;
    fixture.subject.count = 2;
    fixture_run(&fixture, NULL);
    assert_int_equal(scratch_count("."), 1); /* runs */
    assert_runs("0\n1\n");
    fixture_release(&fixture);
}

static void skipped_candidate_has_its_verdict_without_a_check(void **state)
{
    struct fixture fixture;

    scratch_file("half.json", "left by an attempt to build");
    fixture_init(&fixture, "true");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.settings.artifacts.paths.items = (const char *const[]){"half.json"};
    fixture.settings.artifacts.paths.count = 1;
    fixture.subject.actions[0] = CANDIDATE_SKIP;
    fixture.subject.count = 2;
    fixture_run(&fixture, NULL);
    assert_runs("1\n");
    assert_string_equal(fixture.subject.learned.data, "0:10:fail 1:11:pass ");
    assert_int_equal(scratch_count("sorted/bad"), 1);
    assert_int_equal(scratch_count("sorted/good"), 0);
    fixture_release(&fixture);
}

static void loop_ends_after_a_hundred_thousand_iterations(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    fixture.settings.save_replay = NULL;
    fixture.subject.count = 200000;
    for (int i = 0; i < MAXIMUM_CANDIDATES; i++)
        fixture.subject.actions[i] = CANDIDATE_SKIP;
    fixture_run(&fixture, NULL);
    assert_true(captured_log_has(&fixture.log,
                                 "W Maximum number of iterations reached: 100000.\n"
                                 "F Finished 100000 iteration(s) | Passed: 0/100000 | Pass Rate: 0.0%\n"));
    fixture_release(&fixture);
}

static void identical_candidates_are_checked_once(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "exit $POLYGRAPHY_ITERATION");
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.subject.count = 4;
    memcpy(fixture.subject.identities, (int[]){5, 6, 0, 6}, 4 * sizeof(int));
    fixture_run(&fixture, NULL);
    assert_runs("0\n1\n2\n");
    assert_int_equal(fixture.subject.written, 3);
    assert_string_equal(fixture.subject.learned.data, "0:10:pass 1:11:fail 2:12:fail 3:13:fail ");
    assert_true(captured_log_has(&fixture.log, "I         This is candidate 3\n"
                                               "I     Identical to iteration 2: its verdict is reused\n"
                                               "I     Saving debug replay to replay.json\n"
                                               "E     FAILED | Iteration 4"));
    fixture_release(&fixture);
}

static void identical_candidate_of_another_phase_is_named_with_it(void **state)
{
    struct fixture fixture;

    fixture_init(&fixture, "true");
    fixture.subject.identities[0] = 5;
    fixture_run(&fixture, "outputs");
    assert_int_equal(fixture_run_phase(&fixture, "inputs"), 0);
    assert_runs("0\n");
    assert_true(
        captured_log_has(&fixture.log, "I     Identical to iteration 1 of the outputs: its verdict is reused\n"));
    assert_int_equal(session_state(fixture.session).passed, 2);
    fixture_release(&fixture);
}

static void candidates_that_were_seen_can_be_asked_for(void **state)
{
    struct fixture fixture;
    enum verdict verdict;

    fixture_init(&fixture, "false");
    fixture.subject.identities[0] = 5;
    fixture_run(&fixture, NULL);
    assert_true(session_has_seen(fixture.session, (struct hash){5, 0}, &verdict));
    assert_int_equal(verdict, VERDICT_FAIL);
    assert_false(session_has_seen(fixture.session, (struct hash){6, 0}, &verdict));
    fixture_release(&fixture);
}

static void check_apart_is_not_counted_or_sorted(void **state)
{
    struct fixture fixture;
    enum verdict verdict;

    scratch_file("log.txt", "x");
    fixture_init(&fixture, "cat info.json >info; exit 1 # debug.bin");
    fixture.settings.check.display.hide_fail_output = true;
    fixture.settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture.settings.check.files.items[CANDIDATE_INFORMATION] = "info.json";
    fixture.settings.artifacts.paths.items = (const char *const[]){"log.txt"};
    fixture.settings.artifacts.paths.count = 1;
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_int_equal(fixture_check_apart(&fixture, "_verify", &verdict), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    assert_int_equal(session_state(fixture.session).failed, 0);
    assert_runs("-1\n");
    assert_true(scratch_file_is("info", "{\n    \"iteration\": -1\n}"));
    assert_true(file_exists("log.txt"));
    assert_false(file_exists("debug.bin"));
    fixture_assert_log(&fixture, "S     RUNNING | Check of the original model\n"
                                 "I         This is candidate 0\n"
                                 "I         Saving candidate 0 to debug.bin\n"
                                 "I     Running check command: sh -c echo $POLYGRAPHY_ITERATION >>runs; cat info.json "
                                 ">info; exit 1 # debug.bin\n"
                                 "I     Saving debug replay to replay.json\n"
                                 "F     FAILED | Check of the original model | Duration #s\n");
    fixture_release(&fixture);
}

static void candidate_that_was_checked_apart_is_not_checked_again(void **state)
{
    struct fixture fixture;
    enum verdict verdict;

    fixture_init(&fixture, "true");
    fixture.subject.identities[0] = 5;
    assert_int_equal(fixture_begin(&fixture), 0);
    assert_int_equal(fixture_check_apart(&fixture, "_verify", &verdict), 0);
    assert_int_equal(fixture_run_phase(&fixture, "outputs"), 0);
    assert_runs("-1\n");
    assert_true(captured_log_has(&fixture.log, "I     Identical to the original model: its verdict is reused\n"));
    fixture_release(&fixture);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(log_reads_like_polygraphys),
        IN_SCRATCH(pass_rate_has_all_its_digits),
        IN_SCRATCH(check_sees_candidate_iteration_and_current_replay),
        IN_SCRATCH(nothing_but_replays_and_artifacts_remains),
        IN_SCRATCH(intermediate_artifact_that_is_sorted_is_not_missed),
        IN_SCRATCH(temporary_file_that_is_gone_is_told),
        IN_SCRATCH(link_or_device_that_receives_the_iteration_is_not_removed),
        IN_SCRATCH(intermediate_artifact_is_kept_when_asked),
        IN_SCRATCH(existing_intermediate_artifact_is_not_overwritten),
        IN_SCRATCH(check_that_cannot_run_is_refused_at_once),
        IN_SCRATCH(candidate_that_cannot_be_written_ends_the_session_without_a_trace),
        IN_SCRATCH(replay_that_cannot_be_written_ends_the_session_before_the_check),
        IN_SCRATCH(without_a_replay_nothing_is_saved),
        IN_SCRATCH(skipped_candidate_has_its_verdict_without_a_check),
        IN_SCRATCH(loop_ends_after_a_hundred_thousand_iterations),
        IN_SCRATCH(identical_candidates_are_checked_once),
        IN_SCRATCH(identical_candidate_of_another_phase_is_named_with_it),
        IN_SCRATCH(candidates_that_were_seen_can_be_asked_for),
        IN_SCRATCH(check_apart_is_not_counted_or_sorted),
        IN_SCRATCH(candidate_that_was_checked_apart_is_not_checked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
