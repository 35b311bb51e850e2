/* One result in its three forms. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "report/result.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

static struct result_column columns[] = {
    {"name", "quantizer", RESULT_TEXT, false},   {"alone", "alone", RESULT_DECIBELS, false},
    {"clipped", "clipped", RESULT_SHARE, false}, {"nodes", "nodes", RESULT_NAMES, true},
    {"axis", NULL, RESULT_COUNT, false},
};

static const struct result_table table = {.key = "quantizers",
                                          .title = "Quantizers",
                                          .line = "Quantizers by cost",
                                          .log_rows = 2,
                                          .columns = columns,
                                          .column_count = ARRAY_LEN(columns)};

static struct result *make_result(void)
{
    static const char *const nodes[] = {"a", "b"};
    struct result *result = result_new("debug example");

    result_set_verdict(result, REPORT_CAUSE, "Cause: %s", "'q1'");
    result_add_line(result, RESULT_EVIDENCE, "passes without it");
    result_add_line(result, RESULT_NOT_TESTED, "float16");
    result_add_line(result, RESULT_FIX, "--exclude q1");
    result_add_text(result, "outcome", "found");
    result_begin_record(result, "costs");
    result_add_count(result, "casts", 3);
    result_add_number(result, "seconds", NAN);
    result_end_record(result);
    result_begin_table(result, &table);
    result_add_row(result,
                   (const struct result_cell[]){
                       {.text = "q1"}, {.number = 4.56}, {.number = 0.5}, {.names = {nodes, 2}}, {.number = 1}});
    result_add_row(result, (const struct result_cell[]){{.text = "long\nname"},
                                                        {.text = "crash", .number = NAN},
                                                        {.number = 0.00001},
                                                        {.text = NULL},
                                                        {.number = NAN}});
    result_add_row(result, (const struct result_cell[]){
                               {.text = "q3"}, {.number = INFINITY}, {.number = NAN}, {.text = NULL}, {.number = 0}});
    return result;
}

static void lines_have_labels_and_tables_are_aligned(void **state)
{
    struct result *result = make_result();
    struct captured_log log;

    (void)state;
    captured_log_init(&log);
    result_log(result, &log.log);
    assert_string_equal(log.text.data, "F Cause: 'q1'\n"
                                       "F     Evidence: passes without it\n"
                                       "F     Not tested: float16\n"
                                       "F     Fix: --exclude q1\n"
                                       "F Quantizers by cost\n"
                                       "F     quantizer   alone  clipped\n"
                                       "F     q1            4.6   50.00%\n"
                                       "F     long\\nname  crash   <0.01%\n"
                                       "F     and 1 more: --json and --report have all of them\n");
    captured_log_release(&log);
    result_free(result);
}

static void what_was_logged_is_not_logged_again(void **state)
{
    struct result *result = make_result();
    struct captured_log log;
    size_t before;

    (void)state;
    captured_log_init(&log);
    result_log(result, &log.log);
    before = log.text.size;
    result_add_line(result, RESULT_CAUTION, "chance");
    result_log(result, &log.log);
    assert_string_equal(log.text.data + before, "W     chance\n");
    captured_log_release(&log);
    result_free(result);
}

static void an_open_question_is_a_warning(void **state)
{
    struct result *result = result_new("debug example");
    struct captured_log log;

    (void)state;
    captured_log_init(&log);
    result_set_verdict(result, REPORT_UNKNOWN, "Not decided");
    result_log(result, &log.log);
    assert_string_equal(log.text.data, "W Not decided\n");
    captured_log_release(&log);
    result_free(result);
}

static void render_json(const struct result *result, struct json_writer *writer)
{
    json_writer_init(writer);
    json_writer_begin_object(writer);
    result_write(result, writer);
    json_writer_end_object(writer);
}

static void json_has_lines_by_kind_then_facts_then_tables(void **state)
{
    struct result *result = make_result();
    struct json_writer writer;
    json_error_t error;
    json_t *root, *rows;

    (void)state;
    render_json(result, &writer);
    root = json_loadb(writer.text.data, writer.text.size, JSON_DECODE_ANY, NULL);
    assert_null(root); /* Infinity, as Python writes and reads it */
    *strstr(writer.text.data, "Infinity") = '1';
    memcpy(strstr(writer.text.data, "nfinity"), "       ", strlen("nfinity"));
    root = json_loadb(writer.text.data, writer.text.size, 0, &error);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "verdict")), "cause");
    assert_string_equal(json_string_value(json_object_get(root, "answer")), "Cause: 'q1'");
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "evidence"), 0)), "passes without it");
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "not_tested"), 0)), "float16");
    assert_string_equal(json_string_value(json_object_get(root, "outcome")), "found");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "costs"), "casts")), 3);
    assert_true(json_is_null(json_object_get(json_object_get(root, "costs"), "seconds")));
    rows = json_object_get(root, "quantizers");
    assert_int_equal(json_array_size(rows), 3);
    assert_int_equal(json_array_size(json_object_get(json_array_get(rows, 0), "nodes")), 2);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "alone")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 1), "name")), "long\nname");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "axis")), 1);
    json_decref(root);
    json_writer_release(&writer);
    result_free(result);
}

/* The document of a page, as --report-data has it. */
static json_t *render_page(const struct result *result)
{
    struct report *report = report_new("example");
    struct error err;
    json_t *ret;

    result_show(result, report);
    assert_int_equal(report_write(report, &(struct report_files){.data = "report.json"}, NULL, &err), 0);
    ret = json_load_file("report.json", 0, NULL);
    assert_non_null(ret);
    report_free(report);
    return ret;
}

static const char *heading_on_page(const json_t *page, size_t column)
{
    const json_t *tables = json_object_get(page, "tables");

    return json_string_value(json_array_get(json_object_get(json_array_get(tables, 0), "columns"), column));
}

static void one_column_appears_in_all_three(void **state)
{
    struct result *result = make_result();
    struct json_writer writer;
    struct captured_log log;
    json_t *page;

    (void)state;
    captured_log_init(&log);
    columns[1].key = "noise";
    columns[1].heading = "own noise";
    result_log(result, &log.log);
    render_json(result, &writer);
    page = render_page(result);
    assert_non_null(strstr(log.text.data, "own noise"));
    assert_non_null(strstr(writer.text.data, "\"noise\": 4.56"));
    assert_string_equal(heading_on_page(page, 1), "own noise, dB");
    columns[1].key = columns[1].heading = "alone";
    json_decref(page);
    json_writer_release(&writer);
    captured_log_release(&log);
    result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_labels_and_tables_are_aligned),
        cmocka_unit_test(what_was_logged_is_not_logged_again),
        cmocka_unit_test(an_open_question_is_a_warning),
        cmocka_unit_test(json_has_lines_by_kind_then_facts_then_tables),
        cmocka_unit_test(one_column_appears_in_all_three),
    };

    return cmocka_run_group_tests(tests, scratch_folder_enter, scratch_folder_leave);
}
