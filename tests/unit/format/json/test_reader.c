/* The JSON reader: what goes by reference, what jansson sees, and where errors are said to be. */
#include "support/format_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "format/json/reader.h"

static char x300[301]; /* a string that is long enough to go by reference */

static void open_text(struct json_reader *reader, const char *text)
{
    struct error error = {0};

    if (json_reader_open_memory(reader, text, strlen(text), "test.json", &error) < 0)
        fail_msg("%s", error.message);
}

static void assert_member(struct json_reader *reader, const char *key, const char *expected)
{
    struct text text = {0};
    struct error error = {0};

    if (json_reader_text(reader, json_object_get(reader->root, key), &text, &error) < 0)
        fail_msg("%s: %s", key, error.message);
    assert_int_equal(text.size, strlen(expected));
    assert_string_equal(text.data, expected);
}

static void refused(const char *text, size_t size, const char *part)
{
    struct error error = {0};
    struct json_reader reader = {0};

    assert_int_equal(json_reader_open_memory(&reader, text, size, "test.json", &error), ERR_CORRUPT);
    assert_message_contains(&error, "'test.json'");
    assert_message_contains(&error, part);
}

static void long_string_is_found_where_it_lies_in_the_file(void **state)
{
    char json[400];
    struct json_reader reader;
    struct text raw;

    snprintf(json, sizeof(json), "{\"k\": \"%s\"}", x300);
    open_text(&reader, json);
    assert_true(json_reader_raw_text(&reader, json_object_get(reader.root, "k"), &raw));
    assert_ptr_equal(raw.data, json + 7);
    assert_int_equal(raw.size, 300);
    assert_member(&reader, "k", x300);
    json_reader_release(&reader);
}

static void text_that_looks_like_a_reference_is_read_as_it_stands(void **state)
{
    char json[800];
    struct json_reader reader;

    snprintf(json, sizeof(json),
             "{\"a\": \"@0\", \"b\": \"@\", \"c\": \"\\u00400\", \"d\": \"%s\", \"e\": \"@99999999999999999999\"}",
             x300);
    open_text(&reader, json);
    assert_member(&reader, "a", "@0");
    assert_member(&reader, "b", "@");
    assert_member(&reader, "c", "@0");
    assert_member(&reader, "d", x300);
    assert_member(&reader, "e", "@99999999999999999999");
    json_reader_release(&reader);
}

static void member_names_may_be_long_or_escaped(void **state)
{
    char json[800];
    struct json_reader reader;

    snprintf(json, sizeof(json), "{\"%s\" \n : \"1\", \"@0\": \"2\", \"\\u0061\": \"3\"}", x300);
    open_text(&reader, json);
    assert_member(&reader, x300, "1");
    assert_member(&reader, "@0", "2");
    assert_member(&reader, "a", "3");
    json_reader_release(&reader);
}

static void escapes_and_surrogate_pairs_become_utf8(void **state)
{
    struct json_reader reader;

    open_text(&reader, "{\"k\": \"\\\"\\\\\\/\\n\\u00e9\\ud83d\\ude00\", \"end\": \"\\\\\"}");
    assert_member(&reader, "k", "\"\\/\n\xc3\xa9\xf0\x9f\x98\x80");
    assert_member(&reader, "end", "\\");
    json_reader_release(&reader);
}

static void bare_words_are_numbers_outside_of_strings_only(void **state)
{
    struct json_reader reader;
    double value;

    open_text(&reader,
              "{\"a\": NaN, \"b\": -Infinity, \"c\": Infinity, \"d\": \"NaN\", \"e\": -1.5, \"f\": 2, \"g\": null}");
    assert_true(json_reader_number(&reader, json_object_get(reader.root, "a"), &value) && isnan(value));
    assert_true(json_reader_number(&reader, json_object_get(reader.root, "b"), &value) && value == -INFINITY);
    assert_true(json_reader_number(&reader, json_object_get(reader.root, "c"), &value) && value == INFINITY);
    assert_true(json_reader_number(&reader, json_object_get(reader.root, "e"), &value) && value == -1.5);
    assert_true(json_reader_number(&reader, json_object_get(reader.root, "f"), &value) && value == 2);
    assert_false(json_reader_number(&reader, json_object_get(reader.root, "d"), &value));
    assert_false(json_reader_number(&reader, json_object_get(reader.root, "g"), &value));
    assert_member(&reader, "d", "NaN");
    json_reader_release(&reader);
}

static void bare_word_is_no_string(void **state)
{
    struct json_reader reader;
    struct text text;
    struct error error = {0};

    open_text(&reader, "{\"a\": NaN}");
    assert_int_equal(json_reader_text(&reader, json_object_get(reader.root, "a"), &text, &error), ERR_CORRUPT);
    assert_int_equal(json_reader_text(&reader, NULL, &text, &error), ERR_CORRUPT);
    json_reader_release(&reader);
}

