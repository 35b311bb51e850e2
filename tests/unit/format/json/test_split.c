/* test_split.c: arrays and objects in pieces. */
#include <stdlib.h>

#include "format/json/split.h"
#include "support/unit_test.h"

static void assert_pieces(const struct json_pieces *pieces, const char *const *expected, size_t count)
{
    assert_int_equal(pieces->count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(text_equal(pieces->items[i], text_of(expected[i])));
}

static void an_array_is_split_at_its_own_commas(void **state)
{
    static const char *const expected[] = {"{\"a\": [1, 2]}", "\"x,\\\"],\\\\\"", "-1.5", "[]"};
    struct json_pieces pieces = {0};

    (void)state;
    assert_true(json_split_array(TEXT(" [ {\"a\": [1, 2]} , \"x,\\\"],\\\\\",-1.5\n,[] ]\n"), NULL, &pieces));
    assert_pieces(&pieces, expected, 4);
    free(pieces.items);
}

static void an_object_is_split_into_names_and_values(void **state)
{
    static const char *const expected[] = {"\"lst\"", "[[1], {\"b\": 2}]", "\"c:\"", "null"};
    struct json_pieces pieces = {0};

    (void)state;
    assert_true(json_split_object(TEXT("{\"lst\": [[1], {\"b\": 2}], \"c:\":null}"), NULL, &pieces));
    assert_pieces(&pieces, expected, 4);
    free(pieces.items);
}

static void nothing_is_in_what_is_empty(void **state)
{
    struct json_pieces pieces = {0};

    (void)state;
    assert_true(json_split_array(TEXT("[]"), NULL, &pieces));
    assert_true(json_split_object(TEXT("{ }"), NULL, &pieces));
    assert_int_equal(pieces.count, 0);
}

static void damage_is_noticed(void **state)
{
    static const char *const arrays[] = {"",     "[",     "[1", "[1,",  "[1,]",  "[,1]",      "[1 2]",
                                         "[1]]", "[1] x", "{}", "[[1]", "[\"a]", "[\"a\\\"]", "1"};
    static const char *const objects[] = {"{\"a\"}", "{\"a\":}", "{1: 2}", "{\"a\": 1", "{\"a\" 1}", "[]"};
    struct json_pieces pieces = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
        assert_false(json_split_array(text_of(arrays[i]), NULL, &pieces));
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++)
        assert_false(json_split_object(text_of(objects[i]), NULL, &pieces));
    free(pieces.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_split_at_its_own_commas),
        cmocka_unit_test(an_object_is_split_into_names_and_values),
        cmocka_unit_test(nothing_is_in_what_is_empty),
        cmocka_unit_test(damage_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
