/* Attributes that are dropped, inputs that are made smaller, nodes that are taken out of bodies and functions. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/model/graph_view.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/shrink/attributes.h"
#include "onnx/shrink/bodies.h"
#include "onnx/shrink/inputs.h"

/* ---- Attributes ---- */

static void attributes_are_dropped_one_by_one_and_required_ones_are_not_offered(void **state)
{
    static const int64_t two[] = {2, 2};
    const struct node_attribute pooling[] = {
        {.name = TEXT("strides"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = two, .count = 2},
        {.name = TEXT("kernel_shape"), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = two, .count = 2},
        {.name = TEXT("ceil_mode"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = 1},
    };
    const struct node_attribute softmax = {.name = TEXT("axis"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = 1};
    const struct node_attribute to = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = 11};
    static const uint8_t dropped[] = {0, 1, 1};
    struct optional_attribute_list attributes = {0};
    struct made_model made;
    struct model *model;
    struct subgraph whole;
    struct rewritten rewritten;
    struct span found;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 5, 5));
    made_node(&made, "pool", "MaxPool", "x", "p", pooling, ARRAY_LEN(pooling));
    made_node(&made, "softmax", "Softmax", "p", "s", &softmax, 1);
    made_node(&made, "cast", "Cast", "s", "y", &to, 1);
    made_output(&made, "y");
    model = made_open(&made);
    attributes_list_optional(model, &attributes);
    assert_int_equal(attributes.count, 3);
    assert_true(text_equal_string(attributes.items[0].name, "strides") && attributes.items[0].node == 0);
    assert_true(text_equal_string(attributes.items[1].name, "ceil_mode") && attributes.items[1].node == 0);
    assert_true(text_equal_string(attributes.items[2].name, "axis") && attributes.items[2].node == 1);
    attributes_drop(model, &attributes, dropped);
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    assert_true(node_attribute_find(rewritten.model->nodes.items[0].message, "strides", &found));
    assert_true(node_attribute_find(rewritten.model->nodes.items[0].message, "kernel_shape", &found));
    assert_false(node_attribute_find(rewritten.model->nodes.items[0].message, "ceil_mode", &found));
    assert_false(node_attribute_find(rewritten.model->nodes.items[1].message, "axis", &found));
    assert_true(node_attribute_find(rewritten.model->nodes.items[2].message, "to", &found));
    assert_string_equal(names_of_nodes(&whole), "pool softmax cast");
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    free(attributes.items);
    model_free(model);
    made_release(&made);
}

static void bodies_are_no_attributes_to_drop(void **state)
{
    struct model *model = fixture_open("scan_with_capture");
    struct optional_attribute_list attributes = {0};

    attributes_list_optional(model, &attributes);
    assert_int_equal(attributes.count, 0); /* num_scan_inputs is required */
    free(attributes.items);
    model_free(model);
}

/* ---- Shapes ---- */

static void a_size_becomes_one_or_a_part_of_itself(void **state)
{
    static const struct {
        int64_t size;
        unsigned choices;
        int64_t results[6]; /* of choices 1, 2, ... */
    } cases[] = {
        {0, 0, {0}},       {1, 0, {0}},           {2, 1, {1}},
        {3, 1, {1}},       {4, 2, {1, 2}},        {8, 3, {1, 2, 4}},
        {9, 3, {1, 2, 4}}, {16, 4, {1, 2, 4, 8}}, {224, 5, {1, 14, 28, 56, 112}},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(input_size_choices(cases[i].size), cases[i].choices);
        assert_int_equal(input_size_after(cases[i].size, 0), cases[i].size);
        for (unsigned choice = 1; choice <= cases[i].choices; choice++)
            assert_int_equal(input_size_after(cases[i].size, choice), cases[i].results[choice - 1]);
    }
}

static void assert_shape(const struct model *model, const char *name, struct shape expected)
{
    struct value_type type;

    value_info_decode(model->values.items[fixture_value(model, name)].info, &type);
    assert_true(type.has_shape && shape_equal(&type.shape, &expected));
}

static void sizes_that_inputs_share_change_together_or_alone(void **state)
{
    static const uint8_t batch[] = {1, 0, 0, 0, 0, 0, 0, 0}, one_of_them[] = {0, 0, 0, 0, 0, 1, 0, 0};
    struct input_size_list sizes = {0};
    struct made_model made;
    struct model *model;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(8, 3, 16, 16));
    made_input(&made, "z", MADE_SHAPE(8, -1, 1));
    made_node(&made, "", "Identity", "x", "y", NULL, 0);
    made_output(&made, "y");
    model = made_open(&made);
    input_sizes_list(model, &sizes);
    assert_int_equal(sizes.count, 3 + 4); /* 8, 3, 16; 8 twice, 16 twice */
    assert_true(sizes.items[0].all && sizes.items[0].size == 8);
    assert_true(!sizes.items[5].all && sizes.items[5].input == 0 && sizes.items[5].axis == 2);
    inputs_shrink(model, &sizes, batch);
    assert_shape(model, "x", MADE_SHAPE(1, 3, 16, 16));
    assert_shape(model, "z", MADE_SHAPE(1, -1, 1));
    model_free(model);
    model = made_open(&made);
    inputs_shrink(model, &sizes, one_of_them);
    assert_shape(model, "x", MADE_SHAPE(8, 3, 1, 16));
    assert_shape(model, "z", MADE_SHAPE(8, -1, 1));
    free(sizes.items);
    model_free(model);
    made_release(&made);
}

/* ---- Bodies ---- */

