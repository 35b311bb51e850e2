/* Typed models of a network: what goes along with what is low, what a choice costs, and which layers are not worth
 * their Casts. */
#include "support/network_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/precision/typed_model.h"

struct fixture {
    struct made_model made;
    struct network *network;
    struct typed_models models;
    struct bitset chosen;
};

/* Nothing is chosen at first. Every layer that computes and takes float16 is lowered. */
static void init(struct fixture *fixture)
{
    struct network *network = made_network(&fixture->made);
    struct typed_models *models = &fixture->models;

    fixture->network = network;
    *models = (struct typed_models){.network = network,
                                    .half = DATA_FLOAT16,
                                    .low = memory_alloc_zero(network->layers.count, sizeof(*models->low)),
                                    .high = memory_alloc_zero(network->layers.count, sizeof(*models->high)),
                                    .elements = memory_alloc_zero(network->model->values.count, sizeof(uint64_t))};
    for (size_t i = 0; i < network->layers.count; i++)
        if (precision_eligible(network, &network->layers.items[i], PRECISION_FLOAT16))
            models->low[i].precision = PRECISION_FLOAT16;
    bitset_init(&fixture->chosen, network->layers.count);
}

static void release(struct fixture *fixture)
{
    free(fixture->models.low);
    free(fixture->models.high);
    free(fixture->models.elements);
    bitset_release(&fixture->chosen);
    network_free(fixture->network);
    made_release(&fixture->made);
}

static size_t layer_of(const struct fixture *fixture, const char *name)
{
    return (size_t)(find_layer(fixture->network, text_of(name)) - fixture->network->layers.items);
}

static void choose(struct fixture *fixture, const char *name)
{
    bitset_add(&fixture->chosen, layer_of(fixture, name));
}

/* Names with blanks between them, in order. */
static void assert_low(const struct fixture *fixture, bool rounds, const char *expected)
{
    const struct model *model = fixture->network->model;
    struct string_builder names;
    struct bitset low;

    string_init(&names);
    typed_model_find_low(&fixture->models, &fixture->chosen, rounds, &low);
    for (size_t i = bitset_next(&low, 0); i < low.size; i = bitset_next(&low, i + 1))
        string_add_format(&names, "%s" TEXT_FORMAT, names.size > 0 ? " " : "", TEXT_ARGS(model->nodes.items[i].name));
    assert_string_equal(names.size > 0 ? names.data : "", expected);
    string_release(&names);
    bitset_release(&low);
}

/* What is turned is an input that a low node reads, a low tensor, or a constant and a low tensor for an output. */
static void what_moves_low_tensors_alone_is_low(void **state)
{
    struct fixture fixture;

    require_onnxruntime();
    made_init(&fixture.made, 13);
    made_input(&fixture.made, "x", MADE_SHAPE(2, 3));
    made_constant(&fixture.made, "w", MADE_SHAPE(3, 2), -1, 1);
    made_node(&fixture.made, "first", "Transpose", "x", "t", NULL, 0);
    made_node(&fixture.made, "relu", "Relu", "t", "u", NULL, 0);
    made_node(&fixture.made, "turn", "Transpose", "u", "v", NULL, 0);
    made_node(&fixture.made, "again", "Transpose", "v", "v2", NULL, 0);
    made_node(&fixture.made, "join", "Concat", "u w", "y", &INTEGER("axis", 0), 1);
    made_node(&fixture.made, "tanh", "Tanh", "v2", "z", NULL, 0);
    made_output(&fixture.made, "y");
    made_output(&fixture.made, "z");
    init(&fixture);
    assert_low(&fixture, false, "first relu turn again tanh");
    assert_low(&fixture, true, "relu tanh");
    choose(&fixture, "tanh");
    assert_low(&fixture, false, "first relu turn again");
    choose(&fixture, "relu");
    assert_low(&fixture, false, "");
    release(&fixture);
}

/* What is read in lower precision alone is low if that saves Casts: a constant and a tensor, joined. */
static void what_only_low_nodes_read_is_low(void **state)
{
    struct fixture fixture;

    require_onnxruntime();
    made_init(&fixture.made, 13);
    made_input(&fixture.made, "x", MADE_SHAPE(2, 3));
    made_constant(&fixture.made, "w", MADE_SHAPE(2, 3), -1, 1);
    made_node(&fixture.made, "relu", "Relu", "x", "u", NULL, 0);
    made_node(&fixture.made, "join", "Concat", "u w", "v", &INTEGER("axis", 0), 1);
    made_node(&fixture.made, "tanh", "Tanh", "v", "y", NULL, 0);
    made_output(&fixture.made, "y");
    init(&fixture);
    assert_low(&fixture, false, "relu join tanh");
    assert_low(&fixture, true, "relu tanh");
    choose(&fixture, "relu");
    assert_low(&fixture, false, "join tanh");
    choose(&fixture, "tanh");
    assert_low(&fixture, false, "");
    release(&fixture);
}

