/* Cutting: which nodes remain, what is fed, what comes out, what becomes a constant. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A part of a model to try things on. */
struct cut {
    struct model *model;
    struct subgraph subgraph;
    struct bitset constants;
    struct value_list met, missing;
};

static void cut_init(struct cut *cut, const char *name)
{
    *cut = (struct cut){.model = fixture_open_lowered(name)};
    subgraph_init_whole(&cut->subgraph, cut->model);
    bitset_init(&cut->constants, cut->model->values.count);
}

static void cut_release(struct cut *cut)
{
    free(cut->met.items);
    free(cut->missing.items);
    bitset_release(&cut->constants);
    subgraph_release(&cut->subgraph);
    model_free(cut->model);
}

static void mark_outputs(struct cut *cut, const char *node)
{
    subgraph_mark_outputs(&cut->subgraph, fixture_node(cut->model, node));
}

static void mark_inputs(struct cut *cut, const char *node)
{
    subgraph_mark_inputs(&cut->subgraph, fixture_node(cut->model, node));
}

static void clean(struct cut *cut)
{
    cut->missing.count = 0;
    subgraph_clean(&cut->subgraph, NULL, NULL, &cut->missing);
}

/* Makes constants of what the last clean() found missing and of all that depends on nothing else. */
static void freeze_missing(struct cut *cut)
{
    for (size_t i = 0; i < cut->missing.count; i++)
        bitset_add(&cut->constants, cut->missing.items[i]);
    subgraph_fold(&cut->subgraph, &cut->constants);
    subgraph_clean(&cut->subgraph, &cut->constants, &cut->met, NULL);
}

static void assert_cut(const struct cut *cut, const char *nodes, const char *inputs, const char *outputs)
{
    assert_string_equal(names_of_nodes(&cut->subgraph), nodes);
    assert_string_equal(names_of_values(cut->model, &cut->subgraph.inputs), inputs);
    assert_string_equal(names_of_values(cut->model, &cut->subgraph.outputs), outputs);
}

static void whole_subgraph_is_the_model(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    assert_cut(&cut, "neg split add_weight join exp random mul", "x y", "g f");
    clean(&cut);
    assert_cut(&cut, "neg split add_weight join exp random mul", "x y", "g f");
    assert_int_equal(cut.missing.count, 0);
    cut_release(&cut);
}

static void marking_outputs_leaves_what_they_depend_on(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    mark_outputs(&cut, "add_weight");
    clean(&cut);
    assert_cut(&cut, "split add_weight", "y", "d");
    assert_int_equal(cut.missing.count, 0);
    cut_release(&cut);
}

static void all_outputs_of_a_node_become_outputs(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    mark_outputs(&cut, "split");
    clean(&cut);
    assert_cut(&cut, "split", "y", "b c");
    cut_release(&cut);
}

static void omitted_output_is_not_marked(void **state)
{
    struct cut cut;

    cut_init(&cut, "omitted_optional_output");
    subgraph_mark_outputs(&cut.subgraph, 1);
    assert_string_equal(names_of_values(cut.model, &cut.subgraph.outputs), "hh");
    cut_release(&cut);
}

static void omitted_input_and_initializer_are_not_marked(void **state)
{
    struct cut cut;

    cut_init(&cut, "omitted_optional_input"); /* Clip(t, "", mx) */
    subgraph_mark_inputs(&cut.subgraph, 1);
    assert_string_equal(names_of_values(cut.model, &cut.subgraph.inputs), "t");
    cut_release(&cut);
}

static void node_that_uses_one_tensor_twice_gets_one_graph_input(void **state)
{
    struct cut cut;

    cut_init(&cut, "same_input_twice");
    subgraph_mark_inputs(&cut.subgraph, 1);
    assert_string_equal(names_of_values(cut.model, &cut.subgraph.inputs), "t");
    cut_release(&cut);
}

static void captured_tensors_are_marked_as_inputs(void **state)
{
    struct cut cut;

    cut_init(&cut, "nested_bodies");
    mark_inputs(&cut, "loop");
    clean(&cut);
    assert_cut(&cut, "loop", "condition x scale offset", "y");
    assert_int_equal(cut.missing.count, 0);
    cut_release(&cut);
}

static void captured_tensors_keep_their_producers(void **state)
{
    struct cut cut;

    cut_init(&cut, "same_name_in_both_branches");
    mark_outputs(&cut, "if");
    clean(&cut);
    assert_cut(&cut, "neg if", "x condition", "y");
    cut_release(&cut);
}

