/* Nodes that compute in float16: where Casts go, which constants are converted, what the file then holds. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "base/memory.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "support/captured_log.h"

/* Lets the named nodes of the model compute in float16. */
static void narrow_to(enum data_type type, struct model *model, struct log *log, const char *const *nodes, size_t count)
{
    struct unused_names names;
    struct bitset half;
    struct error err = {0};

    bitset_init(&half, model->nodes.count);
    for (size_t i = 0; i < count; i++)
        bitset_add(&half, fixture_node(model, nodes[i]));
    unused_names_init(&names, model, &model->arena);
    if (mixed_precision_apply(model, &half, type, &names, log, &err) < 0)
        fail_msg("%s", err.message);
    unused_names_release(&names);
    bitset_release(&half);
}

static void narrow(struct model *model, struct log *log, const char *const *nodes, size_t count)
{
    narrow_to(DATA_FLOAT16, model, log, nodes, count);
}

static const char *inputs_of(const struct model *model, const char *node)
{
    return names_of_edges(model, model->nodes.items[fixture_node(model, node)].inputs);
}

static const char *outputs_of(const struct model *model, const char *node)
{
    return names_of_edges(model, model->nodes.items[fixture_node(model, node)].outputs);
}

static enum data_type initializer_type(const struct model *model, const char *name)
{
    return value_element(model, fixture_value(model, name));
}

static void tensor_between_two_kinds_of_nodes_passes_one_cast(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    const char *half[] = {"b", "c"};

    narrow(model, NULL, half, 2);
    assert_string_equal(inputs_of(model, "a"), "x good");
    assert_string_equal(inputs_of(model, "a_float16_cast"), "a");
    assert_string_equal(inputs_of(model, "b"), "a_float16 huge");
    assert_string_equal(inputs_of(model, "c"), "a_float16 tiny");
    assert_string_equal(inputs_of(model, "d"), "c_float32 axis");
    model_free(model);
}

static void output_of_the_model_keeps_its_name_and_type(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    const char *half[] = {"a", "b"};

    narrow(model, NULL, half, 2);
    assert_string_equal(outputs_of(model, "a"), "a_float16");
    assert_string_equal(outputs_of(model, "a_cast"), "a");
    assert_string_equal(inputs_of(model, "b"), "a_float16 huge");
    assert_string_equal(inputs_of(model, "c"), "a tiny");
    assert_string_equal(names_of_values(model, &model->outputs), "a b f");
    model_free(model);
}

static void constant_that_both_kinds_use_is_there_twice(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    const char *half[] = {"a", "b"};

    narrow(model, NULL, half, 2);
    assert_string_equal(inputs_of(model, "a"), "x_float16 good_float16");
    assert_string_equal(inputs_of(model, "f"), "e good");
    assert_int_equal(initializer_type(model, "good"), DATA_FLOAT32);
    assert_int_equal(initializer_type(model, "good_float16"), DATA_FLOAT16);
    assert_int_equal(initializer_type(model, "huge"), DATA_FLOAT16);
    assert_int_equal(initializer_type(model, "tiny"), DATA_FLOAT32);
    model_free(model);
}

/* The constant in the file that the model gives: two numbers in this type. */
static void assert_written(struct model *model, const char *name, enum data_type type, const uint16_t *expected)
{
    struct subgraph whole;
    struct rewritten written;
    struct tensor tensor;
    const struct value *value;

    subgraph_init_whole(&whole, model);
    rewritten_init(&written, &whole);
    value = &written.model->values.items[fixture_value(written.model, name)];
    assert_int_equal(tensor_proto_decode(written.model->initializers.items[value->initializer].message, &tensor, NULL),
                     0);
    assert_int_equal(tensor.type, type);
    assert_memory_equal(tensor.data, expected, 2 * sizeof(*expected));
    tensor_release(&tensor);
    rewritten_release(&written);
    subgraph_release(&whole);
}

static void constants_are_converted_when_they_are_written(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    const char *half[] = {"b"};
    const uint16_t expected[] = {0x7c00, 0x7bff};
    struct captured_log captured;

    captured_log_init(&captured);
    narrow(model, &captured.log, half, 1);
    assert_true(captured_log_has(&captured, "Weight 'huge': 1 of 2 values exceed the range of float16 (65504)"));
    assert_written(model, "huge", DATA_FLOAT16, expected);
    captured_log_release(&captured);
    model_free(model);
}

