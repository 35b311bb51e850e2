/* .npz files: the first array, and archives that lie. */
#include "support/format_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/numpy/npy.h"

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
    assert_message_contains(&error, "without an array");
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
