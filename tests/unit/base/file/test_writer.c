/* Files that are written whole or not at all. */
#define _GNU_SOURCE /* unshare */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "support/in_child.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define NO_DISK 77 /* exit status of a child that may not mount */

static void file_appears_with_commit(void **state)
{
    struct file_writer writer;

    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    assert_int_equal(file_writer_add(&writer, "abc", 3, NULL), 0);
    assert_int_equal(file_writer_add(&writer, "7\n", 2, NULL), 0);
    assert_int_equal(writer.written, 5);
    assert_false(file_exists("out"));
    assert_int_equal(scratch_count("."), 1); /* the temporary file is beside it */
    assert_int_equal(file_writer_commit(&writer, FILE_DURABLE, NULL), 0);
    assert_true(scratch_file_is("out", "abc7\n"));
    assert_int_equal(scratch_count("."), 1);
    file_writer_release(&writer); /* harmless */
    assert_true(file_exists("out"));
}

static void release_without_commit_leaves_nothing(void **state)
{
    struct file_writer writer;

    scratch_file("out", "old");
    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    assert_int_equal(file_writer_add(&writer, "new", 3, NULL), 0);
    file_writer_release(&writer);
    assert_true(scratch_file_is("out", "old"));
    assert_int_equal(scratch_count("."), 1);
}

static int exit_while_writing(void)
{
    struct file_writer writer;

    CHECK_OR_FAIL(file_writer_open(&writer, "out", NULL) == 0);
    CHECK_OR_FAIL(scratch_count(".") == 1);
    exit(0);
}

static void exit_leaves_nothing(void **state)
{
    assert_int_equal(in_child(exit_while_writing), 0);
    assert_int_equal(scratch_count("."), 0);
}

static int die_while_writing(void)
{
    struct file_writer writer;

    interrupt_install();
    CHECK_OR_FAIL(file_writer_open(&writer, "out", NULL) == 0);
    raise(SIGINT);
    raise(SIGTERM);
    return 1; /* not reached */
}

static void second_signal_leaves_nothing(void **state)
{
    assert_int_equal(in_child(die_while_writing), -SIGTERM);
    assert_int_equal(scratch_count("."), 0);
}

/* Pieces around the size of the buffer, each filled with its own byte. */
static void pieces_of_every_size_arrive_in_order(void **state)
{
    static const size_t sizes[] = {0, 1, 131071, 131072, 131073, 7, 131065, 131066, 300000, 1, 131072, 131072, 5};
    struct file_writer writer;
    struct file_map map;
    char *piece = malloc(300000);
    size_t at = 0;

    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        memset(piece, (int)i, sizes[i]);
        assert_int_equal(file_writer_add(&writer, piece, sizes[i], NULL), 0);
        at += sizes[i];
        assert_int_equal(writer.written, at);
    }
    assert_int_equal(file_writer_commit(&writer, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(file_map_open("out", &map, NULL), 0);
    assert_int_equal(map.size, at);
    at = 0;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        memset(piece, (int)i, sizes[i]);
        assert_memory_equal(map.data + at, piece, sizes[i]);
        at += sizes[i];
    }
    file_map_release(&map);
    free(piece);
}

