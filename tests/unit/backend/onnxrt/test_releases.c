/* test_releases.c: releases of ONNX Runtime by number, with programs that stand for Python, pip and npm. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/onnxrt/releases.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "support/scratch_folder.h"

static char *given_path;

static int enter(void **state)
{
    char *here;

    if (scratch_folder_enter(state) != 0 || mkdir("bin", 0700) != 0)
        return -1;
    here = file_real_path(".");
    given_path = memory_strdup(getenv("PATH"));
    SCOPED_STRING(path);
    string_add_format(&path, "%s/bin:%s", here, given_path);
    setenv("PATH", path.data, 1);
    string_clear(&path);
    string_add_format(&path, "%s/cache", here);
    setenv("XDG_CACHE_HOME", path.data, 1);
    free(here);
    return 0;
}

static int leave(void **state)
{
    setenv("PATH", given_path, 1);
    unsetenv("XDG_CACHE_HOME");
    free(given_path);
    return scratch_folder_leave(state);
}

/* `pip download` writes an empty wheel to the folder behind --dest, and its words to a file; `zipfile -e` unpacks. */
static const char python[] =
    "#!/bin/sh\n"
    "echo \"$@\" >>calls.txt\n"
    "case $2 in\n"
    "pip)\n"
    "    [ $3 = download ] || { cat versions.txt; exit; }\n"
    "    while [ $1 != --dest ]; do shift; done\n"
    "    cp \"$4\" requirements.txt\n"
    "    : >$2/onnxruntime-9.whl ;;\n"
    "zipfile) mkdir -p $5/onnxruntime/capi; echo from PyPI >$5/onnxruntime/capi/libonnxruntime.so.1.22.7 ;;\n"
    "esac\n";

static const char npm[] = "#!/bin/sh\n"
                          "[ $1 = pack ] || { cat node_versions.txt; exit; }\n"
                          "for folder; do :; done\n"
                          "for machine in x64 arm64; do\n"
                          "    mkdir -p package/bin/napi-v3/linux/$machine\n"
                          "    echo from npm >package/bin/napi-v3/linux/$machine/libonnxruntime.so.1.18.0\n"
                          "done\n"
                          "tar -czf $folder/onnxruntime-node.tgz package\n"
                          "echo '[{\"integrity\": \"sha512-other\"}]'\n";

static char *fetch(const char *release)
{
    struct error err = {0};
    char *ret = NULL;

    assert_int_equal(onnxrt_release_fetch(release, NULL, &ret, &err), 0);
    return ret;
}

static void fetching_fails(const char *release, struct error *err)
{
    char *path = NULL;

    *err = (struct error){0};
    assert_int_equal(onnxrt_release_fetch(release, NULL, &path, err), ERR_MISSING);
    assert_null(path);
    assert_int_equal(scratch_count("cache/polygraphy"), 0); /* nor anything half done */
}

static int order_of(const char *a, const char *b)
{
    return onnxrt_release_order(&a, &b);
}

static void release_is_three_numbers(void **state)
{
    (void)state;
    assert_true(onnxrt_is_release("1.22.1"));
    assert_true(onnxrt_is_release("1.30.0"));
    assert_false(onnxrt_is_release("1.22"));
    assert_false(onnxrt_is_release("1.22.1.2"));
    assert_false(onnxrt_is_release("./1.22.1"));
    assert_false(onnxrt_is_release("1.22.0-rev"));
    assert_false(onnxrt_is_release(""));
    assert_true(order_of("1.9.0", "1.10.0") < 0);
    assert_true(order_of("1.22.1", "1.22.0") > 0);
    assert_true(order_of("2.0.0", "1.99.9") > 0);
    assert_int_equal(order_of("1.22.1", "1.22.1"), 0);
}

static void wheel_is_fetched_once(void **state)
{
    char *path, *again;

    (void)state;
    scratch_file("bin/python3", python);
    path = fetch("1.22.7");
    assert_true(scratch_file_is("cache/polygraphy/onnxruntime-1.22.7/libonnxruntime.so.1", "from PyPI\n"));
    assert_true(scratch_file_is("requirements.txt", "onnxruntime==1.22.7\n"));
    assert_int_equal(scratch_count("cache/polygraphy"), 1);
    assert_int_equal(scratch_count("cache/polygraphy/onnxruntime-1.22.7"), 1);
    assert_int_equal(unlink("bin/python3"), 0);
    again = fetch("1.22.7");
    assert_string_equal(again, path);
    free(path);
    free(again);
}

