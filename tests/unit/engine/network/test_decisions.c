/* Each decision about a network can be switched off by its name, and a name that switches off nothing is refused. */
#include "support/network_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* x -> conv1 -> + c -> relu1 -> u -> conv2 by a weight that is computed -> bn -> + u -> gate and mul -> y */
static void make_network(struct made_model *made)
{
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_constant(made, "c", MADE_SHAPE(1, 2, 1, 1), 0.5F, 1);
    made_constant(made, "s", MADE_SHAPE(2), 0.5F, 1);
    made_node(made, "negative", "Neg", "w", "v", NULL, 0);
    made_node(made, "conv1", "Conv", "x w", "t", NULL, 0);
    made_node(made, "bias1", "Add", "t c", "b", NULL, 0);
    made_node(made, "relu1", "Relu", "b", "u", NULL, 0);
    made_node(made, "conv2", "Conv", "u v", "m", NULL, 0);
    made_node(made, "bn", "BatchNormalization", "m s s s s", "n", NULL, 0);
    made_node(made, "sum", "Add", "n u", "a", NULL, 0);
    made_node(made, "gate", "Sigmoid", "a", "g", NULL, 0);
    made_node(made, "mul", "Mul", "a g", "y", NULL, 0);
    made_output(made, "y");
}

#define WHOLE                                                                                                          \
    "conv1 + bias1 + relu1: convolution(x conv1 + bias1.weight conv1 + bias1.bias) -> u [relu 0 0]\n"                  \
    "conv2 + bn + sum + gate + mul: convolution(u conv2 + bn.weight conv2 + bn.bias u) -> y [+ 3] [swish 1 0]\n"

/* "fusion:relu@relu1 in conv1 + relu1\n" for each that was taken, "-fusion:..." for what is off, "(fusion:...)" for
 * what is prevented. To be freed. */
static char *decisions_text(const struct network *network)
{
    struct string_builder text;

    string_init(&text);
    string_add(&text, "");
    for (size_t i = 0; i < network->decisions.count; i++) {
        const struct decision *it = &network->decisions.items[i];

        string_add(&text, it->state == DECISION_OFF ? "-" : it->state == DECISION_PREVENTED ? "(" : "");
        string_add(&text, it->name);
        string_add(&text, it->state == DECISION_PREVENTED ? ")" : "");
        if (it->layer != NULL)
            string_add_format(&text, " in %s", it->layer);
        string_add(&text, "\n");
    }
    return string_take(&text);
}

static struct network *network_without(struct made_model *made, const char *word)
{
    struct network_settings settings = with_onnxruntime();

    settings.disabled = (struct words){(const char *const[]){word, NULL}, word != NULL};
    return network_of(made_open(made), &settings);
}

static void all_that_was_decided_is_listed(void **state)
{
    struct made_model made;
    struct network *network;
    char *text;

    require_onnxruntime();
    make_network(&made);
    network = network_without(&made, NULL);
    text = decisions_text(network);
    assert_string_equal(text, "folding:constants\n"
                              "folding:affine@bias1 in conv1 + bias1 + relu1\n"
                              "folding:affine@bn in conv2 + bn + sum + gate + mul\n"
                              "fusion:relu@relu1 in conv1 + bias1 + relu1\n"
                              "fusion:sum@sum in conv2 + bn + sum + gate + mul\n"
                              "fusion:swish@mul in conv2 + bn + sum + gate + mul\n");
    free(text);
    network_free(network);
    made_release(&made);
}

static void each_is_off_by_its_name_and_the_values_stay(void **state)
{
    const struct {
        const char *word, *expected;
    } cases[] = {
        {"folding:affine@bias1", "-folding:affine@bias1 in conv1 + bias1 + relu1\n"},
        {"folding:affine@bn", "-folding:affine@bn in bn\n"},
        {"fusion:relu@relu1", "-fusion:relu@relu1 in relu1\n"},
        {"fusion:relu", "-fusion:relu@relu1 in relu1\n"},
        {"fusion:s[uv]*@s*", "-fusion:sum@sum in sum + gate + mul\n"},
        {"fusion:swish@mul", "-fusion:swish@mul in mul\n"},
        {"folding:constants", "-folding:constants\n"},
        {"*@b*", "-folding:affine@bn in bn\n"},
        {"?fusion:relu@relu1", "-fusion:relu@relu1 in relu1\n"},
        {"?fusion:relu@relu2", "\nfusion:relu@relu1 in conv1 + bias1 + relu1\n"}, /* what is not there is no error */
    };

    require_onnxruntime();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct made_model made;
        struct network *network;
        char *text;

        make_network(&made);
        network = network_without(&made, cases[i].word);
        text = decisions_text(network);
        if (strstr(text, cases[i].expected) == NULL)
            fail_msg("without %s:\n%s", cases[i].word, text);
        assert_same_values(&made, network);
        free(text);
        network_free(network);
        made_release(&made);
    }
}

