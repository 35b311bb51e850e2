/* Room on disk that nobody else sees. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file/scratch.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static void what_was_written_can_be_mapped(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct scratch_file file;
    uint64_t first, second;
    char *data = malloc(3 * page);
    void *mapped;

    memset(data, 'x', 3 * page);
    assert_int_equal(scratch_file_open(&file, NULL), 0);
    assert_int_equal(scratch_file_append(&file, "begin", 5, 1, &first, NULL), 0);
    assert_int_equal(scratch_file_append(&file, data, 3 * page, page, &second, NULL), 0);
    assert_int_equal(first, 0);
    assert_int_equal(second, page);
    assert_int_equal(file.size, 4 * page);
    assert_int_equal(scratch_file_map(&file, 0, 4 * page, &mapped, NULL), 0);
    scratch_file_close(&file);
    assert_memory_equal(mapped, "begin", 6);
    assert_memory_equal((char *)mapped + page, data, 3 * page);
    munmap(mapped, 4 * page);
    scratch_file_close(&file); /* harmless */
    free(data);
}

static void the_file_has_no_name(void **state)
{
    struct scratch_file file;
    uint64_t offset;

    assert_int_equal(scratch_file_open(&file, NULL), 0);
    assert_int_equal(scratch_file_append(&file, "data", 4, 1, &offset, NULL), 0);
    assert_int_equal(scratch_count("."), 0);
    assert_true(scratch_file_room(&file) > 0);
    scratch_file_close(&file);
}

static void a_folder_that_is_missing_is_named(void **state)
{
    struct scratch_file file;
    struct error err = {0};

    setenv("TMPDIR", "./missing", 1);
    assert_int_equal(scratch_file_open(&file, &err), ERR_IO);
    assert_non_null(strstr(err.message, "'./missing'"));
    assert_non_null(strstr(err.message, "TMPDIR"));
}

/* A limit on the size of files stands in for a full disk. */
static int write_beyond_the_limit(void)
{
    struct rlimit limit = {.rlim_cur = 5000, .rlim_max = 5000};
    struct scratch_file file;
    struct error err = {0};
    char data[4000] = "data";
    uint64_t offset;

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_OR_FAIL(scratch_file_open(&file, NULL) == 0);
    CHECK_OR_FAIL(scratch_file_append(&file, data, sizeof(data), 1, &offset, &err) == 0);
    CHECK_OR_FAIL(scratch_file_append(&file, data, sizeof(data), 1, &offset, &err) == ERR_IO);
    CHECK_OR_FAIL(strstr(err.message, "cannot write 4000 bytes") != NULL);
    CHECK_OR_FAIL(strstr(err.message, "TMPDIR") != NULL);
    CHECK_OR_FAIL(file.size == sizeof(data));
    CHECK_OR_FAIL(lseek(file.fd, 0, SEEK_END) == (off_t)sizeof(data));
    CHECK_OR_FAIL(scratch_file_append(&file, data, 1000, 1, &offset, &err) == 0); /* it goes on */
    CHECK_OR_FAIL(offset == sizeof(data));
    scratch_file_close(&file);
    return 0;
}

static void a_full_disk_is_an_error_and_loses_nothing(void **state)
{
    assert_int_equal(in_child(write_beyond_the_limit), 0);
}

/* Values go to the folder that the test works in. */
static int enter(void **state)
{
    int rc;

    unsetenv("TMPDIR");
    rc = scratch_folder_enter(state);
    setenv("TMPDIR", ".", 1);
    return rc;
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(what_was_written_can_be_mapped),
        IN_SCRATCH(the_file_has_no_name),
        IN_SCRATCH(a_folder_that_is_missing_is_named),
        IN_SCRATCH(a_full_disk_is_an_error_and_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
