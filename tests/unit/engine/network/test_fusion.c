/* Which nodes become one layer. */
#include "support/network_fixture.h"

#include <stdio.h>

#include "base/memory.h"

/* x -> conv -> t */
static void begin_convolution(struct made_model *made, int64_t opset)
{
    made_init(made, opset);
    made_input(made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_node(made, "conv", "Conv", "x w", "t", NULL, 0);
}

static void assert_one_layer(struct made_model *made, const char *expected)
{
    struct network *network;

    made_output(made, "y");
    network = made_network(made);
    assert_layers(network, expected);
    assert_same_values(made, network);
    network_free(network);
    made_release(made);
}

static void an_activation_is_fused_with_its_numbers(void **state)
{
    const struct {
        const char *op_type;
        int64_t opset;
        struct node_attribute attributes[2];
        size_t attribute_count;
        const char *expected;
    } cases[] = {
        {"Relu", 13, {{.count = 0}}, 0, "[relu 0 0]"},
        {"LeakyRelu", 13, {{.count = 0}}, 0, "[leaky_relu 0.01 0]"},
        {"LeakyRelu", 13, {FLOAT("alpha", 0.25F)}, 1, "[leaky_relu 0.25 0]"},
        {"Sigmoid", 13, {{.count = 0}}, 0, "[sigmoid 0 0]"},
        {"Tanh", 13, {{.count = 0}}, 0, "[tanh 0 0]"},
        {"Elu", 13, {FLOAT("alpha", 2)}, 1, "[elu 2 0]"},
        {"HardSwish", 14, {{.count = 0}}, 0, "[hard_swish 0 0]"},
        {"Gelu", 20, {{.count = 0}}, 0, "[gelu_erf 0 0]"},
        {"Clip", 7, {FLOAT("min", -0.5F), FLOAT("max", 6)}, 2, "[clip -0.5 6]"},
        {"Clip", 7, {FLOAT("max", 6)}, 1, "[clip -inf 6]"},
        {"Clip", 13, {{.count = 0}}, 0, "[clip -inf inf]"},
    };

    require_onnxruntime();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct made_model made;
        char expected[128];

        begin_convolution(&made, cases[i].opset);
        made_node(&made, "act", cases[i].op_type, "t", "y", cases[i].attributes, cases[i].attribute_count);
        snprintf(expected, sizeof(expected), "conv + act: convolution(x w) -> y %s\n", cases[i].expected);
        assert_one_layer(&made, expected);
    }
}

static void bounds_of_a_clip_are_read_when_they_are_constant(void **state)
{
    struct made_model made;

    require_onnxruntime();
    begin_convolution(&made, 13);
    made_constant(&made, "low", (struct shape){0}, 0, 0);
    made_constant(&made, "high", (struct shape){0}, 6, 6);
    made_node(&made, "clip", "Clip", "t low high", "y", NULL, 0);
    assert_one_layer(&made, "conv + clip: convolution(x w) -> y [clip 0 6]\n");

    begin_convolution(&made, 13);
    made_constant(&made, "high", (struct shape){0}, 6, 6);
    made_node(&made, "clip", "Clip", "t - high", "y", NULL, 0);
    assert_one_layer(&made, "conv + clip: convolution(x w) -> y [clip -inf 6]\n");

    begin_convolution(&made, 13);
    made_input(&made, "low", (struct shape){0});
    made_node(&made, "clip", "Clip", "t low", "y", NULL, 0);
    assert_one_layer(&made, "conv: convolution(x w) -> t\nclip: other(t low) -> y\n");
}

static void products_with_a_gate_are_activations(void **state)
{
    const struct node_attribute slope[] = {FLOAT("alpha", 1.0F / 6), FLOAT("beta", 0.5F)};
    struct made_model made;

    require_onnxruntime();
    begin_convolution(&made, 13);
    made_node(&made, "gate", "Sigmoid", "t", "g", NULL, 0);
    made_node(&made, "mul", "Mul", "t g", "y", NULL, 0);
    assert_one_layer(&made, "conv + gate + mul: convolution(x w) -> y [swish 1 0]\n");

    begin_convolution(&made, 13);
    made_node(&made, "gate", "HardSigmoid", "t", "g", slope, 2);
    made_node(&made, "mul", "Mul", "g t", "y", NULL, 0);
    assert_one_layer(&made, "conv + gate + mul: convolution(x w) -> y [hard_swish 0 0]\n");

    begin_convolution(&made, 13);
    made_node(&made, "gate", "HardSigmoid", "t", "g", NULL, 0);
    made_node(&made, "mul", "Mul", "g t", "y", NULL, 0);
    assert_one_layer(&made, "conv: convolution(x w) -> t\ngate: other(t) -> g\nmul: binary(g t) -> y\n");

    begin_convolution(&made, 13);
    made_node(&made, "gate", "Sigmoid", "t", "g", NULL, 0);
    made_node(&made, "mul", "Mul", "t g", "u", NULL, 0);
    made_node(&made, "sum", "Add", "u g", "y", NULL, 0);
    assert_one_layer(&made, "conv: convolution(x w) -> t\ngate: activation(t) -> g\n"
                            "mul: binary(t g) -> u\nsum: binary(u g) -> y\n");
}

