/* test_job_slots.c: checks at the same time, each with files of its own. */
#include "support/unit_test.h"

#include <unistd.h>

#include "base/file/file.h"
#include "debug/session/job_slots.h"
#include "support/scratch_folder.h"

struct session {
    struct check *check;
    struct job_slots *slots;
    const char *command[2];
    struct error err;
};

/* The check is a line of the shell, with {artifact} in it. */
static void begin(struct session *session, const char *line, size_t jobs)
{
    const struct candidate_paths files = {{[CANDIDATE_ARTIFACT] = "c.bin"}};
    struct job_slots_settings settings = {.usual = files, .jobs = jobs};
    struct check_settings check;

    *session = (struct session){.command = {line, NULL}};
    check = (struct check_settings){.command = {session->command, 1}, .shell = true, .files = files};
    assert_int_equal(check_new(&check, NULL, &session->check, &session->err), 0);
    session->slots = job_slots_new(session->check, &settings, NULL);
}

static void end(struct session *session)
{
    job_slots_free(session->slots);
    check_free(session->check);
}

static struct job_key key_of(int64_t index, uint64_t identity)
{
    return (struct job_key){.identity = {identity, 0}, .index = index};
}

static struct job_slot *open_slot(struct session *session, int64_t index, uint64_t identity, const char *text)
{
    struct job_slot *slot = job_slots_take(session->slots, key_of(index, identity));
    struct candidate_paths paths = candidate_place_begin(&slot->place, true);

    scratch_file(paths.items[CANDIDATE_ARTIFACT], text);
    assert_int_equal(candidate_place_end(&slot->place, index, 0, &session->err), 0);
    return slot;
}

static struct job_slot *launch(struct session *session, int64_t index, uint64_t identity, const char *text)
{
    struct job_slot *slot = open_slot(session, index, identity, text);

    assert_int_equal(job_slot_launch(session->slots, slot, &session->err), 0);
    return slot;
}

static void wait_until_ended(struct session *session, const struct job_slot *slot)
{
    while (!job_slot_has_ended(session->slots, slot))
        job_slots_sleep(session->slots);
    assert_int_equal(slot->rc, 0);
}

/* Each waits for the other. */
static void checks_run_at_the_same_time_on_files_of_their_own(void **state)
{
    struct session session;
    struct job_slot *one, *two;

    (void)state;
    begin(&session, "t=$(cat {artifact}); touch met$t; until [ -e met3 ] && [ -e met4 ]; do sleep 0.01; done; exit $t",
          2);
    one = launch(&session, 0, 1, "3");
    assert_true(job_slots_have_room(session.slots));
    two = launch(&session, 1, 2, "4");
    assert_ptr_equal(job_slots_find(session.slots, key_of(1, 2)), two);
    assert_null(job_slots_find(session.slots, key_of(1, 1)));
    wait_until_ended(&session, one);
    wait_until_ended(&session, two);
    assert_int_equal(one->result.code, 3);
    assert_int_equal(two->result.code, 4);
    job_slots_drop_until(session.slots, 0);
    assert_null(job_slots_find(session.slots, key_of(0, 1)));
    assert_ptr_equal(job_slots_find(session.slots, key_of(1, 2)), two);
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
    assert_false(job_slots_have_room(session.slots));
    wait_until_ended(&session, launch(&session, 3, 3, "quick"));
    assert_non_null(job_slots_find(session.slots, key_of(4, 1)));
    assert_null(job_slots_find(session.slots, key_of(5, 2)));
    end(&session);
    assert_int_equal(scratch_count("."), 0);
}

/* All slots hold candidates of one iteration, on branches that were not taken. */
static void slot_of_another_branch_makes_room_when_there_is_no_other(void **state)
{
    struct session session;
    struct job_slot *slot = NULL;

    (void)state;
    for (size_t jobs = 1; jobs <= 2; jobs++) {
        begin(&session, "cat {artifact} >/dev/null", jobs);
        for (uint64_t i = 0; i < 20; i++) {
            slot = launch(&session, 7, i, "x");
            wait_until_ended(&session, slot);
        }
        assert_ptr_equal(job_slots_find(session.slots, key_of(7, 19)), slot);
        end(&session);
        assert_int_equal(scratch_count("."), 0);
    }
}

static void check_that_has_ended_can_be_run_once_more(void **state)
{
    struct session session;

    (void)state;
    for (size_t jobs = 1; jobs <= 2; jobs++) {
        struct job_slot *slot;

        begin(&session, "echo >>runs; cat {artifact} >/dev/null; exit $(wc -l <runs)", jobs);
        slot = launch(&session, 0, 1, "x");
        for (int run = 1; run <= 3; run++) {
            wait_until_ended(&session, slot);
            assert_int_equal(slot->result.code, run);
            assert_int_equal(job_slot_launch(session.slots, slot, &session.err), 0);
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
    assert_int_equal(job_slots_reserve(session.slots, false, &session.err), ERR_EXISTS);
    assert_true(scratch_file_is("c.j3.bin", "mine"));
    assert_int_equal(job_slots_reserve(session.slots, true, &session.err), 0);
    assert_false(file_exists("c.j3.bin"));
    scratch_file("c.j256.bin", "of a session with 64 jobs");
    assert_int_equal(job_slots_reserve(session.slots, true, &session.err), 0);
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
        cmocka_unit_test_setup_teardown(slot_of_another_branch_makes_room_when_there_is_no_other, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(check_that_has_ended_can_be_run_once_more, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(files_of_others_are_not_written_over, scratch_folder_enter,
                                        scratch_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
