/* Verdicts that sessions share: what is remembered, and what damaged or hostile entries do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/file/list.h"
#include "base/memory.h"
#include "debug/record/verdict_cache.h"
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
        ("{\"polygraphy_verdict\": 1, \"program\": \"0\", \"check\": \"short\", "
         "\"content\": \"\", \"verdict\": \"fail\"}"),
        "{\"polygraphy_verdict\": 1, \"program\": [], \"check\": {}, \"content\": 5, \"verdict\": \"fail\"}",
    };
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .runs = 3, .fails = 1};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct verdict_cache *cache = open_for("check");
        struct string_builder text;

        string_init(&text);
        string_add(&text, texts[i]);
        if (text.size > 0 && text.data[text.size - 1] == '}')
            verdict_entry_seal(&text);
        must_add(cache, "candidate", verdict);
        put(only_entry(), text.data, text.size);
        must_be(must_find(cache, "candidate"), (struct cached_verdict){0});
        must_add(cache, "candidate", verdict); /* which is no sum with what was there */
        must_be(must_find(cache, "candidate"), verdict);
        assert_int_equal(shown.text.size, 0);
        verdict_cache_close(cache);
        assert_true(captured_log_has(&shown, "W An entry of the verdict cache was ignored: "));
        assert_true(captured_log_has(&shown, only_entry()));
        assert_int_equal(unlink(only_entry()), 0);
        string_clear(&shown.text);
        string_release(&text);
    }
}

static void every_change_of_a_byte_is_a_miss(void **state)
{
    struct verdict_cache *cache = open_for("check");
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .has_code = true, .code = 1};
    size_t size;
    char *text, line[96];

    must_add(cache, "candidate", verdict);
    text = content_of(only_entry(), &size);
    for (size_t i = 0; i < size; i++) {
        text[i] ^= 1;
        put(only_entry(), text, size);
        must_be(must_find(cache, "candidate"), (struct cached_verdict){0});
        text[i] ^= 1;
    }
    put(only_entry(), text, size);
    must_be(must_find(cache, "candidate"), verdict);
    assert_int_equal(shown.text.size, 0);
    verdict_cache_close(cache);
    snprintf(line, sizeof(line), "W %zu entries of the verdict cache were ignored. The first one: ", size);
    assert_true(captured_log_has(&shown, line));
    free(text);
}

/* The size of the text of an entry up to its checksum. */
static size_t size_without_checksum(size_t size)
{
    return size - (sizeof(",\n    \"checksum\": \"\"\n}") - 1) - (HASH_TEXT_SIZE - 1);
}

static void entry_without_a_checksum_is_a_miss(void **state)
{
    struct verdict_cache *cache = open_for("check");
    struct string_builder less;
    size_t size;
    char *text;

    must_add(cache, "candidate", (struct cached_verdict){.found = true, .verdict = VERDICT_FAIL});
    text = content_of(only_entry(), &size);
    string_init(&less);
    string_add_bytes(&less, text, size_without_checksum(size));
    string_add(&less, "\n}");
    put(only_entry(), less.data, less.size);
    must_be(must_find(cache, "candidate"), (struct cached_verdict){0});
    verdict_cache_close(cache);
    assert_true(captured_log_has(&shown, "checksum mismatch"));
    string_release(&less);
    free(text);
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
    verdict_cache_close(cache);
    assert_true(captured_log_has(&shown, "too large for an entry"));
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
    verdict_cache_close(cache);
    assert_true(captured_log_has(&shown, "belongs to another candidate"));
    free(first);
    free(text);
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
    string_add_bytes(&more, text + 1, size_without_checksum(size) - 1);
    string_add(&more, "}");
    verdict_entry_seal(&more);
    put(only_entry(), more.data, more.size);
    assert_int_equal(must_find(cache, "candidate").verdict, VERDICT_FAIL);
    string_release(&more);
    free(text);
    verdict_cache_close(cache);
}

/* ---- Who has a hand in it ---- */

/* Has an entry made, does something to it, and finds that it is not taken over, nor whatever a link leads to written
 * to; what is said in the end holds `reason`. */
static void must_ignore(void (*spoil)(const char *entry, const char *folder), const char *reason, bool replaces)
{
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .runs = 4, .fails = 2};
    struct verdict_cache *cache = open_for("check");
    char *entry, *folder;

    must_add(cache, "candidate", verdict);
    entry = memory_strdup(only_entry());
    folder = file_folder(entry);
    spoil(entry, folder);
    must_be(must_find(cache, "candidate"), (struct cached_verdict){0});
    must_add(cache, "candidate", verdict);
    must_be(must_find(cache, "candidate"), replaces ? verdict : (struct cached_verdict){0});
    assert_int_equal(shown.text.size, 0);
    verdict_cache_close(cache);
    assert_true(captured_log_has(&shown, reason));
    assert_true(captured_log_has(&shown, replaces ? "W An entry of the" : "W 2 entries of the"));
    free(entry);
    free(folder);
}

static void move_and_link(const char *path, const char *to)
{
    char *absolute;

    assert_int_equal(rename(path, to), 0);
    absolute = file_real_path(to);
    assert_int_equal(symlink(absolute, path), 0);
    free(absolute);
}

static void link_entry(const char *entry, const char *folder)
{
    (void)folder;
    move_and_link(entry, "elsewhere");
    assert_int_equal(chmod("elsewhere", 0600), 0);
}

static void link_folder(const char *entry, const char *folder)
{
    (void)entry;
    move_and_link(folder, "elsewhere");
}

