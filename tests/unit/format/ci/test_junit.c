/* Test results as XML: counts, what may stand in it, and that it is there or not. */
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/text/xml.h"
#include "format/ci/junit.h"

static void file_has_all_cases_and_their_counts(void **state)
{
    struct junit *junit = junit_new("polygraphy run", "polygraphy.model");

    assert_int_equal(junit_count(junit), 0);
    junit_add_property(junit, "command", "polygraphy run 'a & b'");
    junit_add_case(junit, &(struct junit_case){.name = "y", .outcome = JUNIT_PASSED, .seconds = 1.5});
    junit_add_case(junit, &(struct junit_case){.name = "z",
                                               .outcome = JUNIT_FAILED,
                                               .message = "1 < 2",
                                               .details = TEXT("line 1\nline 2\n"),
                                               .seconds = NAN});
    junit_add_case(
        junit, &(struct junit_case){.name = "run", .outcome = JUNIT_ERROR, .message = "two\nlines", .seconds = NAN});
    junit_add_case(junit,
                   &(struct junit_case){.name = "s", .outcome = JUNIT_SKIPPED, .message = "not run", .seconds = NAN});
    junit_add_case(junit, &(struct junit_case){
                              .name = "p", .outcome = JUNIT_PASSED, .details = TEXT("a warning"), .seconds = NAN});
    junit_add_line(junit, "iteration %d", 1);
    assert_int_equal(junit_count(junit), 5);
    assert_int_equal(junit_count_bad(junit), 2);
    assert_int_equal(junit_save(junit, "results.xml", 2, NULL), 0);
    junit_free(junit);
    assert_true(scratch_file_is("results.xml",
                                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                "<testsuites tests=\"5\" failures=\"1\" errors=\"1\" time=\"2.000\">\n"
                                "  <testsuite name=\"polygraphy run\" tests=\"5\" failures=\"1\" errors=\"1\" "
                                "time=\"2.000\" skipped=\"1\">\n"
                                "    <properties>\n"
                                "      <property name=\"command\" value=\"polygraphy run 'a &amp; b'\"/>\n"
                                "    </properties>\n"
                                "    <testcase classname=\"polygraphy.model\" name=\"y\" time=\"1.500\"/>\n"
                                "    <testcase classname=\"polygraphy.model\" name=\"z\">\n"
                                "      <failure message=\"1 &lt; 2\">line 1\nline 2\n</failure>\n"
                                "    </testcase>\n"
                                "    <testcase classname=\"polygraphy.model\" name=\"run\">\n"
                                "      <error message=\"two&#10;lines\"/>\n"
                                "    </testcase>\n"
                                "    <testcase classname=\"polygraphy.model\" name=\"s\">\n"
                                "      <skipped message=\"not run\"/>\n"
                                "    </testcase>\n"
                                "    <testcase classname=\"polygraphy.model\" name=\"p\">\n"
                                "      <system-out>a warning</system-out>\n"
                                "    </testcase>\n"
                                "    <system-out>iteration 1\n</system-out>\n"
                                "  </testsuite>\n"
                                "</testsuites>\n"));
}

static void nothing_happens_where_none_is_wanted(void **state)
{
    junit_add_property(NULL, "a", "b");
    junit_add_case(NULL, &(struct junit_case){.name = "y", .outcome = JUNIT_FAILED, .message = "no", .seconds = NAN});
    junit_add_line(NULL, "line");
    assert_int_equal(junit_count(NULL), 0);
    assert_int_equal(junit_count_bad(NULL), 0);
    assert_int_equal(junit_save(NULL, "none.xml", 0, NULL), 0);
    assert_false(file_exists("none.xml"));
    junit_free(NULL);
}

static void cases_of_one_name_are_told_apart(void **state)
{
    static const char *const names[] = {"y", "y (2)", "y", "y"};
    struct junit *junit = junit_new("n", "g");
    char *text;
    size_t size;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        junit_add_case(junit, &(struct junit_case){.name = names[i], .outcome = JUNIT_PASSED, .seconds = NAN});
    assert_int_equal(junit_save(junit, "results.xml", 0, NULL), 0);
    assert_int_equal(file_read("results.xml", 4096, &text, &size, NULL), 0);
    assert_non_null(strstr(text, " name=\"y\"/>"));
    assert_non_null(strstr(text, " name=\"y (2)\"/>"));
    assert_non_null(strstr(text, " name=\"y (3)\"/>"));
    assert_non_null(strstr(text, " name=\"y (4)\"/>"));
    free(text);
    junit_free(junit);
}

static void what_cannot_be_written_is_an_error(void **state)
{
    struct junit *junit = junit_new("n", "g");
    struct error err;

    assert_int_equal(file_write("file", "", 0, FILE_INTERMEDIATE, NULL), 0);
    assert_true(junit_save(junit, "file/results.xml", 0, &err) < 0);
    assert_non_null(strstr(err.message, "--junit"));
    junit_free(junit);
}

static void any_bytes_become_text_of_xml(void **state)
{
    const struct {
        struct text in;
        const char *content, *attribute;
    } cases[] = {
        {TEXT("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;'", " n=\"&lt;a href=&quot;x&quot;&gt;&amp;'\""},
        {TEXT("a\tb\nc"), "a\tb\nc", " n=\"a&#9;b&#10;c\""},
        {TEXT("a\0b\x1b[0m\x7f\r"), "a\uFFFDb\uFFFD[0m\uFFFD\uFFFD", " n=\"a\uFFFDb\uFFFD[0m\uFFFD\uFFFD\""},
        {TEXT("\xff\xc3("
              "\xed\xa0\x80"),
         "\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD", " n=\"\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD\""},
        {TEXT("\xef\xbf\xbe\xef\xbf\xbf"), "\uFFFD\uFFFD", " n=\"\uFFFD\uFFFD\""},
        {TEXT("]]>"), "]]&gt;", " n=\"]]&gt;\""},
        {TEXT("\u00fc\u6f22\U0001F600"), "\u00fc\u6f22\U0001F600", " n=\"\u00fc\u6f22\U0001F600\""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct string_builder text;

        string_init(&text);
        xml_add_content(&text, cases[i].in);
        assert_string_equal(text.data, cases[i].content);
        string_clear(&text);
        xml_add_attribute(&text, "n", cases[i].in);
        assert_string_equal(text.data, cases[i].attribute);
        string_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_has_all_cases_and_their_counts, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(nothing_happens_where_none_is_wanted, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(cases_of_one_name_are_told_apart, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_an_error, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test(any_bytes_become_text_of_xml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
