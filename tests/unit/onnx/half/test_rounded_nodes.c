/* Nodes that compute in float32 on what float16 can hold; and models that are changed beside the original. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "onnx/edit/model.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/half/rounded_nodes.h"
#include "onnx/proto/node_attribute.h"

static void round_nodes_to(enum data_type half, struct model *model, const char *const *nodes, size_t count)
{
    struct unused_names names;
    struct bitset rounded;
    struct error err = {0};

    bitset_init(&rounded, model->nodes.count);
    for (size_t i = 0; i < count; i++)
        bitset_add(&rounded, fixture_node(model, nodes[i]));
    unused_names_init(&names, model, &model->arena);
    if (model_round_nodes(model, &rounded, half, &names, &err) < 0)
        fail_msg("%s", err.message);
    unused_names_release(&names);
    bitset_release(&rounded);
}

static void round_nodes(struct model *model, const char *const *nodes, size_t count)
{
    round_nodes_to(DATA_FLOAT16, model, nodes, count);
}

static const char *inputs_of(const struct model *model, const char *node)
{
    return names_of_edges(model, model->nodes.items[fixture_node(model, node)].inputs);
}

static const char *outputs_of(const struct model *model, const char *node)
{
    return names_of_edges(model, model->nodes.items[fixture_node(model, node)].outputs);
}

static void inputs_constants_and_outputs_are_rounded_once(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    const char *rounded[] = {"a", "b"};

    round_nodes(model, rounded, 2);
    assert_string_equal(inputs_of(model, "a"), "x_rounded good_rounded");
    assert_string_equal(inputs_of(model, "x_float16_cast"), "x");
    assert_string_equal(outputs_of(model, "x_rounded_cast"), "x_rounded");
    assert_string_equal(outputs_of(model, "a"), "a_exact");
    assert_string_equal(outputs_of(model, "a_cast"), "a"); /* the model's output, and what others read */
    assert_string_equal(inputs_of(model, "b"), "a huge_rounded");
    assert_string_equal(inputs_of(model, "c"), "a tiny");
    assert_string_equal(inputs_of(model, "f"), "e good");
    assert_string_equal(names_of_values(model, &model->outputs), "a b f");
    assert_int_equal(value_element(model, fixture_value(model, "good")), DATA_FLOAT32);
    model_free(model);
}

/* The scales of a Resize stay as they are. */
static void bfloat16_is_what_is_rounded_to_where_that_is_asked_for(void **state)
{
    static const float scales[] = {1, 2};
    const char *rounded[] = {"resize"};
    struct made_model made;
    struct model *model;
    const struct node *cast;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2));
    made_tensor(&made, "scales", DATA_FLOAT32, MADE_SHAPE(2), scales);
    made_node(&made, "resize", "Resize", "x - scales", "y", NULL, 0);
    made_output(&made, "y");
    model = made_open(&made);
    round_nodes_to(DATA_BFLOAT16, model, rounded, 1);
    cast = &model->nodes.items[fixture_node(model, "x_bfloat16_cast")];
    assert_int_equal(node_attribute_integer(cast->message, "to", DATA_UNDEFINED), DATA_BFLOAT16);
    assert_string_equal(inputs_of(model, "resize"), "x_rounded - scales");
    model_free(model);
    made_release(&made);
}

static void nothing_changes_when_nothing_is_rounded(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    size_t nodes = model->nodes.count;

    round_nodes(model, NULL, 0);
    assert_int_equal(model->nodes.count, nodes);
    assert_string_equal(inputs_of(model, "b"), "a huge");
    model_free(model);
}

static void original_stays_as_it_is_when_its_copy_is_changed(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    struct model *copy = model_copy(model);
    const char *rounded[] = {"a", "b", "c"};
    struct subgraph whole;
    struct rewritten original, changed;

    round_nodes(copy, rounded, 3);
    subgraph_init_whole(&whole, copy);
    rewritten_init(&changed, &whole);
    subgraph_release(&whole);
    model_free(copy);
    subgraph_init_whole(&whole, model);
    rewritten_init(&original, &whole);
    subgraph_release(&whole);
    assert_string_equal(inputs_of(original.model, "b"), "a huge");
    assert_string_equal(inputs_of(changed.model, "b"), "a huge_rounded");
    assert_true(changed.model->nodes.count > original.model->nodes.count);
    rewritten_release(&original);
    rewritten_release(&changed);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_constants_and_outputs_are_rounded_once),
        cmocka_unit_test(bfloat16_is_what_is_rounded_to_where_that_is_asked_for),
        cmocka_unit_test(nothing_changes_when_nothing_is_rounded),
        cmocka_unit_test(original_stays_as_it_is_when_its_copy_is_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
