/* Sizes as sums of unknown sizes, equations between them, and sums in names. */
#include "support/unit_test.h"

#include "onnx/inputs/dimension.h"
#include "onnx/inputs/symbols.h"

struct variables {
    struct dimension_system system;
    struct dimension past, sequence, total;
};

static int set_up(void **state)
{
    static struct variables variables;

    variables = (struct variables){0};
    variables.past = dimension_variable(dimension_system_add(&variables.system));
    variables.sequence = dimension_variable(dimension_system_add(&variables.system));
    variables.total = dimension_variable(dimension_system_add(&variables.system));
    *state = &variables;
    return 0;
}

static int tear_down(void **state)
{
    struct variables *variables = *state;

    dimension_system_release(&variables->system);
    return 0;
}

static enum dimension_equality equate(struct variables *variables, struct dimension a, struct dimension b)
{
    uint32_t solved;

    return dimension_equate(&variables->system, a, b, &solved);
}

static void assert_value(const struct variables *variables, struct dimension dimension, int64_t expected)
{
    int64_t value;

    assert_true(dimension_is_constant(&variables->system, dimension, &value));
    assert_int_equal(value, expected);
}

static void sum_is_solved_whichever_of_its_parts_is_known_first(void **state)
{
    struct variables *v = *state;

    equate(v, v->total, dimension_add(&v->system, v->past, v->sequence, 1));
    equate(v, v->total, dimension_constant(21));
    equate(v, v->past, dimension_constant(5));
    assert_value(v, v->sequence, 16);
    assert_int_equal(equate(v, v->sequence, dimension_constant(15)), DIMENSION_DIFFERENT);
    assert_int_equal(equate(v, v->sequence, dimension_constant(16)), DIMENSION_EQUAL);
}

static void factors_and_divisions_are_exact(void **state)
{
    struct variables *v = *state;
    struct dimension twice = dimension_multiply(&v->system, v->past, 2);

    assert_true(dimension_is_same(&v->system, dimension_divide(&v->system, twice, 2), v->past));
    assert_false(dimension_divide(&v->system, dimension_add(&v->system, twice, dimension_constant(1), 1), 2).known);
    assert_int_equal(equate(v, twice, dimension_constant(7)), DIMENSION_DIFFERENT);
    assert_int_equal(equate(v, twice, dimension_constant(8)), DIMENSION_EQUAL);
    assert_value(v, v->past, 4);
}

static void overflow_and_unknown_sizes_stay_unknown(void **state)
{
    struct variables *v = *state;

    assert_false(dimension_multiply(&v->system, dimension_constant(INT64_MAX), 2).known);
    assert_false(dimension_add(&v->system, dimension_unknown(), v->past, 1).known);
    assert_int_equal(equate(v, dimension_unknown(), v->past), DIMENSION_UNDECIDED);
}

static void names_of_dimensions_are_read_as_sums(void **state)
{
    struct variables *v = *state;
    SCOPED_NAME_MAP(names);

    name_map_add(&names, TEXT("past_sequence_length"), 0);
    name_map_add(&names, TEXT("s70"), 1);
    equate(v, v->past, dimension_constant(5));
    equate(v, v->sequence, dimension_constant(16));
    assert_value(v, dimension_from_symbol(&v->system, &names, TEXT("past_sequence_length + s70")), 21);
    assert_value(v, dimension_from_symbol(&v->system, &names, TEXT("past_sequence_length + 1")), 6);
    assert_value(v, dimension_from_symbol(&v->system, &names, TEXT("2*s70 - past_sequence_length")), 27);
    assert_value(v, dimension_from_symbol(&v->system, &names, TEXT("s70")), 16);
    assert_false(dimension_from_symbol(&v->system, &names, TEXT("s70 + s71")).known);
    assert_false(dimension_from_symbol(&v->system, &names, TEXT("floor(s70/2)")).known);
    assert_false(dimension_from_symbol(&v->system, &names, TEXT("s70*past_sequence_length*s70")).known);
    assert_false(dimension_from_symbol(&v->system, &names, TEXT("")).known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sum_is_solved_whichever_of_its_parts_is_known_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(factors_and_divisions_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overflow_and_unknown_sizes_stay_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_of_dimensions_are_read_as_sums, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
