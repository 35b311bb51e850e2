/* Verdicts that sessions share: what is remembered, and what damaged or hostile entries do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_list.h"
#include "base/memory.h"
#include "debug/verdict_cache.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static struct captured_log shown;

static struct hash hash_of(const char *text)
{
    return hash_bytes(text, strlen(text));
}

static struct verdict_cache *open_for(const char *check)
{
    struct verdict_cache *cache = NULL;
    struct error err = {0};

    if (verdict_cache_open("cache/of/verdicts", hash_of(check), &shown.log, &cache, &err) < 0)
        fail_msg("%s", err.message);
    return cache;
}

static void must_add(struct verdict_cache *cache, const char *content, struct cached_verdict verdict)
{
    struct error err = {0};

    if (verdict_cache_add(cache, hash_of(content), &verdict, &err) < 0)
        fail_msg("%s", err.message);
}

static struct cached_verdict must_find(struct verdict_cache *cache, const char *content)
{
    struct cached_verdict ret;
    struct error err = {0};

    memset(&ret, 0x5a, sizeof(ret));
    if (verdict_cache_find(cache, hash_of(content), &ret, &err) < 0)
        fail_msg("%s", err.message);
    return ret;
}

static void must_be(struct cached_verdict actual, struct cached_verdict expected)
{
    assert_int_equal(actual.found, expected.found);
    assert_int_equal(actual.verdict, expected.verdict);
    assert_int_equal(actual.runs, expected.runs);
    assert_int_equal(actual.fails, expected.fails);
    assert_int_equal(actual.has_code, expected.has_code);
    assert_int_equal(actual.code, expected.code);
    assert_string_equal(actual.reason, expected.reason);
}

/* The only entry of the cache; valid until the next call. */
static const char *only_entry(void)
{
    static char path[1024];
    struct file_list files = {0};
    size_t found = 0;

    assert_int_equal(file_list_find(&files, "cache/of/verdicts", NULL), 0);
    for (size_t i = 0; i < files.count; i++)
        if (strstr(files.items[i], ".json") != NULL) {
            snprintf(path, sizeof(path), "%s", files.items[i]);
            found++;
        }
    file_list_release(&files);
    assert_int_equal(found, 1);
    return path;
}

static char *content_of(const char *path, size_t *ret_size)
{
    char *text;

    assert_int_equal(file_read(path, SIZE_MAX, &text, ret_size, NULL), 0);
    return text;
}

static void put(const char *path, const char *text, size_t size)
{
    assert_int_equal(file_write(path, text, size, FILE_INTERMEDIATE, NULL), 0);
}

/* ---- What is remembered ---- */

static void what_was_added_is_found_by_another_session(void **state)
{
    const struct cached_verdict verdicts[] = {
        {.found = true, .verdict = VERDICT_PASS},
        {.found = true, .verdict = VERDICT_FAIL, .has_code = true, .code = 139},
        {.found = true, .verdict = VERDICT_FAIL, .has_code = true, .code = -11},
        {.found = true, .verdict = VERDICT_FAIL, .has_code = true, .code = 3, .reason = "error 1 of the runtime, Gemm"},
        {.found = true, .verdict = VERDICT_SKIP, .has_code = true, .code = 125},
        {.found = true, .verdict = VERDICT_FAIL, .runs = 7, .fails = 2},
    };
    struct verdict_cache *cache = open_for("check");
    char name[16];

    must_be(must_find(cache, "0"), (struct cached_verdict){0});
    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
        snprintf(name, sizeof(name), "%zu", i);
        must_add(cache, name, verdicts[i]);
    }
    verdict_cache_close(cache);
    cache = open_for("check");
    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
        snprintf(name, sizeof(name), "%zu", i);
        must_be(must_find(cache, name), verdicts[i]);
    }
    verdict_cache_close(cache);
    verdict_cache_close(NULL);
    assert_int_equal(shown.text.size, 0);
}

static void another_check_has_verdicts_of_its_own(void **state)
{
    struct verdict_cache *one = open_for("one"), *other = open_for("other");

    must_add(one, "candidate", (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL});
    must_be(must_find(other, "candidate"), (struct cached_verdict){0});
    must_add(other, "candidate", (struct cached_verdict){.found = true, .verdict = VERDICT_PASS});
    assert_int_equal(must_find(one, "candidate").verdict, VERDICT_FAIL);
    assert_int_equal(must_find(other, "candidate").verdict, VERDICT_PASS);
    verdict_cache_close(one);
    verdict_cache_close(other);
}

static void a_new_verdict_replaces_the_old_one_and_counts_add_up(void **state)
{
    struct verdict_cache *cache = open_for("check");

    must_add(cache, "once",
             (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL, .has_code = true, .code = 3});
    must_add(cache, "once", (struct cached_verdict){.found = true, .verdict = VERDICT_PASS});
    must_be(must_find(cache, "once"), (struct cached_verdict){.found = true, .verdict = VERDICT_PASS});
    must_add(cache, "often", (struct cached_verdict){.found = true, .verdict = VERDICT_SKIP, .runs = 5, .fails = 1});
    must_add(cache, "often", (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL, .runs = 4, .fails = 3});
    must_be(must_find(cache, "often"),
            (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL, .runs = 9, .fails = 4});
    verdict_cache_close(cache);
}

