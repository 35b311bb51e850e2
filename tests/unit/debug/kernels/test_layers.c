/* test_layers.c: nodes that a runtime computes together. */
#include "support/made_model.h"
#include "support/unit_test.h"

#include "debug/kernels/layers.h"

static void begin(struct made_model *made)
{
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(2));
}

static struct model *open_chain(struct made_model *made)
{
    begin(made);
    made_node(made, "neg", "Neg", "x", "a", NULL, 0);
    made_node(made, "relu", "Relu", "a", "b", NULL, 0);
    made_node(made, "sum", "Add", "b x", "c", NULL, 0);
    made_node(made, "tanh", "Tanh", "c", "y", NULL, 0);
    made_output(made, "y");
    return made_open(made);
}

/* "neg relu; sum tanh": the layers that a runtime has made of the chain. */
static void assert_layers(struct made_model *made, const char *expected)
{
    struct made_model chain;
    struct model *model = open_chain(&chain), *rewritten = made_open(made);
    struct fused_layers layers;
    SCOPED_STRING(text);

    fused_layers_init(&layers);
    fused_layers_add_nodes(&layers, model, rewritten);
    string_add(&text, "");
    for (size_t i = 0; i < layers.count; i++)
        for (size_t k = 0; k < layers.items[i].count; k++)
            string_add_format(&text, "%s%s",
                              k > 0   ? " "
                              : i > 0 ? "; "
                                      : "",
                              model_node_label(model, layers.items[i].nodes[k]));
    assert_string_equal(text.data, expected);
    fused_layers_release(&layers);
    model_free(rewritten);
    model_free(model);
    made_release(&chain);
    made_release(made);
}

static void nodes_between_the_tensors_of_a_layer_belong_to_it(void **state)
{
    struct made_model made;

    (void)state;
    begin(&made);
    made_node(&made, "first", "Fused", "x", "b", NULL, 0);
    made_node(&made, "second", "Fused", "b x", "y", NULL, 0);
    made_output(&made, "y");
    assert_layers(&made, "neg relu; sum tanh");
}

static void single_nodes_are_no_layers(void **state)
{
    struct made_model made;

    (void)state;
    begin(&made);
    made_node(&made, "neg", "Neg", "x", "a", NULL, 0);
    made_node(&made, "relu", "Faster", "a", "b", NULL, 0);
    made_output(&made, "b");
    assert_layers(&made, "");
}

/* Nobody knows which nodes make a tensor that the model does not have, or what of it a layer reads. */
static void layers_of_other_tensors_are_left_out(void **state)
{
    struct made_model made;

    (void)state;
    begin(&made);
    made_node(&made, "renamed", "Fused", "x", "b_reordered", NULL, 0);
    made_node(&made, "unrelated", "Fused", "b_reordered", "y", NULL, 0);
    made_output(&made, "y");
    assert_layers(&made, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_between_the_tensors_of_a_layer_belong_to_it),
        cmocka_unit_test(single_nodes_are_no_layers),
        cmocka_unit_test(layers_of_other_tensors_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
