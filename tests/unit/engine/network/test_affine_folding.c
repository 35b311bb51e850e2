/* What scales and shifts channels by constants is folded into the node before it. */
#include "support/network_fixture.h"

#include <stdio.h>

#include "base/memory.h"

static void add_norm(struct made_model *made, const char *input, const char *output, int64_t channels)
{
    struct node_attribute epsilon = FLOAT("epsilon", 0.02F);
    char inputs[64];

    made_constant(made, "scale", MADE_SHAPE(channels), 0.5F, 2);
    made_constant(made, "shift", MADE_SHAPE(channels), -1, 1);
    made_constant(made, "mean", MADE_SHAPE(channels), -1, 1);
    made_constant(made, "variance", MADE_SHAPE(channels), 0.1F, 3);
    snprintf(inputs, sizeof(inputs), "%s scale shift mean variance", input);
    made_node(made, "bn", "BatchNormalization", inputs, output, &epsilon, 1);
}

/* Ends the model with the output y; it has to become one layer with the same values. */
static void assert_folds(struct made_model *made, const char *expected)
{
    struct network *network;

    made_output(made, "y");
    network = made_network(made);
    assert_layers(network, expected);
    assert_same_values(made, network);
    network_free(network);
    made_release(made);
}

static void batch_normalizations_are_folded_into_convolutions(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 3, 6, 5));
    made_constant(&made, "w", MADE_SHAPE(4, 3, 3, 3), -1, 1);
    made_constant(&made, "b", MADE_SHAPE(4), -1, 1);
    made_node(&made, "conv", "Conv", "x w b", "t", NULL, 0);
    add_norm(&made, "t", "u", 4);
    made_node(&made, "relu", "Relu", "u", "y", NULL, 0);
    assert_folds(&made, "conv + bn + relu: convolution(x conv + bn.weight conv + bn.bias) -> y [relu 0 0]\n");
}

static void a_convolution_without_bias_gets_one(void **state)
{
    struct made_model made;
    struct node_attribute group = INTEGER("group", 2);

    require_onnxruntime();
    made_init(&made, 9);
    made_input(&made, "x", MADE_SHAPE(1, 4, 7));
    made_constant(&made, "w", MADE_SHAPE(6, 2, 3), -1, 1);
    made_node(&made, "", "Conv", "x w", "t", &group, 1);
    add_norm(&made, "t", "y", 6);
    assert_folds(&made, "node_of_t + bn: convolution(x node_of_t + bn.weight node_of_t + bn.bias) -> y\n");
}

static void groups_of_a_transposed_convolution_keep_their_channels(void **state)
{
    struct made_model made;
    struct node_attribute group = INTEGER("group", 2);

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 4, 3, 3));
    made_constant(&made, "w", MADE_SHAPE(4, 3, 2, 2), -1, 1);
    made_constant(&made, "b", MADE_SHAPE(6), -1, 1);
    made_node(&made, "up", "ConvTranspose", "x w b", "t", &group, 1);
    add_norm(&made, "t", "y", 6);
    assert_folds(&made, "up + bn: deconvolution(x up + bn.weight up + bn.bias) -> y\n");
}

static void the_factors_of_a_gemm_are_respected(void **state)
{
    struct made_model made;
    struct node_attribute attributes[] = {FLOAT("alpha", 0.5F), FLOAT("beta", 3), INTEGER("transB", 1)};

    require_onnxruntime();
    for (size_t scalar = 0; scalar < 2; scalar++) {
        made_init(&made, 13);
        made_input(&made, "x", MADE_SHAPE(3, 5));
        made_constant(&made, "w", MADE_SHAPE(4, 5), -1, 1);
        made_constant(&made, "c", scalar ? MADE_SHAPE(1) : MADE_SHAPE(1, 4), -1, 1);
        made_node(&made, "fc", "Gemm", "x w c", "t", attributes, 3);
        add_norm(&made, "t", "y", 4);
        assert_folds(&made, "fc + bn: matmul(x fc + bn.weight fc + bn.bias) -> y\n");
    }
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(3, 5));
    made_constant(&made, "w", MADE_SHAPE(5, 4), -1, 1);
    made_node(&made, "fc", "Gemm", "x w", "t", attributes, 2);
    add_norm(&made, "t", "y", 4);
    assert_folds(&made, "fc + bn: matmul(x fc + bn.weight fc + bn.bias) -> y\n");
}

