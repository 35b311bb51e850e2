/* test_check_lanes.c: checks at the same time, each with files of its own. */
#include "support/unit_test.h"

#include <unistd.h>

#include "base/file/file.h"
#include "debug/loop/lanes.h"
#include "support/scratch_folder.h"

struct session {
    struct check *check;
    struct check_lanes *lanes;
    const char *command[2];
    struct error err;
};

/* The check is a line of the shell, with {artifact} in it. */
static void begin(struct session *session, const char *line, size_t jobs)
{
    const struct candidate_paths files = {{[CANDIDATE_ARTIFACT] = "c.bin"}};
    struct lanes_settings settings = {.usual = files, .jobs = jobs};
    struct check_settings check;

    *session = (struct session){.command = {line, NULL}};
    check = (struct check_settings){.command = session->command, .command_count = 1, .shell = true, .files = files};
    assert_int_equal(check_new(&check, NULL, &session->check, &session->err), 0);
    session->lanes = check_lanes_new(session->check, &settings, NULL);
}

static void end(struct session *session)
{
    check_lanes_free(session->lanes);
    check_free(session->check);
}

static int write_text(void *data, const struct candidate_paths *paths, struct error *err)
{
    (void)err;
    scratch_file(paths->items[CANDIDATE_ARTIFACT], data);
    return 0;
}

static struct lane_key key_of(int64_t index, uint64_t identity)
{
    return (struct lane_key){.identity = {identity, 0}, .index = index};
}

static struct lane *open_lane(struct session *session, int64_t index, uint64_t identity, const char *text)
{
    const struct candidate_content content = {.write = write_text, .data = (void *)text, .iteration = index};
    struct lane *lane;

    assert_int_equal(check_lanes_open(session->lanes, key_of(index, identity), &content, &lane, &session->err), 0);
    return lane;
}

static struct lane *launch(struct session *session, int64_t index, uint64_t identity, const char *text)
{
    struct lane *lane = open_lane(session, index, identity, text);

    assert_int_equal(lane_launch(session->lanes, lane, &session->err), 0);
    return lane;
}

static void wait_until_ended(struct session *session, const struct lane *lane)
{
    while (!lane_has_ended(session->lanes, lane))
        check_lanes_sleep(session->lanes);
    assert_int_equal(lane->rc, 0);
}

/* Each waits for the other. */
static void checks_run_at_the_same_time_on_files_of_their_own(void **state)
{
    struct session session;
    struct lane *one, *two;

    (void)state;
    begin(&session, "t=$(cat {artifact}); touch met$t; until [ -e met3 ] && [ -e met4 ]; do sleep 0.01; done; exit $t",
          2);
    one = launch(&session, 0, 1, "3");
    assert_true(check_lanes_have_room(session.lanes));
    two = launch(&session, 1, 2, "4");
    assert_ptr_equal(check_lanes_find(session.lanes, key_of(1, 2)), two);
    assert_null(check_lanes_find(session.lanes, key_of(1, 1)));
    wait_until_ended(&session, one);
    wait_until_ended(&session, two);
    assert_int_equal(one->result.code, 3);
    assert_int_equal(two->result.code, 4);
    check_lanes_drop_until(session.lanes, 0);
    assert_null(check_lanes_find(session.lanes, key_of(0, 1)));
    assert_ptr_equal(check_lanes_find(session.lanes, key_of(1, 2)), two);
    end(&session);
    assert_int_equal(scratch_count("."), 2); /* met3 and met4 */
}

static void check_that_is_needed_ends_the_one_that_is_furthest_ahead(void **state)
{
    struct session session;

    (void)state;
    begin(&session, "[ $(cat {artifact}) = quick ] || exec sleep 1000", 2);
    launch(&session, 4, 1, "slow");
    launch(&session, 5, 2, "slow");
    assert_false(check_lanes_have_room(session.lanes));
    wait_until_ended(&session, launch(&session, 3, 3, "quick"));
    assert_non_null(check_lanes_find(session.lanes, key_of(4, 1)));
    assert_null(check_lanes_find(session.lanes, key_of(5, 2)));
    end(&session);
    assert_int_equal(scratch_count("."), 0);
}

/* All lanes hold candidates of one iteration, on branches that were not taken. */
static void lane_of_another_branch_makes_room_when_there_is_no_other(void **state)
{
    struct session session;
    struct lane *lane = NULL;

    (void)state;
    for (size_t jobs = 1; jobs <= 2; jobs++) {
        begin(&session, "cat {artifact} >/dev/null", jobs);
        for (uint64_t i = 0; i < 20; i++) {
            lane = launch(&session, 7, i, "x");
            wait_until_ended(&session, lane);
        }
        assert_ptr_equal(check_lanes_find(session.lanes, key_of(7, 19)), lane);
        end(&session);
        assert_int_equal(scratch_count("."), 0);
    }
}

static void check_that_has_ended_can_be_run_once_more(void **state)
{
    struct session session;

    (void)state;
    for (size_t jobs = 1; jobs <= 2; jobs++) {
        struct lane *lane;

        begin(&session, "echo >>runs; cat {artifact} >/dev/null; exit $(wc -l <runs)", jobs);
        lane = launch(&session, 0, 1, "x");
        for (int run = 1; run <= 3; run++) {
            wait_until_ended(&session, lane);
            assert_int_equal(lane->result.code, run);
            assert_int_equal(lane_launch(session.lanes, lane, &session.err), 0);
        }
        end(&session);
        unlink("runs");
        assert_int_equal(scratch_count("."), 0);
    }
}

static void files_of_others_are_not_written_over(void **state)
{
    struct session session;

    (void)state;
    scratch_file("c.j3.bin", "mine");
    begin(&session, "cat {artifact}", 2);
    assert_int_equal(check_lanes_reserve(session.lanes, false, &session.err), ERR_EXISTS);
    assert_true(scratch_file_is("c.j3.bin", "mine"));
    assert_int_equal(check_lanes_reserve(session.lanes, true, &session.err), 0);
    assert_false(file_exists("c.j3.bin"));
    scratch_file("c.j256.bin", "of a session with 64 jobs");
    assert_int_equal(check_lanes_reserve(session.lanes, true, &session.err), 0);
    assert_false(file_exists("c.j256.bin"));
    end(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(checks_run_at_the_same_time_on_files_of_their_own, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(check_that_is_needed_ends_the_one_that_is_furthest_ahead, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(lane_of_another_branch_makes_room_when_there_is_no_other, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(check_that_has_ended_can_be_run_once_more, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(files_of_others_are_not_written_over, scratch_folder_enter,
                                        scratch_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
