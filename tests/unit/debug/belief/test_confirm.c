/* test_loop_confirm.c: what an answer rests on is of a check that was run in this session. */
#include "support/unit_test.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "support/session_fixture.h"
#include "support/scratch_folder.h"

/* One iteration, on a candidate whose file is debug.bin. The check fails until there is a file "changed". */
static void run_session(struct fixture *fixture)
{
    fixture_init(fixture, "grep -q more debug.bin && exit 0; [ -e changed ]");
    fixture->settings.check.files.items[CANDIDATE_ARTIFACT] = "debug.bin";
    fixture->subject.identities[0] = 5;
    fixture->subject.may_be_kept = true;
    fixture_run(fixture, NULL);
    assert_true(scratch_file_is("runs", "0\n"));
}

static void what_a_check_has_seen_is_not_checked_again(void **state)
{
    struct fixture fixture;

    run_session(&fixture);
    assert_true(session_has_run(fixture.session, (struct hash){5, 0}));
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), 0);
    assert_true(scratch_file_is("runs", "0\n"));
    assert_false(captured_log_has(&fixture.log, "the result"));
    assert_false(file_exists("debug.bin"));
    fixture_release(&fixture);
}

static void another_file_of_the_same_candidate_is_checked(void **state)
{
    struct fixture fixture;

    run_session(&fixture);
    fixture.subject.addition = " other";
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), 0);
    assert_true(scratch_file_is("runs", "0\n-1\n"));
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), 0);
    assert_true(scratch_file_is("runs", "0\n-1\n"));

    fixture.subject.addition = " more";
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), ERR_INVALID);
    assert_non_null(
        strstr(fixture.err.message, "the result failed, but passed when written with all inferred types and shapes"));
    fixture_release(&fixture);
}

static void verdict_of_a_replay_is_no_proof(void **state)
{
    struct fixture fixture;

    run_session(&fixture);
    fixture.settings.load_replay = "replay.json";
    fixture.settings.save_replay = "second.json";
    fixture_run(&fixture, NULL);
    assert_true(scratch_file_is("runs", "0\n"));
    assert_false(session_has_run(fixture.session, (struct hash){5, 0}));
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), 0);
    assert_true(scratch_file_is("runs", "0\n-1\n"));
    assert_true(session_has_run(fixture.session, (struct hash){5, 0}));
    assert_false(file_exists("second.json"));

    assert_int_equal(mkdir("changed", 0777), 0); /* no file whose content belongs to the check */
    fixture_run(&fixture, NULL);
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), ERR_INVALID);
    assert_non_null(strstr(fixture.err.message, "the result failed according to the debug replay 'replay.json', but "
                                                "passed when re-checked"));
    fixture_release(&fixture);
}

static void a_verdict_of_this_session_that_changes_is_one_of_a_check_that_is_not_believed(void **state)
{
    struct fixture fixture;

    run_session(&fixture);
    fixture.subject.may_be_kept = false;
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), 0);
    assert_true(scratch_file_is("runs", "0\n-1\n"));
    scratch_file("changed", "");
    assert_int_equal(fixture_confirm(&fixture, VERDICT_FAIL), ERR_INVALID);
    assert_non_null(strstr(fixture.err.message,
                           "the result failed first, but passed when re-checked, so the verdicts of the check are not "
                           "reproducible"));
    assert_non_null(strstr(fixture.err.message, "--flaky"));
    fixture_release(&fixture);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(what_a_check_has_seen_is_not_checked_again),
        IN_SCRATCH(another_file_of_the_same_candidate_is_checked),
        IN_SCRATCH(verdict_of_a_replay_is_no_proof),
        IN_SCRATCH(a_verdict_of_this_session_that_changes_is_one_of_a_check_that_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
