/* test_identity.c: a file is another one when its content is, whatever its times are. */
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/file/identity.h"

static void set_time(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct file_identity take(const char *path)
{
    struct file_identity ret;
    struct error err;

    assert_int_equal(file_identity_take(path, &ret, &err), 0);
    return ret;
}

static void other_times_and_another_inode_are_no_change(void **state)
{
    struct file_identity identity;
    struct error err;

    scratch_file("a", "content");
    identity = take("a");
    set_time("a", 1000);
    assert_false(file_identity_has_changed(&identity, "a"));
    assert_int_equal(file_copy("a", "b", FILE_INTERMEDIATE, &err), 0);
    assert_int_equal(rename("b", "a"), 0);
    assert_false(file_identity_has_changed(&identity, "a"));
}

static void another_content_of_the_same_size_and_time_is_a_change(void **state)
{
    struct file_identity identity;

    scratch_file("a", "content");
    set_time("a", 1000);
    identity = take("a");
    scratch_file("a", "CONTENT");
    set_time("a", 1000);
    assert_true(file_identity_has_changed(&identity, "a"));
    assert_true(file_identity_has_changed(&identity, "a"));
    scratch_file("a", "content");
    assert_false(file_identity_has_changed(&identity, "a"));
}

static void a_file_that_is_gone_has_not_changed(void **state)
{
    struct file_identity identity;

    scratch_file("a", "content");
    identity = take("a");
    assert_int_equal(unlink("a"), 0);
    assert_false(file_identity_has_changed(&identity, "a"));
}

static void a_file_that_is_missing_has_no_identity(void **state)
{
    struct file_identity identity;
    struct error err;

    assert_int_equal(file_identity_take("missing", &identity, &err), ERR_MISSING);
}

/* A hole takes no room on the disk. */
static void of_a_large_file_size_and_blocks_count(void **state)
{
    const off_t size = (off_t)FILE_IDENTITY_WHOLE + 4096;
    struct file_identity identity;
    int fd = open("large", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    if (ftruncate(fd, size) != 0)
        skip();
    identity = take("large");
    assert_true(file_identity_is_sampled(&identity));
    assert_int_equal(pwrite(fd, "x", 1, size - 1), 1);
    assert_true(file_identity_has_changed(&identity, "large"));
    identity = take("large");
    assert_int_equal(ftruncate(fd, size + 1), 0);
    assert_true(file_identity_has_changed(&identity, "large"));
    close(fd);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(other_times_and_another_inode_are_no_change),
        IN_SCRATCH(another_content_of_the_same_size_and_time_is_a_change),
        IN_SCRATCH(a_file_that_is_gone_has_not_changed),
        IN_SCRATCH(a_file_that_is_missing_has_no_identity),
        IN_SCRATCH(of_a_large_file_size_and_blocks_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