static void gelu_is_found_as_frameworks_write_it(void **state)
{
    struct made_model made;

    require_onnxruntime();
    for (size_t divides = 0; divides < 2; divides++) {
        made_init(&made, 13);
        made_input(&made, "x", MADE_SHAPE(3, 4));
        made_constant(&made, "w", MADE_SHAPE(4, 5), -1, 1);
        made_constant(&made, "b", MADE_SHAPE(5), -1, 1);
        made_constant(&made, "root", (struct shape){0}, divides ? 1.41421356F : 0.70710678F,
                      divides ? 1.41421356F : 0.70710678F);
        made_constant(&made, "one", (struct shape){0}, 1, 1);
        made_constant(&made, "half", (struct shape){0}, 0.5F, 0.5F);
        made_node(&made, "mm", "MatMul", "x w", "m", NULL, 0);
        made_node(&made, "bias", "Add", "b m", "t", NULL, 0);
        made_node(&made, "scale", divides ? "Div" : "Mul", "t root", "a", NULL, 0);
        made_node(&made, "erf", "Erf", "a", "e", NULL, 0);
        made_node(&made, "plus", "Add", "e one", "p", NULL, 0);
        made_node(&made, "times", "Mul", "t p", "q", NULL, 0);
        made_node(&made, "halved", "Mul", "q half", "y", NULL, 0);
        assert_one_layer(&made, "mm + bias + scale + erf + plus + times + halved: matmul(x w b) -> y [add 2] "
                                "[gelu_erf 0 0]\n");
    }
}

static void a_constant_bias_is_fused_into_a_product(void **state)
{
    struct made_model made;
    const struct shape shapes[] = {MADE_SHAPE(5), MADE_SHAPE(1, 5), MADE_SHAPE(1)};
    const struct shape others[] = {MADE_SHAPE(3, 1), MADE_SHAPE(1, 1, 5), MADE_SHAPE(3, 5)};

    require_onnxruntime();
    for (size_t i = 0; i < 6; i++) {
        made_init(&made, 13);
        made_input(&made, "x", MADE_SHAPE(3, 4));
        made_constant(&made, "w", MADE_SHAPE(4, 5), -1, 1);
        made_constant(&made, "b", i < 3 ? shapes[i] : others[i - 3], -1, 1);
        made_node(&made, "mm", "MatMul", "x w", "t", NULL, 0);
        made_node(&made, "bias", "Add", "t b", "y", NULL, 0);
        assert_one_layer(&made, i < 3 ? "mm + bias: matmul(x w b) -> y [add 2]\n"
                                      : "mm: matmul(x w) -> t\nbias: binary(t b) -> y\n");
    }
}

static void a_tensor_of_the_same_shape_is_added_by_the_later_convolution(void **state)
{
    struct made_model made;

    require_onnxruntime();
    begin_convolution(&made, 13);
    made_constant(&made, "v", MADE_SHAPE(2, 2, 3, 3), -1, 1);
    made_integers(&made, "unused", (const int64_t[]){1}, 1);
    made_node(&made, "later", "Conv", "x w", "u", NULL, 0);
    made_node(&made, "sum", "Add", "t u", "s", NULL, 0);
    made_node(&made, "relu", "Relu", "s", "y", NULL, 0);
    assert_one_layer(&made, "conv: convolution(x w) -> t\nlater + sum + relu: convolution(x w t) -> y [add 2] "
                            "[relu 0 0]\n");
}

static void a_layer_that_adds_runs_after_what_it_adds(void **state)
{
    struct made_model made;

    require_onnxruntime();
    begin_convolution(&made, 13);
    made_node(&made, "pool", "GlobalMaxPool", "x", "p", NULL, 0);
    made_node(&made, "abs", "Abs", "x", "u", NULL, 0);
    made_node(&made, "sum", "Sum", "u t", "s", NULL, 0);
    made_node(&made, "mul", "Mul", "s p", "y", NULL, 0);
    assert_one_layer(&made, "pool: pooling(x) -> p\nabs: activation(x) -> u\n"
                            "conv + sum: convolution(x w u) -> s [add 2]\nmul: binary(s p) -> y\n");
}

