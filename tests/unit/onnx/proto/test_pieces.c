/* Messages put together from bytes that lie in many places. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "onnx/proto/pieces.h"
#include "support/scratch_folder.h"

static void neighbouring_pieces_are_joined(void **state)
{
    static const uint8_t bytes[] = "abcdef";
    struct piece_list list;
    uint8_t copy[6];

    pieces_init(&list);
    pieces_add(&list, (struct span){bytes, 2});
    pieces_add(&list, (struct span){bytes + 2, 3});
    pieces_add(&list, (struct span){bytes + 5, 0});
    assert_int_equal(list.pieces.count, 1);
    pieces_add(&list, (struct span){bytes, 1});
    assert_int_equal(list.pieces.count, 2);
    assert_int_equal(list.size, 6);
    pieces_copy(&list, copy);
    assert_memory_equal(copy, "abcdea", 6);
    pieces_release(&list);
}

static void made_up_bytes_are_kept(void **state)
{
    struct piece_list list;
    char text[] = "changes";
    uint8_t copy[16];

    pieces_init(&list);
    pieces_add_copy(&list, text, 7);
    memset(text, 'x', 7);
    pieces_add_field(&list, 5, (struct span){(const uint8_t *)"abc", 3});
    pieces_add_copy(&list, NULL, 0);
    assert_int_equal(list.size, 12);
    pieces_copy(&list, copy);
    assert_memory_equal(copy,
                        "changes\x2a\x03"
                        "abc",
                        12);
    pieces_release(&list);
}

/* The hash of two pieces: `mapped`, and a copy of `made`. */
static struct hash hash_of(struct span mapped, const char *made, const struct file_map *map)
{
    struct piece_list list;
    struct hash ret;

    pieces_init(&list);
    pieces_add(&list, mapped);
    pieces_add_copy(&list, made, strlen(made));
    ret = pieces_hash(&list, map);
    pieces_release(&list);
    return ret;
}

static void hash_follows_places_in_the_mapping_and_new_bytes(void **state)
{
    static const uint8_t file[] = "abcabc";
    char path[] = "file";
    const struct file_map map = {.data = file, .size = 6, .fd = 0, .path = path};
    struct hash hash = hash_of((struct span){file, 3}, "new", &map);

    assert_true(hash_equal(hash, hash_of((struct span){file, 3}, "new", &map)));
    assert_false(hash_equal(hash, hash_of((struct span){file + 3, 3}, "new", &map)));
    assert_false(hash_equal(hash, hash_of((struct span){file, 2}, "new", &map)));
    assert_false(hash_equal(hash, hash_of((struct span){file, 3}, "old", &map)));
    assert_true(
        hash_equal(hash_of((struct span){file, 3}, "new", NULL), hash_of((struct span){file + 3, 3}, "new", NULL)));
}

/* Writes the pieces to "written" and compares. */
static void assert_written(const struct piece_list *list, const struct file_map *map)
{
    struct file_writer writer;
    struct error err = {0};
    uint8_t *expected = malloc(list->size);
    char *written;
    size_t size;

    assert_int_equal(file_writer_open(&writer, "written", &err), 0);
    if (pieces_write(list, map, &writer, &err) < 0 || file_writer_commit(&writer, FILE_INTERMEDIATE, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(file_read("written", SIZE_MAX, &written, &size, &err), 0);
    pieces_copy(list, expected);
    assert_int_equal(size, list->size);
    assert_memory_equal(written, expected, size);
    free(written);
    free(expected);
}

/* A file of `size` bytes, mapped. */
static void make_map(size_t size, struct file_map *ret)
{
    struct error err = {0};
    char *bytes = malloc(size);

    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    if (file_write("mapped", bytes, size, FILE_INTERMEDIATE, &err) < 0 || file_map_open("mapped", ret, &err) < 0)
        fail_msg("%s", err.message);
    free(bytes);
}

static void small_and_large_pieces_of_a_file_come_out_in_order(void **state)
{
    struct file_map map;
    struct piece_list list;

    make_map(1 << 20, &map);
    pieces_init(&list);
    pieces_add(&list, (struct span){map.data + 100, 1000});
    pieces_add(&list, (struct span){map.data + 5000, 600000}); /* copied by the kernel */
    pieces_add_copy(&list, "between", 7);
    pieces_add(&list, (struct span){map.data + (1 << 20) - 200000, 200000}); /* to the very end */
    pieces_add(&list, (struct span){map.data, 1});
    assert_written(&list, &map);
    assert_written(&list, NULL);
    pieces_release(&list);
    file_map_release(&map);
}

/* Pages that are given back on the way are read again when they are needed again. */
static void many_scattered_pieces_come_out_in_order(void **state)
{
    struct file_map map;
    struct piece_list list;

    make_map(12 << 20, &map);
    pieces_init(&list);
    for (size_t at = 0; at + 8192 <= map.size; at += 16384)
        pieces_add(&list, (struct span){map.data + at, 8192});
    for (size_t at = 8192; at + 8192 <= map.size; at += 16384)
        pieces_add(&list, (struct span){map.data + at, 8192});
    assert_written(&list, &map);
    pieces_release(&list);
    file_map_release(&map);
}

/* Another mapping may begin exactly where the file's ends: a piece that was joined across is not the file's alone. */
static void piece_that_goes_on_behind_the_mapping_is_not_read_from_the_file(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), half = (size_t)256 << 10;
    uint8_t *area = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct file_map map, front;
    struct piece_list list;

    assert_true(area != MAP_FAILED && half % page == 0);
    make_map(half, &map);
    memcpy(area, map.data, half);
    memset(area + half, 'x', half);
    front = (struct file_map){.data = area, .size = half, .fd = map.fd}; /* as if `mapped` lay there */
    pieces_init(&list);
    pieces_add(&list, (struct span){area + page, half - page});
    pieces_add(&list, (struct span){area + half, half});
    assert_int_equal(list.pieces.count, 1);
    assert_written(&list, &front);
    pieces_release(&list);
    file_map_release(&map);
    munmap(area, 2 * half);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_pieces_are_joined),
        cmocka_unit_test(made_up_bytes_are_kept),
        cmocka_unit_test(hash_follows_places_in_the_mapping_and_new_bytes),
        IN_SCRATCH(small_and_large_pieces_of_a_file_come_out_in_order),
        IN_SCRATCH(many_scattered_pieces_come_out_in_order),
        IN_SCRATCH(piece_that_goes_on_behind_the_mapping_is_not_read_from_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