static void products_and_sums_with_constants_of_channels_are_folded_too(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 3, 4, 4));
    made_constant(&made, "a", MADE_SHAPE(3, 1, 1), 0.5F, 2);
    made_constant(&made, "s", MADE_SHAPE(1, 3, 1, 1), -1, 1);
    made_constant(&made, "one", MADE_SHAPE(1), 2, 2);
    add_norm(&made, "x", "t", 3);
    made_node(&made, "mul", "Mul", "a t", "u", NULL, 0);
    made_node(&made, "add", "Add", "u s", "v", NULL, 0);
    made_node(&made, "double", "Mul", "v one", "y", NULL, 0);
    assert_folds(&made, "bn + mul + add + double: batch_normalization(x bn + mul + add + double.weight "
                        "bn + mul + add + double.bias mean variance) -> y\n");
}

static void constants_that_are_not_for_channels_stay(void **state)
{
    struct made_model made;
    struct network *network;
    const struct shape shapes[] = {MADE_SHAPE(4, 1), MADE_SHAPE(4), MADE_SHAPE(1, 4, 4, 1), MADE_SHAPE(1, 1, 4, 1, 1)};

    require_onnxruntime();
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        made_init(&made, 13);
        made_input(&made, "x", MADE_SHAPE(1, 2, 4, 4));
        made_constant(&made, "w", MADE_SHAPE(4, 2, 1, 1), -1, 1);
        made_constant(&made, "a", shapes[i], 0.5F, 2);
        made_node(&made, "conv", "Conv", "x w", "t", NULL, 0);
        made_node(&made, "mul", "Mul", "t a", "y", NULL, 0);
        made_output(&made, "y");
        network = made_network(&made);
        assert_layers(network, "conv: convolution(x w) -> t\nmul: binary(t a) -> y\n");
        network_free(network);
        made_release(&made);
    }
}

static void what_others_read_is_not_folded_away(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(&made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_node(&made, "conv", "Conv", "x w", "t", NULL, 0);
    add_norm(&made, "t", "u", 2);
    made_node(&made, "sum", "Add", "u t", "y", NULL, 0);
    made_output(&made, "y");
    assert_made_layers(&made, "conv: convolution(x w) -> t\n"
                              "bn: batch_normalization(t scale shift mean variance) -> u\n"
                              "sum: binary(u t) -> y\n");
}

static void an_output_of_the_model_is_not_folded_away(void **state)
{
    struct made_model made;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(&made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_node(&made, "conv", "Conv", "x w", "t", NULL, 0);
    add_norm(&made, "t", "y", 2);
    made_output(&made, "y");
    made_output(&made, "t");
    assert_made_layers(&made, "conv: convolution(x w) -> t\n"
                              "bn: batch_normalization(t scale shift mean variance) -> y\n");
}

static void a_weight_of_two_convolutions_is_changed_for_one_only(void **state)
{
    struct made_model made;
    struct network *network;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(&made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_node(&made, "one", "Conv", "x w", "t", NULL, 0);
    add_norm(&made, "t", "u", 2);
    made_node(&made, "two", "Conv", "u w", "y", NULL, 0);
    made_output(&made, "y");
    network = made_network(&made);
    assert_layers(network, "one + bn: convolution(x one + bn.weight one + bn.bias) -> u\n"
                           "two: convolution(u w) -> y\n");
    assert_same_values(&made, network);
    network_free(network);
    made_release(&made);
}

static void a_normalization_that_would_divide_by_zero_stays(void **state)
{
    struct made_model made;
    struct node_attribute epsilon = FLOAT("epsilon", 0);

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(&made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_constant(&made, "s", MADE_SHAPE(2), 1, 1);
    made_constant(&made, "zero", MADE_SHAPE(2), 0, 0);
    made_node(&made, "conv", "Conv", "x w", "t", NULL, 0);
    made_node(&made, "bn", "BatchNormalization", "t s s s zero", "y", &epsilon, 1);
    made_output(&made, "y");
    assert_made_layers(&made, "conv: convolution(x w) -> t\nbn: batch_normalization(t s s s zero) -> y\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_normalizations_are_folded_into_convolutions),
        cmocka_unit_test(a_convolution_without_bias_gets_one),
        cmocka_unit_test(groups_of_a_transposed_convolution_keep_their_channels),
        cmocka_unit_test(the_factors_of_a_gemm_are_respected),
        cmocka_unit_test(products_and_sums_with_constants_of_channels_are_folded_too),
        cmocka_unit_test(constants_that_are_not_for_channels_stay),
        cmocka_unit_test(what_others_read_is_not_folded_away),
        cmocka_unit_test(an_output_of_the_model_is_not_folded_away),
        cmocka_unit_test(a_weight_of_two_convolutions_is_changed_for_one_only),
        cmocka_unit_test(a_normalization_that_would_divide_by_zero_stays),
    };

    return cmocka_run_group_tests_name("affine folding", tests, NULL, NULL);
}
