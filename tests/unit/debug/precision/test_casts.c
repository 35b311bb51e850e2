/* Which low nodes are raised to save Casts, held against all choices that there are. */
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "debug/precision/casts.h"
#include "onnx/edit/model.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/half/half_operators.h"
#include "tensor/generate/mersenne_twister.h"

/* A Cast is worth a byte more than it reads and writes. */
static uint64_t cost_of(const struct model *model, const struct bitset *low, const uint64_t *elements)
{
    struct mixed_precision_costs costs;

    mixed_precision_costs(model, low, elements, &costs);
    return costs.node_bytes + costs.cast_bytes + costs.casts;
}

/* The least that any subset of `low` costs. */
static uint64_t least_cost(const struct model *model, const struct bitset *low, const uint64_t *elements)
{
    size_t count = bitset_count(low);
    uint64_t least = UINT64_MAX;

    for (uint32_t choice = 0; choice < 1U << count; choice++) {
        struct bitset chosen;
        uint64_t cost;
        size_t place = 0;

        bitset_init_copy(&chosen, low);
        for (size_t i = bitset_next(low, 0); i < low->size; i = bitset_next(low, i + 1), place++)
            if ((choice >> place & 1) != 0)
                bitset_remove(&chosen, i);
        cost = cost_of(model, &chosen, elements);
        least = cost < least ? cost : least;
        bitset_release(&chosen);
    }
    return least;
}

static void raise(struct model *model, const uint64_t *elements, struct bitset *low)
{
    struct bitset raised, moving;
    uint64_t least = least_cost(model, low, elements);

    bitset_init(&raised, model->nodes.count);
    bitset_init(&moving, model->nodes.count);
    casts_find_unworthy(&(struct cast_question){model, low, &moving, elements}, &raised);
    bitset_subtract(low, &raised);
    assert_int_equal(cost_of(model, low, elements), least);
    bitset_release(&raised);
    bitset_release(&moving);
}

/* Sizes of tensors and low nodes at random. */
static void no_other_choice_has_fewer_bytes(void **state)
{
    static const char *const models[] = {"out_of_half_range", "attention_overflow", "half_and_bodies"};
    struct mersenne_twister random;
    size_t raised = 0;

    mersenne_twister_seed(&random, 3);
    for (size_t round = 0; round < 60; round++) {
        struct model *model = fixture_open(models[round % ARRAY_LEN(models)]);
        uint64_t *elements = memory_alloc_zero(model->values.count, sizeof(*elements));
        struct bitset low;
        size_t before;

        for (size_t i = 0; i < model->values.count; i++)
            elements[i] = 1 + mersenne_twister_next(&random) % 40;
        bitset_init(&low, model->nodes.count);
        for (size_t i = 0; i < model->nodes.count; i++)
            if (mersenne_twister_next(&random) % 3 != 0 && bitset_count(&low) < 8 &&
                node_takes_half(model, &model->nodes.items[i], DATA_FLOAT16))
                bitset_add(&low, i);
        before = bitset_count(&low);
        raise(model, elements, &low);
        raised += before - bitset_count(&low);
        bitset_release(&low);
        free(elements);
        model_free(model);
    }
    assert_true(raised > 20);
}

/* x -> a -> turn -> b -> y, and z -> one -> two -> y2 beside it, which reads the same constant. */
static struct model *make_rows(struct made_model *made)
{
    static const char *const inside[] = {"ta", "tt", "t1"};
    struct model *model;

    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(2, 2));
    made_input(made, "z", MADE_SHAPE(2, 2));
    made_constant(made, "w", MADE_SHAPE(2, 2), -1, 1);
    made_node(made, "a", "Mul", "x w", "ta", NULL, 0);
    made_node(made, "turn", "Transpose", "ta", "tt", NULL, 0);
    made_node(made, "b", "Mul", "tt w", "y", NULL, 0);
    made_node(made, "one", "Mul", "z w", "t1", NULL, 0);
    made_node(made, "two", "Tanh", "t1", "y2", NULL, 0);
    made_output(made, "y");
    made_output(made, "y2");
    model = made_open(made);
    for (size_t i = 0; i < ARRAY_LEN(inside); i++)
        model_set_type(model, fixture_value(model, inside[i]), &(struct value_type){.element = DATA_FLOAT32});
    return model;
}

/* Sizes of tensors at random. What only moves data is raised with what it moves, and not without it. */
static void what_moves_data_is_raised_with_what_makes_them(void **state)
{
    struct mersenne_twister random;
    size_t raised_count = 0;

    mersenne_twister_seed(&random, 11);
    for (size_t round = 0; round < 200; round++) {
        struct made_model made;
        struct model *model = make_rows(&made);
        uint32_t a = fixture_node(model, "a"), turn = fixture_node(model, "turn"), b = fixture_node(model, "b");
        uint64_t *elements = memory_alloc_zero(model->values.count, sizeof(*elements)), least = UINT64_MAX;
        struct bitset low, moving, raised;

        for (size_t i = 0; i < model->values.count; i++)
            elements[i] = 1 + mersenne_twister_next(&random) % 40;
        bitset_init(&low, model->nodes.count);
        bitset_init(&moving, model->nodes.count);
        bitset_init(&raised, model->nodes.count);
        bitset_add(&moving, turn);
        for (unsigned choice = 0; choice < 4; choice++) {
            uint64_t cost;

            bitset_clear(&low);
            if ((choice & 1) != 0) {
                bitset_add(&low, a);
                bitset_add(&low, turn);
            }
            if ((choice & 2) != 0)
                bitset_add(&low, b);
            cost = cost_of(model, &low, elements);
            least = cost < least ? cost : least;
        }
        casts_find_unworthy(&(struct cast_question){model, &low, &moving, elements}, &raised);
        assert_int_equal(bitset_has(&raised, turn), bitset_has(&raised, a));
        bitset_subtract(&low, &raised);
        assert_int_equal(cost_of(model, &low, elements), least);
        raised_count += bitset_has(&raised, turn);
        bitset_release(&raised);
        bitset_release(&moving);
        bitset_release(&low);
        free(elements);
        model_free(model);
        made_release(&made);
    }
    assert_in_range(raised_count, 20, 180);
}

static void pieces_have_no_tensor_in_common_but_constants(void **state)
{
    struct made_model made;
    struct model *model = make_rows(&made);
    struct bitset nodes;
    uint32_t count, *pieces;

    bitset_init(&nodes, model->nodes.count);
    bitset_add(&nodes, fixture_node(model, "a"));
    bitset_add(&nodes, fixture_node(model, "turn"));
    bitset_add(&nodes, fixture_node(model, "one"));
    pieces = casts_find_pieces(model, &nodes, &count);
    assert_int_equal(count, 2);
    assert_int_equal(pieces[fixture_node(model, "a")], 1);
    assert_int_equal(pieces[fixture_node(model, "turn")], 1);
    assert_int_equal(pieces[fixture_node(model, "one")], 2);
    assert_int_equal(pieces[fixture_node(model, "b")], 0);
    free(pieces);
    bitset_release(&nodes);
    model_free(model);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_choice_has_fewer_bytes),
        cmocka_unit_test(what_moves_data_is_raised_with_what_makes_them),
        cmocka_unit_test(pieces_have_no_tensor_in_common_but_constants),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