static void temporary_file_has_the_mode_that_the_result_will_have(void **state)
{
    struct file_writer writer;
    struct stat status = {.st_mode = S_IFREG | 0600};

    (void)state;
    assert_int_equal(file_writer_open_like(&writer, "private", &status, NULL), 0);
    assert_int_equal(stat(writer.temporary, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(file_writer_commit(&writer, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(stat("private", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void new_file_follows_the_umask_and_replaced_file_keeps_its_mode(void **state)
{
    struct stat status;
    mode_t mask = umask(027);

    assert_int_equal(file_write("new", "", 0, FILE_INTERMEDIATE, NULL), 0);
    umask(mask);
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(chmod("new", 0604), 0);
    assert_int_equal(file_write("new", "x", 1, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
}

/* As a script does that makes a temporary file, has it written to, and reads it through its own descriptor. */
static void empty_file_is_filled_and_stays_the_same_file(void **state)
{
    char content[8] = "";
    struct file_writer writer;

    for (enum file_durability durability = FILE_INTERMEDIATE; durability <= FILE_DURABLE; durability++) {
        int fd = open("out", O_RDWR | O_CREAT | O_TRUNC, 0640);
        assert_true(fd >= 0);
        assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
        assert_int_equal(file_writer_add(&writer, "ab-", 3, NULL), 0);
        assert_int_equal(file_writer_overwrite(&writer, 2, "c", 1, NULL), 0);
        assert_int_equal(pread(fd, content, sizeof(content), 0), 0);
        assert_int_equal(file_writer_commit(&writer, durability, NULL), 0);
        assert_int_equal(pread(fd, content, sizeof(content), 0), 3);
        assert_memory_equal(content, "abc", 3);
        assert_true(scratch_file_is("out", "abc"));
        assert_int_equal(scratch_count("."), 1);
        close(fd);
    }
}

static void empty_file_that_is_given_up_stays_empty(void **state)
{
    struct file_writer writer;

    scratch_file("out", "");
    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    assert_int_equal(file_writer_add(&writer, "new", 3, NULL), 0);
    file_writer_release(&writer);
    assert_true(scratch_file_is("out", ""));
    assert_int_equal(scratch_count("."), 1);
}

/* A disk, of this process alone, with room for one of two files of this size: the temporary one. */
static int fill_on_small_disk(void)
{
    static char megabyte[1 << 20];
    struct file_writer writer;
    struct error err = {0};

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "disk", "tmpfs", 0, "size=3m") != 0)
        return NO_DISK;
    scratch_file("disk/out", "");
    CHECK_OR_FAIL(file_writer_open(&writer, "disk/out", NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK_OR_FAIL(file_writer_add(&writer, megabyte, sizeof(megabyte), NULL) == 0);
    CHECK_OR_FAIL(file_writer_commit(&writer, FILE_DURABLE, &err) == ERR_IO);
    CHECK_OR_FAIL(strstr(err.message, "disk/out"));
    CHECK_OR_FAIL(scratch_file_is("disk/out", ""));
    CHECK_OR_FAIL(scratch_count("disk") == 1);
    return 0;
}

static void empty_file_that_cannot_be_filled_is_empty_again(void **state)
{
    assert_int_equal(mkdir("disk", 0700), 0);
    int status = in_child(fill_on_small_disk);
    if (status == NO_DISK)
        skip(); /* takes root */
    assert_int_equal(status, 0);
}

/* Others wait for the lock, and then find another file in its place, whole. */
static void empty_file_with_a_lock_is_replaced(void **state)
{
    struct stat before, after;
    int lock;

    assert_int_equal(file_lock("out", FILE_LOCK_TO_CHANGE, &lock, NULL), 0);
    assert_int_equal(fstat(lock, &before), 0);
    assert_int_equal(file_write("out", "new", 3, FILE_DURABLE, NULL), 0);
    assert_int_equal(stat("out", &after), 0);
    assert_true(before.st_ino != after.st_ino);
    assert_true(scratch_file_is("out", "new"));
    close(lock);
}

static void missing_folders_of_the_destination_are_made(void **state)
{
    assert_int_equal(file_write("a/b/out", "x", 1, FILE_DURABLE, NULL), 0);
    assert_true(scratch_file_is("a/b/out", "x"));
}

static void link_stays_a_link_and_its_target_is_replaced(void **state)
{
    char target[32] = "";

    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("folder/second", "first"), 0);
    assert_int_equal(symlink("third", "folder/second"), 0);
    for (int round = 0; round < 2; round++) { /* dangling, then not */
        assert_int_equal(file_write("first", &"12"[round], 1, FILE_INTERMEDIATE, NULL), 0);
        assert_true(scratch_file_is("folder/third", round == 0 ? "1" : "2"));
        assert_int_equal(readlink("first", target, sizeof(target)), 13);
        assert_int_equal(scratch_count("folder"), 2);
    }
}

static void links_in_a_circle_are_an_error(void **state)
{
    struct error err;

    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_int_equal(file_write("a", "x", 1, FILE_INTERMEDIATE, &err), ERR_IO);
    assert_non_null(strstr(err.message, "'a'"));
}

static void folder_as_destination_is_an_error(void **state)
{
    struct error err;

    assert_int_equal(file_write(".", "x", 1, FILE_INTERMEDIATE, &err), ERR_IO);
    assert_int_equal(file_write("new/", "x", 1, FILE_INTERMEDIATE, &err), ERR_IO);
    assert_int_equal(file_write("", "x", 1, FILE_INTERMEDIATE, &err), ERR_INVALID);
    assert_int_equal(scratch_count("."), 0);
}

static void name_of_the_greatest_length_can_be_written(void **state)
{
    char name[256];

    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(file_write(name, "x", 1, FILE_INTERMEDIATE, NULL), 0);
    assert_true(scratch_file_is(name, "x"));
}

static int write_to_standard_output(void)
{
    /* As the shell does for `program >out`, with something printed before. */
    int fd = open("out", O_WRONLY | O_CREAT, 0666);

    CHECK_OR_FAIL(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
    CHECK_OR_FAIL(write(STDOUT_FILENO, "before ", 7) == 7);
    CHECK_OR_FAIL(file_write("/dev/stdout", "data", 4, FILE_DURABLE, NULL) == 0);
    CHECK_OR_FAIL(write(STDOUT_FILENO, " after", 6) == 6);
    return 0;
}

static void standard_output_is_continued_not_replaced(void **state)
{
    assert_int_equal(in_child(write_to_standard_output), 0);
    assert_true(scratch_file_is("out", "before data after"));
    assert_int_equal(scratch_count("."), 1);
}

static void pipe_and_device_are_written_directly(void **state)
{
    struct stat status;
    char text[8] = "";

    assert_int_equal(file_write("/dev/null", "x", 1, FILE_DURABLE, NULL), 0);
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));

    assert_int_equal(mkfifo("fifo", 0666), 0);
    int fd = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_int_equal(file_write("fifo", "data", 4, FILE_DURABLE, NULL), 0);
    assert_int_equal(read(fd, text, sizeof(text)), 4);
    assert_string_equal(text, "data");
    close(fd);
    assert_int_equal(scratch_count("."), 1);
}

static void full_disk_is_reported_with_the_path(void **state)
{
    struct error err = {0};

    if (!file_exists("/dev/full"))
        skip();
    assert_int_equal(file_write("/dev/full", "x", 1, FILE_INTERMEDIATE, &err), ERR_IO);
    assert_string_equal(err.message, "cannot write '/dev/full': No space left on device");
}

/* A limit on the size of files makes the kernel write a part and then refuse, as a full disk does. */
static int run_out_of_space(void)
{
    struct rlimit limit = {100000, 100000};
    struct error err = {0};
    struct file_writer writer;
    static char data[1000000];
    int source = open("source", O_RDONLY);

    signal(SIGXFSZ, SIG_IGN);
    CHECK_OR_FAIL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK_OR_FAIL(file_write("out", data, sizeof(data), FILE_INTERMEDIATE, &err) == ERR_IO);
    CHECK_OR_FAIL(strncmp(err.message, "cannot write 'out': ", 20) == 0);
    CHECK_OR_FAIL(file_writer_open(&writer, "out", &err) == 0);
    CHECK_OR_FAIL(file_writer_copy(&writer, source, 0, sizeof(data), &err) == ERR_IO);
    CHECK_OR_FAIL(strncmp(err.message, "cannot write 'out': ", 20) == 0);
    file_writer_release(&writer);
    return 0;
}

static void short_write_leaves_the_old_file(void **state)
{
    static const char zeros[1000000];

    scratch_file("out", "old");
    assert_int_equal(file_write("source", zeros, sizeof(zeros), FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(in_child(run_out_of_space), 0);
    assert_true(scratch_file_is("out", "old"));
    assert_int_equal(scratch_count("."), 2);
}

static void copied_parts_stand_between_added_ones(void **state)
{
    struct file_writer writer;
    int source;

    scratch_file("source", "0123456789");
    source = open("source", O_RDONLY);
    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    assert_int_equal(file_writer_add(&writer, "<", 1, NULL), 0);
    assert_int_equal(file_writer_copy(&writer, source, 2, 5, NULL), 0);
    assert_int_equal(file_writer_add(&writer, ">", 1, NULL), 0);
    assert_int_equal(file_writer_copy(&writer, source, 10, 0, NULL), 0);
    assert_int_equal(writer.written, 7);
    assert_int_equal(file_writer_commit(&writer, FILE_INTERMEDIATE, NULL), 0);
    assert_true(scratch_file_is("out", "<23456>"));
    assert_int_equal(lseek(source, 0, SEEK_CUR), 0); /* its position is not ours to move */
    close(source);
}

static void large_copy_is_exact(void **state)
{
    size_t size = ((size_t)5 << 20) + 123;
    uint8_t *data = malloc(size);
    struct file_writer writer;
    struct file_map map;

    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_int_equal(file_write("source", data, size, FILE_INTERMEDIATE, NULL), 0);
    int source = open("source", O_RDONLY);
    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    assert_int_equal(file_writer_copy(&writer, source, 77, size - 77, NULL), 0);
    assert_int_equal(file_writer_commit(&writer, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(file_map_open("out", &map, NULL), 0);
    assert_int_equal(map.size, size - 77);
    assert_memory_equal(map.data, data + 77, size - 77);
    file_map_release(&map);
    close(source);
    free(data);
}

static void copy_into_a_pipe_falls_back_to_plainer_ways(void **state)
{
    struct file_writer writer;
    char text[16] = "";

    scratch_file("source", "0123456789");
    assert_int_equal(mkfifo("fifo", 0666), 0);
    int source = open("source", O_RDONLY), fifo = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_int_equal(file_writer_open(&writer, "fifo", NULL), 0);
    assert_int_equal(file_writer_copy(&writer, source, 3, 4, NULL), 0);
    assert_int_equal(file_writer_commit(&writer, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(read(fifo, text, sizeof(text)), 4);
    assert_string_equal(text, "3456");
    close(source);
    close(fifo);
}

static int copy_into_an_appending_stream(void)
{
    /* As the shell does for `program >>out`: neither copy_file_range() nor sendfile() takes such a descriptor. */
    int source = open("source", O_RDONLY), out = open("out", O_WRONLY | O_APPEND);
    struct file_writer writer;

    CHECK_OR_FAIL(source >= 0 && out >= 0 && dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
    CHECK_OR_FAIL(file_writer_open(&writer, "/dev/stdout", NULL) == 0);
    CHECK_OR_FAIL(file_writer_copy(&writer, source, 3, 4, NULL) == 0);
    CHECK_OR_FAIL(file_writer_commit(&writer, FILE_INTERMEDIATE, NULL) == 0);
    return 0;
}

static void copy_into_an_appended_file_falls_back_to_plainer_ways(void **state)
{
    scratch_file("source", "0123456789");
    scratch_file("out", "old ");
    assert_int_equal(in_child(copy_into_an_appending_stream), 0);
    assert_true(scratch_file_is("out", "old 3456"));
}

static void source_that_ends_early_is_an_error(void **state)
{
    struct file_writer writer;
    struct error err;

    scratch_file("source", "0123456789");
    int source = open("source", O_RDONLY);
    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    assert_int_equal(file_writer_copy(&writer, source, 5, 6, &err), ERR_IO);
    assert_non_null(strstr(err.message, "1 bytes too short"));
    assert_int_equal(file_writer_copy(&writer, source, UINT64_MAX, 1, &err), ERR_INVALID);
    assert_int_equal(file_writer_copy(&writer, source, 1, UINT64_MAX, &err), ERR_INVALID);
    file_writer_release(&writer);
    close(source);
}

static void file_that_is_brought_to_disk_early_is_the_same(void **state)
{
    enum { SIZE = 3 << 20, PIECES = 7 };
    struct file_writer writer;
    struct file_map map;
    char *piece = memory_alloc(SIZE);

    assert_int_equal(file_writer_open(&writer, "out", NULL), 0);
    file_writer_begin_sync(&writer); /* there is nothing yet */
    for (int i = 0; i < PIECES; i++) {
        memset(piece, 'a' + i, SIZE);
        assert_int_equal(file_writer_add(&writer, piece, SIZE, NULL), 0);
        assert_int_equal(file_writer_add(&writer, "-", 1, NULL), 0); /* stays in the buffer */
        file_writer_begin_sync(&writer);
    }
    assert_int_equal(file_writer_overwrite(&writer, 1, "!", 1, NULL), 0); /* on its way already */
    assert_int_equal(file_writer_commit(&writer, FILE_DURABLE, NULL), 0);
    assert_int_equal(file_map_open("out", &map, NULL), 0);
    assert_int_equal(map.size, PIECES * (SIZE + 1));
    assert_memory_equal(map.data, "a!a", 3);
    for (size_t i = 0; i < PIECES; i++)
        assert_memory_equal(map.data + i * (SIZE + 1) + SIZE - 1, ((char[]){(char)('a' + i), '-'}), 2);
    file_map_release(&map);
    free(piece);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(file_appears_with_commit),
        IN_SCRATCH(release_without_commit_leaves_nothing),
        IN_SCRATCH(exit_leaves_nothing),
        IN_SCRATCH(second_signal_leaves_nothing),
        IN_SCRATCH(pieces_of_every_size_arrive_in_order),
        IN_SCRATCH(temporary_file_has_the_mode_that_the_result_will_have),
        IN_SCRATCH(new_file_follows_the_umask_and_replaced_file_keeps_its_mode),
        IN_SCRATCH(empty_file_is_filled_and_stays_the_same_file),
        IN_SCRATCH(empty_file_that_is_given_up_stays_empty),
        IN_SCRATCH(empty_file_that_cannot_be_filled_is_empty_again),
        IN_SCRATCH(empty_file_with_a_lock_is_replaced),
        IN_SCRATCH(missing_folders_of_the_destination_are_made),
        IN_SCRATCH(link_stays_a_link_and_its_target_is_replaced),
        IN_SCRATCH(links_in_a_circle_are_an_error),
        IN_SCRATCH(folder_as_destination_is_an_error),
        IN_SCRATCH(name_of_the_greatest_length_can_be_written),
        IN_SCRATCH(standard_output_is_continued_not_replaced),
        IN_SCRATCH(pipe_and_device_are_written_directly),
        IN_SCRATCH(full_disk_is_reported_with_the_path),
        IN_SCRATCH(short_write_leaves_the_old_file),
        IN_SCRATCH(copied_parts_stand_between_added_ones),
        IN_SCRATCH(large_copy_is_exact),
        IN_SCRATCH(copy_into_a_pipe_falls_back_to_plainer_ways),
        IN_SCRATCH(copy_into_an_appended_file_falls_back_to_plainer_ways),
        IN_SCRATCH(source_that_ends_early_is_an_error),
        IN_SCRATCH(file_that_is_brought_to_disk_early_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