/* Cast: x down, s up for the addition of bits; nothing else. The shape of a tensor is asked for in whatever type. */
static void nodes_with_float32_tensors_are_counted_whichever_side_they_are_on(void **state)
{
    struct fixture fixture;
    struct precision_costs costs;

    require_onnxruntime();
    made_init(&fixture.made, 13);
    made_input(&fixture.made, "x", MADE_SHAPE(-1, 4));
    made_node(&fixture.made, "turn", "Transpose", "x", "t", NULL, 0);
    made_node(&fixture.made, "relu", "Relu", "t", "u", NULL, 0);
    made_node(&fixture.made, "shape", "Shape", "u", "s", NULL, 0);
    made_node(&fixture.made, "best", "ArgMax", "u", "i", NULL, 0);
    made_node(&fixture.made, "add", "Add", "i i", "j", NULL, 0);
    made_output(&fixture.made, "t");
    made_typed_output(&fixture.made, "s", DATA_INT64);
    made_typed_output(&fixture.made, "j", DATA_INT64);
    init(&fixture);
    typed_model_costs(&fixture.models, &fixture.chosen, &costs);
    assert_int_equal(costs.low_nodes, 2); /* relu and best: shape reads no numbers, add none that are floating */
    assert_int_equal(costs.float32_nodes, 1);
    assert_int_equal(costs.float32_moving, 1);
    assert_int_equal(costs.mixed.casts, 1);
    assert_true(costs.mixed.unknown > 0 && costs.mixed.node_bytes == 0); /* no description has a size */
    fixture.models.elements[fixture_value(fixture.network->model, "x")] = 20;
    fixture.models.elements[fixture_value(fixture.network->model, "t")] = 20;
    fixture.models.elements[fixture_value(fixture.network->model, "u")] = 20;
    choose(&fixture, "best");
    typed_model_costs(&fixture.models, &fixture.chosen, &costs);
    assert_int_equal(costs.low_nodes, 1);
    assert_int_equal(costs.float32_nodes, 2);
    assert_int_equal(costs.mixed.casts, 2);
    assert_int_equal(costs.mixed.cast_bytes, 2 * 6 * 20);
    assert_int_equal(costs.mixed.node_bytes, 20 * (4 + 4 + 2 + 2 + 4));
    assert_int_equal(costs.float32.node_bytes, 20 * (4 + 4 + 4 + 4 + 4));
    assert_int_equal(costs.mixed.unknown, 0);
    release(&fixture);
}

/* Two rows of layers, each from an input to an output of its own, between layers that are chosen. */
static void what_lies_between_chosen_layers_is_raised_where_that_is_cheaper(void **state)
{
    struct fixture fixture;
    uint32_t sets[16] = {0};

    require_onnxruntime();
    made_init(&fixture.made, 13);
    made_input(&fixture.made, "x", MADE_SHAPE(4));
    made_input(&fixture.made, "z", MADE_SHAPE(4));
    made_node(&fixture.made, "a", "Relu", "x", "ta", NULL, 0);
    made_node(&fixture.made, "b", "Tanh", "ta", "tb", NULL, 0);
    made_node(&fixture.made, "c", "Relu", "tb", "tc", NULL, 0);
    made_node(&fixture.made, "d", "Relu", "z", "td", NULL, 0);
    made_node(&fixture.made, "e", "Tanh", "td", "te", NULL, 0);
    made_node(&fixture.made, "f", "Exp", "te", "tf", NULL, 0);
    made_node(&fixture.made, "g", "Relu", "tf", "tg", NULL, 0);
    made_node(&fixture.made, "h", "Exp", "tc", "th", NULL, 0);
    made_node(&fixture.made, "i", "Tanh", "th", "ti", NULL, 0);
    made_node(&fixture.made, "j", "Exp", "ti", "tj", NULL, 0);
    made_node(&fixture.made, "k", "Tanh", "tj", "tk", NULL, 0);
    made_node(&fixture.made, "l", "Relu", "tk", "tl", NULL, 0);
    made_output(&fixture.made, "tg");
    made_output(&fixture.made, "tl");
    init(&fixture);
    choose(&fixture, "a");
    choose(&fixture, "c");
    choose(&fixture, "d");
    choose(&fixture, "g");
    choose(&fixture, "l");
    assert_int_equal(typed_model_savings(&fixture.models, &fixture.chosen, sets), 2);
    assert_int_equal(sets[layer_of(&fixture, "b")], 1);
    assert_int_equal(sets[layer_of(&fixture, "e")], 2);
    assert_int_equal(sets[layer_of(&fixture, "f")], 2);
    for (const char *name = "acdghijkl"; *name; name++) /* chosen, or worth more than two Casts: four in a row */
        assert_int_equal(sets[layer_of(&fixture, (const char[]){*name, '\0'})], 0);
    release(&fixture);
}

/* As many Casts, but of what is left of a tensor and not of all of it. */
static void a_cast_of_a_smaller_tensor_is_cheaper(void **state)
{
    struct fixture fixture;
    uint32_t sets[4] = {0};

    require_onnxruntime();
    made_init(&fixture.made, 13);
    made_input(&fixture.made, "x", MADE_SHAPE(1, 1, 8, 8));
    made_node(&fixture.made, "pool", "GlobalAveragePool", "x", "p", NULL, 0);
    made_node(&fixture.made, "tanh", "Tanh", "p", "t", NULL, 0);
    made_node(&fixture.made, "exp", "Exp", "t", "e", NULL, 0);
    made_node(&fixture.made, "relu", "Relu", "e", "r", NULL, 0);
    made_node(&fixture.made, "best", "ArgMax", "r", "i", NULL, 0);
    made_typed_output(&fixture.made, "i", DATA_INT64);
    init(&fixture);
    assert_int_equal(typed_model_savings(&fixture.models, &fixture.chosen, sets), 1);
    assert_int_equal(sets[layer_of(&fixture, "pool")], 1);
    release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_low_tensors_alone_is_low),
        cmocka_unit_test(what_only_low_nodes_read_is_low),
        cmocka_unit_test(nodes_with_float32_tensors_are_counted_whichever_side_they_are_on),
        cmocka_unit_test(what_lies_between_chosen_layers_is_raised_where_that_is_cheaper),
        cmocka_unit_test(a_cast_of_a_smaller_tensor_is_cheaper),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
