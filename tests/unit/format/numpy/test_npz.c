/* .npz files: the first array, and archives that lie. */
#include "support/format_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/numpy/npz.h"

static int read_golden(const char *name, struct tensor *ret, struct error *err)
{
    char path[128];
    size_t size;
    char *content;
    int rc;

    snprintf(path, sizeof(path), "tests/golden/npz/%s.npz", name);
    content = content_of(path, &size);
    rc = npz_read_first((struct span){(const uint8_t *)content, size}, ret, err);
    free(content);
    return rc;
}

static void first_array_of_an_archive_is_read(void **state)
{
    const float expected[] = {0, 1, 2, 3, 4, 5};
    struct tensor tensor;
    struct error error = {0};

    if (read_golden("stored", &tensor, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(tensor.type, DATA_FLOAT32);
    assert_int_equal(tensor.shape.rank, 2);
    assert_memory_equal(tensor.data, expected, sizeof(expected));
    tensor_release(&tensor);
}

static void deflated_entry_is_read(void **state)
{
    static const float zeros[256];
    struct tensor tensor;
    struct error error = {0};

    if (read_golden("deflated", &tensor, &error) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(tensor.size, sizeof(zeros));
    assert_memory_equal(tensor.data, zeros, sizeof(zeros));
    tensor_release(&tensor);
}

static void archive_without_an_array_is_refused(void **state)
{
    struct tensor tensor;
    struct error error = {0};

    assert_int_equal(read_golden("no_array", &tensor, &error), ERR_CORRUPT);
    assert_message_contains(&error, "contains no array");
}

static void other_compression_than_numpys_is_refused(void **state)
{
    struct tensor tensor;
    struct error error = {0};

    assert_int_equal(read_golden("bzip2", &tensor, &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "'arr_0.npy'");
}

/* The size of the unpacked entry stands in the central directory, 24 bytes behind its "PK\1\2". */
static void entry_that_claims_too_many_bytes_is_refused(void **state)
{
    size_t size;
    char *content = content_of("tests/golden/npz/deflated.npz", &size);
    struct tensor tensor;
    struct error error = {0};
    size_t at = 0;

    while (memcmp(content + at, "PK\1\2", 4) != 0)
        at++;
    memcpy(content + at + 24, "\xf0\xff\xff\xef", 4);
    assert_int_equal(npz_read_first((struct span){(const uint8_t *)content, size}, &tensor, &error), ERR_CORRUPT);
    assert_message_contains(&error, "claims 4026531824 bytes");
    free(content);
}

static void archive_cut_off_anywhere_is_refused(void **state)
{
    size_t size;
    char *content = content_of("tests/golden/npz/deflated.npz", &size);

    for (size_t length = 2; length < size; length++) {
        char *cut = malloc(length);
        struct tensor tensor;

        memcpy(cut, content, length);
        assert_int_equal(npz_read_first((struct span){(const uint8_t *)cut, length}, &tensor, NULL), ERR_CORRUPT);
        free(cut);
    }
    free(content);
}

static void changed_byte_of_the_data_is_noticed(void **state)
{
    size_t size;
    char *content = content_of("tests/golden/npz/stored.npz", &size);
    struct tensor tensor;
    struct error error = {0};

    content[200] ^= 1; /* within the first array */
    assert_int_equal(npz_read_first((struct span){(const uint8_t *)content, size}, &tensor, &error), ERR_CORRUPT);
    assert_message_contains(&error, "CRC");
    free(content);
}

static const char *const names[] = {"x", "encoder/layer 0/out", "\xc3\xa9.npy", ""};

static void write_arrays(const char *path)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6};
    struct npz_writer writer;
    struct error error = {0};
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &(struct shape){2, {2, 3}}, numbers, sizeof(numbers), &tensor);
    assert_int_equal(npz_writer_open(&writer, path, &error), 0);
    for (size_t i = 0; i < 4; i++)
        if (npz_writer_add(&writer, names[i], &tensor, &error) < 0)
            fail_msg("%s", error.message);
    assert_int_equal(npz_writer_commit(&writer, FILE_INTERMEDIATE, &error), 0);
    npz_writer_release(&writer);
}

static void what_is_written_is_mapped_aligned_under_its_names(void **state)
{
    const char *path = scratch_path("arrays.npz");
    struct tensor_list back = {0};
    struct error error = {0};
    static const float expected[] = {1, 2, 3, 4, 5, 6};

    write_arrays(path);
    if (npz_load(path, &back, &error) < 0)
        fail_msg("%s", error.message);
    unlink(path);
    assert_int_equal(back.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(back.items[i].name, names[i]);
        assert_int_equal((uintptr_t)back.items[i].tensor.data % 64, 0);
        assert_memory_equal(back.items[i].tensor.data, expected, sizeof(expected));
    }
    tensor_list_release(&back);
}

/* numpy.load() knows an archive by its first bytes, of which those of 64-bit sizes are none. */
static void an_archive_without_arrays_begins_as_numpys_does(void **state)
{
    struct npz_writer writer;
    const char *path = "nothing.npz";
    size_t size;
    char *content;

    (void)state;
    assert_int_equal(npz_writer_open(&writer, path, NULL), 0);
    assert_int_equal(npz_writer_commit(&writer, FILE_INTERMEDIATE, NULL), 0);
    npz_writer_release(&writer);
    content = content_of(path, &size);
    assert_int_equal(size, 22);
    assert_memory_equal(content, "PK\5\6\0\0", 6);
    free(content);
    unlink(path);
}

static void a_device_is_refused_before_anything_is_written(void **state)
{
    struct npz_writer writer;
    struct error error = {0};

    (void)state;
    assert_int_equal(npz_writer_open(&writer, "/dev/null", &error), ERR_UNSUPPORTED);
    assert_message_contains(&error, "not a regular file");
    npz_writer_release(&writer);
}

/* The second entry of the directory is given the name of the first, which is as long. */
static void two_arrays_of_one_name_are_refused(void **state)
{
    size_t size, at = 0;
    char *content = content_of("tests/golden/npz/stored.npz", &size);
    const char *path = scratch_path("doubled.npz");
    struct tensor_list tensors = {0};
    struct error error = {0};
    char *first, *second;

    while (memcmp(content + at, "PK\1\2", 4) != 0)
        at++;
    first = content + at + 46;
    at++;
    while (memcmp(content + at, "PK\1\2", 4) != 0)
        at++;
    second = content + at + 46;
    assert_int_equal(first[-18], second[-18]);
    memcpy(second, first, (size_t)first[-18]);
    assert_int_equal(file_write(path, content, size, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(npz_load(path, &tensors, &error), ERR_CORRUPT);
    assert_message_contains(&error, "two arrays");
    tensor_list_release(&tensors);
    unlink(path);
    free(content);
}

static void members_that_overlap_are_refused(void **state)
{
    size_t size, at = 0;
    char *content = content_of("tests/golden/npz/stored.npz", &size);
    struct error error = {0};
    struct npz npz;

    /* the first member reaches to the end of the file, over the second */
    while (memcmp(content + at, "PK\1\2", 4) != 0)
        at++;
    for (size_t k = 20; k <= 24; k += 4) {
        uint32_t claimed = (uint32_t)(size - 30 - (uint8_t)content[26] - (uint8_t)content[28]);

        memcpy(content + at + k, &claimed, 4);
    }
    assert_int_equal(npz_open_memory((struct span){(const uint8_t *)content, size}, &npz, &error), ERR_CORRUPT);
    assert_message_contains(&error, "overlap");
    free(content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_array_of_an_archive_is_read),
        cmocka_unit_test(deflated_entry_is_read),
        cmocka_unit_test(archive_without_an_array_is_refused),
        cmocka_unit_test(other_compression_than_numpys_is_refused),
        cmocka_unit_test(entry_that_claims_too_many_bytes_is_refused),
        cmocka_unit_test(archive_cut_off_anywhere_is_refused),
        cmocka_unit_test(changed_byte_of_the_data_is_noticed),
        cmocka_unit_test(what_is_written_is_mapped_aligned_under_its_names),
        cmocka_unit_test(an_archive_without_arrays_begins_as_numpys_does),
        cmocka_unit_test(a_device_is_refused_before_anything_is_written),
        cmocka_unit_test(two_arrays_of_one_name_are_refused),
        cmocka_unit_test(members_that_overlap_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
