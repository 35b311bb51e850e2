/* test_artifacts.c: names and places of sorted artifacts. */
#include "support/unit_test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "debug/session/artifacts.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

#define MOMENT "11-21-26_07-48-21"

/* Sorts `paths` as of the moment above and returns what was logged; to be released by the caller. */
static struct captured_log sort(const char *const *paths, size_t count, enum verdict verdict, const char *key)
{
    struct tm moment = {
        .tm_year = 126, .tm_mon = 10, .tm_mday = 21, .tm_hour = 7, .tm_min = 48, .tm_sec = 21, .tm_isdst = -1};
    struct artifact_settings settings = {.paths = {paths, count}, .folder = "sorted", .started = mktime(&moment)};
    struct captured_log log;
    struct error err;

    captured_log_init(&log);
    if (artifacts_sort(&settings, verdict, key, &log.log, &err) < 0)
        fail_msg("%s", err.message);
    return log;
}

static void assert_sorted_as(const char *path, const char *expected)
{
    struct captured_log log = sort(&path, 1, VERDICT_FAIL, "_N0_outputs");

    if (!file_exists(expected))
        fail_msg("%s", log.text.data);
    assert_false(file_exists(path));
    captured_log_release(&log);
}

static void name_has_base_moment_key_and_extension(void **state)
{
    scratch_file("polygraphy_debug.onnx", "x");
    scratch_file("a.tar.gz", "x");
    scratch_file("noextension", "x");
    scratch_file(".hidden", "x");
    assert_sorted_as("polygraphy_debug.onnx", "sorted/bad/polygraphy_debug_" MOMENT "_N0_outputs.onnx");
    assert_sorted_as("a.tar.gz", "sorted/bad/a.tar_" MOMENT "_N0_outputs.gz");
    assert_sorted_as("noextension", "sorted/bad/noextension_" MOMENT "_N0_outputs");
    assert_sorted_as(".hidden", "sorted/bad/.hidden_" MOMENT "_N0_outputs");
}

static void verdict_chooses_the_folder(void **state)
{
    const char *path = "log.txt";
    scratch_file(path, "x");
    struct captured_log log = sort(&path, 1, VERDICT_PASS, "_N7");

    assert_string_equal(log.text.data, "I Moving log.txt to sorted/good/log_" MOMENT "_N7.txt\n");
    assert_true(scratch_file_is("sorted/good/log_" MOMENT "_N7.txt", "x"));
    captured_log_release(&log);
}

static void folder_with_a_trailing_slash_keeps_its_name(void **state)
{
    assert_int_equal(mkdir("replays.d", 0755), 0);
    scratch_file("replays.d/one", "1");
    assert_sorted_as("replays.d/", "sorted/bad/replays_" MOMENT "_N0_outputs.d");
    assert_true(scratch_file_is("sorted/bad/replays_" MOMENT "_N0_outputs.d/one", "1"));
}

static void artifacts_with_one_basename_all_find_a_place(void **state)
{
    const char *const paths[] = {"out.json", "a/out.json", "b/out.json"};

    assert_int_equal(mkdir("a", 0755), 0);
    assert_int_equal(mkdir("b", 0755), 0);
    for (int i = 0; i < 3; i++)
        scratch_file(paths[i], paths[i]);
    struct captured_log log = sort(paths, 3, VERDICT_FAIL, "_N0");
    assert_true(scratch_file_is("sorted/bad/out_" MOMENT "_N0.json", "out.json"));
    assert_true(scratch_file_is("sorted/bad/out_" MOMENT "_2_N0.json", "a/out.json"));
    assert_true(scratch_file_is("sorted/bad/out_" MOMENT "_3_N0.json", "b/out.json"));
    captured_log_release(&log);
}

static void name_does_not_depend_on_which_namesakes_are_there(void **state)
{
    const char *const paths[] = {"a/out.json", "out.json"};
    scratch_file("out.json", "x");
    struct captured_log log = sort(paths, 2, VERDICT_FAIL, "_N0");

    assert_true(file_exists("sorted/bad/out_" MOMENT "_2_N0.json"));
    captured_log_release(&log);
}

