/* What a choice of low nodes costs, held against the model that it makes. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/half/mixed_precision.h"

static size_t count_casts(const struct model *model)
{
    size_t count = 0;

    for (size_t i = 0; i < model->nodes.count; i++)
        count += node_is(&model->nodes.items[i], "Cast");
    return count;
}

/* Every choice among the nodes that can be low: as many Casts are counted as the model gets. */
static void counted_casts_are_those_of_the_model(void **state)
{
    static const char *const models[] = {"out_of_half_range", "half_and_bodies", "attention_overflow"};

    for (size_t i = 0; i < ARRAY_LEN(models); i++)
        for (uint32_t choice = 0; choice < 64; choice++) {
            struct model *model = fixture_open(models[i]);
            uint64_t *elements = memory_alloc_zero(model->values.count, sizeof(*elements));
            struct mixed_precision_costs costs;
            struct unused_names names;
            struct bitset low;
            struct error err = {0};
            size_t before = count_casts(model);

            bitset_init(&low, model->nodes.count);
            for (size_t k = 0; k < model->nodes.count; k++)
                if ((choice >> k % 6 & 1) != 0 && node_takes_half(model, &model->nodes.items[k], DATA_FLOAT16))
                    bitset_add(&low, k);
            mixed_precision_elements(model, elements);
            mixed_precision_costs(model, &low, elements, &costs);
            unused_names_init(&names, model, &model->arena);
            assert_int_equal(mixed_precision_apply(model, &low, DATA_FLOAT16, &names, NULL, &err), 0);
            assert_int_equal(count_casts(model) - before, costs.casts);
            unused_names_release(&names);
            bitset_release(&low);
            free(elements);
            model_free(model);
        }
}

/* a of x, b of a and huge: a and b are outputs of the model. */
static void bytes_are_those_that_nodes_and_casts_read_and_write(void **state)
{
    struct model *model = fixture_open("out_of_half_range");
    uint64_t *elements = memory_alloc_zero(model->values.count, sizeof(*elements));
    struct mixed_precision_costs high, low;
    struct bitset nodes;
    uint32_t b = fixture_node(model, "b");
    uint64_t made = 0, read = 0;

    mixed_precision_elements(model, elements);
    bitset_init(&nodes, model->nodes.count);
    mixed_precision_costs(model, &nodes, elements, &high);
    assert_int_equal(high.casts, 0);
    assert_int_equal(high.cast_bytes, 0);
    bitset_add(&nodes, b);
    mixed_precision_costs(model, &nodes, elements, &low);
    made = elements[fixture_value(model, "b")];
    read = elements[fixture_value(model, "a")];
    assert_true(made > 0 && read > 0);
    assert_int_equal(high.node_bytes - low.node_bytes, 2 * (made + read + elements[fixture_value(model, "huge")]));
    assert_int_equal(low.casts, 2); /* of a, and of b, which has to be float32 behind it */
    assert_int_equal(low.cast_bytes, 6 * (made + read));
    assert_int_equal(low.unknown, 0);
    elements[fixture_value(model, "b")] = 0;
    mixed_precision_costs(model, &nodes, elements, &low);
    assert_int_equal(low.cast_bytes, 6 * read);
    assert_int_equal(low.unknown, 1);
    bitset_release(&nodes);
    free(elements);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_casts_are_those_of_the_model),
        cmocka_unit_test(bytes_are_those_that_nodes_and_casts_read_and_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