static void nothing_but_entries_and_a_lock_is_left(void **state)
{
    struct verdict_cache *cache = open_for("check");

    must_add(cache, "candidate",
             (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL, .runs = 1, .fails = 1});
    assert_int_equal(scratch_count("cache/of/verdicts"), 2);
    only_entry();
    verdict_cache_close(cache);
}

/* ---- Several processes ---- */

#define PROCESSES 4
#define ADDITIONS 50

static int add_many(void)
{
    struct verdict_cache *cache = NULL;

    if (verdict_cache_open("cache/of/verdicts", hash_of("check"), NULL, &cache, NULL) < 0)
        return 1;
    for (int i = 0; i < ADDITIONS; i++) {
        struct cached_verdict one = {.found = true, .verdict = VERDICT_FAIL, .runs = 2, .fails = 1};
        struct cached_verdict found;

        if (verdict_cache_add(cache, hash_of("candidate"), &one, NULL) < 0 ||
            verdict_cache_find(cache, hash_of("candidate"), &found, NULL) < 0)
            return 2;
        if (!found.found || found.runs != 2 * found.fails)
            return 3; /* half an entry */
    }
    verdict_cache_close(cache);
    return 0;
}

static void processes_that_add_at_once_lose_nothing(void **state)
{
    pid_t children[PROCESSES];
    struct verdict_cache *cache;

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(add_many());
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    cache = open_for("check");
    must_be(must_find(cache, "candidate"), (struct cached_verdict){.found = true,
                                                                   .verdict = VERDICT_FAIL,
                                                                   .runs = 2 * PROCESSES * ADDITIONS,
                                                                   .fails = PROCESSES * ADDITIONS});
    verdict_cache_close(cache);
}

/* ---- Damage ---- */

#define HEAD                                                                                                           \
    "{\"polygraphy_verdict\": 1, \"program\": \"0\", \"check\": \"00000000000000000000000000000000\", "                \
    "\"content\": \"00000000000000000000000000000000\", "

static void hostile_entries_are_a_warning_and_a_miss(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "null",
        "[]",
        "\x01\x02\x03",
        "{\"polygraphy_verdict\": \"1\"}",
        "{\"polygraphy_verdict\": 2}",
        "{\"polygraphy_verdict\": 1}",
        HEAD "\"verdict\": \"maybe\"}",
        HEAD "\"verdict\": \"fail but a long word\"}",
        HEAD "\"verdict\": 1}",
        HEAD "\"verdict\": null}",
        HEAD "\"verdict\": \"fail\", \"exit_code\": \"1\"}",
        HEAD "\"verdict\": \"fail\", \"exit_code\": 1.5}",
        HEAD "\"verdict\": \"fail\", \"exit_code\": 99999999999}",
        HEAD "\"verdict\": \"fail\", \"exit_code\": null}",
        HEAD "\"verdict\": \"fail\", \"runs\": -1}",
        HEAD "\"verdict\": \"fail\", \"runs\": 9223372036854775807}",
        HEAD "\"verdict\": \"fail\", \"runs\": 1, \"fails\": 2}",
        HEAD "\"verdict\": \"fail\", \"fails\": 1}",
        HEAD "\"verdict\": \"fail\"}", /* as it should be, but of another candidate */
        "{\"polygraphy_verdict\": 1, \"program\": \"0\", \"check\": \"short\", \"content\": \"\", \"verdict\": "
        "\"fail\"}",
        "{\"polygraphy_verdict\": 1, \"program\": [], \"check\": {}, \"content\": 5, \"verdict\": \"fail\"}",
    };
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .runs = 3, .fails = 1};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct verdict_cache *cache = open_for("check");

        must_add(cache, "candidate", verdict);
        put(only_entry(), texts[i], strlen(texts[i]));
        string_clear(&shown.text);
        must_be(must_find(cache, "candidate"), (struct cached_verdict){0});
        assert_true(captured_log_has(&shown, "W A damaged entry of the verdict cache is not used: "));
        assert_true(captured_log_has(&shown, only_entry()));
        must_add(cache, "candidate", verdict); /* which is no sum with what was there */
        string_clear(&shown.text);
        must_be(must_find(cache, "candidate"), verdict);
        assert_int_equal(shown.text.size, 0);
        assert_int_equal(unlink(only_entry()), 0);
        verdict_cache_close(cache);
    }
}

static void every_beginning_of_an_entry_is_a_miss(void **state)
{
    struct verdict_cache *cache = open_for("check");
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .has_code = true, .code = 1};
    size_t size;
    char *text;

    must_add(cache, "candidate", verdict);
    text = content_of(only_entry(), &size);
    for (size_t i = 0; i < size; i++) {
        put(only_entry(), text, i);
        must_be(must_find(cache, "candidate"), (struct cached_verdict){0});
    }
    put(only_entry(), text, size);
    must_be(must_find(cache, "candidate"), verdict);
    free(text);
    verdict_cache_close(cache);
}

