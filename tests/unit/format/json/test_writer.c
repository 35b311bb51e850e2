/* The JSON writer, against what Python's json.dumps(value, indent=4) gives. */
#include "support/format_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/base64.h"
#include "format/json/writer.h"

static void layout_is_that_of_python(void **state)
{
    struct json_writer writer;

    json_writer_init(&writer);
    json_writer_begin_object(&writer);
    json_writer_key(&writer, "empty list");
    json_writer_begin_array(&writer);
    json_writer_end_array(&writer);
    json_writer_key(&writer, "empty object");
    json_writer_begin_object(&writer);
    json_writer_end_object(&writer);
    json_writer_key(&writer, "list");
    json_writer_begin_array(&writer);
    json_writer_integer(&writer, INT64_MIN);
    json_writer_boolean(&writer, true);
    json_writer_begin_array(&writer);
    json_writer_null(&writer);
    json_writer_end_array(&writer);
    json_writer_end_array(&writer);
    json_writer_key(&writer, "last");
    json_writer_boolean(&writer, false);
    json_writer_end_object(&writer);
    assert_string_equal(writer.text.data, "{\n"
                                          "    \"empty list\": [],\n"
                                          "    \"empty object\": {},\n"
                                          "    \"list\": [\n"
                                          "        -9223372036854775808,\n"
                                          "        true,\n"
                                          "        [\n"
                                          "            null\n"
                                          "        ]\n"
                                          "    ],\n"
                                          "    \"last\": false\n"
                                          "}");
    json_writer_release(&writer);
}

static void compact_layout_is_one_line(void **state)
{
    struct json_writer writer;

    json_writer_init(&writer);
    writer.compact = true;
    json_writer_begin_object(&writer);
    json_writer_key(&writer, "list");
    json_writer_begin_array(&writer);
    json_writer_integer(&writer, 1);
    json_writer_string(&writer, "a\nb");
    json_writer_end_array(&writer);
    json_writer_key(&writer, "last");
    json_writer_null(&writer);
    json_writer_end_object(&writer);
    assert_string_equal(writer.text.data, "{\"list\": [1,\"a\\nb\"],\"last\": null}");
    json_writer_release(&writer);
}

static void members_are_names_with_values(void **state)
{
    static const char *const names[] = {"a", "b"};
    static const int64_t integers[] = {1, -2};
    struct json_writer writer;

    json_writer_init(&writer);
    writer.compact = true;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "string", "s");
    json_writer_add_string(&writer, "no string", NULL);
    json_writer_add_text(&writer, "text", (struct text){"text", 2});
    json_writer_add_integer(&writer, "integer", -1);
    json_writer_add_count(&writer, "count", 1);
    json_writer_add_number(&writer, "number", 0.5);
    json_writer_add_boolean(&writer, "boolean", true);
    json_writer_add_strings(&writer, "strings", names, 2);
    assert_true(json_writer_key_or_null(&writer, "integers", true));
    json_writer_integers(&writer, integers, 2);
    assert_false(json_writer_key_or_null(&writer, "unknown", false));
    assert_true(json_writer_begin_object_or_null(&writer, "known object", true));
    json_writer_end_object(&writer);
    assert_false(json_writer_begin_object_or_null(&writer, "no object", false));
    json_writer_begin_array_member(&writer, "array");
    json_writer_end_array(&writer);
    json_writer_begin_object_member(&writer, "object");
    json_writer_end_object(&writer);
    json_writer_end_object(&writer);
    assert_string_equal(writer.text.data,
                        "{\"string\": \"s\",\"no string\": null,\"text\": \"te\",\"integer\": -1,\"count\": 1,"
                        "\"number\": 0.5,\"boolean\": true,\"strings\": [\"a\",\"b\"],\"integers\": [1,-2],"
                        "\"unknown\": null,\"known object\": {},\"no object\": null,\"array\": [],\"object\": {}}");
    json_writer_release(&writer);
}

static void assert_string_becomes(const char *string, const char *expected)
{
    struct json_writer writer;

    json_writer_init(&writer);
    json_writer_string(&writer, string);
    assert_string_equal(writer.text.data, expected);
    json_writer_release(&writer);
}

static void strings_are_escaped_to_ascii(void **state)
{
    assert_string_becomes("", "\"\"");
    assert_string_becomes("a/b\"\\ ~", "\"a/b\\\"\\\\ ~\"");
    assert_string_becomes("\b\f\n\r\t\v\x01\x7f", "\"\\b\\f\\n\\r\\t\\u000b\\u0001\\u007f\"");
    assert_string_becomes("\xc3\xa9\xe2\x82\xac", "\"\\u00e9\\u20ac\"");
    assert_string_becomes("\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf", "\"\\ud83d\\ude00\\udbff\\udfff\"");
}

