/* base64 of RFC 4648. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/base64.h"
#include "support/unit_test.h"

static void vectors_of_the_rfc_are_met(void **state)
{
    static const char *const vectors[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };

    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        char text[16] = "";
        uint8_t data[16];
        size_t size = strlen(vectors[i][0]), length = strlen(vectors[i][1]);
        assert_int_equal(BASE64_ENCODED_SIZE(size), length);
        base64_encode(vectors[i][0], size, text);
        assert_string_equal(text, vectors[i][1]);
        assert_int_equal(base64_decode(text, length, data), size);
        assert_memory_equal(data, vectors[i][0], size);
    }
}

static void whole_alphabet_is_used(void **state)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t data[48];
    char text[64];

    assert_int_equal(base64_decode(alphabet, 64, data), 48);
    base64_encode(data, 48, text);
    assert_memory_equal(text, alphabet, 64);
}

/* Buffers are exactly as large as promised, so that a sanitizer sees a byte too many. */
static void data_of_every_length_survive(void **state)
{
    uint32_t random = 1;

    for (size_t size = 0; size < 200; size++) {
        uint8_t *data = malloc(size + 1), *again = malloc(BASE64_ENCODED_SIZE(size) / 4 * 3 + 1);
        char *text = malloc(BASE64_ENCODED_SIZE(size) + 1);
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
        base64_encode(data, size, text);
        assert_int_equal(base64_decode(text, BASE64_ENCODED_SIZE(size), again), size);
        assert_memory_equal(again, data, size);
        free(data);
        free(again);
        free(text);
    }
}

static void anything_but_base64_is_refused(void **state)
{
    static const char *const wrong[] = {
        "A",    "AA",    "AAA",      "=",        "====", "A===",   "AA=A", "A=AA",       "=AAA",
        "AA= ", "AA\n=", "AA==AAAA", "AAAAA===", "AA-_", "AAAA\n", "AA A", "AA\xC3\xA9", "\x80\x80\x80\x80",
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        uint8_t data[16];
        assert_true(base64_decode(wrong[i], strlen(wrong[i]), data) == SIZE_MAX);
    }
}

static void every_single_foreign_byte_is_refused(void **state)
{
    for (int byte = 0; byte < 256; byte++) {
        bool known = strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", byte) && byte != 0;
        for (size_t position = 0; position < 4; position++) {
            char text[] = "AAAAAAAA";
            uint8_t data[6];
            text[position] = (char)byte;
            assert_int_equal(base64_decode(text, 8, data) == 6, known);
        }
    }
}

static void spare_bits_may_be_set(void **state)
{
    uint8_t data[3];

    assert_int_equal(base64_decode("Zh==", 4, data), 1);
    assert_int_equal(data[0], 'f');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_rfc_are_met),           cmocka_unit_test(whole_alphabet_is_used),
        cmocka_unit_test(data_of_every_length_survive),         cmocka_unit_test(anything_but_base64_is_refused),
        cmocka_unit_test(every_single_foreign_byte_is_refused), cmocka_unit_test(spare_bits_may_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
