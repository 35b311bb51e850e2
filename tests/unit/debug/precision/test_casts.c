/* Which low nodes are raised to save Casts, held against all choices that there are. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "debug/precision/casts.h"
#include "onnx/half/costs.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_choice_has_fewer_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
