/* Unrolled Loop and Scan nodes: which nodes take their place. tests/cli/surgeon_sanitize.bats compares outputs. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/unroll.h"

static size_t find_node(const struct model *model, const char *op_type)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (node_is(&model->nodes.items[i], op_type))
            return i;
    fail_msg("there is no %s", op_type);
    return 0;
}

/* Unrolls the only node of this operator. Returns how many were replaced. */
static size_t unroll(struct model *model, const char *op_type, int64_t iterations)
{
    int64_t *choices = memory_alloc_zero(model->nodes.count, sizeof(*choices));
    struct error err = {0};
    size_t count = 0;

    for (size_t i = 0; i < model->nodes.count; i++)
        choices[i] = NOT_UNROLLED;
    choices[find_node(model, op_type)] = iterations;
    if (model_unroll_loops(model, choices, &count, &err) < 0)
        fail_msg("%s", err.message);
    free(choices);
    return count;
}

static void a_loop_becomes_copies_of_its_body(void **state)
{
    struct model *model = fixture_open("nested_bodies");

    assert_int_equal(unroll(model, "Loop", 2), 1);
    assert_string_equal(names_of_operators(model), "Exp Neg Mul If Identity Mul If Identity Identity");
    assert_true(model_find_tensor(model, TEXT("scaled_iteration_0")) != VALUE_NONE);
    assert_true(model_find_tensor(model, TEXT("scaled_iteration_1")) != VALUE_NONE);
    assert_true(model_producer(model, model_find_tensor(model, TEXT("y"))) != NULL);
    model_free(model);
}

static void a_loop_without_iterations_copies_its_states(void **state)
{
    struct model *model = fixture_open("nested_bodies");

    assert_int_equal(unroll(model, "Loop", 0), 1);
    assert_string_equal(names_of_operators(model), "Exp Neg Identity");
    model_free(model);
}

static void a_scan_reads_slices_and_collects_rows(void **state)
{
    struct model *model = fixture_open("scan_with_capture");

    assert_int_equal(unroll(model, "Scan", 3), 1);
    assert_string_equal(names_of_operators(model), "Neg Gather Add Mul Add Gather Add Mul Add Gather Add Mul Add "
                                                   "Identity Unsqueeze Unsqueeze Unsqueeze Concat");
    model_free(model);
}

static void rows_of_no_iteration_have_no_shape(void **state)
{
    struct model *model = fixture_open("scan_with_capture");

    assert_int_equal(unroll(model, "Scan", 0), 0);
    assert_string_equal(names_of_operators(model), "Neg Scan");
    model_free(model);
}

static void what_is_not_chosen_stays(void **state)
{
    struct model *model = fixture_open("nested_bodies");

    assert_int_equal(unroll(model, "Loop", NOT_UNROLLED), 0);
    assert_string_equal(names_of_operators(model), "Exp Neg Loop");
    model_free(model);
}

static void states_and_counts_are_those_of_the_specification(void **state)
{
    struct model *loop = fixture_open("nested_bodies"), *scan = fixture_open("scan_with_capture");
    size_t states = 0;

    assert_true(loop_states(&loop->nodes.items[find_node(loop, "Loop")], &states));
    assert_int_equal(states, 1);
    assert_true(loop_is_counted(&loop->nodes.items[find_node(loop, "Loop")]));
    assert_true(loop_states(&scan->nodes.items[find_node(scan, "Scan")], &states));
    assert_int_equal(states, 1);
    assert_false(loop_states(&scan->nodes.items[find_node(scan, "Neg")], &states));
    model_free(loop);
    model_free(scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_becomes_copies_of_its_body),
        cmocka_unit_test(a_loop_without_iterations_copies_its_states),
        cmocka_unit_test(a_scan_reads_slices_and_collects_rows),
        cmocka_unit_test(rows_of_no_iteration_have_no_shape),
        cmocka_unit_test(what_is_not_chosen_stays),
        cmocka_unit_test(states_and_counts_are_those_of_the_specification),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
