/* test_rules.c: from the end of a check to a verdict. */
#include "support/unit_test.h"

#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "base/memory.h"
#include "debug/check/rules.h"

/* Reads a member that is null or a list of integers. */
static size_t read_codes(const json_t *row, const char *name, int ret[4])
{
    const json_t *codes = json_object_get(row, name);

    for (size_t i = 0; i < json_array_size(codes); i++)
        ret[i] = (int)json_integer_value(json_array_get(codes, i));
    return json_array_size(codes);
}

static void every_row_of_the_truth_table_holds(void **state)
{
    json_t *table = json_load_file("tests/golden/pass_fail_truth_table.json", 0, NULL);
    const char *pattern = "anything";
    size_t index;
    json_t *row;

    assert_int_equal(json_array_size(table), 36);
    json_array_foreach (table, index, row) {
        int fail_codes[4], ignored_codes[4];
        int code = (int)json_integer_value(json_object_get(row, "exit"));
        bool matches = json_is_true(json_object_get(row, "output_matches"));
        bool fails = strcmp(json_string_value(json_object_get(row, "result")), "fail") == 0;
        struct check_rules rules = {
            .fail_codes = {fail_codes, read_codes(row, "fail_code", fail_codes)},
            .ignored_codes = {ignored_codes, read_codes(row, "ignore_fail_code", ignored_codes)},
            .fail_patterns = {&pattern, !json_is_null(json_object_get(row, "fail_regex"))},
        };
        if (check_rules_verdict(&rules, code, matches) != (fails ? VERDICT_FAIL : VERDICT_PASS))
            fail_msg("row %zu: exit code %d, output %s", index, code, matches ? "matches" : "does not match");
    }
    json_decref(table);
}

static void signal_n_counts_as_exit_code_minus_n(void **state)
{
    struct process_result killed = {.end = PROCESS_SIGNALED, .code = SIGSEGV};
    struct process_result exited = {.end = PROCESS_EXITED, .code = 139};

    assert_int_equal(check_exit_code(&killed), -11);
    assert_int_equal(check_exit_code(&exited), 139);
}

static void running_out_of_time_counts_as_exit_code_124(void **state)
{
    struct process_result late = {.end = PROCESS_TIMED_OUT, .code = SIGTERM};
    int code = check_exit_code(&late);
    const int listed[] = {124}, other[] = {1};

    assert_int_equal(code, 124);
    assert_int_equal(check_rules_verdict(&(struct check_rules){0}, code, true), VERDICT_FAIL);
    assert_int_equal(check_rules_verdict(&(struct check_rules){.ignored_codes = {listed, 1}}, code, true),
                     VERDICT_PASS);
    assert_int_equal(check_rules_verdict(&(struct check_rules){.fail_codes = {other, 1}}, code, true), VERDICT_PASS);
    assert_int_equal(check_rules_verdict(&(struct check_rules){.fail_codes = {listed, 1}}, code, true), VERDICT_FAIL);
}

static void output_is_not_searched_when_the_exit_code_decides(void **state)
{
    const char *pattern = "x";
    const int one[] = {1};
    struct check_rules rules = {.fail_patterns = {&pattern, 1}};

    assert_true(check_rules_need_output(&rules, 0));
    rules.ignored_codes.items = one;
    rules.ignored_codes.count = 1;
    assert_false(check_rules_need_output(&rules, 1));
    assert_true(check_rules_need_output(&rules, 2));
    rules.ignored_codes.count = 0;
    rules.fail_codes.items = one;
    rules.fail_codes.count = 1;
    assert_true(check_rules_need_output(&rules, 1));
    assert_false(check_rules_need_output(&rules, 2));
    rules.fail_patterns.count = 0;
    assert_false(check_rules_need_output(&rules, 1));
}

static void code_125_is_skipped_unless_a_list_says_what_it_means(void **state)
{
    const char *pattern = "x";
    const int one[] = {1}, untestable[] = {125};
    struct check_rules rules = {0};

    assert_int_equal(check_rules_verdict(&rules, 125, false), VERDICT_SKIP);
    rules.fail_patterns.items = &pattern;
    rules.fail_patterns.count = 1;
    assert_int_equal(check_rules_verdict(&rules, 125, true), VERDICT_SKIP);
    assert_false(check_rules_need_output(&rules, 125));
    rules = (struct check_rules){.fail_codes = {one, 1}};
    assert_int_equal(check_rules_verdict(&rules, 125, false), VERDICT_SKIP);
    rules = (struct check_rules){.fail_codes = {untestable, 1}};
    assert_int_equal(check_rules_verdict(&rules, 125, false), VERDICT_FAIL);
    rules = (struct check_rules){.ignored_codes = {untestable, 1}};
    assert_int_equal(check_rules_verdict(&rules, 125, false), VERDICT_PASS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_truth_table_holds),
        cmocka_unit_test(signal_n_counts_as_exit_code_minus_n),
        cmocka_unit_test(running_out_of_time_counts_as_exit_code_124),
        cmocka_unit_test(code_125_is_skipped_unless_a_list_says_what_it_means),
        cmocka_unit_test(output_is_not_searched_when_the_exit_code_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
