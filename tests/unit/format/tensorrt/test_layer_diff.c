/* Two engines side by side: made-up ones, and one network that was built three times. */
#include "support/unit_test.h"

#include <stdio.h>
#include <string.h>

#include "format/tensorrt/layer_diff.h"

struct engines {
    struct layer_info a, b;
    struct layer_diff diff;
};

static void parse(struct layer_info *info, const char *layers)
{
    char text[2048];
    struct error error = {0};

    snprintf(text, sizeof(text), "{\"Layers\": [%s]}", layers);
    if (layer_info_parse(info, text, strlen(text), "test", &error) < 0)
        fail_msg("%s", error.message);
}

static void compare(struct engines *engines, const char *a, const char *b)
{
    parse(&engines->a, a);
    parse(&engines->b, b);
    layer_diff_make(&engines->a, &engines->b, &engines->diff);
}

static void compare_files(struct engines *engines, const char *a, const char *b)
{
    struct error error = {0};

    assert_int_equal(layer_info_open(&engines->a, a, &error), 0);
    assert_int_equal(layer_info_open(&engines->b, b, &error), 0);
    layer_diff_make(&engines->a, &engines->b, &engines->diff);
}

static void release(struct engines *engines)
{
    layer_diff_release(&engines->diff);
    layer_info_release(&engines->a);
    layer_info_release(&engines->b);
}

#define NODE(name) "[ONNX Layer: " name "]"
#define LAYER(name, kernel, type, nodes)                                                                               \
    "{\"Name\": \"" name "\", \"LayerType\": \"gemm\", \"TacticName\": \"" kernel                                      \
    "\", \"Outputs\": [{\"Name\": \"t\", "                                                                             \
    "\"Format/Datatype\": \"" type "\"}], \"Metadata\": \"" nodes "\"}"

static void layers_are_matched_by_their_nodes_whatever_they_are_called(void **state)
{
    struct engines engines;

    compare(&engines, LAYER("x_myl1", "k", "Float", NODE("a") "\\u001f" NODE("b")),
            LAYER("y_myl2", "k", "Float", NODE("b") "\\u001e" NODE("a")));
    assert_int_equal(engines.diff.pairs.count, 1);
    assert_true(layer_diff_is_empty(&engines.diff));
    release(&engines);
}

static void what_differs_is_told_apart(void **state)
{
    struct engines engines;

    compare(&engines,
            LAYER("a", "k", "Float", NODE("a")) "," LAYER("b", "k", "Float", NODE("b")) "," LAYER("c", "k", "Half NC",
                                                                                                  NODE("c")),
            LAYER("a", "k2", "Float", NODE("a")) "," LAYER("b", "k", "Half", NODE("b")) "," LAYER("c", "k", "Half",
                                                                                                  NODE("c")));
    assert_int_equal(engines.diff.pairs.count, 3);
    assert_true(engines.diff.pairs.items[0].implemented);
    assert_false(engines.diff.pairs.items[0].typed);
    assert_true(engines.diff.pairs.items[1].typed);
    assert_false(engines.diff.pairs.items[1].stored);
    assert_false(engines.diff.pairs.items[1].implemented);
    assert_true(engines.diff.pairs.items[2].stored);
    assert_int_equal(engines.diff.typed + engines.diff.stored + engines.diff.implemented, 3);
    release(&engines);
}

static void a_node_that_moved_to_another_layer_is_a_difference_of_fusing(void **state)
{
    struct engines engines;

    compare(&engines,
            LAYER("ab", "k", "Float", NODE("a") "\\u001e" NODE("b")) "," LAYER("c", "k", "Float", NODE("c")) "," LAYER(
                "d", "k", "Float", NODE("d")),
            LAYER("a", "k", "Float", NODE("a")) "," LAYER("bc", "k", "Float", NODE("b") "\\u001e" NODE("c")) "," LAYER(
                "d", "k", "Float", NODE("d")));
    assert_int_equal(engines.diff.pairs.count, 1);
    assert_int_equal(engines.diff.fusions.count, 1);
    assert_int_equal(engines.diff.fusions.items[0].a.count, 2);
    assert_int_equal(engines.diff.fusions.items[0].b.count, 2);
    assert_int_equal(engines.diff.fusions.items[0].b.items[1], 1);
    release(&engines);
}

/* One of Myelin's nodes may be in several layers. */
static void several_layers_of_one_node_are_paired_in_order(void **state)
{
    struct engines engines;

    compare(&engines, LAYER("1", "k", "Float", NODE("a")) "," LAYER("2", "m", "Float", NODE("a")),
            LAYER("3", "k", "Float", NODE("a")) "," LAYER("4", "m", "Float", NODE("a")) "," LAYER("5", "n", "Float",
                                                                                                  NODE("a")));
    assert_int_equal(engines.diff.pairs.count, 2);
    assert_int_equal(engines.diff.pairs.items[1].b, 1);
    assert_int_equal(engines.diff.implemented, 0);
    assert_int_equal(engines.diff.fusions.count, 1);
    assert_int_equal(engines.diff.fusions.items[0].a.count, 0);
    assert_int_equal(engines.diff.fusions.items[0].b.items[0], 2);
    release(&engines);
}

static void layers_without_nodes_are_matched_by_name(void **state)
{
    struct engines engines;

    compare(
        &engines,
        LAYER("copy 0", "k", "Float", "") "," LAYER("copy 1", "k", "Float", "") "," LAYER("x", "k", "Float", NODE("x")),
        LAYER("copy 1", "k", "Float", "") "," LAYER("copy 2", "k", "Float", ""));
    assert_int_equal(engines.diff.pairs.count, 1);
    assert_int_equal(engines.diff.only_in_a.count, 2);
    assert_int_equal(engines.diff.only_in_a.items[1], 2);
    assert_int_equal(engines.diff.only_in_b.count, 1);
    release(&engines);
}

static void names_alone_are_not_called_the_same(void **state)
{
    struct engines engines;

    compare(&engines, "\"a + b\", \"c\"", LAYER("x", "k", "Float", NODE("a") "\\u001e" NODE("b")) ", \"c\"");
    assert_int_equal(engines.diff.pairs.count, 2);
    assert_int_equal(engines.diff.compared, 0);
    assert_int_equal(engines.diff.typed + engines.diff.implemented, 0); /* nor are they called different */
    release(&engines);
}

static void one_network_in_two_precisions_is_typed_differently(void **state)
{
    struct engines engines;

    compare_files(&engines, "tests/golden/tensorrt/layers/pytorch-resnet-A100-fp32.layers.json",
                  "tests/golden/tensorrt/layers/pytorch-resnet-A100-fp16.layers.json");
    assert_int_equal(engines.diff.pairs.count, 26);
    assert_int_equal(engines.diff.typed, 26);
    assert_int_equal(engines.diff.fusions.count, 0);
    assert_int_equal(engines.diff.only_in_a.count, 6); /* reformats */
    assert_int_equal(engines.diff.only_in_b.count, 10);
    release(&engines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_matched_by_their_nodes_whatever_they_are_called),
        cmocka_unit_test(what_differs_is_told_apart),
        cmocka_unit_test(a_node_that_moved_to_another_layer_is_a_difference_of_fusing),
        cmocka_unit_test(several_layers_of_one_node_are_paired_in_order),
        cmocka_unit_test(layers_without_nodes_are_matched_by_name),
        cmocka_unit_test(names_alone_are_not_called_the_same),
        cmocka_unit_test(one_network_in_two_precisions_is_typed_differently),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
