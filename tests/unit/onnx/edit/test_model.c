/* Changes to a model before it is cut up: Constant nodes, input shapes, forgotten shapes. */
#define _GNU_SOURCE /* memmem */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <string.h>

#include "onnx/edit/model.h"
#include "onnx/proto/tensor_proto.h"

static const char *names_of_all_nodes(const struct model *model)
{
    struct subgraph whole = {.model = (struct model *)model};
    const char *names;

    bitset_init(&whole.nodes, model->nodes.count);
    bitset_fill(&whole.nodes);
    names = names_of_nodes(&whole);
    bitset_release(&whole.nodes);
    return names;
}

static void constant_tensor_becomes_an_initializer_and_other_forms_stay_nodes(void **state)
{
    struct model *model = fixture_open_lowered("constants_of_every_form");

    assert_string_equal(names_of_all_nodes(model), "sparse_node float_node floats_node sum_node add_node");
    assert_string_equal(names_of_initializers(model), "tensor");
    assert_int_equal(model->values.items[fixture_value(model, "tensor")].producer, NODE_NONE);
    model_free(model);
}

static void producers_are_renumbered_when_constants_go(void **state)
{
    struct model *model = fixture_open_lowered("constants_of_every_form");

    assert_int_equal(model->values.items[fixture_value(model, "sparse")].producer, 0);
    assert_int_equal(model->values.items[fixture_value(model, "one")].producer, 1);
    assert_int_equal(model->values.items[fixture_value(model, "y")].producer, 4);
    model_free(model);
}

static void lowered_constant_holds_the_bytes_of_the_file(void **state)
{
    struct model *model = fixture_open_lowered("constants_of_every_form");
    struct tensor tensor;
    struct error err = {0};

    assert_int_equal(tensor_proto_decode(model->initializers.items[0].message, &tensor, &err), 0);
    assert_memory_equal(tensor.data, ((float[]){1, 2}), 8);
    assert_true((const uint8_t *)tensor.data > model->file.data &&
                (const uint8_t *)tensor.data < model->file.data + model->file.size);
    tensor_release(&tensor);
    model_free(model);
}

static void lowering_twice_changes_nothing_more(void **state)
{
    struct model *model = fixture_open_lowered("constants_of_every_form");
    struct error err = {0};

    assert_int_equal(model_lower_constants(model, &err), 0);
    assert_int_equal(model->initializers.count, 1);
    assert_int_equal(model->nodes.count, 5);
    model_free(model);
}

static void constant_that_is_an_initializer_too_is_refused(void **state)
{
    /* model { graph { node { output "c", op_type "Constant", attribute { name "value", t {} } }, initializer { name
     * "c" } } } */
    static const char file[] = "\x3a\x21\x0a\x1a\x12\x01"
                               "c\x22\x08"
                               "Constant\x2a\x0b\x0a\x05"
                               "value\x2a\x02\x08\x01\x2a\x03\x42\x01"
                               "c";
    struct model *model;
    struct error err = {0};

    assert_int_equal(model_parse((struct span){(const uint8_t *)file, sizeof(file) - 1}, "bad.onnx", &model, &err), 0);
    assert_int_equal(model_lower_constants(model, &err), ERR_CORRUPT);
    assert_string_equal(err.message, "bad.onnx: 'c' is both a Constant's output and an initializer");
    model_free(model);
}

/* The tensor ends in the middle of a field: written behind it, the name of the output would make no sense. */
static void constant_whose_tensor_is_damaged_is_refused(void **state)
{
    /* model { graph { node { output "c", op_type "Constant", attribute { name "value", t { half a tag } } } } } */
    static const char file[] = "\x3a\x1b\x0a\x19\x12\x01"
                               "c\x22\x08"
                               "Constant\x2a\x0a\x0a\x05"
                               "value\x2a\x01\x80";
    struct model *model;
    struct error err = {0};

    assert_int_equal(model_parse((struct span){(const uint8_t *)file, sizeof(file) - 1}, "bad.onnx", &model, &err), 0);
    assert_int_equal(model_lower_constants(model, &err), ERR_CORRUPT);
    assert_string_equal(err.message, "bad.onnx: Constant 'c': tensor '' is damaged");
    model_free(model);
}