static void open_entry(const char *entry, const char *folder)
{
    (void)folder;
    assert_int_equal(chmod(entry, 0620), 0);
}

static void open_folder(const char *entry, const char *folder)
{
    (void)entry;
    assert_int_equal(chmod(folder, 0702), 0);
}

static void give_entry_away(const char *entry, const char *folder)
{
    (void)folder;
    assert_int_equal(chown(entry, 4711, 4711), 0);
}

static void give_folder_away(const char *entry, const char *folder)
{
    (void)entry;
    assert_int_equal(chown(folder, 4711, 4711), 0);
}

static void linked_entry_is_ignored_and_its_target_stays(void **state)
{
    size_t size;
    char *text;

    must_ignore(link_entry, "is a symbolic link", true);
    text = content_of("elsewhere", &size);
    assert_non_null(strstr(text, "\"runs\": 4,")); /* as it was */
    free(text);
}

static void linked_folder_of_entries_is_ignored(void **state)
{
    must_ignore(link_folder, "is a symbolic link", false);
    assert_int_equal(scratch_count("elsewhere"), 1);
}

static void entry_that_others_can_write_to_is_ignored(void **state)
{
    must_ignore(open_entry, "users other than the owner can write to '", true);
}

static void folder_of_entries_that_others_can_write_to_is_ignored(void **state)
{
    must_ignore(open_folder, "users other than the owner can write to '", false);
}

static void entry_of_another_user_is_ignored(void **state)
{
    if (geteuid() != 0)
        skip(); /* it takes root to give something away */
    must_ignore(give_entry_away, "belongs to another user (uid 4711)", true);
}

static void folder_of_entries_of_another_user_is_ignored(void **state)
{
    if (geteuid() != 0)
        skip(); /* it takes root to give something away */
    must_ignore(give_folder_away, "belongs to another user (uid 4711)", false);
}

static void must_not_be_used(const char *folder, const char *reason)
{
    struct verdict_cache *cache;
    struct error err = {0};

    string_clear(&shown.text);
    assert_int_equal(verdict_cache_open(folder, hash_of("check"), &shown.log, &cache, &err), 0);
    assert_null(cache);
    assert_true(captured_log_has(&shown, "W The verdict cache is not used: "));
    assert_true(captured_log_has(&shown, reason));
}

static void cache_that_others_have_a_hand_in_is_not_used(void **state)
{
    assert_int_equal(mkdir("cache", 0700), 0);
    assert_int_equal(symlink("cache", "link"), 0);
    must_not_be_used("link", "'link' is a symbolic link");
    must_not_be_used("link//", "link' is a symbolic link");
    assert_int_equal(chmod("cache", 0770), 0);
    must_not_be_used("cache", "users other than the owner can write to 'cache'");
    assert_int_equal(chmod("cache", 0707), 0);
    must_not_be_used("cache/", "users other than the owner can write to './cache'");
    assert_int_equal(chmod("cache", 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown("cache", 4711, 4711), 0);
        must_not_be_used("cache", "'cache' belongs to another user (uid 4711)");
    }
    assert_int_equal(scratch_count("cache"), 0);
}

static void what_is_made_is_for_its_owner_whatever_the_umask(void **state)
{
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .runs = 1};
    mode_t before = umask(0);
    struct verdict_cache *cache = open_for("check");
    struct stat status;
    char *folder;

    must_add(cache, "candidate", verdict);
    umask(before);
    folder = file_folder(only_entry());
    assert_int_equal(stat(only_entry(), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(stat("cache/of/verdicts", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    must_be(must_find(cache, "candidate"), verdict);
    free(folder);
    verdict_cache_close(cache);
}

/* A link in place of the lock is not followed: counts are added up without. */
static void lock_is_no_way_out_of_the_folder(void **state)
{
    struct cached_verdict verdict = {.found = true, .verdict = VERDICT_FAIL, .runs = 1};
    struct verdict_cache *cache = open_for("check");

    assert_int_equal(symlink("../../../made", "cache/of/verdicts/lock"), 0);
    must_add(cache, "candidate", verdict);
    must_be(must_find(cache, "candidate"), verdict);
    assert_false(file_exists("made"));
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
        IN_SCRATCH(every_change_of_a_byte_is_a_miss),
        IN_SCRATCH(entry_without_a_checksum_is_a_miss),
        IN_SCRATCH(huge_entry_is_not_even_read),
        IN_SCRATCH(entry_of_another_candidate_is_not_taken),
        IN_SCRATCH(members_that_are_not_known_do_no_harm),
        IN_SCRATCH(linked_entry_is_ignored_and_its_target_stays),
        IN_SCRATCH(linked_folder_of_entries_is_ignored),
        IN_SCRATCH(entry_that_others_can_write_to_is_ignored),
        IN_SCRATCH(folder_of_entries_that_others_can_write_to_is_ignored),
        IN_SCRATCH(entry_of_another_user_is_ignored),
        IN_SCRATCH(folder_of_entries_of_another_user_is_ignored),
        IN_SCRATCH(cache_that_others_have_a_hand_in_is_not_used),
        IN_SCRATCH(what_is_made_is_for_its_owner_whatever_the_umask),
        IN_SCRATCH(lock_is_no_way_out_of_the_folder),
        IN_SCRATCH(file_in_place_of_the_folder_is_refused),
        IN_SCRATCH(what_cannot_be_written_is_an_error),
        IN_SCRATCH(folder_without_permission_to_write_still_gives_verdicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