static void pip_gets_the_hashes_that_are_known(void **state)
{
    char *text = NULL;
    size_t size;

    (void)state;
    scratch_file("bin/python3", python);
    free(fetch("1.22.1"));
    assert_int_equal(file_read("requirements.txt", 4096, &text, &size, NULL), 0);
    assert_int_equal(strncmp(text, "onnxruntime==1.22.1 --hash=sha256:b0c37070", 42), 0);
    free(text);
}

static void older_release_comes_from_npm(void **state)
{
    (void)state;
    scratch_file("bin/npm", npm);
    free(fetch("1.18.0"));
    assert_true(scratch_file_is("cache/polygraphy/onnxruntime-1.18.0/libonnxruntime.so.1", "from npm\n"));
}

static void package_with_another_hash_is_refused(void **state)
{
    struct error err;

    (void)state;
    scratch_file("bin/npm", npm);
    fetching_fails("1.17.3", &err);
    assert_message_contains(&err, "its hash differs from sha512-NtbN1pf");
}

static void without_a_network_the_message_has_the_command(void **state)
{
    struct error err;

    (void)state;
    scratch_file("bin/python3", "#!/bin/sh\necho ERROR: no route to host >&2\nexit 1\n");
    fetching_fails("1.22.7", &err);
    assert_message_contains(&err,
                            "cannot be fetched: python3 failed: ERROR: no route to host. Where there is a network, "
                            "type: python3 -m pip download --no-deps --only-binary :all: --python-version 3.13 "
                            "onnxruntime==1.22.7 && python3 -m zipfile -e onnxruntime-1.22.7-*.whl /");
    scratch_file("bin/npm", "#!/bin/sh\nexit 1\n");
    fetching_fails("1.18.0", &err);
    assert_message_contains(&err, "type: npm pack onnxruntime-node@1.18.0 && mkdir -p /");
}

/* What the command of that message leaves. */
static void package_that_was_unpacked_by_hand_is_found(void **state)
{
    struct error err;
    char *path;

    (void)state;
    assert_int_equal(file_make_folders("cache/polygraphy/onnxruntime-1.24.0/onnxruntime/capi", &err), 0);
    assert_null(onnxrt_release_find("1.24.0"));
    scratch_file("cache/polygraphy/onnxruntime-1.24.0/onnxruntime/capi/libonnxruntime.so.1.24.0", "unpacked");
    path = onnxrt_release_find("1.24.0");
    assert_non_null(path);
    free(path);
    assert_null(onnxrt_release_find("nothing"));
}

static void releases_of_both_packages_are_listed_in_order(void **state)
{
    static const char *const expected[] = {"1.16.3", "1.20.0", "1.20.1", "1.22.0", "1.22.1", "1.30.0"};
    struct file_list list SCOPED(file_list_release) = {0};
    struct error err = {0};

    (void)state;
    scratch_file("bin/python3", python);
    scratch_file("bin/npm", npm);
    scratch_file("versions.txt", "onnxruntime (1.30.0)\nAvailable versions: 1.30.0, 1.22.1, 1.22.0, 1.20.1, 1.20.0\n");
    scratch_file("node_versions.txt", "[\n \"1.9.0\",\n \"1.16.3\", \"1.20.0\", \"1.22.0-rev\", \"1.23.0\"\n]\n");
    assert_int_equal(onnxrt_releases_list(NULL, &list, &err), 0);
    assert_int_equal(list.count, ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_string_equal(list.items[i], expected[i]);
}

static void releases_that_cannot_be_listed_can_be_named(void **state)
{
    struct file_list list = {0};
    struct error err = {0};

    (void)state;
    scratch_file("bin/python3", "#!/bin/sh\nexit 1\n");
    scratch_file("bin/npm", "#!/bin/sh\nexit 1\n");
    assert_int_equal(onnxrt_releases_list(NULL, &list, &err), ERR_MISSING);
    assert_message_contains(&err, "Name them: --releases 1.20.1,1.22.1");
}

#define RELEASE_TEST(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RELEASE_TEST(release_is_three_numbers),
        RELEASE_TEST(wheel_is_fetched_once),
        RELEASE_TEST(pip_gets_the_hashes_that_are_known),
        RELEASE_TEST(older_release_comes_from_npm),
        RELEASE_TEST(package_with_another_hash_is_refused),
        RELEASE_TEST(without_a_network_the_message_has_the_command),
        RELEASE_TEST(package_that_was_unpacked_by_hand_is_found),
        RELEASE_TEST(releases_of_both_packages_are_listed_in_order),
        RELEASE_TEST(releases_that_cannot_be_listed_can_be_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
