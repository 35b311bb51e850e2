/* The lint report: what counts as failing, and its file. */
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include "format/polygraphy/lint_report.h"

static const struct lint_rule loader_warning = {.level = LINT_WARNING, .source = LINT_LOADER};
static const struct lint_rule checker_exception = {.level = LINT_EXCEPTION, .source = LINT_CHECKER};
static const struct lint_rule graph_exception = {.level = LINT_EXCEPTION, .source = LINT_GRAPH};
static const struct lint_rule graph_warning = {.level = LINT_WARNING, .source = LINT_GRAPH};
static const struct lint_rule runtime_exception = {.level = LINT_EXCEPTION, .source = LINT_RUNTIME};
static const struct lint_rule runtime_warning = {.level = LINT_WARNING, .source = LINT_RUNTIME};

static void node_with_an_exception_fails_and_does_not_pass(void **state)
{
    struct lint_report report = {0};

    lint_report_add_passing(&report, "b");
    lint_report_add_passing(&report, "a");
    lint_report_add_passing(&report, "b");
    lint_report_add(&report, &runtime_exception, "c", TEXT("no"));
    lint_report_add(&report, &graph_exception, "b", TEXT("no"));
    lint_report_add(&report, &runtime_warning, "a", TEXT("hm"));
    lint_report_finish(&report);
    assert_int_equal(report.passing.count, 1);
    assert_string_equal(report.passing.items[0], "a");
    assert_int_equal(report.failing.count, 2);
    assert_string_equal(report.failing.items[0], "b");
    assert_string_equal(report.failing.items[1], "c");
    lint_report_release(&report);
}

static void only_exceptions_make_a_report_bad(void **state)
{
    struct lint_report report = {0};

    lint_report_add(&report, &loader_warning, NULL, TEXT("ONNX model has no nodes"));
    assert_false(lint_report_has_exceptions(&report));
    lint_report_add(&report, &checker_exception, NULL, TEXT("no name"));
    assert_true(lint_report_has_exceptions(&report));
    lint_report_finish(&report);
    assert_int_equal(report.failing.count, 0);
    lint_report_release(&report);
}

static void file_is_laid_out_as_polygraphys(void **state)
{
    struct lint_report report = {0};

    lint_report_add_passing(&report, "H");
    lint_report_add(&report, &graph_warning, "G", TEXT("Does not affect outputs, can be removed."));
    lint_report_finish(&report);
    assert_int_equal(lint_report_save(&report, "report.json", NULL), 0);
    assert_true(scratch_file_is("report.json",
                                "{\n"
                                "    \"summary\": {\n"
                                "        \"passing\": [\n"
                                "            \"H\"\n"
                                "        ],\n"
                                "        \"failing\": []\n"
                                "    },\n"
                                "    \"lint_entries\": [\n"
                                "        {\n"
                                "            \"level\": \"warning\",\n"
                                "            \"source\": \"onnx_graphsurgeon\",\n"
                                "            \"message\": \"Does not affect outputs, can be removed.\",\n"
                                "            \"nodes\": [\n"
                                "                \"G\"\n"
                                "            ]\n"
                                "        }\n"
                                "    ]\n"
                                "}"));
    lint_report_release(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_with_an_exception_fails_and_does_not_pass),
        cmocka_unit_test(only_exceptions_make_a_report_bad),
        cmocka_unit_test_setup_teardown(file_is_laid_out_as_polygraphys, scratch_folder_enter, scratch_folder_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
