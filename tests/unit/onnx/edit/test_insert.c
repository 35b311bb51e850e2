/* A node in the middle of a model: which tensors it reads and makes, and where it stands. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/insert.h"
#include "onnx/proto/value_info.h"

#define SUFFIX "_polygraphy_surgeon_insert_output"

/* The tensors of the new node, with blanks between them; "-" stands for an omitted one. */
static size_t split(const char *names, struct text *ret)
{
    size_t count = 0;

    while (*names != '\0') {
        size_t size = strcspn(names, " ");

        ret[count++] = size == 1 && names[0] == '-' ? TEXT("") : (struct text){names, size};
        names += size + (names[size] == ' ');
    }
    return count;
}

static int insert(struct model *model, const char *inputs, const char *outputs, uint32_t *ret, struct error *err)
{
    struct text read[4], made[4];
    struct node_recipe recipe = {.op_type = TEXT("Op"), .name = TEXT("new"), .inputs = read, .outputs = made};

    recipe.input_count = split(inputs, read);
    recipe.output_count = split(outputs, made);
    return model_insert_node(model, &recipe, ret, err);
}

/* Inserts a node "new", and checks that it is the one that was returned. */
static const struct node *insert_well(struct model *model, const char *inputs, const char *outputs)
{
    uint32_t node;
    struct error err = {0};

    if (insert(model, inputs, outputs, &node, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(node, fixture_node(model, "new"));
    return &model->nodes.items[node];
}

static const char *nodes_of(struct model *model)
{
    struct subgraph whole;
    const char *names;

    subgraph_init_whole(&whole, model);
    names = names_of_nodes(&whole);
    subgraph_release(&whole);
    return names;
}

static const char *inputs_of(const struct model *model, const char *node)
{
    return names_of_edges(model, model->nodes.items[fixture_node(model, node)].inputs);
}

static const char *outputs_of(const struct model *model, const char *node)
{
    return names_of_edges(model, model->nodes.items[fixture_node(model, node)].outputs);
}

static void readers_of_a_split_tensor_read_the_new_one(void **state)
{
    struct model *model = fixture_open("branches");
    const struct node *node = insert_well(model, "b", "b");

    assert_string_equal(names_of_edges(model, node->inputs), "b");
    assert_string_equal(names_of_edges(model, node->outputs), "b" SUFFIX);
    assert_string_equal(outputs_of(model, "split"), "b c");
    assert_string_equal(inputs_of(model, "add_weight"), "b" SUFFIX " w");
    assert_string_equal(inputs_of(model, "random"), "b" SUFFIX);
    assert_string_equal(nodes_of(model), "neg split new add_weight join exp random mul");
    model_free(model);
}

static void output_of_the_model_keeps_its_name(void **state)
{
    struct model *model = fixture_open("branches");
    const struct node *node = insert_well(model, "f", "f");

    assert_string_equal(names_of_edges(model, node->inputs), "f" SUFFIX);
    assert_string_equal(names_of_edges(model, node->outputs), "f");
    assert_string_equal(outputs_of(model, "exp"), "f" SUFFIX);
    assert_string_equal(names_of_values(model, &model->outputs), "g f");
    model_free(model);
}

/* `x` is an input and an output: the output keeps the name, as the models' users see it. */
static void input_that_is_an_output_becomes_the_renamed_input(void **state)
{
    struct model *model = fixture_open("input_and_weight_are_outputs");
    const struct node *node = insert_well(model, "x weight", "x weight");
    struct value_type type;

    assert_string_equal(names_of_values(model, &model->inputs), "x" SUFFIX);
    assert_string_equal(names_of_initializers(model), "weight" SUFFIX);
    assert_string_equal(names_of_edges(model, node->inputs), "x" SUFFIX " weight" SUFFIX);
    assert_string_equal(names_of_edges(model, node->outputs), "x weight");
    assert_string_equal(names_of_values(model, &model->outputs), "x weight sum");
    value_info_decode(model->values.items[fixture_value(model, "x" SUFFIX)].info, &type);
    assert_int_equal(type.element, DATA_FLOAT32);
    assert_int_equal(type.shape.dims[0], 2);
    model_free(model);
}

static void other_outputs_lose_their_producer(void **state)
{
    struct model *model = fixture_open("branches");
    const struct node *node = insert_well(model, "x", "c d");

    assert_string_equal(names_of_edges(model, node->outputs), "c d");
    assert_string_equal(outputs_of(model, "split"), "b c_unused");
    assert_string_equal(outputs_of(model, "add_weight"), "d_unused");
    assert_string_equal(inputs_of(model, "exp"), "c");
    model_free(model);
}

static void made_input_and_made_weight_come_from_the_node_alone(void **state)
{
    struct model *model = fixture_open("branches");

    insert_well(model, "x", "y w");
    assert_string_equal(names_of_values(model, &model->inputs), "x");
    assert_string_equal(names_of_initializers(model), "");
    assert_string_equal(inputs_of(model, "add_weight"), "b w");
    model_free(model);
}

static void omitted_tensors_stay_omitted(void **state)
{
    struct model *model = fixture_open("branches");
    const struct node *node = insert_well(model, "a - b", "- a");

    assert_string_equal(names_of_edges(model, node->inputs), "a - b");
    assert_string_equal(names_of_edges(model, node->outputs), "- a" SUFFIX);
    model_free(model);
}

static void node_that_only_reads_inputs_comes_first(void **state)
{
    struct model *model = fixture_open("branches");

    insert_well(model, "x", "x");
    assert_string_equal(nodes_of(model), "new neg split add_weight join exp random mul");
    model_free(model);
}

/* It reads what `exp` makes, and what it makes is read by `join`, which stands in front of that. */
static void node_and_what_it_needs_move_in_front_of_its_readers(void **state)
{
    struct model *model = fixture_open("branches");

    insert_well(model, "f", "d");
    assert_string_equal(nodes_of(model), "neg split add_weight exp new join random mul");
    model_free(model);
}

static void name_that_is_taken_gets_a_number(void **state)
{
    struct model *model = fixture_open("branches");

    insert_well(model, "b", "b");
    insert_well(model, "b", "b"); /* in front of the first one */
    assert_string_equal(nodes_of(model), "neg split new new add_weight join exp random mul");
    assert_string_equal(names_of_edges(model, model->nodes.items[2].outputs), "b" SUFFIX "_1");
    assert_string_equal(names_of_edges(model, model->nodes.items[3].inputs), "b" SUFFIX "_1");
    assert_string_equal(names_of_edges(model, model->nodes.items[3].outputs), "b" SUFFIX);
    model_free(model);
}

static void bodies_read_the_new_tensor(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    const char *captures;

    insert_well(model, "scale", "scale");
    captures = names_of_edges(model, model->nodes.items[fixture_node(model, "loop")].captures);
    assert_true(strcmp(captures, "scale" SUFFIX " offset") == 0 || strcmp(captures, "offset scale" SUFFIX) == 0);
    assert_string_equal(nodes_of(model), "exp new neg loop");
    model_free(model);
}

static void everything_behind_the_node_is_a_descendant(void **state)
{
    struct model *model = fixture_open("branches");
    struct value_list list = {0};
    struct bitset values;

    insert_well(model, "b", "b");
    bitset_init(&values, model->values.count);
    model_add_descendants(model, fixture_node(model, "new"), &values);
    for (uint32_t i = 0; i < values.size; i++)
        if (bitset_has(&values, i))
            value_list_add(&list, i);
    assert_string_equal(names_of_values(model, &list), "d e noise g b" SUFFIX);
    free(list.items);
    bitset_release(&values);
    model_free(model);
}

static void assert_refused(const char *inputs, const char *outputs, int code, const char *message)
{
    struct model *model = fixture_open("branches");
    uint32_t node;
    struct error err = {0};

    assert_int_equal(insert(model, inputs, outputs, &node, &err), code);
    if (strstr(err.message, message) == NULL)
        fail_msg("%s", err.message);
    model_free(model);
}

static void impossible_nodes_are_refused(void **state)
{
    assert_refused("q", "b", ERR_INVALID, "Tensor: q does not exist in the model.");
    assert_refused("b", "b q", ERR_INVALID, "Tensor: q does not exist in the model.");
    assert_refused("b", "d d", ERR_INVALID, "the new node cannot produce 'd' twice");
    assert_refused("g", "a", ERR_CORRUPT, "in a cycle: 'join' -> 'mul' -> 'new' -> 'join'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_of_a_split_tensor_read_the_new_one),
        cmocka_unit_test(output_of_the_model_keeps_its_name),
        cmocka_unit_test(input_that_is_an_output_becomes_the_renamed_input),
        cmocka_unit_test(other_outputs_lose_their_producer),
        cmocka_unit_test(made_input_and_made_weight_come_from_the_node_alone),
        cmocka_unit_test(omitted_tensors_stay_omitted),
        cmocka_unit_test(node_that_only_reads_inputs_comes_first),
        cmocka_unit_test(node_and_what_it_needs_move_in_front_of_its_readers),
        cmocka_unit_test(name_that_is_taken_gets_a_number),
        cmocka_unit_test(bodies_read_the_new_tensor),
        cmocka_unit_test(everything_behind_the_node_is_a_descendant),
        cmocka_unit_test(impossible_nodes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
