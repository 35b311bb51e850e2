/* The document of a report, and its page: what is put in comes out, as text and nothing else. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/page.h"
#include "report/report.h"
#include "support/made_model.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

/* Writes the document and reads it back. Frees the report. */
static json_t *document_of(struct report *report)
{
    struct report_files files = {.data = "report.json"};
    struct error error;
    json_error_t why;
    json_t *document;

    assert_int_equal(report_write(report, &files, NULL, &error), 0);
    report_free(report);
    document = json_load_file("report.json", 0, &why);
    assert_non_null(document);
    return document;
}

static const char *string_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void sections_that_were_not_filled_are_left_out(void **state)
{
    json_t *document = document_of(report_new("nothing"));

    assert_int_equal(json_object_size(document), 2);
    assert_string_equal(string_at(document, "title"), "nothing");
    assert_string_equal(string_at(json_object_get(document, "verdict"), "kind"), "unknown");
    json_decref(document);
}

static void numbers_that_json_has_not_are_text(void **state)
{
    struct report *report = report_new("numbers");
    struct report_tensor tensor = REPORT_TENSOR_UNKNOWN;
    json_t *document, *read;

    tensor.name = "t";
    tensor.absolute_error = INFINITY;
    tensor.first_bad.index = "(0,)";
    tensor.first_bad.reference = NAN;
    tensor.first_bad.suspect = -INFINITY;
    report_add_tensor(report, &tensor);
    document = document_of(report);
    read = json_array_get(json_object_get(document, "tensors"), 0);
    assert_string_equal(string_at(read, "absolute_error"), "Infinity");
    assert_null(json_object_get(read, "relative_error")); /* NAN: not known */
    assert_string_equal(string_at(json_object_get(read, "first_bad"), "reference"), "NaN");
    assert_string_equal(string_at(json_object_get(read, "first_bad"), "suspect"), "-Infinity");
    json_decref(document);
}

static void rows_belong_to_the_table_that_was_begun_last(void **state)
{
    static const char *const columns[] = {"name", "number"};
    struct report *report = report_new("tables");
    json_t *document, *tables;

    report_begin_table(report, "first", columns, ARRAY_LEN(columns));
    report_add_row(report, (struct report_cell[]){{.text = "a"}, {.number = 1}});
    report_begin_table(report, "second", columns, ARRAY_LEN(columns));
    report_add_row(report, (struct report_cell[]){{.text = "b"}, {.number = NAN}});
    report_add_row(report, (struct report_cell[]){{.text = "c"}, {.number = 3}});
    document = document_of(report);
    tables = json_object_get(document, "tables");
    assert_int_equal(json_array_size(tables), 2);
    assert_int_equal(json_array_size(json_object_get(json_array_get(tables, 0), "rows")), 1);
    assert_int_equal(json_array_size(json_object_get(json_array_get(tables, 1), "rows")), 2);
    assert_true(json_is_null(json_array_get(json_array_get(json_object_get(json_array_get(tables, 1), "rows"), 0), 1)));
    json_decref(document);
}

static void a_report_that_nobody_wants_takes_everything(void **state)
{
    struct error error;

    report_set_verdict(NULL, REPORT_CAUSE, "nothing");
    report_add_proof(NULL, "nothing");
    report_add_network(NULL, NULL);
    assert_int_equal(report_write(NULL, NULL, NULL, &error), 0);
    report_free(NULL);
}

/* ---- The network ---- */

static void the_network_has_names_types_and_the_path_of_a_file(void **state)
{
    struct report *report = report_new("network");
    struct made_model made;
    struct model *model;
    json_t *document, *network;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2));
    made_node(&made, "", "Relu", "x", "y", NULL, 0);
    made_output(&made, "y");
    model = made_open(&made);
    report_add_network(report, model);
    report_add_network(report, model); /* without effect */
    report_add_culprit(report, model_node_label(model, 0));
    model_free(model);
    made_release(&made);
    document = document_of(report);
    network = json_object_get(document, "network");
    assert_int_equal(json_array_size(json_object_get(network, "nodes")), 1);
    assert_string_equal(string_at(json_array_get(json_object_get(network, "nodes"), 0), "op"), "Relu");
    assert_string_equal(string_at(json_array_get(json_object_get(network, "inputs"), 0), "dtype"), "float32");
    assert_null(json_object_get(network, "path")); /* the model is in memory */
    assert_string_equal(json_string_value(json_array_get(json_object_get(document, "culprits"), 0)), "Relu #0");
    json_decref(document);
}

/* ---- The page ---- */

static void text_is_never_markup(void **state)
{
    static const char name[] = "</script>\"><img src=x onerror=alert(1)>&'";
    const char *const lines[] = {name};
    struct page_entry entry = {name, name};
    struct page_entries entries = {&entry, 1, 1};
    struct string_builder text;

    string_init(&text);
    page_make(
        &(struct page){
            name, name, name, name, {lines, 1}, entries, entries, TEXT("{\"a\": \"</script><!--\\u2028&\"}")},
        &text);
    assert_null(strstr(text.data, "<img"));
    assert_non_null(
        strstr(text.data, "<title>&#60;/script&#62;&#34;&#62;&#60;img src=x onerror=alert(1)&#62;&#38;&#39;"));
    assert_non_null(strstr(text.data, "{\"a\": \"\\u003c/script\\u003e\\u003c!--\\u2028\\u0026\"}"));
    string_release(&text);
}

static void what_is_put_in_is_not_looked_through_for_marks(void **state)
{
    struct string_builder text;

    string_init(&text);
    page_make(&(struct page){.title = "{{document}}",
                             .verdict = "passed",
                             .label = "passes",
                             .sentence = "{{page.js}}",
                             .document = TEXT("{\"secret\": 1}")},
              &text);
    assert_non_null(strstr(text.data, "<title>{{document}}</title>"));
    assert_non_null(strstr(text.data, "<h1 id=\"verdict\">{{page.js}}</h1>"));
    string_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_that_were_not_filled_are_left_out),
        cmocka_unit_test(numbers_that_json_has_not_are_text),
        cmocka_unit_test(rows_belong_to_the_table_that_was_begun_last),
        cmocka_unit_test(a_report_that_nobody_wants_takes_everything),
        cmocka_unit_test(the_network_has_names_types_and_the_path_of_a_file),
        cmocka_unit_test(text_is_never_markup),
        cmocka_unit_test(what_is_put_in_is_not_looked_through_for_marks),
    };

    return cmocka_run_group_tests(tests, scratch_folder_enter, scratch_folder_leave);
}
