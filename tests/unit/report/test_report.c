/* The document of a report, and its page: what is put in comes out, as text and nothing else. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/process/spawn.h"
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

/* `count` nodes in a row, in `scopes` scopes. */
static json_t *network_of(size_t count, size_t scopes, const char *culprit)
{
    struct report *report = report_new("network");
    struct made_model made;
    struct model *model;
    json_t *document;

    made_init(&made, 13);
    made_input(&made, "t0", MADE_SHAPE(2));
    for (size_t i = 0; i < count; i++) {
        char name[64], input[64], output[64];

        if (scopes > 0)
            snprintf(name, sizeof(name), "/part%zu/node%zu", i * scopes / count, i);
        else
            snprintf(name, sizeof(name), "node%zu", i);
        snprintf(input, sizeof(input), "t%zu", i);
        snprintf(output, sizeof(output), "t%zu", i + 1);
        made_node(&made, name, "Relu", input, output, NULL, 0);
        if (i + 1 == count)
            made_output(&made, output);
    }
    model = made_open(&made);
    report_add_network(report, model);
    report_add_culprit(report, culprit);
    model_free(model);
    made_release(&made);
    document = document_of(report);
    return document;
}

/* How many boxes have nodes, and the greatest number of nodes in one of them. Every node is in one box. */
static size_t count_boxes(const json_t *document, size_t *ret_largest)
{
    json_t *network = json_object_get(document, "network");
    json_t *boxes = json_object_get(json_object_get(network, "layout"), "boxes"), *box;
    size_t count = 0, nodes = 0, i;

    *ret_largest = 0;
    json_array_foreach (boxes, i, box) {
        size_t inside = json_array_size(json_object_get(box, "nodes"));

        count += inside > 0;
        nodes += inside;
        *ret_largest = inside > *ret_largest ? inside : *ret_largest;
    }
    assert_int_equal(nodes, json_array_size(json_object_get(network, "nodes")));
    return count;
}

/* Without Graphviz there is nothing to look at. */
static void require_dot(void)
{
    char *dot = process_find("dot");

    if (dot == NULL)
        skip();
    free(dot);
}

static void small_networks_are_drawn_whole(void **state)
{
    size_t largest;
    json_t *document;

    require_dot();
    document = network_of(300, 3, "/part1/node150");
    assert_int_equal(count_boxes(document, &largest), 300);
    assert_int_equal(largest, 1);
    assert_int_equal(
        json_integer_value(json_array_get(json_object_get(json_object_get(document, "network"), "culprits"), 0)), 150);
    json_decref(document);
}

static void scopes_of_large_networks_are_folded_but_for_what_surrounds_the_culprit(void **state)
{
    size_t largest;
    json_t *document;

    require_dot();
    document = network_of(1000, 10, "/part5/node550");
    assert_int_equal(count_boxes(document, &largest), 10 + 7); /* the culprit, three nodes on either side */
    assert_int_equal(largest, 100);
    json_decref(document);
}

static void names_without_scopes_fold_by_neighbourhood(void **state)
{
    size_t largest;
    json_t *document;

    require_dot();
    document = network_of(1000, 0, "no such node");
    assert_in_range(count_boxes(document, &largest), 100, 160);
    assert_in_range(largest, 2, 10);
    json_decref(document);
}

/* ---- The page ---- */

static void text_is_never_markup(void **state)
{
    static const char name[] = "</script>\"><img src=x onerror=alert(1)>&'";
    struct string_builder page;

    string_init(&page);
    report_page_make(name, name, TEXT("{\"a\": \"</script><!--\\u2028&\"}"), &page);
    assert_null(strstr(page.data, "<img"));
    assert_non_null(
        strstr(page.data, "<title>&#60;/script&#62;&#34;&#62;&#60;img src=x onerror=alert(1)&#62;&#38;&#39;"));
    assert_non_null(strstr(page.data, "{\"a\": \"\\u003c/script\\u003e\\u003c!--\\u2028\\u0026\"}"));
    string_release(&page);
}

static void what_is_put_in_is_not_looked_through_for_marks(void **state)
{
    struct string_builder page;

    string_init(&page);
    report_page_make("{{document}}", "{{page.js}}", TEXT("{\"secret\": 1}"), &page);
    assert_non_null(strstr(page.data, "<title>{{document}}</title>"));
    assert_non_null(strstr(page.data, "<h1 id=\"verdict\">{{page.js}}</h1>"));
    string_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_that_were_not_filled_are_left_out),
        cmocka_unit_test(numbers_that_json_has_not_are_text),
        cmocka_unit_test(rows_belong_to_the_table_that_was_begun_last),
        cmocka_unit_test(a_report_that_nobody_wants_takes_everything),
        cmocka_unit_test(small_networks_are_drawn_whole),
        cmocka_unit_test(scopes_of_large_networks_are_folded_but_for_what_surrounds_the_culprit),
        cmocka_unit_test(names_without_scopes_fold_by_neighbourhood),
        cmocka_unit_test(text_is_never_markup),
        cmocka_unit_test(what_is_put_in_is_not_looked_through_for_marks),
    };

    return cmocka_run_group_tests(tests, scratch_folder_enter, scratch_folder_leave);
}