static void bfloat16_has_the_range_of_float32(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    const char *low[] = {"b"};
    const uint16_t expected[] = {0x4974, 0x4780}; /* 1e6 and 65504, to 8 bits */
    struct captured_log captured;

    captured_log_init(&captured);
    narrow_to(DATA_BFLOAT16, model, &captured.log, low, 1);
    assert_false(captured_log_has(&captured, "exceed the range"));
    assert_string_equal(inputs_of(model, "b"), "a_bfloat16 huge");
    assert_string_equal(inputs_of(model, "a_bfloat16_cast"), "a");
    assert_written(model, "huge", DATA_BFLOAT16, expected);
    captured_log_release(&captured);
    model_free(model);
}

/* All but its last numbers: those are rounded to infinity. The scales of a Resize stay as they are. */
static void what_is_beyond_bfloat16_is_told_and_sizes_are_not_rounded(void **state)
{
    static const float values[] = {3.3e38F, 3.402823466e+38F}, scales[] = {1, 2};
    static const uint16_t expected[] = {0x7f78, 0x7f7f};
    const char *low[] = {"product", "resize"};
    struct captured_log captured;
    struct made_model made;
    struct model *model;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2));
    made_tensor(&made, "large", DATA_FLOAT32, MADE_SHAPE(2), values);
    made_tensor(&made, "scales", DATA_FLOAT32, MADE_SHAPE(2), scales);
    made_node(&made, "product", "Mul", "x large", "y", NULL, 0);
    made_node(&made, "resize", "Resize", "y - scales", "z", NULL, 0);
    made_output(&made, "y");
    made_output(&made, "z");
    model = made_open(&made);
    captured_log_init(&captured);
    narrow_to(DATA_BFLOAT16, model, &captured.log, low, 2);
    assert_true(captured_log_has(&captured, "Weight 'large': 1 of 2 values are beyond 1e30, as in masks"));
    assert_string_equal(inputs_of(model, "resize"), "y_bfloat16 - scales");
    assert_int_equal(initializer_type(model, "scales"), DATA_FLOAT32);
    assert_written(model, "large", DATA_BFLOAT16, expected);
    captured_log_release(&captured);
    model_free(model);
    made_release(&made);
}

static void bfloat16_is_for_operators_that_have_it_in_the_models_operator_set(void **state)
{
    struct model *model = fixture_open("out_of_half_range"); /* operator set 17 */
    struct node node = model->nodes.items[fixture_node(model, "a")];
    static const struct {
        const char *op_type;
        int64_t since;
    } rows[] = {{"MatMul", 13},
                {"LayerNormalization", 17},
                {"Conv", 22},
                {"CumSum", 0},
                {"NoSuchOperator", 0},
                /* what their functions consist of has it no earlier, or never */
                {"Clip", 16},
                {"SoftmaxCrossEntropyLoss", 22},
                {"MeanVarianceNormalization", 0}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        node.op_type = text_of(rows[i].op_type);
        assert_int_equal(node_bfloat16_opset(&node), rows[i].since);
        assert_int_equal(node_takes_half(model, &node, DATA_BFLOAT16), rows[i].since > 0 && rows[i].since <= 17);
    }
    node.op_type = text_of("Conv");
    assert_true(node_takes_half(model, &node, DATA_FLOAT16));
    node.op_type = text_of("MeanVarianceNormalization");
    assert_false(node_takes_half(model, &node, DATA_FLOAT16));
    model_free(model);
}

static void what_a_body_captures_stays_float32(void **state)
{
    struct model *model = fixture_open("half_and_bodies");
    const char *half[] = {"h"};

    narrow(model, NULL, half, 1);
    assert_string_equal(outputs_of(model, "h"), "h");
    assert_string_equal(outputs_of(model, "h_float32_cast"), "h_float32");
    assert_string_equal(names_of_edges(model, model->nodes.items[fixture_node(model, "if")].captures), "h_float32 x");
    model_free(model);
}