static void marking_inputs_drops_what_lies_in_front(void **state)
{
    struct cut cut;

    cut_init(&cut, "chain17");
    mark_inputs(&cut, "n14");
    clean(&cut);
    assert_cut(&cut, "n14 n15 n16", "t13", "t16");
    cut_release(&cut);
}

static void order_of_the_file_is_kept(void **state)
{
    struct cut cut;

    cut_init(&cut, "unsorted_nodes");
    mark_outputs(&cut, "second");
    clean(&cut);
    assert_cut(&cut, "second first", "x", "b");
    cut_release(&cut);
}

static void branch_without_a_source_is_reported_as_missing(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    mark_outputs(&cut, "join");
    mark_inputs(&cut, "add_weight");
    clean(&cut);
    assert_cut(&cut, "neg add_weight join", "b", "e");
    assert_string_equal(names_of_values(cut.model, &cut.missing), "x");
    cut_release(&cut);
}

static void missing_branch_is_folded_up_to_where_it_meets_the_rest(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    mark_outputs(&cut, "join");
    mark_inputs(&cut, "add_weight");
    clean(&cut);
    freeze_missing(&cut);
    assert_cut(&cut, "add_weight join", "b", "e");
    assert_string_equal(names_of_values(cut.model, &cut.met), "a");
    cut_release(&cut);
}

static void initializers_alone_fold_nothing(void **state)
{
    struct cut cut;

    cut_init(&cut, "constants_of_every_form");
    subgraph_fold(&cut.subgraph, &cut.constants);
    assert_int_equal(bitset_count(&cut.constants), 0);
    cut_release(&cut);
}

static void random_operators_are_never_folded(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    mark_inputs(&cut, "join"); /* a and d are fed; b, which the random operator takes its shape from, misses y */
    clean(&cut);
    assert_string_equal(names_of_values(cut.model, &cut.missing), "y");
    freeze_missing(&cut);
    assert_cut(&cut, "join random mul", "a d", "g f");
    assert_string_equal(names_of_values(cut.model, &cut.met), "f b");
    cut_release(&cut);
}

static void quantization_is_never_folded(void **state)
{
    struct cut cut;

    cut_init(&cut, "dynamic_quantization");
    mark_inputs(&cut, "matmul");
    clean(&cut);
    assert_string_equal(names_of_values(cut.model, &cut.missing), "x");
    freeze_missing(&cut);
    assert_cut(&cut, "quantize matmul cast mul", "q q_zero", "y");
    assert_string_equal(names_of_values(cut.model, &cut.met), "t");
    cut_release(&cut);
}

/* A sequence cannot be written as a constant: the node that makes it stays and gets its tensor as one. */
static void sequences_are_never_folded(void **state)
{
    struct cut cut;

    cut_init(&cut, "sequence_between");
    bitset_add(&cut.constants, fixture_value(cut.model, "x"));
    subgraph_fold(&cut.subgraph, &cut.constants);
    subgraph_clean(&cut.subgraph, &cut.constants, &cut.met, NULL);
    assert_cut(&cut, "split at add", "y", "z");
    assert_string_equal(names_of_values(cut.model, &cut.met), "t");
    cut_release(&cut);
}

static void folding_does_not_need_sorted_nodes(void **state)
{
    struct cut cut;

    cut_init(&cut, "unsorted_nodes");
    bitset_add(&cut.constants, fixture_value(cut.model, "x"));
    subgraph_fold(&cut.subgraph, &cut.constants);
    assert_int_equal(bitset_count(&cut.constants), 4);
    subgraph_clean(&cut.subgraph, &cut.constants, &cut.met, NULL);
    assert_cut(&cut, "", "", "y");
    assert_string_equal(names_of_values(cut.model, &cut.met), "y");
    cut_release(&cut);
}

static void captured_constants_count_when_a_node_is_folded(void **state)
{
    struct cut cut;

    cut_init(&cut, "scan_with_capture");
    bitset_add(&cut.constants, fixture_value(cut.model, "initial"));
    bitset_add(&cut.constants, fixture_value(cut.model, "rows"));
    subgraph_fold(&cut.subgraph, &cut.constants);
    assert_true(bitset_has(&cut.constants, fixture_value(cut.model, "y")));
    bitset_clear(&cut.constants);
    bitset_add(&cut.constants, fixture_value(cut.model, "rows"));
    subgraph_fold(&cut.subgraph, &cut.constants);
    assert_int_equal(bitset_count(&cut.constants), 1);
    cut_release(&cut);
}

