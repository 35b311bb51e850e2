/* test_report.c: what the log says after a check, and shows of what it wrote. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/check/report.h"
#include "support/captured_log.h"

#define OUTPUT(literal)                                                                                                \
    {                                                                                                                  \
        .data = (literal), .size = sizeof(literal) - 1, .fd = -1                                                       \
    }

static const struct check_display plain;
static const struct check_display hidden = {.hide_fail_output = true};

static void assert_report(const struct check_rules *rules, const struct check_display *display,
                          const struct process_result *result, enum verdict verdict, const char *expected)
{
    struct captured_log log;

    captured_log_init(&log);
    check_report(rules, display, result, verdict, false, &log.log);
    assert_string_equal(log.text.data, expected);
    captured_log_release(&log);
}

static void output_of_a_failure_is_shown_unless_hidden(void **state)
{
    struct process_result result = {
        .end = PROCESS_EXITED, .code = 1, .out = OUTPUT("one\ntwo\n"), .error_out = OUTPUT("")};

    assert_report(&(struct check_rules){0}, &plain, &result, VERDICT_FAIL,
                  "I ========== CAPTURED STDOUT ==========\none\ntwo\n\n"
                  "E ========== CAPTURED STDERR ==========\n\n");
    assert_report(&(struct check_rules){0}, &hidden, &result, VERDICT_FAIL, "");
}

static void of_many_lines_the_last_ones_are_shown_unless_all_are_asked_for(void **state)
{
    struct process_result result = {.end = PROCESS_EXITED,
                                    .code = 1,
                                    .out = OUTPUT("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n"),
                                    .error_out = OUTPUT("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")};
    const struct check_display all = {.show_output = true};
    struct captured_log log;

    captured_log_init(&log);
    log.log.threshold = LOG_INFO;
    check_report(&(struct check_rules){0}, &plain, &result, VERDICT_FAIL, false, &log.log);
    assert_string_equal(log.text.data,
                        "I ========== CAPTURED STDOUT ==========\n"
                        "[... 5 earlier lines omitted; --show-output shows them ...]\n6\n7\n8\n9\n10\n11\n\n"
                        "E ========== CAPTURED STDERR ==========\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n\n");
    assert_false(check_report_shows_all(&plain, &result, VERDICT_FAIL, &log.log));
    assert_true(check_report_shows_all(&all, &result, VERDICT_FAIL, &log.log));
    check_report(&(struct check_rules){0}, &all, &result, VERDICT_FAIL, false, &log.log);
    assert_true(captured_log_has(&log, "==\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n\n"));
    log.log.threshold = LOG_VERBOSE;
    assert_true(check_report_shows_all(&plain, &result, VERDICT_FAIL, &log.log));
    captured_log_release(&log);
}

static void output_of_a_pass_is_shown_when_asked_for(void **state)
{
    struct process_result result = {.end = PROCESS_EXITED, .out = OUTPUT("o"), .error_out = OUTPUT("e")};

    assert_report(&(struct check_rules){0}, &plain, &result, VERDICT_PASS, "");
    assert_report(&(struct check_rules){0}, &(struct check_display){.show_output = true}, &result, VERDICT_PASS,
                  "I ========== CAPTURED STDOUT ==========\no\n"
                  "W ========== CAPTURED STDERR ==========\ne\n");
}

static void time_out_is_told(void **state)
{
    struct check_rules rules = {.timeout = 0.2};
    struct process_result result = {.end = PROCESS_TIMED_OUT, .seconds = 0.2};

    assert_report(&rules, &hidden, &result, VERDICT_FAIL, "W Check timed out after 0.2 s; process group killed\n");
    assert_report(&rules, &hidden, &result, VERDICT_PASS,
                  "W Check timed out after 0.2 s; process group killed (code 124 counts as a "
                  "pass)\n");
}

static void crash_that_counts_as_a_pass_is_told(void **state)
{
    const char *pattern = "x";
    const int eleven[] = {-11};
    struct check_rules rules = {.fail_patterns = {&pattern, 1}};
    struct process_result result = {.end = PROCESS_SIGNALED, .code = 11};

    assert_report(&rules, &plain, &result, VERDICT_PASS,
                  "W The check was killed by signal 11. It counts as a pass, because no --fail-regex matched\n");
    rules.ignored_codes.items = eleven;
    rules.ignored_codes.count = 1;
    assert_report(&rules, &plain, &result, VERDICT_PASS, "");
}

static void long_check_without_a_limit_gives_one_hint(void **state)
{
    struct check_rules rules = {0};
    struct process_result result = {.end = PROCESS_EXITED, .seconds = CHECK_LONG_SECONDS + 1};
    struct captured_log log;

    captured_log_init(&log);
    check_report(&rules, &plain, &result, VERDICT_PASS, true, &log.log);
    assert_true(captured_log_has(&log, "I The check took more than a minute"));
    assert_true(captured_log_has(&log, "--check-timeout"));
    string_clear(&log.text);
    check_report(&rules, &plain, &result, VERDICT_PASS, false, &log.log);
    assert_int_equal(log.text.size, 0);
    captured_log_release(&log);

    rules.timeout = 100;
    assert_report(&rules, &plain, &result, VERDICT_PASS, "");
}

static void shell_that_found_no_command_is_told_once(void **state)
{
    const struct check_rules rules = {0};
    struct process_result result = {.end = PROCESS_EXITED, .code = 127};
    struct captured_log log;

    captured_log_init(&log);
    check_report(&rules, &hidden, &result, VERDICT_FAIL, true, &log.log);
    assert_true(captured_log_has(&log, "W The shell exited with code 127"));
    string_clear(&log.text);
    check_report(&rules, &hidden, &result, VERDICT_FAIL, false, &log.log);
    assert_int_equal(log.text.size, 0);
    captured_log_release(&log);
}

static void lost_output_is_told(void **state)
{
    struct process_result result = {.end = PROCESS_EXITED, .out = {.truncated = true}};

    assert_report(&(struct check_rules){0}, &plain, &result, VERDICT_PASS,
                  "W The disk of temporary files is full: part of the check's output was lost\n");
}

/* ---- What it wrote ---- */

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
        cmocka_unit_test(output_of_a_failure_is_shown_unless_hidden),
        cmocka_unit_test(of_many_lines_the_last_ones_are_shown_unless_all_are_asked_for),
        cmocka_unit_test(output_of_a_pass_is_shown_when_asked_for),
        cmocka_unit_test(time_out_is_told),
        cmocka_unit_test(crash_that_counts_as_a_pass_is_told),
        cmocka_unit_test(long_check_without_a_limit_gives_one_hint),
        cmocka_unit_test(shell_that_found_no_command_is_told_once),
        cmocka_unit_test(lost_output_is_told),
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
