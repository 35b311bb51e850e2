/* SARIF: how findings are known again. */
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include "format/ci/sarif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"

static const struct lint_rule rule = {
    .id = "rule", .level = LINT_WARNING, .source = LINT_GRAPH, .summary = "wrong", .help = "do it right"};

/* "hash:number" of the next finding; NULL: there is none. */
static const char *next_fingerprint(const char **at, char *ret, size_t size)
{
    static const char key[] = "\"primaryLocationLineHash\": \"";
    const char *found = strstr(*at, key), *begin = found != NULL ? found + strlen(key) : NULL;

    if (found == NULL)
        return NULL;
    *at = strchr(begin, '"');
    snprintf(ret, size, "%.*s", (int)(*at - begin), begin);
    return ret;
}

static void findings_that_say_the_same_are_numbered(void **state)
{
    struct lint_report report = {0};
    struct sarif_run run = {
        .version = "1.0.0", .command = "lint", .path = "m", .folder = "/", .rules = &rule, .rule_count = 1};
    char first[80], other[80], *text = NULL;
    const char *at;
    size_t size, count = 0;

    lint_report_add(&report, &rule, "other", TEXT("wrong"));
    for (int i = 0; i < 3; i++)
        lint_report_add(&report, &rule, "node", TEXT("wrong"));
    run.report = &report;
    assert_int_equal(sarif_save(&run, "out.sarif", NULL), 0);
    assert_int_equal(file_read("out.sarif", SIZE_MAX, &text, &size, NULL), 0);
    at = text;
    assert_non_null(next_fingerprint(&at, other, sizeof(other)));
    assert_string_equal(strchr(other, ':'), ":1");
    assert_non_null(next_fingerprint(&at, first, sizeof(first)));
    assert_string_equal(strchr(first, ':'), ":1");
    assert_string_not_equal(first, other);
    while (next_fingerprint(&at, other, sizeof(other)) != NULL)
        count++;
    assert_int_equal(count, 2);
    assert_string_equal(strchr(other, ':'), ":3");
    assert_memory_equal(first, other, (size_t)(strchr(first, ':') - first));
    free(text);
    lint_report_release(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(findings_that_say_the_same_are_numbered, scratch_folder_enter,
                                        scratch_folder_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
