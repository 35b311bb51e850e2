/* Writing: what is kept comes out byte for byte, and what was changed is valid ONNX. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "support/scratch_folder.h"

static bool has_bytes(const struct rewritten *written, const void *data, size_t size)
{
    return text_contains((struct text){written->bytes, written->size}, (struct text){data, size});
}

static bool has_text(const struct rewritten *written, const char *text)
{
    return has_bytes(written, text, strlen(text));
}

static const char *names_of_all_nodes(const struct rewritten *written)
{
    struct subgraph whole;
    const char *names;

    subgraph_init_whole(&whole, written->model);
    names = names_of_nodes(&whole);
    subgraph_release(&whole);
    return names;
}

/* Writes a subgraph to "written.onnx" in the current folder. */
static void write_file(const struct subgraph *subgraph)
{
    struct error err = {0};

    if (model_write(subgraph, "written.onnx", NULL, FILE_INTERMEDIATE, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

/* Models of tests/models that python3-onnx can read. */
static const char *const models[] = {
    "body_output_is_outer_tensor",
    "branches",
    "chain17",
    "constant_in_ir_version_3",
    "constants_of_every_form",
    "default_of_an_input",
    "dynamic_quantization",
    "empty",
    "every_type",
    "external_weights",
    "input_and_weight_are_outputs",
    "local_functions",
    "names_that_occur_twice",
    "nested_bodies",
    "omitted_optional_input",
    "omitted_optional_output",
    "quantization_annotations",
    "reducable",
    "reducable_with_const",
    "same_input_twice",
    "same_name_in_both_branches",
    "scalar_and_unknown_shape",
    "scan_with_capture",
    "sequence_between",
    "sequences",
    "sparse_initializer",
    "strings",
    "subgraph_uses_outer_tensors",
    "unknown_fields",
    "unsorted_nodes",
    "weights_of_many_sizes",
};

static void whole_model_is_the_same_message_again(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        struct model *model = fixture_open(models[i]);
        struct subgraph whole;
        struct error err = {0};
        char path[64];

        snprintf(path, sizeof(path), "%s.onnx", models[i]);
        subgraph_init_whole(&whole, model);
        if (model_write(&whole, path, NULL, FILE_INTERMEDIATE, NULL, &err) < 0)
            fail_msg("%s", err.message);
        subgraph_release(&whole);
        model_free(model);
    }
    run_python("compare_models.py", fixture_path(""), ".");
}

static void file_and_memory_get_the_same_bytes(void **state)
{
    struct model *model = fixture_open("unknown_fields");
    struct subgraph whole;
    struct rewritten written;
    struct file_map map;
    struct error err = {0};

    subgraph_init_whole(&whole, model);
    write_file(&whole);
    rewritten_init(&written, &whole);
    assert_int_equal(file_map_open("written.onnx", &map, &err), 0);
    assert_int_equal(map.size, written.size);
    assert_memory_equal(map.data, written.bytes, written.size);
    file_map_release(&map);
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

static void unknown_fields_and_metadata_survive(void **state)
{
    static const char *const marks[] = {
        "unknown in ModelProto",
        "unknown in OperatorSetIdProto",
        "unknown in StringStringEntryProto",
        "unknown in GraphProto",
        "unknown in NodeProto",
        "unknown in AttributeProto",
        "unknown in a Constant",
        "unknown in TensorProto",
        "unknown in ValueInfoProto",
        "unknown in TypeProto",
        "unknown in TensorShapeProto",
        "unknown in TypeProto.Tensor",
        "nobody",
        "a graph",
        "adds",
        "document",
        "org.example",
    };
    struct model *model = fixture_open_lowered("unknown_fields");
    struct subgraph whole;
    struct rewritten written;

    subgraph_init_whole(&whole, model);
    rewritten_init(&written, &whole);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (!has_text(&written, marks[i]))
            fail_msg("'%s' is gone", marks[i]);
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

static void nodes_that_are_kept_keep_all_their_bytes(void **state)
{
    struct model *model = fixture_open("unknown_fields");
    struct subgraph whole;
    struct rewritten written;

    subgraph_init_whole(&whole, model);
    rewritten_init(&written, &whole);
    for (size_t i = 0; i < model->nodes.count; i++)
        assert_true(has_bytes(&written, model->nodes.items[i].field.data, model->nodes.items[i].field.size));
    assert_true(has_bytes(&written, model->initializers.items[0].field.data, model->initializers.items[0].field.size));
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

/* Cuts the model to the nodes that `outputs_of` depends on, `inputs_of` at the front. */
static void cut(struct subgraph *subgraph, struct model *model, const char *outputs_of, const char *inputs_of)
{
    subgraph_init_whole(subgraph, model);
    if (outputs_of != NULL)
        subgraph_mark_outputs(subgraph, fixture_node(model, outputs_of));
    if (inputs_of != NULL)
        subgraph_mark_inputs(subgraph, fixture_node(model, inputs_of));
    subgraph_clean(subgraph, NULL, NULL, NULL);
}

static void cut_has_its_nodes_inputs_and_outputs_and_nothing_else(void **state)
{
    struct model *model = fixture_open("branches");
    struct subgraph part;
    struct rewritten written;

    cut(&part, model, "join", NULL);
    rewritten_init(&written, &part);
    assert_string_equal(names_of_all_nodes(&written), "neg split add_weight join");
    assert_string_equal(names_of_values(written.model, &written.model->inputs), "x y");
    assert_string_equal(names_of_values(written.model, &written.model->outputs), "e");
    assert_string_equal(names_of_initializers(written.model), "w");
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&part);
    cut(&part, model, "neg", NULL);
    rewritten_init(&written, &part);
    assert_int_equal(written.model->initializers.count, 0);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void descriptions_are_kept_for_tensors_that_are(void **state)
{
    struct model *model = fixture_open_lowered("unknown_fields");
    struct subgraph part;
    struct rewritten written;

    cut(&part, model, "add", NULL);
    rewritten_init(&written, &part);
    assert_true(has_text(&written, "unknown in TypeProto"));         /* t's, now the output's */
    assert_false(has_text(&written, "unknown in TensorShapeProto")); /* u's */
    assert_false(has_text(&written, "unknown in TypeProto.Tensor")); /* y's */
    assert_int_equal(model_find_value(written.model, TEXT("u")), VALUE_NONE);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void output_that_becomes_an_inner_tensor_keeps_its_description(void **state)
{
    struct model *model = fixture_open("branches");
    struct subgraph whole;
    struct rewritten written;
    struct value_type type;

    subgraph_init_whole(&whole, model);
    whole.outputs.count = 1; /* g; f is one no more */
    rewritten_init(&written, &whole);
    assert_string_equal(names_of_values(written.model, &written.model->outputs), "g");
    value_info_decode(written.model->values.items[fixture_value(written.model, "f")].info, &type);
    assert_int_equal(type.element, DATA_FLOAT32);
    assert_int_equal(type.shape.dims[0], 1);
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

static void output_without_a_known_type_is_written_without_one(void **state)
{
    struct model *model = fixture_open("chain17");
    struct subgraph part;
    struct rewritten written;
    uint32_t value;

    cut(&part, model, "n3", NULL);
    rewritten_init(&written, &part);
    assert_string_equal(names_of_values(written.model, &written.model->outputs), "t3");
    value = fixture_value(written.model, "t3");
    assert_int_equal(written.model->values.items[value].info.size, 4); /* the name and no more */
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void what_is_known_beside_the_model_is_written_and_changes_nothing(void **state)
{
    struct value_type type = {.element = DATA_INT64, .has_shape = true, .shape = {.rank = 1, .dims = {7}}}, found;
    struct model *model = fixture_open("chain17");
    struct known_types known, scratch;
    struct arena arena;
    struct subgraph part;
    struct rewritten written;
    uint32_t value = fixture_value(model, "t3");

    arena_init(&arena);
    known_types_init(&known, model, &arena);
    known_types_set(&known, value, &type);
    known_types_init_copy(&scratch, &known);
    type.shape.dims[0] = 8;
    known_types_set(&scratch, value, &type);
    cut(&part, model, "n3", NULL);
    part.known = &known;
    rewritten_init(&written, &part);
    value_info_decode(written.model->values.items[fixture_value(written.model, "t3")].info, &found);
    assert_int_equal(found.element, DATA_INT64);
    assert_int_equal(found.shape.dims[0], 7);
    assert_int_equal(model->values.items[value].info.size, 0);
    rewritten_release(&written);
    subgraph_release(&part);
    known_types_release(&scratch);
    known_types_release(&known);
    arena_release(&arena);
    model_free(model);
}

static void lowered_constant_is_an_initializer_under_the_name_of_its_output(void **state)
{
    struct model *model = fixture_open_lowered("constants_of_every_form");
    struct subgraph whole;
    struct rewritten written;

    subgraph_init_whole(&whole, model);
    rewritten_init(&written, &whole);
    assert_string_equal(names_of_initializers(written.model), "tensor");
    write_file(&whole);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

static void old_formats_get_every_initializer_as_an_input(void **state)
{
    struct model *model = fixture_open_lowered("constant_in_ir_version_3");
    struct subgraph whole;
    struct rewritten written;

    assert_int_equal(model->ir_version, 3);
    subgraph_init_whole(&whole, model);
    rewritten_init(&written, &whole);
    assert_string_equal(names_of_values(written.model, &written.model->inputs), "x"); /* the reader drops defaults */
    assert_int_equal(written.model->values.items[fixture_value(written.model, "c")].info_prefix, 0);
    assert_true(written.model->values.items[fixture_value(written.model, "c")].info.size > 0);
    write_file(&whole);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

static void default_of_an_input_becomes_a_constant_in_newer_formats(void **state)
{
    struct model *model = fixture_open("default_of_an_input");
    struct subgraph whole;
    struct rewritten written;

    subgraph_init_whole(&whole, model);
    rewritten_init(&written, &whole);
    assert_string_equal(names_of_initializers(written.model), "w");
    assert_int_equal(written.model->values.items[fixture_value(written.model, "w")].info.size, 0);
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

static void freeze(struct subgraph *subgraph, const char *name, const struct tensor *tensor)
{
    *VECTOR_APPEND(&subgraph->frozen) = (struct frozen_value){fixture_value(subgraph->model, name), tensor};
}

static void frozen_value_is_written_as_a_constant(void **state)
{
    static const float one = 1;
    struct model *model = fixture_open("branches");
    struct subgraph part;
    struct rewritten written;
    struct tensor tensor, again;
    struct error err = {0};

    tensor_borrow(DATA_FLOAT32, &(struct shape){1, {1}}, &one, sizeof(one), &tensor);
    cut(&part, model, "join", NULL);
    freeze(&part, "a", &tensor);
    subgraph_clean(&part, NULL, NULL, NULL);
    rewritten_init(&written, &part);
    assert_string_equal(names_of_all_nodes(&written), "split add_weight join");
    assert_string_equal(names_of_initializers(written.model), "w a");
    assert_int_equal(tensor_proto_decode(written.model->initializers.items[1].message, &again, &err), 0);
    assert_true(tensor_identical(&tensor, &again));
    tensor_release(&again);
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void frozen_strings_are_written_as_strings(void **state)
{
    static const struct text texts[] = {{"a\0b", 3}, {"", 0}};
    struct model *model = fixture_open("strings");
    struct subgraph whole;
    struct rewritten written;
    struct tensor tensor, again;
    struct error err = {0};

    assert_int_equal(tensor_set_strings(&(struct shape){1, {2}}, texts, &tensor, &err), 0);
    subgraph_init_whole(&whole, model);
    freeze(&whole, "words", &tensor);
    subgraph_clean(&whole, NULL, NULL, NULL);
    whole.inputs.count = 0;
    rewritten_init(&written, &whole);
    assert_string_equal(names_of_initializers(written.model), "end words");
    assert_int_equal(tensor_proto_decode(written.model->initializers.items[1].message, &again, &err), 0);
    assert_true(tensor_identical(&tensor, &again));
    tensor_release(&again);
    tensor_release(&tensor);
    rewritten_release(&written);
    subgraph_release(&whole);
    model_free(model);
}

static void frozen_values_of_old_formats_are_inputs_too(void **state)
{
    static const float data[] = {1, 2};
    struct model *model = fixture_open_lowered("constant_in_ir_version_3");
    struct subgraph part;
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &(struct shape){1, {2}}, data, sizeof(data), &tensor);
    subgraph_init_whole(&part, model);
    freeze(&part, "t", &tensor);
    subgraph_clean(&part, NULL, NULL, NULL);
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    subgraph_release(&part);
    model_free(model);
}

static void initializer_that_is_fed_is_an_initializer_no_more(void **state)
{
    struct model *model = fixture_open("branches");
    struct subgraph part;
    struct rewritten written;

    cut(&part, model, "join", NULL);
    value_list_add(&part.inputs, fixture_value(model, "w"));
    rewritten_init(&written, &part);
    assert_string_equal(names_of_values(written.model, &written.model->inputs), "x y w");
    assert_int_equal(written.model->initializers.count, 0);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

/* `q` and `q_zero` are fed, but their node stays for `q_scale`: it must not make them a second time. */
static void node_that_stays_for_another_output_does_not_make_what_is_fed(void **state)
{
    struct model *model = fixture_open("dynamic_quantization");
    struct subgraph part;
    struct rewritten written;

    subgraph_init_whole(&part, model);
    subgraph_mark_inputs(&part, fixture_node(model, "matmul"));
    value_list_add(&part.inputs, fixture_value(model, "x"));
    subgraph_clean(&part, NULL, NULL, NULL);
    assert_string_equal(names_of_nodes(&part), "neg quantize matmul cast mul");
    rewritten_init(&written, &part);
    assert_int_equal(written.model->values.items[fixture_value(written.model, "q")].producer, NODE_NONE);
    assert_int_equal(written.model->values.items[fixture_value(written.model, "q_zero")].producer, NODE_NONE);
    assert_int_equal(written.model->values.items[fixture_value(written.model, "q_scale")].producer, 1);
    assert_int_equal(written.model->nodes.items[1].outputs.count, 3);
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void node_that_stays_for_another_output_does_not_make_what_is_frozen(void **state)
{
    static const float one = 1;
    struct model *model = fixture_open("branches");
    struct subgraph part;
    struct rewritten written;
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &(struct shape){1, {1}}, &one, sizeof(one), &tensor);
    subgraph_init_whole(&part, model);
    freeze(&part, "c", &tensor);
    subgraph_clean(&part, NULL, NULL, NULL);
    assert_string_equal(names_of_nodes(&part), "neg split add_weight join exp random mul");
    rewritten_init(&written, &part);
    assert_int_equal(written.model->values.items[fixture_value(written.model, "c")].producer, NODE_NONE);
    assert_string_equal(names_of_initializers(written.model), "w c");
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void annotations_are_kept_with_their_parameters_for_tensors_that_are(void **state)
{
    struct model *model = fixture_open("quantization_annotations");
    struct subgraph part;
    struct rewritten written;

    cut(&part, model, "neg", NULL);
    rewritten_init(&written, &part);
    assert_int_equal(written.model->annotations.count, 1);
    assert_string_equal(names_of_initializers(written.model), "a_scale a_zero");
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void sparse_initializers_and_functions_are_kept(void **state)
{
    struct model *model = fixture_open("sparse_initializer");
    struct subgraph part;
    struct rewritten written;

    cut(&part, model, NULL, "matmul");
    rewritten_init(&written, &part);
    assert_string_equal(names_of_initializers(written.model), "w");
    assert_true(written.model->initializers.items[0].sparse);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
    model = fixture_open("local_functions");
    cut(&part, model, "doubled", NULL);
    rewritten_init(&written, &part);
    assert_int_equal(written.model->function_count, 2);
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    rewritten_release(&written);
    subgraph_release(&part);
    model_free(model);
}

static void captured_tensors_are_written_with_the_node_that_uses_them(void **state)
{
    struct model *model = fixture_open("nested_bodies");
    struct subgraph part;

    cut(&part, model, NULL, "loop");
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    subgraph_release(&part);
    model_free(model);
    model = fixture_open("scan_with_capture");
    cut(&part, model, NULL, "scan");
    write_file(&part);
    run_python("check_model.py", "written.onnx", NULL);
    subgraph_release(&part);
    model_free(model);
}

/* The file that a disk without room leaves is none. */
static void file_that_cannot_be_finished_is_not_left_behind(void **state)
{
    struct model *model = fixture_open("unknown_fields");
    struct rlimit before, small;
    struct subgraph whole;
    struct error err = {0};

    subgraph_init_whole(&whole, model);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(model_write(&whole, "written.onnx", NULL, FILE_INTERMEDIATE, NULL, &err), ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(scratch_count("."), 0);
    subgraph_release(&whole);
    model_free(model);
}

/* A model may be replaced by a part of itself. */
static void model_can_be_written_over_itself(void **state)
{
    struct model *model = fixture_open("branches"), *copy;
    struct subgraph part;
    struct error err = {0};

    subgraph_init_whole(&part, model);
    write_file(&part);
    subgraph_release(&part);
    model_free(model);
    assert_int_equal(model_open("written.onnx", NULL, &copy, &err), 0);
    cut(&part, copy, "neg", NULL);
    write_file(&part);
    write_file(&part);
    subgraph_release(&part);
    model_free(copy);
    assert_int_equal(model_open("written.onnx", NULL, &copy, &err), 0);
    assert_int_equal(copy->nodes.count, 1);
    model_free(copy);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(whole_model_is_the_same_message_again),
        IN_SCRATCH(file_and_memory_get_the_same_bytes),
        cmocka_unit_test(unknown_fields_and_metadata_survive),
        cmocka_unit_test(nodes_that_are_kept_keep_all_their_bytes),
        IN_SCRATCH(cut_has_its_nodes_inputs_and_outputs_and_nothing_else),
        cmocka_unit_test(descriptions_are_kept_for_tensors_that_are),
        cmocka_unit_test(output_that_becomes_an_inner_tensor_keeps_its_description),
        cmocka_unit_test(output_without_a_known_type_is_written_without_one),
        cmocka_unit_test(what_is_known_beside_the_model_is_written_and_changes_nothing),
        IN_SCRATCH(lowered_constant_is_an_initializer_under_the_name_of_its_output),
        IN_SCRATCH(old_formats_get_every_initializer_as_an_input),
        cmocka_unit_test(default_of_an_input_becomes_a_constant_in_newer_formats),
        IN_SCRATCH(frozen_value_is_written_as_a_constant),
        cmocka_unit_test(frozen_strings_are_written_as_strings),
        IN_SCRATCH(frozen_values_of_old_formats_are_inputs_too),
        cmocka_unit_test(initializer_that_is_fed_is_an_initializer_no_more),
        IN_SCRATCH(node_that_stays_for_another_output_does_not_make_what_is_fed),
        IN_SCRATCH(node_that_stays_for_another_output_does_not_make_what_is_frozen),
        IN_SCRATCH(annotations_are_kept_with_their_parameters_for_tensors_that_are),
        IN_SCRATCH(sparse_initializers_and_functions_are_kept),
        IN_SCRATCH(captured_tensors_are_written_with_the_node_that_uses_them),
        IN_SCRATCH(file_that_cannot_be_finished_is_not_left_behind),
        IN_SCRATCH(model_can_be_written_over_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