static void missing_artifact_is_told_and_skipped(void **state)
{
    const char *const paths[] = {"gone", "there"};
    scratch_file("there", "x");
    struct captured_log log = sort(paths, 2, VERDICT_FAIL, "_N0");

    assert_string_equal(log.text.data, "E Artifact: gone does not exist, skipping.\n"
                                       "I Moving there to sorted/bad/there_" MOMENT "_N0\n");
    captured_log_release(&log);
}

static void name_that_is_taken_is_not_overwritten_and_the_next_one_is_used(void **state)
{
    const char *path = "log.txt", *taken = "sorted/bad/log_" MOMENT "_N0.txt";
    struct error err;

    assert_int_equal(file_make_parent_folders(taken, &err), 0);
    scratch_file(taken, "older");
    scratch_file(path, "newer");
    struct captured_log log = sort(&path, 1, VERDICT_FAIL, "_N0");
    assert_string_equal(log.text.data, "I Moving log.txt to sorted/bad/log_" MOMENT "_2_N0.txt\n");
    assert_true(scratch_file_is(taken, "older"));
    assert_true(scratch_file_is("sorted/bad/log_" MOMENT "_2_N0.txt", "newer"));
    assert_false(file_exists(path));
    captured_log_release(&log);

    scratch_file(path, "newest");
    log = sort(&path, 1, VERDICT_FAIL, "_N0");
    assert_true(scratch_file_is("sorted/bad/log_" MOMENT "_3_N0.txt", "newest"));
    captured_log_release(&log);
}

static void timing_cache_goes_with_its_replay(void **state)
{
    scratch_file("replay.json", "x");
    scratch_file("replay.json.timing_cache", "times");
    assert_sorted_as("replay.json", "sorted/bad/replay_" MOMENT "_N0_outputs.json");
    assert_true(scratch_file_is("sorted/bad/replay_" MOMENT "_N0_outputs.json.timing_cache", "times"));
    assert_false(file_exists("replay.json.timing_cache"));
}

static void leftovers_may_be_missing(void **state)
{
    const char *const paths[] = {"gone", "there"};
    struct artifact_settings settings = {.paths = {paths, 2}, .folder = "sorted"};
    struct captured_log log;
    struct error err;

    captured_log_init(&log);
    scratch_file("there", "x");
    assert_int_equal(artifacts_sort_leftovers(&settings, VERDICT_FAIL, "_N0", &log.log, &err), 0);
    assert_false(captured_log_has(&log, "gone"));
    assert_false(file_exists("there"));
    captured_log_release(&log);
}

static void place_that_cannot_be_made_is_an_error(void **state)
{
    const char *path = "log.txt";
    struct artifact_settings settings = {.paths = {&path, 1}, .folder = "log.txt/below"};
    struct error err;

    scratch_file(path, "x");
    assert_true(artifacts_sort(&settings, VERDICT_FAIL, "_N0", NULL, &err) < 0);
    assert_non_null(strstr(err.message, "log.txt"));
    assert_true(scratch_file_is(path, "x"));
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(name_has_base_moment_key_and_extension),
        IN_SCRATCH(verdict_chooses_the_folder),
        IN_SCRATCH(folder_with_a_trailing_slash_keeps_its_name),
        IN_SCRATCH(artifacts_with_one_basename_all_find_a_place),
        IN_SCRATCH(name_does_not_depend_on_which_namesakes_are_there),
        IN_SCRATCH(missing_artifact_is_told_and_skipped),
        IN_SCRATCH(name_that_is_taken_is_not_overwritten_and_the_next_one_is_used),
        IN_SCRATCH(timing_cache_goes_with_its_replay),
        IN_SCRATCH(leftovers_may_be_missing),
        IN_SCRATCH(place_that_cannot_be_made_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