static void with_all_of_them_off_every_node_is_a_layer(void **state)
{
    struct made_model made;
    struct network *network;

    require_onnxruntime();
    make_network(&made);
    network = network_without(&made, "*");
    assert_layers(network, "negative: other(w) -> v\nconv1: convolution(x w) -> t\nbias1: binary(t c) -> b\n"
                           "relu1: activation(b) -> u\nconv2: convolution(u v) -> m\n"
                           "bn: batch_normalization(m s s s s) -> n\nsum: binary(n u) -> a\n"
                           "gate: activation(a) -> g\nmul: binary(a g) -> y\n");
    assert_same_values(&made, network);
    network_free(network);
    made_release(&made);
}

static void what_depends_on_another_is_known_when_that_is_off(void **state)
{
    struct network_settings settings = with_onnxruntime();
    struct made_model made;
    struct network *network;
    char *text;

    require_onnxruntime();
    settings.disabled = (struct words){(const char *const[]){"fusion:bias", "fusion:sum@add", NULL}, 2};
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 2, 4));
    made_constant(&made, "w", MADE_SHAPE(2, 4, 4), -1, 1);
    made_constant(&made, "c", MADE_SHAPE(4), 0.5F, 1);
    made_node(&made, "product", "MatMul", "x w", "t", NULL, 0);
    made_node(&made, "bias", "Add", "t c", "b", NULL, 0);
    made_node(&made, "add", "Add", "b x", "y", NULL, 0);
    made_output(&made, "y");
    network = network_of(made_open(&made), &settings);
    text = decisions_text(network);
    assert_string_equal(text, "-fusion:bias@bias in bias\n-fusion:sum@add in add\n");
    free(text);
    network_free(network);
    made_release(&made);
}

static void refuses(const char *const *words, size_t count, const char *part)
{
    struct network_settings settings = with_onnxruntime();
    struct made_model made;
    struct network *network = NULL;
    struct error err = {0};

    make_network(&made);
    settings.disabled = (struct words){words, count};
    assert_int_equal(network_build(made_open(&made), &settings, &network, &err), ERR_INVALID);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not hold '%s'", err.message, part);
    made_release(&made);
}

static void a_name_that_switches_off_nothing_is_refused(void **state)
{
    require_onnxruntime();
    refuses((const char *const[]){"fusion:rellu"}, 1,
            "'fusion:rellu' cannot be disabled: the engine has no decision "
            "of that kind; did you mean 'fusion:relu'");
    refuses((const char *const[]){"fusion:relu@relu2"}, 1,
            "no node of the engine's network has that name; did you mean "
            "'relu1'");
    refuses((const char *const[]){"fusion:relu@sum"}, 1,
            "no such decision is made for this model; did you mean "
            "'fusion:relu@relu1' or 'fusion:sum@sum'");
    refuses((const char *const[]){"fusion:relu", "fusion:tanh"}, 2, "'fusion:tanh' cannot be disabled: no such");
    refuses((const char *const[]){"?fusion:rellu"}, 1, "'fusion:rellu' cannot be disabled: the engine has");
}

static void a_name_is_no_pattern_where_a_node_has_it(void **state)
{
    struct made_model made;
    struct network *network;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(1, 2, 4, 4));
    made_constant(&made, "w", MADE_SHAPE(2, 2, 1, 1), -1, 1);
    made_node(&made, "conv1", "Conv", "x w", "t", NULL, 0);
    made_node(&made, "a*", "Relu", "t", "u", NULL, 0);
    made_node(&made, "conv2", "Conv", "u w", "v", NULL, 0);
    made_node(&made, "ab", "Relu", "v", "y", NULL, 0);
    made_output(&made, "y");
    network = network_without(&made, "fusion:relu@a*");
    assert_layers(network, "conv1: convolution(x w) -> t\na*: activation(t) -> u\n"
                           "conv2 + ab: convolution(u w) -> y [relu 0 0]\n");
    network_free(network);
    made_release(&made);
}

/* A folding that is off may have prevented what a name means; all of a family may be none. */
static void a_name_that_may_mean_something_elsewhere_is_no_error(void **state)
{
    struct network_settings settings = with_onnxruntime();
    struct captured_log captured;
    struct made_model made;
    struct network *network;

    require_onnxruntime();
    captured_log_init(&captured);
    settings.log = &captured.log;
    settings.disabled = (struct words){(const char *const[]){"folding:affine", "fusion:tanh", NULL}, 2};
    make_network(&made);
    network = network_of(made_open(&made), &settings);
    assert_true(captured_log_has(&captured, "While foldings are disabled, 1 name, such as "
                                            "'fusion:tanh'"));
    network_free(network);
    made_release(&made);
    captured_log_release(&captured);
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2));
    made_node(&made, "only", "Neg", "x", "y", NULL, 0);
    made_output(&made, "y");
    network = network_without(&made, "fusion:*");
    assert_int_equal(network->decisions.count, 0);
    network_free(network);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_was_decided_is_listed),
        cmocka_unit_test(each_is_off_by_its_name_and_the_values_stay),
        cmocka_unit_test(with_all_of_them_off_every_node_is_a_layer),
        cmocka_unit_test(what_depends_on_another_is_known_when_that_is_off),
        cmocka_unit_test(a_name_that_switches_off_nothing_is_refused),
        cmocka_unit_test(a_name_that_may_mean_something_elsewhere_is_no_error),
        cmocka_unit_test(a_name_is_no_pattern_where_a_node_has_it),
    };

    return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
