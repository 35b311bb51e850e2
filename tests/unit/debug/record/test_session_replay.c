/* test_session_replay.c: verdicts of a session, kept for the next one. */
#include "support/unit_test.h"

#include "base/file/file.h"
#include "debug/record/session_replay.h"
#include "support/scratch_folder.h"

static const struct hash model = {1, 2}, check = {3, 4};
static const struct saved_verdict skipped = {.iteration = 3, .nodes = 8, .verdict = VERDICT_SKIP},
                                  failed = {.iteration = -1, .nodes = 9, .verdict = VERDICT_FAIL};

static int open_replay(struct session_replay *replay, const char *load, bool force, struct hash of_model,
                       struct error *err)
{
    const struct replay_binding binding = {load, "replay.json", force, of_model, check};

    return session_replay_open(replay, &binding, NULL, err);
}

static void save_two(void)
{
    struct session_replay replay;
    struct error err;

    assert_int_equal(open_replay(&replay, NULL, false, model, &err), 0);
    assert_false(replay.resumes);
    assert_int_equal(session_replay_save(&replay, "_N3", &skipped, &err), 0);
    assert_int_equal(session_replay_save(&replay, "_verify", &failed, &err), 0);
    assert_true(replay.saved);
    session_replay_release(&replay);
}

static void verdicts_are_found_by_the_next_session(void **state)
{
    struct session_replay replay;
    struct saved_verdict found;
    struct error err;

    (void)state;
    save_two();
    assert_int_equal(open_replay(&replay, "replay.json", false, model, &err), 0);
    assert_true(replay.resumes);
    assert_null(replay.remark);
    assert_true(session_replay_find(&replay, "_N3", &found));
    assert_int_equal(found.verdict, VERDICT_SKIP);
    assert_int_equal(found.iteration, 3);
    assert_int_equal(found.nodes, 8);
    assert_true(session_replay_find(&replay, "_verify", &found));
    assert_int_equal(found.verdict, VERDICT_FAIL);
    assert_false(session_replay_find(&replay, "_N4", &found));
    session_replay_release(&replay);
}

static void verdicts_about_another_model_have_to_be_wanted(void **state)
{
    const struct hash other = {5, 6};
    struct session_replay replay;
    struct error err;

    (void)state;
    save_two();
    assert_int_equal(open_replay(&replay, "replay.json", false, other, &err), ERR_INVALID);
    session_replay_release(&replay);
    assert_int_equal(open_replay(&replay, "replay.json", true, other, &err), 0);
    assert_true(replay.resumes);
    assert_non_null(replay.remark);
    session_replay_release(&replay);
}

static void presumed_failure_is_known_to_the_other_file_only(void **state)
{
    struct session_replay replay;
    struct saved_verdict found;
    struct error err;

    (void)state;
    assert_int_equal(open_replay(&replay, NULL, false, model, &err), 0);
    assert_int_equal(session_replay_save_as_failed(&replay, "_N3", &skipped, &err), 0);
    assert_false(session_replay_find(&replay, "_N3", &found));
    assert_false(file_exists("replay.json"));
    session_replay_release(&replay);

    assert_int_equal(open_replay(&replay, "replay_skip_current.json", false, model, &err), 0);
    assert_true(session_replay_find(&replay, "_N3", &found));
    assert_int_equal(found.verdict, VERDICT_FAIL);
    assert_int_equal(session_replay_save_as_failed(&replay, "_N3", &skipped, &err), 0);
    assert_int_equal(session_replay_save(&replay, "_N3", &skipped, &err), 0);
    assert_true(session_replay_find(&replay, "_N3", &found));
    assert_int_equal(found.verdict, VERDICT_SKIP);
    session_replay_release(&replay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(verdicts_are_found_by_the_next_session, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(verdicts_about_another_model_have_to_be_wanted, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(presumed_failure_is_known_to_the_other_file_only, scratch_folder_enter,
                                        scratch_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