/* Takes nodes out of a model, and lists what is left inside. */
static struct model *bypass(const char *fixture, const uint8_t *choices, struct inner_node_list *ret_left)
{
    struct model *model = fixture_open(fixture);
    struct error err = {0};

    if (inner_nodes_bypass(model, choices, &err) < 0)
        fail_msg("%s", err.message);
    *ret_left = (struct inner_node_list){0};
    assert_int_equal(inner_nodes_list(model, ret_left, &err), 0);
    return model;
}

static void assert_operators(const struct inner_node_list *list, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    for (size_t i = 0; i < list->count; i++)
        string_add_format(&text, i > 0 ? " " TEXT_FORMAT : TEXT_FORMAT, TEXT_ARGS(list->items[i].op_type));
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void nodes_inside_are_listed_with_those_inside_of_them(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct inner_node_list list = {0};

    assert_int_equal(inner_nodes_list(model, &list, NULL), 0);
    assert_operators(&list, "Mul If Neg Add Identity");
    assert_int_equal(list.items[0].bypasses, 2);
    assert_int_equal(list.items[1].bypasses, 1);
    assert_int_equal(list.items[2].bypasses, 1);
    free(list.items);
    model_free(model);
}

static void nothing_changes_when_no_node_is_taken_out(void **state)
{
    static const uint8_t none[8] = {0};
    struct inner_node_list left;
    struct model *model = bypass("nested_bodies", none, &left);

    assert_operators(&left, "Mul If Neg Add Identity");
    assert_string_equal(names_of_edges(model, model->nodes.items[2].captures), "scale offset");
    free(left.items);
    model_free(model);
}

/* The Mul of the Loop's body: the If in it reads `state` then, and `scale` is not captured any more. */
static void what_read_a_node_reads_its_input_also_in_a_body_inside(void **state)
{
    static const uint8_t first[] = {1, 0, 0, 0, 0}, second[] = {2, 0, 0, 0, 0};
    struct inner_node_list left;
    struct model *model = bypass("nested_bodies", first, &left);
    struct subgraph whole;
    struct rewritten rewritten;

    assert_operators(&left, "If Neg Add Identity");
    assert_string_equal(names_of_edges(model, model->nodes.items[2].captures), "offset");
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    free(left.items);
    model_free(model);
    model = bypass("nested_bodies", second, &left);
    assert_string_equal(names_of_edges(model, model->nodes.items[2].captures), "scale offset");
    free(left.items);
    model_free(model);
}

/* A body keeps its outputs: what makes one becomes an Identity. What only that node read is gone. */
static void the_outputs_of_a_body_are_still_made(void **state)
{
    static const uint8_t whole_if[] = {0, 1, 0, 0, 0};
    struct inner_node_list left;
    struct model *model = bypass("nested_bodies", whole_if, &left);

    assert_operators(&left, "Identity Identity");
    assert_int_equal(model->nodes.items[2].captures.count, 0);
    free(left.items);
    model_free(model);
}

static void functions_lose_nodes_and_the_constants_that_only_these_read(void **state)
{
    static const uint8_t division[] = {0, 0, 1};
    struct inner_node_list left;
    struct model *model = bypass("local_functions", division, &left);
    struct subgraph whole;
    struct rewritten rewritten;

    assert_operators(&left, "Add Identity"); /* of Doubled, of Halved */
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    assert_int_equal(rewritten.model->function_count, 2);
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    free(left.items);
    model_free(model);
}

static void a_branch_takes_the_place_of_its_if(void **state)
{
    static const char *const expected[] = {"Mul If Identity", "Abs Exp Sqrt"};

    for (uint8_t choice = 1; choice <= 2; choice++) {
        struct model *model = fixture_open("decided_branch");
        uint8_t *choices = memory_alloc_zero(model->nodes.count, 1);
        struct inner_node_list nodes = {0};
        struct error err = {0};
        size_t inlined = 0;

        assert_string_equal(model_node_label(model, 1), "if");
        choices[1] = choice;
        if (branches_take(model, choices, &inlined, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(inlined, 1);
        for (size_t i = 1; i < 4; i++)
            *VECTOR_APPEND(&nodes) = (struct inner_node){.op_type = model->nodes.items[i].op_type};
        assert_operators(&nodes, expected[choice - 1]);
        free(nodes.items);
        free(choices);
        model_free(model);
    }
}

static void damage_inside_is_an_error(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct inner_node_list list = {0};
    struct node *loop = &model->nodes.items[2];
    struct error err = {0};

    loop->message.size -= 3;
    assert_int_equal(inner_nodes_list(model, &list, &err), ERR_CORRUPT);
    free(list.items);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_dropped_one_by_one_and_required_ones_are_not_offered),
        cmocka_unit_test(bodies_are_no_attributes_to_drop),
        cmocka_unit_test(a_size_becomes_one_or_a_part_of_itself),
        cmocka_unit_test(sizes_that_inputs_share_change_together_or_alone),
        cmocka_unit_test(nodes_inside_are_listed_with_those_inside_of_them),
        cmocka_unit_test(nothing_changes_when_no_node_is_taken_out),
        cmocka_unit_test(what_read_a_node_reads_its_input_also_in_a_body_inside),
        cmocka_unit_test(the_outputs_of_a_body_are_still_made),
        cmocka_unit_test(functions_lose_nodes_and_the_constants_that_only_these_read),
        cmocka_unit_test(a_branch_takes_the_place_of_its_if),
        cmocka_unit_test(damage_inside_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
