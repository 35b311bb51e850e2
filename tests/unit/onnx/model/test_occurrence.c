/* test_occurrence.c: the same operators, connected in the same way. */
#include "support/unit_test.h"

#include "onnx/model/occurrence.h"
#include "support/made_model.h"

/* Three times Add of a MatMul, once the other way round; an Add of both branches of a Split. */
static struct model *open_patterns(struct made_model *made)
{
    made_init(made, 13);
    made_input(made, "x", MADE_SHAPE(4, 4));
    made_constant(made, "w", MADE_SHAPE(4, 4), -1, 1);
    made_constant(made, "b", MADE_SHAPE(4), -1, 1);
    made_node(made, "product0", "MatMul", "x w", "p0", NULL, 0);
    made_node(made, "sum0", "Add", "p0 b", "s0", NULL, 0);
    made_node(made, "product1", "MatMul", "s0 w", "p1", NULL, 0);
    made_node(made, "sum1", "Add", "b p1", "s1", NULL, 0);
    made_node(made, "product2", "MatMul", "s1 w", "p2", NULL, 0);
    made_node(made, "tanh", "Tanh", "p2", "t2", NULL, 0);
    made_node(made, "sum2", "Add", "p2 t2", "s2", NULL, 0);
    made_node(made, "split", "Split", "s2", "left right", NULL, 0);
    made_node(made, "sum3", "Add", "left right", "y", NULL, 0);
    made_output(made, "y");
    return made_open(made);
}

/* Finds the pattern of two nodes elsewhere; `expected` ends with NODE_NONE. */
static void check_occurrences(const uint32_t pattern[2], const uint32_t *expected)
{
    struct made_model made;
    struct model *model = open_patterns(&made);
    uint32_t next = 0;
    SCOPED_BITSET(nodes);
    SCOPED_BITSET(place);

    bitset_init(&nodes, model->nodes.count);
    bitset_init(&place, model->nodes.count);
    for (size_t i = 0; i < 2; i++)
        bitset_add(&nodes, pattern[i]);
    while (model_find_occurrence(model, &nodes, &nodes, &next, &place)) {
        assert_int_equal(bitset_count(&place), 2);
        for (size_t i = bitset_next(&place, 0); i < place.size; i = bitset_next(&place, i + 1))
            assert_int_equal(*expected++, i);
    }
    assert_int_equal(*expected, NODE_NONE);
    model_free(model);
    made_release(&made);
}

static void the_same_operators_at_the_same_inputs_are_found(void **state)
{
    check_occurrences((const uint32_t[]){0, 1}, (const uint32_t[]){4, 6, NODE_NONE});
    check_occurrences((const uint32_t[]){4, 6}, (const uint32_t[]){0, 1, NODE_NONE});
}

static void another_input_or_operator_is_another_pattern(void **state)
{
    check_occurrences((const uint32_t[]){2, 3}, (const uint32_t[]){NODE_NONE});
    check_occurrences((const uint32_t[]){4, 5}, (const uint32_t[]){NODE_NONE});
    check_occurrences((const uint32_t[]){7, 8}, (const uint32_t[]){NODE_NONE});
}

static void nodes_without_a_connection_are_no_pattern(void **state)
{
    check_occurrences((const uint32_t[]){0, 5}, (const uint32_t[]){NODE_NONE});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_operators_at_the_same_inputs_are_found),
        cmocka_unit_test(another_input_or_operator_is_another_pattern),
        cmocka_unit_test(nodes_without_a_connection_are_no_pattern),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
