/* Debug replays: Polygraphy's files, our additions to them, and damage. */
#include "support/format_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/polygraphy/debug_replay.h"

#define MODEL "0123456789abcdef0123456789abcdef"
#define CHECK "fedcba9876543210fedcba9876543210"

static void load(struct debug_replay *replay, const char *path)
{
    struct error error = {0};

    if (debug_replay_load(replay, path, &error) < 0)
        fail_msg("%s", error.message);
}

static void parse(struct debug_replay *replay, const char *json)
{
    struct error error = {0};

    if (debug_replay_parse(replay, json, strlen(json), "test.json", &error) < 0)
        fail_msg("%s", error.message);
}

static void set(struct debug_replay *replay, const char *key, int64_t iteration, int64_t num_nodes, bool success)
{
    debug_replay_set(replay, key,
                     &(struct replay_entry){.iteration = iteration, .num_nodes = num_nodes, .success = success});
}

static void save(const struct debug_replay *replay, const char *path)
{
    struct error error = {0};

    if (debug_replay_save(replay, path, &error) < 0)
        fail_msg("%s", error.message);
}

static void assert_saved(const struct debug_replay *replay, const char *expected)
{
    const char *path = scratch_path("replay.json");
    size_t size;
    char *content;

    save(replay, path);
    content = content_of(path, &size);
    assert_string_equal(content, expected);
    free(content);
    unlink(path);
}

static void polygraphys_files_come_out_as_they_were(void **state)
{
    const char *copy = scratch_path("copy.json");
    DIR *folder = opendir("tests/golden/debug_replay");
    struct dirent *file;
    size_t files = 0;

    assert_non_null(folder);
    while ((file = readdir(folder))) {
        struct debug_replay replay;
        char path[512];

        if (file->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "tests/golden/debug_replay/%s", file->d_name);
        debug_replay_init(&replay);
        load(&replay, path);
        assert_true(replay.count > 0);
        assert_false(replay.has_session);
        save(&replay, copy);
        assert_same_content(copy, path);
        debug_replay_release(&replay);
        files++;
    }
    closedir(folder);
    unlink(copy);
    assert_int_equal(files, 14);
}

static void entries_hold_what_the_file_says(void **state)
{
    struct debug_replay replay;

    debug_replay_init(&replay);
    load(&replay, "tests/golden/debug_replay/reduce_bisect_fail1.json");
    assert_int_equal(replay.items[0].iteration, 0);
    assert_int_equal(debug_replay_find(&replay, "_N0_outputs")->num_nodes, 3);
    assert_null(debug_replay_find(&replay, "_N9_outputs"));
    load(&replay, "tests/golden/debug_replay/repeat_3iters.json");
    assert_int_equal(replay.count, 3);
    assert_true(debug_replay_find(&replay, "_N0")->success);
    assert_false(debug_replay_find(&replay, "_N2")->success);
    assert_int_equal(debug_replay_find(&replay, "_N2")->iteration, 2);
    assert_int_equal(debug_replay_find(&replay, "_N2")->num_nodes, -1);
    debug_replay_release(&replay);
}

/* What a bisection does: first with success=false, for the case that the check brings everything down;
 * then for real. */
static void replay_that_grows_is_the_file_polygraphy_writes(void **state)
{
    const char *path = scratch_path("grown.json");
    struct debug_replay golden, replay;

    debug_replay_init(&golden);
    debug_replay_init(&replay);
    load(&golden, "tests/golden/debug_replay/reduce_linear_fail7.json");
    for (size_t i = 0; i < golden.count; i++) {
        const struct replay_entry *entry = &golden.items[i];

        set(&replay, entry->key, entry->iteration, entry->num_nodes, false);
        if (i + 1 == golden.count) {
            save(&replay, path);
            assert_same_content(path, "tests/golden/debug_replay/reduce_linear_fail7_skip_current.json");
        }
        set(&replay, entry->key, entry->iteration, entry->num_nodes, entry->success);
    }
    save(&replay, path);
    assert_same_content(path, "tests/golden/debug_replay/reduce_linear_fail7.json");
    debug_replay_release(&replay);
    debug_replay_release(&golden);
    unlink(path);
}

