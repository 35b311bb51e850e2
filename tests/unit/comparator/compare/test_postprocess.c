/* test_postprocess.c: outputs turned into rankings. */
#include "comparator/compare/postprocess.h"
#include "unit/comparator/comparator_test.h"

static const struct tensor *output_of(const struct run_results *results, size_t iteration, const char *name)
{
    return &tensor_list_find(&results->items[0].items[iteration].outputs, text_of(name))->tensor;
}

static void named_rules_go_before_the_one_for_all(void **state) /* an axis belongs to one rule only */
{
    const struct top_k_rule rules[] = {{"columns", 1, 0}, {"", 2, -1}};
    struct run_results results = {0};

    struct tensor_list *outputs = add_runner(&results, "A");
    add_tensor(outputs, "columns", DATA_FLOAT32, SHAPE(2, 2), (float[]){1, 9, 5, 2});
    ADD_FLOATS(outputs, "rows", 3, 1, 2);
    ADD_FLOATS(add_iteration(&results), "rows", 1, 2, 3);
    assert_int_equal(postprocess_top_k(&results, rules, 2, NULL), 0);
    assert_shape(&output_of(&results, 0, "columns")->shape, "(1, 2)");
    assert_memory_equal(output_of(&results, 0, "columns")->data, ((int64_t[]){1, 0}), 16);
    assert_memory_equal(output_of(&results, 0, "rows")->data, ((int64_t[]){0, 2}), 16);
    assert_memory_equal(output_of(&results, 1, "rows")->data, ((int64_t[]){2, 1}), 16);
    run_results_release(&results);
}

static void outputs_without_a_rule_stay(void **state)
{
    const struct top_k_rule rules[] = {{"x", 1, -1}};
    struct run_results results = {0};

    ADD_FLOATS(add_runner(&results, "A"), "y", 3, 1);
    assert_int_equal(postprocess_top_k(&results, rules, 1, NULL), 0);
    assert_int_equal(output_of(&results, 0, "y")->type, DATA_FLOAT32);
    run_results_release(&results);
}

static void an_axis_that_is_not_there_names_the_output(void **state)
{
    const struct top_k_rule rules[] = {{"", 1, 3}};
    struct run_results results = {0};
    struct error error;

    ADD_FLOATS(add_runner(&results, "A"), "y", 3, 1);
    assert_int_equal(postprocess_top_k(&results, rules, 1, &error), ERR_INVALID);
    assert_message_contains(&error, "output 'y': ");
    run_results_release(&results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_rules_go_before_the_one_for_all),
        cmocka_unit_test(outputs_without_a_rule_stay),
        cmocka_unit_test(an_axis_that_is_not_there_names_the_output),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