static void bytes_that_are_not_utf8_become_replacement_characters(void **state)
{
    assert_string_becomes("a\xff\xc3", "\"a\\udcff\\udcc3\"");
}

static void assert_number_becomes(double number, const char *expected)
{
    struct json_writer writer;

    json_writer_init(&writer);
    json_writer_number(&writer, number);
    assert_string_equal(writer.text.data, expected);
    json_writer_release(&writer);
}

static void numbers_are_written_as_python_writes_them(void **state)
{
    assert_number_becomes(0.1, "0.1");
    assert_number_becomes(1, "1.0");
    assert_number_becomes(1e-5, "1e-05");
    assert_number_becomes(-0.0, "-0.0");
    assert_number_becomes(NAN, "NaN");
    assert_number_becomes(INFINITY, "Infinity");
    assert_number_becomes(-INFINITY, "-Infinity");
}

/* Bytes that come in pieces of every length up to 20 give the same text as all at once. */
static void base64_does_not_depend_on_how_the_bytes_are_cut(void **state)
{
    uint8_t bytes[100];
    char text[BASE64_ENCODED_SIZE(sizeof(bytes))];
    char expected[sizeof(text) + 3];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 41);
    base64_encode(bytes, sizeof(bytes), text);
    snprintf(expected, sizeof(expected), "\"%.*s\"", (int)sizeof(text), text);
    for (size_t piece = 1; piece <= 20; piece++) {
        struct json_writer writer;

        json_writer_init(&writer);
        json_writer_begin_base64(&writer);
        for (size_t at = 0; at < sizeof(bytes); at += piece) {
            size_t size = sizeof(bytes) - at < piece ? sizeof(bytes) - at : piece;

            assert_int_equal(json_writer_add_base64(&writer, bytes + at, size, NULL), 0);
        }
        json_writer_end_base64(&writer);
        assert_string_equal(writer.text.data, expected);
        json_writer_release(&writer);
    }
}

static void value_that_was_read_is_written_as_it_was(void **state)
{
    const char json[] = "{\n"
                        "    \"z\": [\n"
                        "        1,\n"
                        "        1.0,\n"
                        "        NaN,\n"
                        "        null,\n"
                        "        true\n"
                        "    ],\n"
                        "    \"a\\u00e9\": \"@0\\n\"\n"
                        "}";
    struct json_reader reader;
    struct json_writer writer;
    struct error error = {0};

    assert_int_equal(json_reader_open_memory(&reader, json, strlen(json), "test", &error), 0);
    json_writer_init(&writer);
    assert_int_equal(json_writer_value(&writer, &reader, reader.root, &error), 0);
    assert_string_equal(writer.text.data, json);
    json_writer_release(&writer);
    json_reader_release(&reader);
}

static void full_disk_is_reported_by_commit(void **state)
{
    struct json_writer writer;
    struct error error = {0};
    uint8_t *bytes = calloc(1, 1000000);

    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(json_writer_open(&writer, "/dev/full", &error), 0);
    json_writer_begin_base64(&writer);
    assert_int_equal(json_writer_add_base64(&writer, bytes, 1000000, NULL), ERR_IO);
    json_writer_end_base64(&writer);
    assert_int_equal(json_writer_commit(&writer, FILE_DURABLE, &error), ERR_IO);
    assert_message_contains(&error, "/dev/full");
    json_writer_release(&writer);
    free(bytes);
}

static void no_file_is_left_without_commit(void **state)
{
    struct json_writer writer;
    struct error error = {0};
    const char *path = scratch_path("uncommitted.json");

    assert_int_equal(json_writer_open(&writer, path, &error), 0);
    json_writer_begin_array(&writer);
    json_writer_release(&writer);
    assert_false(file_exists(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_is_that_of_python),
        cmocka_unit_test(compact_layout_is_one_line),
        cmocka_unit_test(members_are_names_with_values),
        cmocka_unit_test(strings_are_escaped_to_ascii),
        cmocka_unit_test(bytes_that_are_not_utf8_become_replacement_characters),
        cmocka_unit_test(numbers_are_written_as_python_writes_them),
        cmocka_unit_test(base64_does_not_depend_on_how_the_bytes_are_cut),
        cmocka_unit_test(value_that_was_read_is_written_as_it_was),
        cmocka_unit_test(full_disk_is_reported_by_commit),
        cmocka_unit_test(no_file_is_left_without_commit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
