/* Inputs and results in archives of named arrays. */
#include "support/format_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/polygraphy/array_archive.h"

static struct tensor byte_tensor(const uint8_t *byte)
{
    struct tensor tensor;

    tensor_borrow(DATA_UINT8, &(struct shape){1, {1}}, byte, 1, &tensor);
    return tensor;
}

/* Writes arrays of one byte, 0, 1, 2, ..., with these names. */
static void write_safetensors(const char *path, const char *const *names, size_t count, const char *kind,
                              const char *key, const char *value)
{
    char *texts[] = {memory_strdup(SAFETENSORS_KIND), memory_strdup(kind), memory_strdup(key), memory_strdup(value)};
    struct safetensors_metadata metadata[] = {{texts[0], texts[1]}, {texts[2], texts[3]}};
    struct safetensors_writer writer;

    assert_int_equal(safetensors_writer_open(&writer, path, NULL), 0);
    for (uint8_t i = 0; i < count; i++) {
        struct tensor tensor = byte_tensor(&i);

        assert_int_equal(safetensors_writer_add(&writer, names[i], &tensor, NULL), 0);
    }
    assert_int_equal(safetensors_writer_commit(&writer, metadata, 2, NULL), 0);
    safetensors_writer_release(&writer);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
}

static void write_npz(const char *path, const char *const *names, size_t count)
{
    struct npz_writer writer;

    assert_int_equal(npz_writer_open(&writer, path, NULL), 0);
    for (uint8_t i = 0; i < count; i++) {
        struct tensor tensor = byte_tensor(&i);

        assert_int_equal(npz_writer_add(&writer, names[i], &tensor, NULL), 0);
    }
    assert_int_equal(npz_writer_commit(&writer, FILE_INTERMEDIATE, NULL), 0);
    npz_writer_release(&writer);
}

/* The set has these two arrays. */
static void assert_set(struct array_archive *archive, size_t set, const char *first, int first_byte, const char *second,
                       int second_byte)
{
    struct tensor_list tensors = {0};

    assert_int_equal(array_archive_read(archive, set, &tensors, NULL), 0);
    assert_int_equal(tensors.count, 2);
    assert_string_equal(tensors.items[0].name, first);
    assert_int_equal(*(const uint8_t *)tensors.items[0].tensor.data, first_byte);
    assert_string_equal(tensors.items[1].name, second);
    assert_int_equal(*(const uint8_t *)tensors.items[1].tensor.data, second_byte);
    tensor_list_release(&tensors);
}

static void iterations_are_found_in_any_order(void **state)
{
    static const char *const names[] = {"1/x", "0/x", "0/y", "1/2/y"};
    char *npz = memory_strdup(scratch_path("order.npz")), *tensors = memory_strdup(scratch_path("order.safetensors"));
    const char *const paths[] = {npz, tensors};

    write_npz(npz, names, 4);
    write_safetensors(tensors, names, 4, SAFETENSORS_INPUTS, "iterations", "2");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct array_archive archive;

        assert_int_equal(array_archive_open(paths[i], array_archive_format(paths[i]), &archive, NULL), 0);
        unlink(paths[i]);
        assert_int_equal(archive.count, 2);
        assert_false(archive.holds_results);
        assert_set(&archive, 1, "x", 0, "2/y", 3);
        assert_set(&archive, 0, "x", 1, "y", 2);
        assert_set(&archive, 1, "x", 0, "2/y", 3);
        array_archive_close(&archive);
    }
    free(npz);
    free(tensors);
}

static void results_are_grouped_by_runners(void **state)
{
    static const char *const names[] = {"0/0/a", "1/0/a", "0/0/b", "1/0/b"};
    const char *path = scratch_path("results.safetensors");
    struct array_archive archive;

    write_safetensors(path, names, 4, SAFETENSORS_RESULTS, "runners",
                      "[{\"name\":\"r\",\"runtimes\":[null]},{\"name\":\"s\",\"runtimes\":[1.5,2]}]");
    assert_int_equal(array_archive_open(path, ARCHIVE_SAFETENSORS, &archive, NULL), 0);
    unlink(path);
    assert_true(archive.holds_results);
    assert_int_equal(archive.count, 3);
    assert_int_equal(archive.runners[1].first, 1);
    assert_true(archive.runners[1].runtimes[1] == 2);
    assert_set(&archive, 0, "a", 0, "b", 2);
    assert_set(&archive, 1, "a", 1, "b", 3);
    array_archive_close(&archive);
}

static void two_arrays_of_one_name_are_refused(void **state)
{
    static const char *const names[] = {"0/x", "1/x", "1/x"};
    const char *path = scratch_path("doubled.safetensors");
    struct tensor_list tensors = {0};
    struct array_archive archive;
    struct error error = {0};

    write_safetensors(path, names, 3, SAFETENSORS_INPUTS, "iterations", "2");
    assert_int_equal(array_archive_open(path, ARCHIVE_SAFETENSORS, &archive, NULL), 0);
    unlink(path);
    assert_int_equal(array_archive_read(&archive, 1, &tensors, &error), ERR_CORRUPT);
    assert_message_contains(&error, "two arrays 'x'");
    tensor_list_release(&tensors);
    array_archive_close(&archive);
}

static void iterations_that_are_not_numbered_in_order_are_refused(void **state)
{
    static const char *const names[] = {"0/x", "2/x", "2/y"};
    const char *path = scratch_path("gap.npz");
    struct array_archive archive;
    struct error error = {0};

    write_npz(path, names, 3);
    assert_int_equal(array_archive_open(path, ARCHIVE_NPZ, &archive, &error), ERR_CORRUPT);
    assert_message_contains(&error, "'1/...'");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_found_in_any_order),
        cmocka_unit_test(results_are_grouped_by_runners),
        cmocka_unit_test(two_arrays_of_one_name_are_refused),
        cmocka_unit_test(iterations_that_are_not_numbered_in_order_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
