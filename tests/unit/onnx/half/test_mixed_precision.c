/* Nodes that compute in float16: where Casts go, which constants are converted, what the file then holds. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "onnx/half/mixed_precision.h"
#include "onnx/proto/tensor_proto.h"
#include "support/captured_log.h"

/* Lets the named nodes of the model compute in float16. */
static void narrow(struct model *model, struct log *log, const char *const *nodes, size_t count)
{
    struct unused_names names;
    struct bitset half;
    struct error err = {0};

    bitset_init(&half, model->nodes.count);
    for (size_t i = 0; i < count; i++)
        bitset_add(&half, fixture_node(model, nodes[i]));
    unused_names_init(&names, model, &model->arena);
    if (mixed_precision_apply(model, &half, &names, log, &err) < 0)
        fail_msg("%s", err.message);
    unused_names_release(&names);
    bitset_release(&half);
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

static void constants_are_converted_when_they_are_written(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    const char *half[] = {"b"};
    struct captured_log captured;
    struct subgraph whole;
    struct rewritten written;
    struct tensor tensor;
    const uint16_t expected[] = {0x7c00, 0x7bff};
    uint32_t value;

    captured_log_init(&captured);
    narrow(model, &captured.log, half, 1);
    assert_true(captured_log_has(&captured, "Weight 'huge': 1 of 2 values are beyond the range of float16"));
    subgraph_init_whole(&whole, model);
    rewritten_init(&written, &whole);
    value = fixture_value(written.model, "huge");
    assert_int_equal(
        tensor_proto_decode(written.model->initializers.items[written.model->values.items[value].initializer].message,
                            &tensor, NULL),
        0);
    assert_int_equal(tensor.type, DATA_FLOAT16);
    assert_memory_equal(tensor.data, expected, sizeof(expected));
    rewritten_release(&written);
    subgraph_release(&whole);
    captured_log_release(&captured);
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

static void operators_without_float16_bodies_and_unknown_types_stay_float32(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    struct model *bodies = fixture_open("half_and_bodies");
    struct model *unknown = fixture_open("dynamic_shapes");

    assert_false(node_takes_float16(model, &model->nodes.items[fixture_node(model, "d")]));
    assert_false(node_takes_float16(bodies, &bodies->nodes.items[fixture_node(bodies, "if")]));
    assert_true(node_takes_float16(model, &model->nodes.items[fixture_node(model, "e")]));
    assert_false(node_takes_float16(unknown, &unknown->nodes.items[fixture_node(unknown, "twice_float")]));
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
        cmocka_unit_test(what_a_body_captures_stays_float32),
        cmocka_unit_test(operators_without_float16_bodies_and_unknown_types_stay_float32),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
