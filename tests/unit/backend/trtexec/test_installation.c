/* Where trtexec is looked for, and that it is asked once: each test finds it in a process of its own. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/trtexec/installation.h"
#include "base/file/file.h"
#include "base/file/list.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"

#define TRTEXEC                                                                                                        \
    "#!/bin/sh\necho '&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --help'\n"                              \
    "echo '  --onnx=<file>  a model'; echo '  --loadEngine=<file>'; echo '  --fp16  half'\n"

static int find(const char *program, struct error *err)
{
    const struct trtexec *found;
    char *folder = getcwd(NULL, 0);
    int rc;

    setenv("XDG_CACHE_HOME", folder, 1);
    if (program != NULL)
        setenv("POLYGRAPHY_TRTEXEC", program, 1);
    rc = trtexec_find(&found, err);
    free(folder);
    return rc < 0 ? rc : found->major * 10000 + found->minor * 100 + found->patch;
}

/* The stand-in, which is 10.16 when it is asked. */
static int find_stand_in(int version)
{
    struct error error = {0};
    char *program = file_join(getenv("POLYGRAPHY_TEST_PROGRAMS"), "trtexec_stand_in");
    int found;

    setenv("TRTEXEC_STAND_IN_VERSION", "10.16", 1);
    found = find(program, &error);
    free(program);
    CHECK_OR_FAIL(found == version);
    CHECK_OR_FAIL(find("./another", &error) == version); /* it stays the one that was found first */
    return 0;
}

static int find_by_asking(void)
{
    return find_stand_in(101600);
}

static int find_by_note(void)
{
    return find_stand_in(101500);
}

static int find_none(void)
{
    struct error error = {0};

    setenv("PATH", "/nowhere", 1);
    setenv("LD_LIBRARY_PATH", "", 1);
    unsetenv("POLYGRAPHY_TRTEXEC");
    if (access("/usr/src/tensorrt/bin/trtexec", X_OK) == 0 || access("/opt/tensorrt/bin/trtexec", X_OK) == 0)
        return 0;
    CHECK_OR_FAIL(find(NULL, &error) == ERR_MISSING);
    CHECK_OR_FAIL(strstr(error.message, "/usr/src/tensorrt/bin") != NULL);
    CHECK_OR_FAIL(find("./nothing", &error) == ERR_MISSING);
    CHECK_OR_FAIL(strstr(error.message, "POLYGRAPHY_TRTEXEC names './nothing'") != NULL);
    return 0;
}

static int find_beside_libraries(void)
{
    struct error error = {0};

    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("LD_LIBRARY_PATH", "/nowhere:lib:", 1);
    unsetenv("POLYGRAPHY_TRTEXEC");
    CHECK_OR_FAIL(find(NULL, &error) > 0);
    return 0;
}

static int find_what_does_not_answer(void)
{
    struct error error = {0};

    CHECK_OR_FAIL(find("./silent", &error) == ERR_BACKEND);
    CHECK_OR_FAIL(find("./failing", &error) == ERR_BACKEND);
    CHECK_OR_FAIL(strstr(error.message, "no such library") != NULL);
    return 0;
}

/* The file of what it said, malloc'd. */
static char *read_note(char **ret_path, size_t *ret_size)
{
    struct file_list notes = {0};
    struct error error = {0};
    char *note;

    assert_int_equal(file_list_find(&notes, "polygraphy", &error), 0);
    assert_int_equal(notes.count, 1);
    assert_int_equal(file_read(notes.items[0], 100000, &note, ret_size, &error), 0);
    *ret_path = strdup(notes.items[0]);
    file_list_release(&notes);
    return note;
}

/* Another version in the note shows whether the program was asked. */
static void change_version(char *note)
{
    char *version = strstr(note, "v101600");

    assert_non_null(version);
    memcpy(version, "v101500", strlen("v101500"));
}

static void it_is_asked_once(void **state)
{
    struct error error = {0};
    char *path, *note;
    size_t size;

    (void)state;
    assert_int_equal(in_child(find_by_asking), 0);
    note = read_note(&path, &size);
    change_version(note);
    assert_int_equal(file_write(path, note, size, FILE_INTERMEDIATE, &error), 0);
    assert_int_equal(in_child(find_by_note), 0);
    free(note);
    free(path);
}

static void a_program_that_has_changed_is_asked_again(void **state)
{
    struct error error = {0};
    char *path, *note, *time;
    size_t size;

    (void)state;
    assert_int_equal(in_child(find_by_asking), 0);
    note = read_note(&path, &size);
    change_version(note);
    time = strchr(note, '.'); /* of its last change, with the fractions of a second behind it */
    assert_non_null(time);
    time[-1] = time[-1] == '1' ? '2' : '1';
    assert_int_equal(file_write(path, note, size, FILE_INTERMEDIATE, &error), 0);
    assert_int_equal(in_child(find_by_asking), 0);
    free(note);
    free(path);
}

static void a_damaged_note_is_not_believed(void **state)
{
    struct error error = {0};
    char *path, *note;
    size_t size;

    (void)state;
    assert_int_equal(in_child(find_by_asking), 0);
    note = read_note(&path, &size);
    change_version(note);
    assert_int_equal(file_write(path, note, size - 1, FILE_INTERMEDIATE, &error), 0); /* its end is missing */
    assert_int_equal(in_child(find_by_asking), 0);
    free(note);
    free(path);
}

static void places_are_listed_where_it_is_in_none(void **state)
{
    (void)state;
    assert_int_equal(in_child(find_none), 0);
}

static void it_is_found_beside_its_libraries(void **state)
{
    (void)state;
    assert_int_equal(mkdir("lib", 0777), 0);
    assert_int_equal(mkdir("bin", 0777), 0);
    scratch_file("bin/trtexec", TRTEXEC);
    assert_int_equal(in_child(find_beside_libraries), 0);
    assert_int_equal(scratch_count("polygraphy"), 0); /* of a script nothing is kept */
}

static void programs_that_do_not_answer_are_told(void **state)
{
    (void)state;
    scratch_file("silent", "#!/bin/sh\n");
    scratch_file("failing", "#!/bin/sh\necho no such library >&2\nexit 1\n");
    assert_int_equal(in_child(find_what_does_not_answer), 0);
    assert_int_equal(scratch_count("polygraphy"), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(it_is_asked_once),
        IN_FOLDER(a_program_that_has_changed_is_asked_again),
        IN_FOLDER(a_damaged_note_is_not_believed),
        IN_FOLDER(places_are_listed_where_it_is_in_none),
        IN_FOLDER(it_is_found_beside_its_libraries),
        IN_FOLDER(programs_that_do_not_answer_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