static void last_of_equal_members_wins(void **state)
{
    struct json_reader reader;

    open_text(&reader, "{\"k\": \"1\", \"k\": \"2\"}");
    assert_member(&reader, "k", "2");
    json_reader_release(&reader);
}

static void errors_tell_byte_and_line_of_the_file(void **state)
{
    char json[800];

    snprintf(json, sizeof(json), "{\"k\": \"%s\",\n \"n\": NaN,\n \"m\": ?}", x300);
    char where[32];
    snprintf(where, sizeof(where), "byte %zu, line 3", strlen(json) - 1);
    refused(json, strlen(json), where);
}

static void string_without_an_end_is_refused_with_its_start(void **state)
{
    refused("[\"abc\", \"de\\\"", 12, "string at byte 8 is not terminated");
}

static void what_is_no_json_is_refused(void **state)
{
    refused("", 0, "byte 0");
    refused("[1 2]", 5, "line 1");
    refused("[1NaN]", 6, "line 1");
    refused("[NaNs]", 6, "line 1");
    refused("\"text\"", 6, "line 1");
    refused(" \n\tNaN", 6, "byte 3, line 2: '[' or '{' expected");
    refused("ftrt\"...", 8, "byte 0, line 1"); /* nobody looks for the end of the string in an engine */
    refused("[]]", 3, "line 1");
    refused("{\"a\\u0000\": 1}", 14, "NUL");
    refused("[\"\xff\"]", 5, "0xff");
    refused("[\0]", 3, "line 1");
}

static void nesting_has_a_limit(void **state)
{
    size_t size = 1000000;
    char *json = malloc(size);

    memset(json, '[', size);
    refused(json, size, "depth");
    free(json);
}

static void damaged_long_string_is_refused_when_it_is_asked_for(void **state)
{
    char json[800];
    struct json_reader reader;
    struct text text;
    struct error error = {0};

    snprintf(json, sizeof(json), "{\"bad\": \"%s\xff\", \"nul\": \"a\\u0000b\", \"lone\": \"\\ud800\"}", x300);
    open_text(&reader, json);
    assert_int_equal(json_reader_text(&reader, json_object_get(reader.root, "bad"), &text, &error), ERR_CORRUPT);
    assert_message_contains(&error, "byte 8");
    assert_int_equal(json_reader_text(&reader, json_object_get(reader.root, "lone"), &text, &error), ERR_CORRUPT);
    assert_int_equal(json_reader_text(&reader, json_object_get(reader.root, "nul"), &text, &error), ERR_CORRUPT);
    assert_message_contains(&error, "NUL");
    assert_int_equal(json_reader_long_text(&reader, json_object_get(reader.root, "nul"), &text, &error), 0);
    assert_int_equal(text.size, 3);
    assert_memory_equal(text.data, "a\0b", 3);
    json_reader_release(&reader);
}

static void pipe_is_read_like_a_file(void **state)
{
    const char json[] = "{\"k\": \"from a pipe\"}";
    struct json_reader reader;
    struct error error = {0};
    char path[64];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], json, strlen(json)), strlen(json));
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    if (json_reader_open(&reader, path, &error) < 0)
        fail_msg("%s", error.message);
    assert_member(&reader, "k", "from a pipe");
    json_reader_release(&reader);
    close(ends[0]);
}

static void empty_file_is_no_json(void **state)
{
    const char *path = scratch_path("empty.json");
    struct json_reader reader;
    struct error error = {0};

    assert_int_equal(file_write(path, "", 0, FILE_INTERMEDIATE, NULL), 0);
    assert_int_equal(json_reader_open(&reader, path, &error), ERR_CORRUPT);
    assert_message_contains(&error, "end of file");
    unlink(path);
}

static void missing_file_and_folder_are_told_apart(void **state)
{
    struct json_reader reader;
    struct error error = {0};

    assert_int_equal(json_reader_open(&reader, "tests/golden/no such file.json", &error), ERR_MISSING);
    assert_int_equal(json_reader_open(&reader, "tests/golden", &error), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_string_is_found_where_it_lies_in_the_file),
        cmocka_unit_test(text_that_looks_like_a_reference_is_read_as_it_stands),
        cmocka_unit_test(member_names_may_be_long_or_escaped),
        cmocka_unit_test(escapes_and_surrogate_pairs_become_utf8),
        cmocka_unit_test(bare_words_are_numbers_outside_of_strings_only),
        cmocka_unit_test(bare_word_is_no_string),
        cmocka_unit_test(last_of_equal_members_wins),
        cmocka_unit_test(errors_tell_byte_and_line_of_the_file),
        cmocka_unit_test(string_without_an_end_is_refused_with_its_start),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(damaged_long_string_is_refused_when_it_is_asked_for),
        cmocka_unit_test(pipe_is_read_like_a_file),
        cmocka_unit_test(empty_file_is_no_json),
        cmocka_unit_test(missing_file_and_folder_are_told_apart),
    };

    memset(x300, 'x', sizeof(x300) - 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
