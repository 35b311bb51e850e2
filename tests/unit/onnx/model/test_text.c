/* What the log says about models and tensors. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <string.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/model/text.h"

static void assert_line(const struct value_type *type, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    tensor_line(&text, TEXT("x"), type);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void line_says_what_is_known_of_a_tensor(void **state)
{
    struct value_type type = {.element = DATA_FLOAT32, .has_shape = true, .shape = {2, {1, 3}}};

    assert_line(&type, "x [dtype=float32, shape=(1, 3)]");
    type.shape = (struct shape){1, {5}};
    assert_line(&type, "x [dtype=float32, shape=(5,)]");
    type.shape = (struct shape){0};
    assert_line(&type, "x [dtype=float32, shape=()]");
    type.shape = (struct shape){3, {-1, 2, -1}};
    type.symbols[0] = TEXT("n");
    type.symbols[2] = TEXT("");
    assert_line(&type, "x [dtype=float32, shape=('n', 2, -1)]");
    type.element = DATA_UNDEFINED;
    assert_line(&type, "x [shape=('n', 2, -1)]");
    type.has_shape = false;
    type.element = DATA_BOOL;
    assert_line(&type, "x [dtype=bool]");
    type.not_a_tensor = "sequence";
    assert_line(&type, "x [sequence]");
}

/* As in the log of Polygraphy: `add_out_4` alone, no empty brackets. */
static void line_of_an_unknown_tensor_is_its_name(void **state)
{
    struct value_type type = {0};

    assert_line(&type, "x");
}

static void block_lists_one_tensor_to_a_line(void **state)
{
    struct model *model = fixture_open("reducable");
    struct string_builder text;

    string_init(&text);
    tensor_block(&text, &(struct subgraph){.model = model}, &model->inputs);
    assert_string_equal(text.data, "{X0 [dtype=float32, shape=(1,)],\n Y0 [dtype=float32, shape=(1,)]}");
    string_clear(&text);
    tensor_block(&text, &(struct subgraph){.model = model}, &(struct value_list){0});
    assert_string_equal(text.data, "{}");
    string_release(&text);
    model_free(model);
}

static void marked_tensors_are_listed_as_variables(void **state)
{
    struct model *model = fixture_open("symbolic_dimensions");
    struct string_builder text;
    struct value_list none = {0};

    string_init(&text);
    variable_list_text(&text, &(struct subgraph){.model = model}, &model->inputs);
    assert_string_equal(text.data, "[Variable (a): (shape=['n', -1, 2], dtype=float32), "
                                   "Variable (b): (shape=['m', 1, 2], dtype=float32)]");
    string_clear(&text);
    variable_list_text(&text, &(struct subgraph){.model = model}, &model->outputs);
    assert_string_equal(text.data, "[Variable (sum): (shape=None, dtype=float32)]");
    string_clear(&text);
    variable_list_text(&text, &(struct subgraph){.model = model}, &none);
    assert_string_equal(text.data, "[]");
    string_release(&text);
    model_free(model);
}

static void variable_without_a_type_says_none(void **state)
{
    struct model *model = fixture_open("chain17");
    uint32_t value = fixture_value(model, "t3");
    struct value_list one = {.items = &value, .count = 1};
    struct string_builder text;

    string_init(&text);
    variable_list_text(&text, &(struct subgraph){.model = model}, &one);
    assert_string_equal(text.data, "[Variable (t3): (shape=None, dtype=None)]");
    string_release(&text);
    model_free(model);
}

static void assert_summary(struct model *model, const char *expected)
{
    struct subgraph whole;
    struct string_builder text;

    string_init(&text);
    subgraph_init_whole(&whole, model);
    subgraph_summary(&text, &whole);
    assert_string_equal(text.data, expected);
    subgraph_release(&whole);
    string_release(&text);
}

static void summary_is_polygraphys(void **state)
{
    struct model *model = fixture_open("reducable");

    assert_summary(model, "Name: onnx_graphsurgeon_graph | ONNX Opset: 11\n"
                          "\n"
                          "---- 2 Graph Input(s) ----\n"
                          "{X0 [dtype=float32, shape=(1,)],\n"
                          " Y0 [dtype=float32, shape=(1,)]}\n"
                          "\n"
                          "---- 2 Graph Output(s) ----\n"
                          "{identity_out_6 [dtype=float32, shape=(1,)],\n"
                          " identity_out_8 [dtype=float32, shape=(1,)]}\n"
                          "\n"
                          "---- 0 Initializer(s) ----\n"
                          "\n"
                          "---- 5 Node(s) ----\n");
    model_free(model);
}

static void summary_lists_other_opsets(void **state)
{
    struct model *model = fixture_open("local_functions");
    struct subgraph whole;
    struct string_builder text;

    string_init(&text);
    subgraph_init_whole(&whole, model);
    subgraph_summary(&text, &whole);
    assert_memory_equal(text.data, "Name: graph | ONNX Opset: 15 | Other Opsets: {'local': 1}\n", 58);
    subgraph_release(&whole);
    string_release(&text);
    model_free(model);
}

static void assert_initializers(const struct subgraph *subgraph, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    subgraph_summary(&text, subgraph);
    if (strstr(text.data, expected) == NULL)
        fail_msg("'%s' is not in: %s", expected, text.data);
    string_release(&text);
}

static void only_initializers_that_are_written_are_counted(void **state)
{
    struct model *model = fixture_open_lowered("weights_of_many_sizes");
    struct subgraph part;

    subgraph_init_whole(&part, model);
    assert_initializers(&part, "---- 6 Initializer(s) ----");
    part.outputs.count = 1;
    subgraph_clean(&part, NULL, NULL, NULL);
    assert_initializers(&part, "---- 5 Initializer(s) ----"); /* no strings */
    *VECTOR_APPEND(&part.frozen) = (struct frozen_value){fixture_value(model, "x"), NULL};
    assert_initializers(&part, "---- 6 Initializer(s) ----");
    *VECTOR_APPEND(&part.frozen) = (struct frozen_value){fixture_value(model, "small"), NULL};
    assert_initializers(&part, "---- 6 Initializer(s) ----"); /* it was one */
    value_list_add(&part.inputs, fixture_value(model, "large"));
    assert_initializers(&part, "---- 5 Initializer(s) ----");
    subgraph_release(&part);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_says_what_is_known_of_a_tensor),
        cmocka_unit_test(line_of_an_unknown_tensor_is_its_name),
        cmocka_unit_test(block_lists_one_tensor_to_a_line),
        cmocka_unit_test(marked_tensors_are_listed_as_variables),
        cmocka_unit_test(variable_without_a_type_says_none),
        cmocka_unit_test(summary_is_polygraphys),
        cmocka_unit_test(summary_lists_other_opsets),
        cmocka_unit_test(only_initializers_that_are_written_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