static void frozen_values_are_sources(void **state)
{
    static const float one = 1;
    struct tensor tensor;
    struct cut cut;

    tensor_borrow(DATA_FLOAT32, &(struct shape){1, {1}}, &one, sizeof(one), &tensor);
    cut_init(&cut, "branches");
    *VECTOR_APPEND(&cut.subgraph.frozen) = (struct frozen_value){fixture_value(cut.model, "a"), &tensor};
    *VECTOR_APPEND(&cut.subgraph.frozen) = (struct frozen_value){fixture_value(cut.model, "c"), &tensor};
    mark_outputs(&cut, "join");
    clean(&cut);
    assert_cut(&cut, "split add_weight join", "y", "e");
    assert_int_equal(cut.subgraph.frozen.count, 1); /* nothing needs c */
    assert_int_equal(cut.subgraph.frozen.items[0].value, fixture_value(cut.model, "a"));
    mark_inputs(&cut, "join");
    assert_string_equal(names_of_values(cut.model, &cut.subgraph.inputs), "d");
    cut_release(&cut);
}

/* Split makes `b`, which add_weight is fed with, and `c`, which would keep it through exp and `f`. */
static void outputs_made_by_a_producer_of_the_inputs_are_dropped(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    subgraph_mark_outputs(&cut.subgraph, fixture_node(cut.model, "split"));
    value_list_add(&cut.subgraph.outputs, fixture_value(cut.model, "g"));
    assert_string_equal(names_of_values(cut.model, &cut.subgraph.outputs), "b c g");
    mark_inputs(&cut, "add_weight");
    assert_string_equal(names_of_values(cut.model, &cut.subgraph.outputs), "g");
    cut_release(&cut);
}

static void last_output_is_never_dropped(void **state)
{
    struct cut cut;

    cut_init(&cut, "branches");
    mark_outputs(&cut, "split");
    mark_inputs(&cut, "add_weight");
    assert_string_equal(names_of_values(cut.model, &cut.subgraph.outputs), "b c");
    cut_release(&cut);
}

static void used_values_are_those_of_nodes_bodies_outputs_and_annotations(void **state)
{
    struct cut cut;
    struct value_list listed = {0};

    cut_init(&cut, "quantization_annotations");
    mark_outputs(&cut, "neg");
    clean(&cut);
    subgraph_used_values(&cut.subgraph, &cut.constants);
    for (uint32_t i = 0; i < cut.model->values.count; i++)
        if (bitset_has(&cut.constants, i))
            value_list_add(&listed, i);
    assert_string_equal(names_of_values(cut.model, &listed), "x a a_scale a_zero");
    free(listed.items);
    cut_release(&cut);
}

static bool same_identity(const struct subgraph *a, const struct subgraph *b)
{
    return hash_equal(subgraph_identity(a), subgraph_identity(b));
}

static void identity_tells_subgraphs_apart(void **state)
{
    struct cut cut;
    struct subgraph other;

    cut_init(&cut, "branches");
    subgraph_init_copy(&other, &cut.subgraph);
    assert_true(same_identity(&cut.subgraph, &other));
    bitset_remove(&other.nodes, 3);
    assert_false(same_identity(&cut.subgraph, &other));
    bitset_add(&other.nodes, 3);
    assert_true(same_identity(&cut.subgraph, &other));
    other.inputs.count--;
    assert_false(same_identity(&cut.subgraph, &other));
    other.inputs.count++;
    other.outputs.count--;
    assert_false(same_identity(&cut.subgraph, &other));
    other.outputs.count++;
    *VECTOR_APPEND(&other.frozen) = (struct frozen_value){fixture_value(cut.model, "a"), NULL};
    assert_false(same_identity(&cut.subgraph, &other));
    subgraph_release(&other);
    cut_release(&cut);
}

/* n7 and n9 of the model have the same input, so cutting inputs at either gives the same candidate. */
static void identical_candidates_have_one_identity(void **state)
{
    struct cut first, second;

    cut_init(&first, "reducable");
    cut_init(&second, "reducable");
    mark_inputs(&first, "onnx_graphsurgeon_node_7");
    mark_inputs(&second, "onnx_graphsurgeon_node_9");
    clean(&first);
    clean(&second);
    assert_true(same_identity(&first.subgraph, &second.subgraph));
    cut_release(&first);
    cut_release(&second);
}

