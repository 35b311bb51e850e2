/* Reading files, and questions about paths. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static void map_shows_the_file(void **state)
{
    struct file_map map;

    scratch_file("data", "0123456789");
    assert_int_equal(file_map_open("data", &map, NULL), 0);
    assert_int_equal(map.size, 10);
    assert_memory_equal(map.data, "0123456789", 10);
    assert_string_equal(map.path, "data");
    file_map_forget(&map, 0, 10);
    file_map_forget(&map, 0, SIZE_MAX);
    assert_memory_equal(map.data, "0123456789", 10);
    file_map_release(&map);
    file_map_release(&map); /* harmless */
}

static void forgotten_pages_come_back(void **state)
{
    struct file_map map;
    size_t size = (size_t)100 * 4096;
    char *data = malloc(size);

    memset(data, 'x', size);
    assert_int_equal(file_write("data", data, size, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(file_map_open("data", &map, NULL), 0);
    for (size_t upto = 0; upto <= size; upto += 1000) {
        assert_int_equal(map.data[upto < size ? upto : size - 1], 'x');
        file_map_forget(&map, upto / 2, upto);
    }
    assert_memory_equal(map.data, data, size);
    file_map_release(&map);
    free(data);
}

static void map_knows_which_bytes_are_its_own(void **state)
{
    struct file_map map;
    const uint8_t *data;

    scratch_file("data", "0123456789");
    assert_int_equal(file_map_open("data", &map, NULL), 0);
    data = map.data;
    assert_true(file_map_holds(&map, data, 10));
    assert_true(file_map_holds(&map, data + 9, 1));
    assert_true(file_map_holds(&map, data + 10, 0));
    assert_false(file_map_holds(&map, data + 9, 2));
    assert_false(file_map_holds(&map, data + 1, SIZE_MAX));
    assert_false(file_map_holds(&map, "0123456789", 1));
    file_map_release(&map);
    assert_false(file_map_holds(&map, data, 1));
}

static void empty_file_maps_to_nothing(void **state)
{
    struct file_map map;

    scratch_file("empty", "");
    assert_int_equal(file_map_open("empty", &map, NULL), 0);
    assert_null(map.data);
    assert_int_equal(map.size, 0);
    file_map_forget(&map, 0, 4096);
    file_map_release(&map);
}

static void only_regular_files_are_mapped(void **state)
{
    struct file_map map;
    struct error err;

    assert_int_equal(file_map_open("missing", &map, &err), ERR_MISSING);
    assert_string_equal(err.message, "'missing' does not exist");
    scratch_file("file", "");
    assert_int_equal(file_map_open("file/below", &map, &err), ERR_MISSING);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(file_map_open("folder", &map, &err), ERR_IO);
    assert_string_equal(err.message, "'folder' is a folder");
    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(file_map_open("fifo", &map, &err), ERR_IO);
    assert_string_equal(err.message, "'fifo' is not a regular file");
}

/* Nobody waits for what may never come, or never end; pipes of the shell are read. */
static void what_may_have_no_end_is_not_read(void **state)
{
    char *data = NULL, path[32];
    size_t size;
    struct error err;
    int ends[2];

    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(file_read("fifo", SIZE_MAX, &data, &size, &err), ERR_IO);
    assert_non_null(strstr(err.message, "'fifo' is a FIFO"));
    assert_int_equal(file_read("/dev/zero", SIZE_MAX, &data, &size, &err), ERR_IO);
    assert_string_equal(err.message, "'/dev/zero' is a device, not a file");
    assert_int_equal(file_read("/dev/null", SIZE_MAX, &data, &size, &err), 0);
    assert_int_equal(size, 0);
    free(data);
    assert_int_equal(file_read(".", SIZE_MAX, &data, &size, &err), ERR_IO);
    assert_string_equal(err.message, "'.' is a folder");

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    assert_int_equal(file_read(path, SIZE_MAX, &data, &size, &err), 0);
    assert_string_equal(data, "piped");
    free(data);
    close(ends[0]);
}

static void file_is_read_up_to_the_limit(void **state)
{
    char *data = NULL;
    size_t size = 0;
    struct error err;

    scratch_file("data", "0123456789");
    assert_int_equal(file_read("data", 9, &data, &size, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'data' is larger than 9 bytes"));
    assert_null(data);
    assert_int_equal(file_read("data", 10, &data, &size, NULL), 0);
    assert_int_equal(size, 10);
    assert_string_equal(data, "0123456789");
    free(data);
    assert_int_equal(file_read("data", SIZE_MAX, &data, &size, NULL), 0);
    assert_string_equal(data, "0123456789");
    free(data);
}

static void start_of_a_file_is_read(void **state)
{
    char bytes[8] = "";

    scratch_file("data", "0123456789");
    assert_int_equal(file_read_start("data", bytes, 4), 4);
    assert_string_equal(bytes, "0123");
    scratch_file("short", "ab");
    assert_int_equal(file_read_start("short", bytes, 4), 2);
    assert_string_equal(bytes, "ab23");
    assert_int_equal(file_read_start("missing", bytes, 4), 0);
    assert_int_equal(file_read_start(".", bytes, 4), 0);
}

static void file_without_a_size_is_read_to_its_end(void **state)
{
    int ends[2];
    char path[64], *data;
    size_t size;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "from a pipe", 11), 11);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    assert_int_equal(file_read(path, 100, &data, &size, NULL), 0);
    assert_string_equal(data, "from a pipe");
    free(data);
    close(ends[0]);
}

static void what_cannot_be_read_is_an_error(void **state)
{
    char *data;
    size_t size;
    struct error err;

    assert_int_equal(file_read("missing", 100, &data, &size, &err), ERR_MISSING);
    assert_int_equal(file_read(".", 100, &data, &size, &err), ERR_IO);
    assert_non_null(strstr(err.message, "'.'"));
}

static void dangling_link_exists(void **state)
{
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_true(file_exists("link"));
    assert_false(file_exists("nowhere"));
    assert_false(file_is_folder("link"));
    assert_true(file_is_folder("."));
}

static void missing_folders_are_made(void **state)
{
    char absolute[PATH_MAX], *cwd = getcwd(NULL, 0);

    assert_int_equal(file_make_folders("a/b//c/", NULL), 0);
    assert_int_equal(file_make_folders("a/b/c", NULL), 0);
    assert_true(file_is_folder("a/b/c"));
    assert_int_equal(file_make_folders("/", NULL), 0);
    assert_int_equal(file_make_folders(".", NULL), 0);
    snprintf(absolute, sizeof(absolute), "%s/x/y", cwd);
    assert_int_equal(file_make_parent_folders(absolute, NULL), 0);
    assert_true(file_is_folder("x"));
    assert_false(file_exists("x/y"));
    free(cwd);
}

static void folder_below_a_file_is_an_error(void **state)
{
    struct error err;

    scratch_file("file", "");
    assert_int_equal(file_make_folders("file/a/b", &err), ERR_IO);
    assert_non_null(strstr(err.message, "'file'"));
    assert_int_equal(file_make_folders("file", &err), ERR_IO);
}

static void paths_are_taken_apart(void **state)
{
    static const struct {
        const char *path, *folder, *basename;
    } parts[] = {
        {"a", ".", "a"},  {"a/b", "a", "b"}, {"a/b/", "a", "b"},      {"a//b//", "a", "b"},
        {"/a", "/", "a"}, {"//a", "/", "a"}, {"/", "/", "/"},         {"//", "/", "/"},
        {"", ".", ""},    {"./a", ".", "a"}, {"/a/b/c", "/a/b", "c"},
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        char *folder = file_folder(parts[i].path), *basename = file_basename(parts[i].path);
        assert_string_equal(folder, parts[i].folder);
        assert_string_equal(basename, parts[i].basename);
        free(folder);
        free(basename);
    }
}

static void extension_begins_at_the_last_dot_behind_a_name(void **state)
{
    static const char *const cases[][2] = {{"model.onnx", ".onnx"},
                                           {"a.b/model.tar.gz", ".gz"},
                                           {"a.b/model", ""},
                                           {".hidden", ""},
                                           {"a/..hidden", ""},
                                           {".hidden.txt", ".txt"},
                                           {"model.", "."},
                                           {"", ""},
                                           {"a/..", ""}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(file_extension(cases[i][0]), cases[i][1]);
}

static void paths_are_joined_by_one_slash(void **state)
{
    static const char *const joined[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}};

    for (size_t i = 0; i < ARRAY_LEN(joined); i++) {
        char *path = file_join(joined[i][0], joined[i][1]);
        assert_string_equal(path, joined[i][2]);
        free(path);
    }
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(map_shows_the_file),
        IN_SCRATCH(forgotten_pages_come_back),
        IN_SCRATCH(map_knows_which_bytes_are_its_own),
        IN_SCRATCH(empty_file_maps_to_nothing),
        IN_SCRATCH(only_regular_files_are_mapped),
        IN_SCRATCH(what_may_have_no_end_is_not_read),
        IN_SCRATCH(file_is_read_up_to_the_limit),
        IN_SCRATCH(start_of_a_file_is_read),
        IN_SCRATCH(file_without_a_size_is_read_to_its_end),
        IN_SCRATCH(what_cannot_be_read_is_an_error),
        IN_SCRATCH(dangling_link_exists),
        IN_SCRATCH(missing_folders_are_made),
        IN_SCRATCH(folder_below_a_file_is_an_error),
        IN_SCRATCH(paths_are_taken_apart),
        cmocka_unit_test(extension_begins_at_the_last_dot_behind_a_name),
        IN_SCRATCH(paths_are_joined_by_one_slash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
