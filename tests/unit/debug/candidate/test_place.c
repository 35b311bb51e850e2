/* test_candidate_place.c: the files of a candidate, and what becomes of them. */
#include "support/unit_test.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file/file.h"
#include "debug/candidate/place.h"
#include "support/scratch_folder.h"

static const struct candidate_paths usual = {
    {[CANDIDATE_ARTIFACT] = "a/debug.onnx", [CANDIDATE_INPUTS] = "inputs", [CANDIDATE_INFORMATION] = ".info.json"}};

static void assert_place(const char *folder, size_t number, const char *artifact, const char *inputs,
                         const char *information)
{
    struct candidate_place place;

    candidate_place_init(&place, &usual, folder, number);
    assert_string_equal(place.files[CANDIDATE_ARTIFACT].path, artifact);
    assert_string_equal(place.files[CANDIDATE_INPUTS].path, inputs);
    assert_null(place.files[CANDIDATE_GOLDEN].path);
    assert_string_equal(place.files[CANDIDATE_INFORMATION].path, information);
    candidate_place_release(&place);
}

static void number_stands_in_front_of_the_extension(void **state)
{
    (void)state;
    assert_place(NULL, 0, "a/debug.onnx", "inputs", ".info.json");
    assert_place(NULL, 2, "a/debug.j2.onnx", "inputs.j2", ".info.j2.json");
    assert_place("w", 0, "w/debug.onnx", "w/inputs", "w/.info.json");
    assert_place("w", 12, "w/debug.j12.onnx", "w/inputs.j12", "w/.info.j12.json");
}

/* Writes the files that there are, up to `left` of them; then the disk is full. */
static int write_some(struct candidate_place *place, int left, int64_t iteration, struct error *err)
{
    struct candidate_paths paths = candidate_place_begin(place, true);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < CANDIDATE_INFORMATION; i++) {
        if (paths.items[i] == NULL)
            continue;
        if (left-- == 0)
            rc = error_set(err, ERR_IO, "the disk is full");
        else
            scratch_file(paths.items[i], "candidate");
    }
    return candidate_place_end(place, iteration, rc, err);
}

static void what_was_written_is_removed(void **state)
{
    const struct candidate_paths paths = {{[CANDIDATE_ARTIFACT] = "m", [CANDIDATE_INFORMATION] = "i"}};
    struct candidate_place place;
    struct error err;

    (void)state;
    candidate_place_init(&place, &paths, NULL, 1);
    assert_int_equal(write_some(&place, 1, 4, &err), 0);
    assert_true(scratch_file_is("m.j1", "candidate"));
    assert_true(candidate_place_is_whole(&place));
    unlink("m.j1");
    assert_false(candidate_place_is_whole(&place));
    assert_int_equal(write_some(&place, 1, 4, &err), 0);
    candidate_place_remove(&place, NULL);
    assert_int_equal(scratch_count("."), 0);
    candidate_place_release(&place);
}

static void nothing_is_left_when_the_disk_is_full(void **state)
{
    const struct candidate_paths paths = {{[CANDIDATE_ARTIFACT] = "m", [CANDIDATE_INPUTS] = "i"}};
    struct candidate_place place;
    struct error err;

    (void)state;
    candidate_place_init(&place, &paths, NULL, 0);
    assert_int_equal(write_some(&place, 1, 4, &err), ERR_IO);
    assert_int_equal(scratch_count("."), 0);
    candidate_place_release(&place);
}

static void file_that_was_moved_is_not_missed(void **state)
{
    const struct candidate_paths paths = {{[CANDIDATE_ARTIFACT] = "m"}};
    struct candidate_place place;
    struct error err;

    (void)state;
    candidate_place_init(&place, &paths, NULL, 0);
    assert_int_equal(write_some(&place, 1, 4, &err), 0);
    assert_int_equal(rename("m", "sorted"), 0);
    candidate_place_forget_moved(&place);
    scratch_file("m", "somebody else's");
    candidate_place_remove(&place, NULL);
    assert_true(scratch_file_is("m", "somebody else's"));
    assert_true(scratch_file_is("sorted", "candidate"));
    candidate_place_release(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_stands_in_front_of_the_extension),
        cmocka_unit_test_setup_teardown(what_was_written_is_removed, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(nothing_is_left_when_the_disk_is_full, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(file_that_was_moved_is_not_missed, scratch_folder_enter, scratch_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