static void copy_does_not_share_anything(void **state)
{
    struct cut cut;
    struct subgraph copy;

    cut_init(&cut, "branches");
    subgraph_init_copy(&copy, &cut.subgraph);
    subgraph_mark_outputs(&copy, fixture_node(cut.model, "neg"));
    subgraph_clean(&copy, NULL, NULL, NULL);
    assert_string_equal(names_of_nodes(&copy), "neg");
    assert_cut(&cut, "neg split add_weight join exp random mul", "x y", "g f");
    subgraph_release(&copy);
    cut_release(&cut);
}

static void model_without_nodes_can_be_cleaned(void **state)
{
    struct cut cut;

    cut_init(&cut, "empty");
    clean(&cut);
    subgraph_fold(&cut.subgraph, &cut.constants);
    assert_cut(&cut, "", "", "");
    cut_release(&cut);
}

static void nodes_cut_out_one_by_one_are_the_parts_that_single_nodes_make(void **state)
{
    static const char *const models[] = {"branches",
                                         "nested_bodies",
                                         "local_functions",
                                         "omitted_optional_output",
                                         "omitted_optional_input",
                                         "same_input_twice",
                                         "input_and_weight_are_outputs"};

    for (size_t m = 0; m < ARRAY_LEN(models); m++) {
        struct model *model = fixture_open(models[m]);
        struct node_cutter cutter;
        struct subgraph whole;

        subgraph_init_whole(&whole, model);
        node_cutter_init(&cutter, &whole);
        for (uint32_t i = 0; i < model->nodes.count; i++) {
            const struct subgraph *part = node_cutter_cut(&cutter, i);
            struct subgraph expected;
            struct bitset one;

            bitset_init(&one, model->nodes.count);
            bitset_add(&one, i);
            subgraph_init_nodes(&expected, &whole, &one);
            assert_true(bitset_equal(&part->nodes, &expected.nodes));
            assert_string_equal(names_of_values(model, &part->inputs), names_of_values(model, &expected.inputs));
            assert_string_equal(names_of_values(model, &part->outputs), names_of_values(model, &expected.outputs));
            subgraph_release(&expected);
            bitset_release(&one);
        }
        node_cutter_release(&cutter);
        subgraph_release(&whole);
        model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_subgraph_is_the_model),
        cmocka_unit_test(marking_outputs_leaves_what_they_depend_on),
        cmocka_unit_test(all_outputs_of_a_node_become_outputs),
        cmocka_unit_test(omitted_output_is_not_marked),
        cmocka_unit_test(omitted_input_and_initializer_are_not_marked),
        cmocka_unit_test(node_that_uses_one_tensor_twice_gets_one_graph_input),
        cmocka_unit_test(captured_tensors_are_marked_as_inputs),
        cmocka_unit_test(captured_tensors_keep_their_producers),
        cmocka_unit_test(marking_inputs_drops_what_lies_in_front),
        cmocka_unit_test(order_of_the_file_is_kept),
        cmocka_unit_test(branch_without_a_source_is_reported_as_missing),
        cmocka_unit_test(missing_branch_is_folded_up_to_where_it_meets_the_rest),
        cmocka_unit_test(initializers_alone_fold_nothing),
        cmocka_unit_test(random_operators_are_never_folded),
        cmocka_unit_test(quantization_is_never_folded),
        cmocka_unit_test(sequences_are_never_folded),
        cmocka_unit_test(folding_does_not_need_sorted_nodes),
        cmocka_unit_test(captured_constants_count_when_a_node_is_folded),
        cmocka_unit_test(frozen_values_are_sources),
        cmocka_unit_test(outputs_made_by_a_producer_of_the_inputs_are_dropped),
        cmocka_unit_test(last_output_is_never_dropped),
        cmocka_unit_test(used_values_are_those_of_nodes_bodies_outputs_and_annotations),
        cmocka_unit_test(identity_tells_subgraphs_apart),
        cmocka_unit_test(identical_candidates_have_one_identity),
        cmocka_unit_test(copy_does_not_share_anything),
        cmocka_unit_test(model_without_nodes_can_be_cleaned),
        cmocka_unit_test(nodes_cut_out_one_by_one_are_the_parts_that_single_nodes_make),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