static void assert_type(const struct model *model, const char *name, const char *expected)
{
    const struct value *value = &model->values.items[fixture_value(model, name)];
    struct value_type type;
    struct string_builder text;

    value_info_decode(value->info, &type);
    string_init(&text);
    string_add_format(&text, "%s", data_type_name(type.element));
    if (type.has_shape) {
        string_add_char(&text, ' ');
        shape_to_text(&type.shape, &text);
        for (size_t i = 0; i < type.shape.rank; i++)
            if (type.shape.dims[i] < 0 && type.symbols[i].size > 0)
                string_add_format(&text, " " TEXT_FORMAT, TEXT_ARGS(type.symbols[i]));
    }
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void overridden_input_gets_the_shape_and_keeps_type_and_place(void **state)
{
    struct model *model = fixture_open("symbolic_dimensions");
    struct shape shape = {3, {-1, 4, 2}};
    struct text symbols[] = {TEXT("batch"), TEXT(""), TEXT("")};
    struct error err = {0};

    assert_int_equal(model_override_input(model, TEXT("a"), &shape, symbols, &err), 0);
    assert_string_equal(names_of_values(model, &model->inputs), "a b");
    assert_type(model, "a", "float32 (-1, 4, 2) batch");
    shape.dims[0] = 3;
    assert_int_equal(model_override_input(model, TEXT("a"), &shape, NULL, &err), 0);
    assert_type(model, "a", "float32 (3, 4, 2)");
    model_free(model);
}

static void inner_tensor_becomes_an_additional_input(void **state)
{
    struct model *model = fixture_open("reducable");
    struct shape shape = {1, {1}};
    struct error err = {0};

    assert_int_equal(model_override_input(model, TEXT("add_out_4"), &shape, NULL, &err), 0);
    assert_string_equal(names_of_values(model, &model->inputs), "X0 Y0 add_out_4");
    model_free(model);
}

static void tensor_that_cannot_be_fed_is_refused(void **state)
{
    struct shape shape = {1, {1}};
    struct error err = {0};
    struct model *model = fixture_open("default_of_an_input");

    assert_int_equal(model_override_input(model, TEXT("w"), &shape, NULL, &err), ERR_INVALID);
    assert_string_equal(err.message, "tensor 'w' is a constant: its shape cannot be overridden");
    assert_int_equal(model_override_input(model, TEXT("nothing"), &shape, NULL, &err), ERR_INVALID);
    assert_string_equal(err.message, "Tensor: nothing does not exist in the model.");
    model_free(model);
    model = fixture_open("sequences");
    assert_int_equal(model_override_input(model, TEXT("sequence"), &shape, NULL, &err), ERR_INVALID);
    assert_string_equal(err.message, "'sequence' is not a tensor (sequence): it has no shape to override");
    model_free(model);
}

static void shapes_of_all_but_the_inputs_are_forgotten(void **state)
{
    struct model *model = fixture_open("unknown_fields");

    model_forget_shapes(model);
    assert_type(model, "x", "float32 (2,)");
    assert_type(model, "t", "float32");
    assert_type(model, "y", "float32");
    model_free(model);
}

static void forgetting_shapes_leaves_sequences_alone(void **state)
{
    struct model *model = fixture_open("sequence_output");
    uint32_t pair = fixture_value(model, "pair");
    struct span before = model->values.items[pair].info;

    model_forget_shapes(model);
    assert_ptr_equal(model->values.items[pair].info.data, before.data);
    model_free(model);
}

static void producer_is_named_once(void **state)
{
    struct model *model = fixture_open("unknown_fields");
    struct subgraph whole;
    struct rewritten rewritten;
    const char *found;

    model_set_producer(model, "another program");
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    found = memmem(rewritten.bytes, rewritten.size,
                   "\x12\x0f"
                   "another program",
                   17);
    assert_non_null(found);
    assert_null(memmem(rewritten.bytes, rewritten.size, "polygraphy tests", 16));
    rewritten_release(&rewritten);
    subgraph_release(&whole);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_tensor_becomes_an_initializer_and_other_forms_stay_nodes),
        cmocka_unit_test(producers_are_renumbered_when_constants_go),
        cmocka_unit_test(lowered_constant_holds_the_bytes_of_the_file),
        cmocka_unit_test(lowering_twice_changes_nothing_more),
        cmocka_unit_test(constant_that_is_an_initializer_too_is_refused),
        cmocka_unit_test(constant_whose_tensor_is_damaged_is_refused),
        cmocka_unit_test(overridden_input_gets_the_shape_and_keeps_type_and_place),
        cmocka_unit_test(inner_tensor_becomes_an_additional_input),
        cmocka_unit_test(tensor_that_cannot_be_fed_is_refused),
        cmocka_unit_test(shapes_of_all_but_the_inputs_are_forgotten),
        cmocka_unit_test(forgetting_shapes_leaves_sequences_alone),
        cmocka_unit_test(producer_is_named_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
