/* The index of an ONNX file: what stands in it, under which names, and files that lie. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "support/scratch_folder.h"

static void nodes_and_tensors_are_indexed_in_file_order(void **state)
{
    struct model *model = fixture_open("reducable");
    uint32_t sum = fixture_node(model, "onnx_graphsurgeon_node_5");

    assert_int_equal(model->nodes.count, 5);
    assert_int_equal(sum, 2);
    assert_true(text_equal_string(model->nodes.items[sum].op_type, "Add"));
    assert_string_equal(names_of_edges(model, model->nodes.items[sum].inputs), "identity_out_0 identity_out_2");
    assert_string_equal(names_of_edges(model, model->nodes.items[sum].outputs), "add_out_4");
    assert_int_equal(model->values.items[fixture_value(model, "add_out_4")].producer, sum);
    assert_int_equal(model->values.items[fixture_value(model, "X0")].producer, NODE_NONE);
    assert_string_equal(names_of_values(model, &model->inputs), "X0 Y0");
    assert_string_equal(names_of_values(model, &model->outputs), "identity_out_6 identity_out_8");
    assert_int_equal(model_opset(model), 11);
    assert_true(text_equal_string(model->graph_name, "onnx_graphsurgeon_graph"));
    model_free(model);
}

static void tensor_that_is_used_twice_is_one_value(void **state)
{
    struct model *model = fixture_open("same_input_twice");
    const struct node *mul = &model->nodes.items[1];

    assert_int_equal(mul->inputs.count, 2);
    assert_int_equal(model_edge(model, mul->inputs, 0), model_edge(model, mul->inputs, 1));
    assert_int_equal(model->values.count, 4);
    model_free(model);
}

static void omitted_inputs_and_outputs_are_no_values(void **state)
{
    struct model *model = fixture_open("omitted_optional_input");

    assert_string_equal(names_of_edges(model, model->nodes.items[1].inputs), "t - mx");
    assert_int_equal(model_find_value(model, TEXT("")), VALUE_NONE);
    model_free(model);
    model = fixture_open("omitted_optional_output");
    assert_string_equal(names_of_edges(model, model->nodes.items[1].outputs), "- hh");
    model_free(model);
}

static void node_without_a_name_is_called_after_its_operator(void **state)
{
    struct model *model = fixture_open("identity");

    assert_string_equal(model_node_label(model, 0), "Identity #0");
    model_free(model);
    model = fixture_open("reducable");
    assert_string_equal(model_node_label(model, 1), "onnx_graphsurgeon_node_3");
    model_free(model);
}

static void names_that_occur_twice_are_taken_once(void **state)
{
    struct model *model = fixture_open("names_that_occur_twice");

    assert_string_equal(names_of_values(model, &model->inputs), "x");
    assert_string_equal(names_of_values(model, &model->outputs), "y");
    assert_int_equal(model->nodes.count, 2);
    model_free(model);
}

static void of_two_initializers_with_one_name_the_later_counts(void **state)
{
    struct model *model = fixture_open("names_that_occur_twice");
    struct span tensor;

    assert_int_equal(model->initializers.count, 1);
    tensor = model->initializers.items[0].message;
    assert_memory_equal(tensor.data + tensor.size - 4, &(float){2}, 4); /* the data stand last */
    model_free(model);
}

static void nodes_may_stand_in_front_of_their_producers(void **state)
{
    struct model *model = fixture_open("unsorted_nodes");

    assert_int_equal(model->values.items[fixture_value(model, "a")].producer, 2);
    assert_int_equal(model->values.items[fixture_value(model, "b")].producer, 1);
    model_free(model);
}

static void sparse_initializer_is_called_as_its_values(void **state)
{
    struct model *model = fixture_open("sparse_initializer");

    assert_string_equal(names_of_initializers(model), "w");
    assert_true(model->initializers.items[0].sparse);
    assert_string_equal(names_of_values(model, &model->inputs), "x");
    model_free(model);
}

static void initializer_among_the_inputs_is_a_default_and_not_fed(void **state)
{
    struct model *model = fixture_open("default_of_an_input");

    assert_string_equal(names_of_values(model, &model->inputs), "x");
    assert_int_equal(model->values.items[fixture_value(model, "w")].initializer, 0);
    model_free(model);
}

static void annotation_is_indexed_with_its_parameters(void **state)
{
    struct model *model = fixture_open("quantization_annotations");

    assert_int_equal(model->annotations.count, 2);
    assert_int_equal(model->annotations.items[0].value, fixture_value(model, "a"));
    assert_string_equal(names_of_edges(model, model->annotations.items[0].parameters), "a_scale a_zero");
    assert_string_equal(names_of_edges(model, model->annotations.items[1].parameters), "b_scale");
    model_free(model);
}

static void functions_and_opsets_are_counted(void **state)
{
    struct model *model = fixture_open("local_functions");

    assert_int_equal(model->function_count, 2);
    assert_int_equal(model->opsets.count, 2);
    assert_int_equal(model_opset(model), 15);
    assert_true(text_equal_string(model->opsets.items[1].domain, "local"));
    model_free(model);
}

