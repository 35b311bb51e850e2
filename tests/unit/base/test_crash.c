/* What is said at an end that nobody chose. Each test runs in a process of its own, which ends like that. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/file/file.h"
#include "base/interrupt.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

/* A sanitizer tells of crashes itself, and lets nobody else do so. */
#ifdef __SANITIZE_ADDRESS__
#define REQUIRE_HANDLERS() skip()
#else
#define REQUIRE_HANDLERS() (void)0
#endif

/* What follows goes to the file `said`. */
static void listen(void)
{
    int fd = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    dup2(fd, STDERR_FILENO);
    close(fd);
}

static void assert_said(const char *expected)
{
    char *said;
    size_t size;
    struct error err;

    assert_int_equal(file_read("said", 4096, &said, &size, &err), 0);
    assert_string_equal(said, expected);
    free(said);
}

/* Reads a mapped file of which less is left than was there. */
static int read_what_is_gone(void)
{
    struct file_map map;
    struct error err;
    uint8_t sum = 0;

    if (file_map_open("model.onnx", &map, &err) < 0 || truncate("model.onnx", 0) != 0)
        return 1;
    for (size_t i = 0; i < map.size; i++)
        sum += ((const volatile uint8_t *)map.data)[i];
    return sum; /* not reached */
}

static int end_by_a_shorter_file(void)
{
    crash_install();
    listen();
    return read_what_is_gone();
}

static int end_by_a_shorter_file_in_a_check(void)
{
    crash_install();
    crash_set_exit_codes(3, 125);
    listen();
    return read_what_is_gone();
}

static void a_file_that_becomes_shorter_while_it_is_mapped_is_named(void **state)
{
    static const char said[] =
        "[!] 'model.onnx' cannot be read any more: it was truncated while in use, or its disk failed; "
        "signal 7 (Bus error) ended this program\n";

    REQUIRE_HANDLERS();
    scratch_file("model.onnx", "some bytes");
    assert_int_equal(in_child(end_by_a_shorter_file), -SIGBUS);
    assert_said(said);
    scratch_file("model.onnx", "some bytes");
    assert_int_equal(in_child(end_by_a_shorter_file_in_a_check), 125);
    assert_said(said);
}

static int crash_at_work(void)
{
    crash_install();
    listen();
    scratch_file("temporary", "");
    interrupt_remove_at_exit("temporary");
    crash_work_begins("somebody's library ran\x1B a model");
    crash_set_advice("Ask somebody");
    raise(SIGSEGV);
    return 1; /* not reached */
}

static void a_crash_says_what_was_at_work_and_leaves_nothing_behind(void **state)
{
    REQUIRE_HANDLERS();
    assert_int_equal(in_child(crash_at_work), -SIGSEGV);
    assert_said(
        "[!] signal 11 (Segmentation fault) ended this program while somebody's library ran  a model. Ask somebody\n");
    assert_false(file_exists("temporary"));
}

static int crash_behind_work(void)
{
    crash_install();
    crash_set_exit_codes(3, 125);
    listen();
    crash_work_begins("somebody's library ran a model");
    crash_set_advice("Ask somebody");
    crash_work_ends();
    raise(SIGABRT);
    return 1; /* not reached */
}

static void a_crash_of_our_own_is_not_blamed_on_others_and_ends_by_its_signal_in_checks_too(void **state)
{
    REQUIRE_HANDLERS();
    assert_int_equal(in_child(crash_behind_work), -SIGABRT);
    assert_said("[!] signal 6 (Aborted) ended this program, which is a bug in it or in a library that it has loaded\n");
}

static int crash_forgotten(void)
{
    crash_install();
    listen();
    crash_forget();
    raise(SIGFPE);
    return 1; /* not reached */
}

static void who_is_forgotten_says_nothing(void **state)
{
    REQUIRE_HANDLERS();
    assert_int_equal(in_child(crash_forgotten), -SIGFPE);
    assert_said("");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(a_file_that_becomes_shorter_while_it_is_mapped_is_named),
        IN_SCRATCH(a_crash_says_what_was_at_work_and_leaves_nothing_behind),
        IN_SCRATCH(a_crash_of_our_own_is_not_blamed_on_others_and_ends_by_its_signal_in_checks_too),
        IN_SCRATCH(who_is_forgotten_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