static void what_is_broadcast_or_of_unknown_shape_is_not_added(void **state)
{
    struct made_model made;

    require_onnxruntime();
    begin_convolution(&made, 13);
    made_input(&made, "r", MADE_SHAPE(2, 2, 4, 4));
    made_node(&made, "sum", "Add", "t r", "y", NULL, 0);
    assert_one_layer(&made, "conv: convolution(x w) -> t\nsum: binary(t r) -> y\n");

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(-1, 2, 4, 4));
    made_input(&made, "r", MADE_SHAPE(-1, 2, 4, 4));
    made_constant(&made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_node(&made, "conv", "Conv", "x w", "t", NULL, 0);
    made_node(&made, "sum", "Add", "t r", "y", NULL, 0);
    made_output(&made, "y");
    assert_made_layers(&made, "conv: convolution(x w) -> t\nsum: binary(t r) -> y\n");
}

static void additions_and_normalizations_take_an_activation(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 4));
    made_constant(&made, "c", MADE_SHAPE(2), 0.5F, 1);
    made_node(&made, "bn", "BatchNormalization", "x c c c c", "t", NULL, 0);
    made_node(&made, "tanh", "Tanh", "t", "u", NULL, 0);
    made_node(&made, "sum", "Sum", "u x", "v", NULL, 0);
    made_node(&made, "relu", "Relu", "v", "w", NULL, 0);
    made_node(&made, "difference", "Sub", "w x", "z", NULL, 0);
    made_node(&made, "last", "Relu", "z", "y", NULL, 0);
    assert_one_layer(&made, "bn + tanh: batch_normalization(x c c c c) -> u [tanh 0 0]\n"
                            "sum + relu: binary(u x) -> w [relu 0 0]\n"
                            "difference: binary(w x) -> z\nlast: activation(z) -> y\n");
}

static void integers_are_not_fused(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 14);
    made_typed_input(&made, "x", DATA_INT32, MADE_SHAPE(4));
    made_node(&made, "sum", "Add", "x x", "t", NULL, 0);
    made_node(&made, "relu", "Relu", "t", "y", NULL, 0);
    made_typed_output(&made, "y", DATA_INT32);
    assert_made_layers(&made, "sum: binary(x x) -> t\nrelu: activation(t) -> y\n");
}

static void a_tensor_that_others_read_is_not_hidden(void **state)
{
    struct made_model made;

    require_onnxruntime();
    begin_convolution(&made, 13);
    made_node(&made, "relu", "Relu", "t", "u", NULL, 0);
    made_node(&made, "sum", "Mul", "u t", "y", NULL, 0);
    assert_one_layer(&made, "conv: convolution(x w) -> t\nrelu: activation(t) -> u\nsum: binary(u t) -> y\n");

    begin_convolution(&made, 13);
    made_node(&made, "double", "Add", "t t", "y", NULL, 0);
    assert_one_layer(&made, "conv: convolution(x w) -> t\ndouble: binary(t t) -> y\n");
}

static void nodes_are_kept_apart_on_request(void **state)
{
    struct made_model made;
    struct network_settings settings = with_onnxruntime();
    struct network *network;

    require_onnxruntime();
    settings.keep_nodes_apart = true;
    begin_convolution(&made, 13);
    made_constant(&made, "c", MADE_SHAPE(2), 0.5F, 1);
    made_node(&made, "bn", "BatchNormalization", "t c c c c", "u", NULL, 0);
    made_node(&made, "relu", "Relu", "u", "y", NULL, 0);
    made_output(&made, "y");
    network = network_of(made_open(&made), &settings);
    assert_layers(network, "conv: convolution(x w) -> t\nbn: batch_normalization(t c c c c) -> u\n"
                           "relu: activation(u) -> y\n");
    network_free(network);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_activation_is_fused_with_its_numbers),
        cmocka_unit_test(bounds_of_a_clip_are_read_when_they_are_constant),
        cmocka_unit_test(products_with_a_gate_are_activations),
        cmocka_unit_test(gelu_is_found_as_frameworks_write_it),
        cmocka_unit_test(a_constant_bias_is_fused_into_a_product),
        cmocka_unit_test(a_tensor_of_the_same_shape_is_added_by_the_later_convolution),
        cmocka_unit_test(a_layer_that_adds_runs_after_what_it_adds),
        cmocka_unit_test(what_is_broadcast_or_of_unknown_shape_is_not_added),
        cmocka_unit_test(additions_and_normalizations_take_an_activation),
        cmocka_unit_test(integers_are_not_fused),
        cmocka_unit_test(a_tensor_that_others_read_is_not_hidden),
        cmocka_unit_test(nodes_are_kept_apart_on_request),
    };

    return cmocka_run_group_tests_name("fusion", tests, NULL, NULL);
}