/* A Cast makes the narrow type, and a ConstantOfShape repeats a number of it. */
static void attributes_that_hold_a_type_or_a_number_of_it_follow(void **state)
{
    static const float one_and_a_half = 1.5F;
    struct tensor filled;
    struct node_attribute to = INTEGER("to", DATA_FLOAT32);
    struct node_attribute value = {.name = TEXT("value"), .kind = ATTRIBUTE_KIND_TENSOR, .tensor = &filled};
    const char *low[] = {"cast", "fill"};
    const struct node *node;
    struct made_model made;
    struct tensor narrow_value;
    struct model *model;

    tensor_borrow(DATA_FLOAT32, &(struct shape){.rank = 1, .dims = {1}}, &one_and_a_half, sizeof(float), &filled);
    made_init(&made, 13);
    made_typed_input(&made, "n", DATA_INT64, MADE_SHAPE(2));
    made_node(&made, "cast", "Cast", "n", "c", &to, 1);
    made_node(&made, "fill", "ConstantOfShape", "n", "f", &value, 1);
    made_output(&made, "c");
    made_output(&made, "f");
    model = made_open(&made);
    narrow(model, NULL, low, 2);
    node = &model->nodes.items[fixture_node(model, "cast")];
    assert_int_equal(node_attribute_integer(node->message, "to", DATA_UNDEFINED), DATA_FLOAT16);
    node = &model->nodes.items[fixture_node(model, "fill")];
    assert_int_equal(tensor_proto_decode(node_attribute_tensor(node->message, "value"), &narrow_value, NULL), 0);
    assert_int_equal(narrow_value.type, DATA_FLOAT16);
    assert_int_equal(*(const uint16_t *)narrow_value.data, 0x3e00);
    assert_string_equal(outputs_of(model, "fill"), "f_float16");
    tensor_release(&narrow_value);
    model_free(model);
    made_release(&made);
}

/* The mean and the deviation are float32 whatever the rest is. */
static void layer_normalization_is_float16_only_by_its_first_output(void **state)
{
    struct made_model made;
    struct model *model;

    made_init(&made, 17);
    made_input(&made, "x", MADE_SHAPE(2, 3));
    made_constant(&made, "w", MADE_SHAPE(3), 0.5F, 1);
    made_node(&made, "one", "LayerNormalization", "x w", "a", NULL, 0);
    made_node(&made, "three", "LayerNormalization", "x w", "b m d", NULL, 0);
    for (const char *name = "abmd"; *name; name++)
        made_output(&made, (const char[]){*name, '\0'});
    model = made_open(&made);
    assert_true(node_takes_half(model, &model->nodes.items[fixture_node(model, "one")], DATA_FLOAT16));
    assert_false(node_takes_half(model, &model->nodes.items[fixture_node(model, "three")], DATA_FLOAT16));
    model_free(model);
    made_release(&made);
}

static void operators_without_float16_bodies_and_unknown_types_stay_float32(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    struct model *bodies = fixture_open("half_and_bodies");
    struct model *unknown = fixture_open("dynamic_shapes");

    assert_false(node_takes_half(model, &model->nodes.items[fixture_node(model, "d")], DATA_FLOAT16));
    assert_false(node_takes_half(bodies, &bodies->nodes.items[fixture_node(bodies, "if")], DATA_FLOAT16));
    assert_true(node_takes_half(model, &model->nodes.items[fixture_node(model, "e")], DATA_FLOAT16));
    assert_false(node_takes_half(unknown, &unknown->nodes.items[fixture_node(unknown, "twice_float")], DATA_FLOAT16));
    model_free(model);
    model_free(bodies);
    model_free(unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_between_two_kinds_of_nodes_passes_one_cast),
        cmocka_unit_test(output_of_the_model_keeps_its_name_and_type),
        cmocka_unit_test(constant_that_both_kinds_use_is_there_twice),
        cmocka_unit_test(constants_are_converted_when_they_are_written),
        cmocka_unit_test(bfloat16_has_the_range_of_float32),
        cmocka_unit_test(what_is_beyond_bfloat16_is_told_and_sizes_are_not_rounded),
        cmocka_unit_test(bfloat16_is_for_operators_that_have_it_in_the_models_operator_set),
        cmocka_unit_test(what_a_body_captures_stays_float32),
        cmocka_unit_test(attributes_that_hold_a_type_or_a_number_of_it_follow),
        cmocka_unit_test(layer_normalization_is_float16_only_by_its_first_output),
        cmocka_unit_test(operators_without_float16_bodies_and_unknown_types_stay_float32),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
