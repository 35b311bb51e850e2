/* Content hashes. */
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/hash.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static void text_is_that_of_xxh128sum(void **state)
{
    char text[HASH_TEXT_SIZE];

    hash_to_text(hash_bytes("", 0), text);
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
    hash_to_text(hash_bytes("abc", 3), text);
    assert_string_equal(text, "06b05ab6733a618578af5f94892f3950");
}

static void combination_depends_on_the_order(void **state)
{
    struct hash a = hash_bytes("a", 1), b = hash_bytes("b", 1);

    assert_false(hash_equal(a, b));
    assert_true(hash_equal(hash_combine(a, b), hash_combine(a, b)));
    assert_false(hash_equal(hash_combine(a, b), hash_combine(b, a)));
}

static void file_hashes_like_its_bytes(void **state)
{
    static const size_t sizes[] = {0, 1, 1 << 20, (1 << 20) + 1, 3 << 20};
    char *data = calloc(1, 3 << 20);
    struct hash hash;

    for (size_t i = 0; i < 3 << 20; i++)
        data[i] = (char)(i * i / 7);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(file_write("data", data, sizes[i], FILE_INTERMEDIATE, NULL), 0);
        assert_int_equal(hash_file("data", &hash, NULL), 0);
        assert_true(hash_equal(hash, hash_bytes(data, sizes[i])));
    }
    free(data);
}

static void missing_file_and_folder_are_errors(void **state)
{
    struct hash hash;
    struct error err;

    assert_int_equal(hash_file("missing", &hash, &err), ERR_MISSING);
    assert_non_null(strstr(err.message, "missing"));
    assert_int_equal(hash_file(".", &hash, &err), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_that_of_xxh128sum),
        cmocka_unit_test(combination_depends_on_the_order),
        cmocka_unit_test_setup_teardown(file_hashes_like_its_bytes, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(missing_file_and_folder_are_errors, scratch_folder_enter, scratch_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
