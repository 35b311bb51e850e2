/* What the layout of a tensor costs its readers, as far as their operators tell. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/build/layout_wishes.h"

static const struct layout plain = {""}, blocked = {"aBcd16b"};

/* A layer that reads the value `number` and makes the next one. */
static void add_layer(struct network *network, enum layer_kind kind, uint32_t number)
{
    struct layer *layer = VECTOR_APPEND(&network->layers);

    *layer = (struct layer){.kind = kind};
    *VECTOR_APPEND(&layer->inputs) = number;
    *VECTOR_APPEND(&layer->outputs) = number + 1;
}

static void release(struct network *network)
{
    for (size_t i = 0; i < network->layers.count; i++) {
        free(network->layers.items[i].inputs.items);
        free(network->layers.items[i].outputs.items);
    }
    free(network->layers.items);
    free(network->outputs.items);
    model_free(network->model);
}

static void test_readers_that_pass_a_layout_on_wish_what_their_readers_wish(void **state)
{
    struct network network = {.model = fixture_open("chain17")};
    struct layout_wishes wishes;

    add_layer(&network, LAYER_POOLING, 0);
    add_layer(&network, LAYER_ACTIVATION, 1);
    add_layer(&network, LAYER_CONVOLUTION, 2);
    add_layer(&network, LAYER_POOLING, 3);
    add_layer(&network, LAYER_OTHER, 4);
    *VECTOR_APPEND(&network.outputs) = 5;
    layout_wishes_init(&wishes, &network);
    for (uint32_t i = 0; i < 3; i++) { /* in front of the convolution */
        assert_true(layout_wishes_cost(&wishes, i, &plain, 1000) > 0);
        assert_true(layout_wishes_cost(&wishes, i, &blocked, 1000) == 0);
    }
    for (uint32_t i = 3; i < 6; i++) { /* behind it; the last one is the network's output */
        assert_true(layout_wishes_cost(&wishes, i, &plain, 1000) == 0);
        assert_true(layout_wishes_cost(&wishes, i, &blocked, 1000) > 0);
    }
    layout_wishes_release(&wishes);
    release(&network);
}

static void test_each_reader_and_each_byte_costs(void **state)
{
    struct network network = {.model = fixture_open("chain17")};
    struct layout_wishes wishes;
    double one;

    add_layer(&network, LAYER_CONVOLUTION, 0);
    add_layer(&network, LAYER_CONVOLUTION, 1);
    add_layer(&network, LAYER_CONVOLUTION, 1);
    layout_wishes_init(&wishes, &network);
    one = layout_wishes_cost(&wishes, 0, &plain, 1000);
    assert_true(layout_wishes_cost(&wishes, 1, &plain, 1000) == 2 * one);
    assert_true(layout_wishes_cost(&wishes, 0, &plain, 2000) > one);
    assert_true(layout_wishes_cost(&wishes, 3, &plain, 1000) == 0); /* nobody reads it */
    layout_wishes_release(&wishes);
    release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_that_pass_a_layout_on_wish_what_their_readers_wish),
        cmocka_unit_test(test_each_reader_and_each_byte_costs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