#define ENTRY(key, success)                                                                                            \
    "    \"" key "\": {\n"                                                                                             \
    "        \"state\": {},\n"                                                                                         \
    "        \"iteration_info\": {\n"                                                                                  \
    "            \"iteration\": 0\n"                                                                                   \
    "        },\n"                                                                                                     \
    "        \"success\": " success ",\n"                                                                              \
    "        \"polygraphy_class\": \"IterationContext\"\n"                                                             \
    "    }"

static void entry_in_the_middle_can_be_replaced(void **state)
{
    struct debug_replay replay;

    debug_replay_init(&replay);
    set(&replay, "_verify", 0, -1, true);
    set(&replay, "_N0", 0, -1, true);
    set(&replay, "_N1", 0, -1, true);
    set(&replay, "_N0", 0, -1, false);
    assert_saved(&replay, "{\n" ENTRY("_verify", "true") ",\n" ENTRY("_N0", "false") ",\n" ENTRY("_N1", "true") "\n}");
    set(&replay, "_N1", 0, -1, false);
    set(&replay, "_verify", 0, -1, false);
    assert_int_equal(replay.count, 3);
    assert_saved(&replay,
                 "{\n" ENTRY("_verify", "false") ",\n" ENTRY("_N0", "false") ",\n" ENTRY("_N1", "false") "\n}");
    debug_replay_release(&replay);
}

#define SESSION                                                                                                        \
    "    \"_session\": {\n"                                                                                            \
    "        \"model\": \"" MODEL "\",\n"                                                                              \
    "        \"check\": \"" CHECK "\"\n"                                                                               \
    "    }"

static void session_is_written_first_and_read_back(void **state)
{
    struct debug_replay replay;

    debug_replay_init(&replay);
    assert_saved(&replay, "{}");
    replay.has_session = true;
    memcpy(replay.model_hash, MODEL, sizeof(MODEL));
    memcpy(replay.check_hash, CHECK, sizeof(CHECK));
    assert_saved(&replay, "{\n" SESSION "\n}");
    set(&replay, "_N0", 0, -1, true);
    assert_saved(&replay, "{\n" SESSION ",\n" ENTRY("_N0", "true") "\n}");
    debug_replay_release(&replay);

    parse(&replay, "{\n" SESSION ",\n" ENTRY("_N0", "true") "\n}");
    assert_true(replay.has_session);
    assert_string_equal(replay.model_hash, MODEL);
    assert_string_equal(replay.check_hash, CHECK);
    assert_int_equal(replay.count, 1);
    debug_replay_release(&replay);
}

#define NOT_UNDERSTOOD                                                                                                 \
    "    \"note\": [\n"                                                                                                \
    "        \"by hand\",\n"                                                                                           \
    "        NaN,\n"                                                                                                   \
    "        1.5\n"                                                                                                    \
    "    ],\n"                                                                                                         \
    "    \"_N0\": {\n"                                                                                                 \
    "        \"success\": true,\n"                                                                                     \
    "        \"why\": \"\\u00e9\",\n"                                                                                  \
    "        \"iteration_info\": {\n"                                                                                  \
    "            \"iteration\": 7\n"                                                                                   \
    "        },\n"                                                                                                     \
    "        \"__polygraphy_encoded_IterationContext\": \"polygraphy_serialized_json_type\"\n"                         \
    "    }"

static void what_is_not_understood_is_kept(void **state)
{
    struct debug_replay replay;

    debug_replay_init(&replay);
    parse(&replay, "{\n" NOT_UNDERSTOOD "\n}");
    assert_int_equal(replay.count, 1);
    assert_int_equal(replay.items[0].iteration, 7);
    set(&replay, "_N1", 0, -1, false);
    assert_saved(&replay, "{\n" NOT_UNDERSTOOD ",\n" ENTRY("_N1", "false") "\n}");
    debug_replay_release(&replay);
}

static void numbers_of_runs_are_kept(void **state)
{
    const struct replay_entry verdict = {.num_nodes = 3, .runs = 7, .fails = 5};
    const char *path = scratch_path("runs.json");
    const struct replay_entry *found;
    struct debug_replay replay;

    debug_replay_init(&replay);
    debug_replay_set(&replay, "_N0", &verdict);
    set(&replay, "_N1", 1, 2, true);
    save(&replay, path);
    load(&replay, path);
    found = debug_replay_find(&replay, "_N0");
    assert_false(found->success);
    assert_int_equal(found->runs, 7);
    assert_int_equal(found->fails, 5);
    assert_int_equal(debug_replay_find(&replay, "_N1")->runs, 0);
    debug_replay_release(&replay);
    unlink(path);
}

