/* test_check_output.c: what a check wrote, fit for the log. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/check/output.h"

static char *render(const char *data, size_t size)
{
    struct string_builder builder;

    string_init(&builder);
    check_output_render(&(struct process_output){.data = data, .size = size}, &builder);
    return string_take(&builder);
}

static void assert_rendered(const char *data, size_t size, const char *expected)
{
    char *rendered = render(data, size);

    assert_string_equal(rendered, expected);
    free(rendered);
}

#define ASSERT_RENDERED(literal, expected) assert_rendered((literal), sizeof(literal) - 1, (expected))

static void valid_text_stays_as_it_is_but_for_its_colors(void **state)
{
    ASSERT_RENDERED("", "");
    assert_rendered(NULL, 0, "");
    ASSERT_RENDERED("plain\n\ttext \x1b[31mred\x1b[0m größe €\n", "plain\n\ttext red größe €\n");
}

static void bytes_that_are_not_utf8_are_written_out(void **state)
{
    ASSERT_RENDERED("a\xff\xc3(b", "a\\xff\\xc3(b");
    ASSERT_RENDERED("nul\0nul", "nul\\x00nul");
    ASSERT_RENDERED("torn \xe2\x82", "torn \\xe2\\x82");
}

static void of_a_long_output_both_ends_are_shown(void **state)
{
    size_t size = 2 * CHECK_OUTPUT_SHOWN + 1000;
    char *data = memory_alloc(size);
    const char *expected_gap = "\n[... 1000 bytes left out ...]\n";

    memset(data, 'h', size / 2);
    memset(data + size / 2, 't', size - size / 2);
    char *rendered = render(data, size);
    assert_int_equal(strlen(rendered), 2 * CHECK_OUTPUT_SHOWN + strlen(expected_gap));
    assert_int_equal(strspn(rendered, "h"), CHECK_OUTPUT_SHOWN);
    assert_memory_equal(rendered + CHECK_OUTPUT_SHOWN, expected_gap, strlen(expected_gap));
    assert_int_equal(strspn(rendered + CHECK_OUTPUT_SHOWN + strlen(expected_gap), "t"), CHECK_OUTPUT_SHOWN);
    free(rendered);
    free(data);
}

static void output_at_the_limit_is_shown_whole(void **state)
{
    size_t size = 2 * CHECK_OUTPUT_SHOWN;
    char *data = memory_alloc(size);

    memset(data, 'x', size);
    char *rendered = render(data, size);
    assert_int_equal(strspn(rendered, "x"), size);
    assert_int_equal(strlen(rendered), size);
    free(rendered);
    free(data);
}

static void no_character_is_torn_where_output_is_left_out(void **state)
{
    size_t count = CHECK_OUTPUT_SHOWN; /* three bytes each: both cuts would fall inside of a character */
    char *data = memory_alloc(count * 3);

    for (size_t i = 0; i < count; i++)
        memcpy(data + 3 * i, "€", 3);
    char *rendered = render(data, count * 3);
    assert_null(strstr(rendered, "\\x"));
    assert_non_null(strstr(rendered, "€\n[... "));
    assert_non_null(strstr(rendered, "bytes left out ...]\n€"));
    free(rendered);
    free(data);
}

/* What becomes of `text`, in which a candidate at `actual` is called `usual`. */
static void assert_renamed(const char *text, size_t size, const char *actual, const char *usual, const char *expected)
{
    struct process_output output = {.data = memory_alloc(size + 1), .size = size, .fd = -1, .truncated = true};

    memcpy((char *)output.data, text, size);
    check_output_rename(&output, actual, usual);
    assert_int_equal(output.size, strlen(expected));
    assert_memory_equal(output.data, expected, output.size);
    assert_true(output.truncated);
    process_output_release(&output);
}

#define ASSERT_RENAMED(literal, actual, usual, expected)                                                               \
    assert_renamed((literal), sizeof(literal) - 1, (actual), (usual), (expected))

static void path_of_a_candidate_becomes_its_usual_one(void **state)
{
    ASSERT_RENAMED("loading work/c.3.onnx", "work/c.3.onnx", "c.onnx", "loading c.onnx");
    ASSERT_RENAMED("work/c.3.onnxwork/c.3.onnx\n", "work/c.3.onnx", "c.onnx", "c.onnxc.onnx\n");
    ASSERT_RENAMED("c.onnx is long", "c.onnx", "much/longer.onnx", "much/longer.onnx is long");
}

static void name_of_a_candidate_in_another_folder_becomes_the_usual_one(void **state)
{
    ASSERT_RENAMED("/real/work/c.3.onnx: bad", "work/c.3.onnx", "here/c.onnx", "/real/here/c.onnx: bad");
    ASSERT_RENAMED("/link/c.3.onnx: bad", "work/c.3.onnx", "here/c.onnx", "/link/c.onnx: bad");
    ASSERT_RENAMED("/link/c.onnx: bad", "work/c.onnx", "here/c.onnx", "/link/c.onnx: bad"); /* the same name */
}

static void output_without_it_stays_as_it_is(void **state)
{
    ASSERT_RENAMED("", "work/c.3.onnx", "c.onnx", "");
    ASSERT_RENAMED("nothing of the kind", "work/c.3.onnx", "c.onnx", "nothing of the kind");
    ASSERT_RENAMED("c.3.onn", "c.3.onnx", "c.onnx", "c.3.onn");
}

static void output_in_a_file_is_renamed_too(void **state)
{
    const char *const arguments[] = {"sh", "-c", "yes c.3.onnx | head -c 6000000", NULL};
    struct process_result result;

    assert_int_equal(process_run(&(struct process_request){.arguments = arguments}, &result, NULL), 0);
    assert_true(result.out.fd >= 0);
    check_output_rename(&result.out, "c.3.onnx", "c.onnx");
    assert_true(result.out.size > 4000000);
    for (size_t i = 0; i + 7 <= result.out.size; i += 7)
        assert_memory_equal(result.out.data + i, "c.onnx\n", 7);
    process_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_text_stays_as_it_is_but_for_its_colors),
        cmocka_unit_test(bytes_that_are_not_utf8_are_written_out),
        cmocka_unit_test(of_a_long_output_both_ends_are_shown),
        cmocka_unit_test(output_at_the_limit_is_shown_whole),
        cmocka_unit_test(no_character_is_torn_where_output_is_left_out),
        cmocka_unit_test(path_of_a_candidate_becomes_its_usual_one),
        cmocka_unit_test(name_of_a_candidate_in_another_folder_becomes_the_usual_one),
        cmocka_unit_test(output_without_it_stays_as_it_is),
        cmocka_unit_test(output_in_a_file_is_renamed_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
