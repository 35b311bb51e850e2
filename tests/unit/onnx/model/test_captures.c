/* What the bodies of If, Loop and Scan use of the graph around them. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <string.h>

#include "onnx/proto/wire.h"

static const char *captures_of(const struct model *model, const char *node)
{
    return names_of_edges(model, model->nodes.items[fixture_node(model, node)].captures);
}

static void if_captures_what_its_branches_use(void **state)
{
    struct model *model = fixture_open("subgraph_uses_outer_tensors");
    const struct node *node = &model->nodes.items[3];
    const char *captures = names_of_edges(model, node->captures);

    assert_true(text_equal_string(node->op_type, "If"));
    assert_true(node->has_subgraphs);
    assert_int_equal(node->captures.count, 2);
    assert_true(strcmp(captures, "t c") == 0 || strcmp(captures, "c t") == 0);
    model_free(model);
}

static void node_without_bodies_captures_nothing(void **state)
{
    struct model *model = fixture_open("reducable");

    for (size_t i = 0; i < model->nodes.count; i++) {
        assert_false(model->nodes.items[i].has_subgraphs);
        assert_int_equal(model->nodes.items[i].captures.count, 0);
    }
    model_free(model);
}

/* "then" has a tensor `t` of its own; "else" uses the graph's. */
static void name_defined_in_one_branch_is_captured_by_the_other(void **state)
{
    struct model *model = fixture_open("same_name_in_both_branches");
    const char *captures = captures_of(model, "if");

    assert_true(strcmp(captures, "x t") == 0 || strcmp(captures, "t x") == 0);
    model_free(model);
}

static void output_of_a_body_may_be_an_outer_tensor(void **state)
{
    struct model *model = fixture_open("body_output_is_outer_tensor");
    const char *captures = captures_of(model, "if");

    assert_true(strcmp(captures, "x t") == 0 || strcmp(captures, "t x") == 0);
    model_free(model);
}

/* `scaled` belongs to the Loop's body, `going_on` and `state` are its inputs: none of them comes from the graph. */
static void body_in_a_body_captures_from_the_graph(void **state)
{
    struct model *model = fixture_open("nested_bodies");

    assert_string_equal(captures_of(model, "loop"), "scale offset");
    model_free(model);
}

static void scan_captures_tensors_and_initializers(void **state)
{
    struct model *model = fixture_open("scan_with_capture");

    assert_string_equal(captures_of(model, "scan"), "t w");
    model_free(model);
}

/* Puts `inner` into a body: If { body { inner } }. */
static void wrap_in_body(struct string_builder *node, const struct string_builder *inner)
{
    struct string_builder graph, attribute;

    string_init(&graph);
    string_init(&attribute);
    wire_write_bytes(&graph, 1, inner->data, inner->size);
    wire_write_bytes(&attribute, 6, graph.data, graph.size);
    string_clear(node);
    wire_write_bytes(node, 5, attribute.data, attribute.size);
    string_release(&graph);
    string_release(&attribute);
}

static int parse_nested(unsigned depth, struct error *err, char *ret_captures, size_t size)
{
    struct string_builder nodes[2], graph, file;
    struct model *model;
    int rc;

    for (size_t i = 0; i < 2; i++)
        string_init(&nodes[i]);
    string_init(&graph);
    string_init(&file);
    wire_write_text(&nodes[0], 1, TEXT("outer"));
    for (unsigned i = 0; i < depth; i++)
        wrap_in_body(&nodes[(i + 1) % 2], &nodes[i % 2]);
    wire_write_bytes(&graph, 1, nodes[depth % 2].data, nodes[depth % 2].size);
    wire_write_bytes(&file, 7, graph.data, graph.size);
    rc = model_parse((struct span){(const uint8_t *)file.data, file.size}, "nested", &model, err);
    if (rc == 0) {
        snprintf(ret_captures, size, "%s", names_of_edges(model, model->nodes.items[0].captures));
        model_free(model);
    }
    for (size_t i = 0; i < 2; i++)
        string_release(&nodes[i]);
    string_release(&graph);
    string_release(&file);
    return rc;
}

static void bodies_are_followed_to_some_depth_and_no_further(void **state)
{
    struct error err = {0};
    char captures[64];

    assert_int_equal(parse_nested(64, &err, captures, sizeof(captures)), 0);
    assert_string_equal(captures, "outer");
    assert_int_equal(parse_nested(65, &err, captures, sizeof(captures)), ERR_CORRUPT);
    assert_string_equal(err.message, "nested: subgraphs are nested more than 64 deep");
    assert_int_equal(parse_nested(5000, &err, captures, sizeof(captures)), ERR_CORRUPT);
}

static void damage_in_a_body_is_noticed(void **state)
{
    struct error err = {0};
    struct model *model;

    /* model { graph { node { attribute { body { node { input longer than the file } } } } } } */
    static const char file[] = "\x3a\x0a\x0a\x08\x2a\x06\x32\x04\x0a\x02\x0a\x07";

    assert_int_equal(model_parse((struct span){(const uint8_t *)file, sizeof(file) - 1}, "bad", &model, &err),
                     ERR_CORRUPT);
    assert_non_null(strstr(err.message, "is damaged at byte 10 of 12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_captures_what_its_branches_use),
        cmocka_unit_test(node_without_bodies_captures_nothing),
        cmocka_unit_test(name_defined_in_one_branch_is_captured_by_the_other),
        cmocka_unit_test(output_of_a_body_may_be_an_outer_tensor),
        cmocka_unit_test(body_in_a_body_captures_from_the_graph),
        cmocka_unit_test(scan_captures_tensors_and_initializers),
        cmocka_unit_test(bodies_are_followed_to_some_depth_and_no_further),
        cmocka_unit_test(damage_in_a_body_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