static void assert_refused(const char *json, int code, const char *part)
{
    struct debug_replay replay;
    struct error error = {0};

    debug_replay_init(&replay);
    set(&replay, "_N0", 0, -1, true);
    assert_int_equal(debug_replay_parse(&replay, json, strlen(json), "test.json", &error), code);
    assert_message_contains(&error, part);
    assert_int_equal(replay.count, 1);
    debug_replay_release(&replay);
}

static void damaged_replay_is_refused_with_the_entry(void **state)
{
#define CONTEXT(members) "{\"_N0\": {" members ", \"polygraphy_class\": \"IterationContext\"}}"
    assert_refused("[]", ERR_INVALID, "a list");
    assert_refused("{\"lst\": [], \"polygraphy_class\": \"RunResults\"}", ERR_INVALID, "a RunResults");
    assert_refused("{\n" ENTRY("_N0", "true"), ERR_CORRUPT, "line");
    assert_refused(CONTEXT("\"iteration_info\": {\"iteration\": 0}"), ERR_CORRUPT, "entry '_N0': the verdict");
    assert_refused(CONTEXT("\"iteration_info\": {\"iteration\": 0}, \"success\": 1"), ERR_CORRUPT, "the verdict");
    assert_refused(CONTEXT("\"success\": true"), ERR_CORRUPT, "'iteration'");
    assert_refused(CONTEXT("\"iteration_info\": {\"iteration\": -1}, \"success\": true"), ERR_CORRUPT, "'iteration'");
    assert_refused(CONTEXT("\"iteration_info\": {\"iteration\": 0}, \"success\": true, \"state\": {\"num_nodes\": -1}"),
                   ERR_CORRUPT, "'num_nodes'");
#define RUNS(members) CONTEXT("\"iteration_info\": {\"iteration\": 0}, \"success\": true, " members)
    assert_refused(RUNS("\"runs\": 1"), ERR_CORRUPT, "'runs' and 'fails'");
    assert_refused(RUNS("\"runs\": 1, \"fails\": 2"), ERR_CORRUPT, "'runs' and 'fails'");
    assert_refused(RUNS("\"runs\": 1, \"fails\": -1"), ERR_CORRUPT, "'runs' and 'fails'");
    assert_refused("{\"_session\": {\"model\": \"" MODEL "\"}}", ERR_CORRUPT, "'_session': check");
    assert_refused("{\"_session\": {\"model\": \"abc\"}}", ERR_CORRUPT, "32 digits");
    assert_refused("{\"_session\": 1}", ERR_CORRUPT, "_session");
    assert_refused("{\"_N0\": {\"success\": true}}", ERR_CORRUPT, "entry '_N0': expected an IterationContext");
    assert_refused("{\"x\": \"\\ud800\"}", ERR_CORRUPT, "entry 'x'");
}

static void assert_skip_current(const char *path, const char *expected)
{
    char *found = debug_replay_skip_current_path(path);

    assert_string_equal(found, expected);
    free(found);
}

static void skip_current_goes_before_the_extension(void **state)
{
    assert_skip_current("polygraphy_debug_replay.json", "polygraphy_debug_replay_skip_current.json");
    assert_skip_current("a.b/replay", "a.b/replay_skip_current");
    assert_skip_current("a/b.c.json", "a/b.c_skip_current.json");
    assert_skip_current("a/.hidden", "a/.hidden_skip_current");
    assert_skip_current("end.", "end_skip_current.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygraphys_files_come_out_as_they_were),
        cmocka_unit_test(entries_hold_what_the_file_says),
        cmocka_unit_test(replay_that_grows_is_the_file_polygraphy_writes),
        cmocka_unit_test(entry_in_the_middle_can_be_replaced),
        cmocka_unit_test(session_is_written_first_and_read_back),
        cmocka_unit_test(what_is_not_understood_is_kept),
        cmocka_unit_test(numbers_of_runs_are_kept),
        cmocka_unit_test(damaged_replay_is_refused_with_the_entry),
        cmocka_unit_test(skip_current_goes_before_the_extension),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