static void description_of_an_output_goes_before_one_of_an_inner_tensor(void **state)
{
    struct string_builder graph, file;
    struct value_type type = {.element = DATA_FLOAT32, .has_shape = true, .shape = {1, {5}}};
    struct arena arena;
    struct model *model;
    struct error err = {0};
    struct span inner, outer;

    arena_init(&arena);
    string_init(&graph);
    string_init(&file);
    outer = value_info_make(&arena, TEXT("y"), &type);
    type.shape.dims[0] = 7;
    inner = value_info_make(&arena, TEXT("y"), &type);
    wire_write_bytes(&graph, 13, inner.data, inner.size);
    wire_write_bytes(&graph, 12, outer.data, outer.size);
    wire_write_bytes(&graph, 13, inner.data, inner.size);
    wire_write_bytes(&file, 7, graph.data, graph.size);
    assert_int_equal(model_parse((struct span){(const uint8_t *)file.data, file.size}, "test", &model, &err), 0);
    value_info_decode(model->values.items[fixture_value(model, "y")].info, &type);
    assert_int_equal(type.shape.dims[0], 5);
    model_free(model);
    string_release(&graph);
    string_release(&file);
    arena_release(&arena);
}

static void assert_refused(const char *bytes, size_t size, const char *part)
{
    struct model *model;
    struct error err = {0};

    assert_int_equal(model_parse((struct span){(const uint8_t *)bytes, size}, "bad.onnx", &model, &err), ERR_CORRUPT);
    assert_memory_equal(err.message, "bad.onnx: ", 10);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not contain '%s'", err.message, part);
}

static void files_that_are_no_models_are_refused(void **state)
{
    assert_refused("", 0, "contains no graph");
    assert_refused("\x08\x08", 2, "contains no graph");
    assert_refused("\x3a\x00\x3a\x00", 4, "two graphs (the second at byte 2)");
    assert_refused("hello world", 11, "the model is damaged at byte");
    assert_refused("\x3a\x03\x0a\x05x", 5, "the graph is damaged at byte 2 of 5");
    assert_refused("\x3a\x04\x0a\x02\x0a\x05", 6, "a node is damaged at byte 4 of 6");
    assert_refused("\x3a\x04\x2a\x02\x42\x05", 6, "an initializer is damaged at byte 4 of 6");
    assert_refused("\x3a\x04\x5a\x02\x0a\x05", 6, "a value description is damaged at byte 4 of 6");
    assert_refused("\x42\x01\x12\x3a\x00", 5, "an opset import is damaged at byte 2 of 5");
}

static void file_that_is_not_there_is_missing(void **state)
{
    struct model *model;
    struct error err = {0};

    assert_int_equal(model_open("no/such.onnx", NULL, &model, &err), ERR_MISSING);
    assert_int_equal(model_open(fixture_path(""), NULL, &model, &err), ERR_IO);
}

static void empty_file_holds_no_graph(void **state)
{
    struct model *model;
    struct error err = {0};

    scratch_file("empty.onnx", "");
    assert_int_equal(model_open("empty.onnx", NULL, &model, &err), ERR_CORRUPT);
    assert_string_equal(err.message, "empty.onnx: contains no graph: not an ONNX model");
}

/* Cut off anywhere, a file is either refused or, where a field ends, a smaller model. */
static void file_cut_off_anywhere_does_no_harm(void **state)
{
    static const char *const names[] = {"unknown_fields", "nested_bodies", "quantization_annotations",
                                        "sparse_initializer"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct model *whole = fixture_open(names[i]);
        size_t refused = 0;

        for (size_t size = 0; size < whole->file.size; size++) {
            uint8_t *copy = malloc(size + 1);
            struct model *model;

            memcpy(copy, whole->file.data, size);
            if (model_parse((struct span){copy, size}, "cut", &model, NULL) == 0)
                model_free(model);
            else
                refused++;
            free(copy);
        }
        assert_true(refused > whole->file.size / 2);
        model_free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_and_tensors_are_indexed_in_file_order),
        cmocka_unit_test(tensor_that_is_used_twice_is_one_value),
        cmocka_unit_test(omitted_inputs_and_outputs_are_no_values),
        cmocka_unit_test(node_without_a_name_is_called_after_its_operator),
        cmocka_unit_test(names_that_occur_twice_are_taken_once),
        cmocka_unit_test(of_two_initializers_with_one_name_the_later_counts),
        cmocka_unit_test(nodes_may_stand_in_front_of_their_producers),
        cmocka_unit_test(sparse_initializer_is_called_as_its_values),
        cmocka_unit_test(initializer_among_the_inputs_is_a_default_and_not_fed),
        cmocka_unit_test(annotation_is_indexed_with_its_parameters),
        cmocka_unit_test(functions_and_opsets_are_counted),
        cmocka_unit_test(description_of_an_output_goes_before_one_of_an_inner_tensor),
        cmocka_unit_test(files_that_are_no_models_are_refused),
        cmocka_unit_test(file_that_is_not_there_is_missing),
        cmocka_unit_test_setup_teardown(empty_file_holds_no_graph, scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test(file_cut_off_anywhere_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