static void huge_entry_is_not_even_read(void **state)
{
    struct verdict_cache *cache = open_for("check");

    must_add(cache, "candidate", (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL});
    assert_int_equal(truncate(only_entry(), (off_t)1 << 36), 0); /* a hole */
    must_be(must_find(cache, "candidate"), (struct cached_verdict){0});
    assert_true(captured_log_has(&shown, "larger than"));
    verdict_cache_close(cache);
}

static void entry_of_another_candidate_is_not_taken(void **state)
{
    struct verdict_cache *cache = open_for("check");
    char *first, *text;
    size_t size;

    must_add(cache, "one", (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL});
    first = memory_strdup(only_entry());
    text = content_of(first, &size);
    assert_int_equal(unlink(first), 0);
    must_add(cache, "other", (struct cached_verdict){.found = true, .verdict = VERDICT_PASS});
    put(only_entry(), text, size);
    must_be(must_find(cache, "other"), (struct cached_verdict){0});
    assert_true(captured_log_has(&shown, "belongs to another candidate"));
    free(first);
    free(text);
    verdict_cache_close(cache);
}

static void members_that_are_not_known_do_no_harm(void **state)
{
    struct verdict_cache *cache = open_for("check");
    struct string_builder more;
    size_t size;
    char *text;

    must_add(cache, "candidate", (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL});
    text = content_of(only_entry(), &size);
    string_init(&more);
    string_add(&more, "{\"host\": [\"a\", {\"b\": 1}],");
    string_add(&more, text + 1);
    put(only_entry(), more.data, more.size);
    assert_int_equal(must_find(cache, "candidate").verdict, VERDICT_FAIL);
    string_release(&more);
    free(text);
    verdict_cache_close(cache);
}

/* ---- Folders ---- */

static void file_in_place_of_the_folder_is_refused(void **state)
{
    struct verdict_cache *cache;
    struct error err = {0};

    scratch_file("file", "mine");
    assert_int_equal(verdict_cache_open("file", hash_of("check"), NULL, &cache, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "'file' is not a folder"));
    assert_true(scratch_file_is("file", "mine"));
    assert_int_equal(verdict_cache_open("", hash_of("check"), NULL, &cache, &err), ERR_INVALID);
    assert_true(verdict_cache_open("file/cache", hash_of("check"), NULL, &cache, &err) < 0);
    assert_non_null(strstr(err.message, "file/cache"));
}

/* Also for root, whom no mode stops: there is a file where the entry's folder has to be. */
static void what_cannot_be_written_is_an_error(void **state)
{
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .runs = 1};
    struct verdict_cache *cache = open_for("check");
    struct error err = {0};
    char *folder;

    must_add(cache, "candidate", verdict);
    folder = file_folder(only_entry());
    assert_int_equal(unlink(only_entry()), 0);
    assert_int_equal(rmdir(folder), 0);
    scratch_file(folder, "in the way");
    assert_true(verdict_cache_add(cache, hash_of("candidate"), &verdict, &err) < 0);
    assert_non_null(strstr(err.message, "verdict cache"));
    verdict.runs = 0;
    assert_true(verdict_cache_add(cache, hash_of("candidate"), &verdict, &err) < 0);
    assert_true(scratch_file_is(folder, "in the way"));
    free(folder);
    verdict_cache_close(cache);
}

static void folder_without_permission_to_write_still_gives_verdicts(void **state)
{
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL};
    struct verdict_cache *cache;
    char *folder;

    if (geteuid() == 0)
        skip(); /* nothing is forbidden */
    cache = open_for("check");
    must_add(cache, "candidate", verdict);
    folder = file_folder(only_entry());
    assert_int_equal(chmod(folder, 0555), 0);
    must_be(must_find(cache, "candidate"), verdict);
    assert_int_equal(verdict_cache_add(cache, hash_of("candidate"), &verdict, NULL), ERR_IO);
    assert_int_equal(chmod(folder, 0777), 0);
    free(folder);
    verdict_cache_close(cache);
}

static int enter(void **state)
{
    captured_log_init(&shown);
    return scratch_folder_enter(state);
}

static int leave(void **state)
{
    captured_log_release(&shown);
    return scratch_folder_leave(state);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(what_was_added_is_found_by_another_session),
        IN_SCRATCH(another_check_has_verdicts_of_its_own),
        IN_SCRATCH(a_new_verdict_replaces_the_old_one_and_counts_add_up),
        IN_SCRATCH(nothing_but_entries_and_a_lock_is_left),
        IN_SCRATCH(processes_that_add_at_once_lose_nothing),
        IN_SCRATCH(hostile_entries_are_a_warning_and_a_miss),
        IN_SCRATCH(every_beginning_of_an_entry_is_a_miss),
        IN_SCRATCH(huge_entry_is_not_even_read),
        IN_SCRATCH(entry_of_another_candidate_is_not_taken),
        IN_SCRATCH(members_that_are_not_known_do_no_harm),
        IN_SCRATCH(file_in_place_of_the_folder_is_refused),
        IN_SCRATCH(what_cannot_be_written_is_an_error),
        IN_SCRATCH(folder_without_permission_to_write_still_gives_verdicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
