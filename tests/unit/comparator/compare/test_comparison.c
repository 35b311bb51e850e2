/* test_comparison.c: verdicts on results, and what the log says about them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "comparator/compare/comparison.h"
#include "support/results_fixture.h"

struct fixture {
    struct captured_log log;
    struct run_results results;
    struct comparison_criteria criteria;
    struct comparison_settings settings;
    struct error error;
};

/* One rule for all outputs each. */
struct general_rules {
    struct named_number numbers[4 + COMPARISON_FUNCTIONS];
    struct named_integer index_tolerance;
    struct named_word check_error_stat;
};

static struct named_numbers add_number(struct general_rules *rules, size_t at, double value)
{
    rules->numbers[at] = (struct named_number){.name = "", .value = value};
    return (struct named_numbers){&rules->numbers[at], 1};
}

static void set_rules(const struct comparison_criteria *criteria, struct general_rules *memory,
                      struct comparison_rules *ret)
{
    memory->index_tolerance = (struct named_integer){"", (int64_t)criteria->index_tolerance};
    memory->check_error_stat = (struct named_word){"", compare_statistic_name(criteria->simple.statistic)};
    *ret = (struct comparison_rules){
        .rtol = add_number(memory, 0, criteria->simple.rtol),
        .atol = add_number(memory, 1, criteria->simple.atol),
        .norm_tolerance = add_number(memory, 2, criteria->simple.norm_tolerance),
        .check_error_stat = {&memory->check_error_stat, 1},
        .error_quantile = add_number(memory, 3, criteria->simple.quantile),
        .infinities_compare_equal = criteria->simple.infinities_compare_equal,
        .no_shape_check = !criteria->simple.check_shapes,
        .index_tolerance = {&memory->index_tolerance, 1},
    };
    for (size_t i = 0; i < COMPARISON_FUNCTIONS; i++)
        ret->limits[i] = add_number(memory, 4 + i, criteria->limits[i]);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    captured_log_init(&fixture->log);
    fixture->log.log.threshold = LOG_INFO;
    fixture->criteria.simple = COMPARE_DEFAULTS;
    fixture->settings = (struct comparison_settings){.log = &fixture->log.log};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(fixture->log.log.depth, 0);
    run_results_release(&fixture->results);
    captured_log_release(&fixture->log);
    free(fixture);
    return 0;
}

static bool passes(struct fixture *fixture)
{
    struct general_rules rules;
    bool passed = false;

    set_rules(&fixture->criteria, &rules, &fixture->settings.rules);
    if (comparison_run(&fixture->results, &fixture->settings, &passed, &fixture->error) < 0)
        fail_msg("%s", fixture->error.message);
    return passed;
}

/* Two functions, or twice the same one. */
static void choose(struct fixture *fixture, enum comparison_function first, enum comparison_function second)
{
    fixture->settings.functions.count = 0;
    comparison_functions_add(&fixture->settings.functions, first);
    comparison_functions_add(&fixture->settings.functions, second);
}

static void a_matching_pair_is_logged_like_polygraphy_does(void **state)
{
    struct fixture *fixture = *state;

    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1, 2);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1, 2);
    assert_true(passes(fixture));
    assert_string_equal(
        fixture->log.text.data,
        "S Accuracy Comparison | A vs. B\n"
        "S Iteration: 0\n"
        "S     simple | Comparing Output: 'x' (dtype=float32, shape=(2,)) with 'x' (dtype=float32, shape=(2,))\n"
        "I         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error\n"
        "I         Error Metrics: x\n"
        "I             Minimum Required Tolerance: elemwise error | [abs=0] OR [rel=0] (requirements may be lower if "
        "both abs/rel tolerances are set)\n"
        "I             Absolute Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), "
        "avg-magnitude=0, p90=0, p95=0, p99=0\n"
        "I             Relative Difference | Stats: mean=0, std-dev=0, var=0, median=0, min=0 at (0,), max=0 at (0,), "
        "avg-magnitude=0, p90=0, p95=0, p99=0\n"
        "F         PASSED | Output: 'x' | Difference is within tolerance (rel=1e-05, abs=1e-05)\n"
        "F     PASSED | simple | All outputs matched | Outputs: ['x']\n"
        "I     A: x | Stats: mean=1.5, std-dev=0.5, var=0.25, median=1.5, min=1 at (0,), max=2 at (1,), "
        "avg-magnitude=1.5, p90=1.9, p95=1.95, p99=1.99\n"
        "I     B: x | Stats: mean=1.5, std-dev=0.5, var=0.25, median=1.5, min=1 at (0,), max=2 at (1,), "
        "avg-magnitude=1.5, p90=1.9, p95=1.95, p99=1.99\n"
        "F Accuracy Summary | A vs. B | Passed: 1/1 iterations | Pass Rate: 100.00%\n");
}

static void a_mismatch_shows_the_worst_element_and_to_the_verbose_values_and_histograms(void **state)
{
    struct fixture *fixture = *state;

    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1, 2, 3);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1, 2.5f, 4);
    assert_false(passes(fixture));
    assert_null(strstr(fixture->log.text.data, "----"));
    assert_logged(&fixture->log,
                  "E     Mismatched: 1 of 1 outputs | The first one: 'x', 2 of 3 elements, the worst at (2,)");
    string_clear(&fixture->log.text);
    fixture->log.log.threshold = LOG_VERBOSE;
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "V         ---- Values ----\n[1. 2. 3.]\n");
    assert_logged(&fixture->log, "V         ---- Values ----\n[1.  2.5 4. ]\n");
    assert_logged(&fixture->log,
                  "V         ---- Histogram ----\nBin Range  |  Num Elems | Visualization\n(1  , 1.3) |");
    assert_logged(&fixture->log, "(3.7, 4  ) |          0 | \n"); /* of A: the range is that of both */
    assert_logged(&fixture->log,
                  "I             Minimum Required Tolerance: elemwise error | [abs=1] OR [rel=0.25] (req");
    assert_logged(&fixture->log, "V                 ---- Values ----\n[0.  0.5 1. ]\n");
    assert_logged(&fixture->log,
                  "E         Mismatched elements: 2 of 3 | Worst at (2,): 3.0 vs. 4.0\n"
                  "E         FAILED | Output: 'x' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)\n"
                  "E     FAILED | simple | Mismatched outputs: ['x']\n"
                  "I     A: x | Stats: ");
    assert_logged(&fixture->log, "E Accuracy Summary | A vs. B | Passed: 0/1 iterations | Pass Rate: 0.00%\n");
}

static void of_several_outputs_the_first_mismatch_is_told_again_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct tensor_list *a = add_runner(&fixture->results, "A"), *b = add_runner(&fixture->results, "B");

    ADD_FLOATS(a, "x", 1, 2, 3);
    ADD_FLOATS(a, "y", 1);
    ADD_FLOATS(b, "x", 1, 2.5f, 4);
    ADD_FLOATS(b, "y", 1);
    assert_false(passes(fixture));
    assert_logged(&fixture->log,
                  "E     Mismatched: 1 of 2 outputs | The first one: 'x', 2 of 3 elements, the worst at (2,): 3.0 vs. "
                  "4.0\n"
                  "E Accuracy Summary");
}

static void mismatching_elements_are_listed_when_very_verbose(void **state)
{
    struct fixture *fixture = *state;

    fixture->log.log.threshold = LOG_EXTRA_VERBOSE;
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1, 2, 3);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1, 2.5f, 4);
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "V         Mismatched values:\n2.0 vs. 2.5\n3.0 vs. 4.0\n");
    fixture->log.log.threshold = LOG_SUPER_VERBOSE;
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "V         Mismatched values:\n(1,): 2.0 vs. 2.5\n(2,): 3.0 vs. 4.0\n");
}

static void a_quiet_log_has_verdicts_but_no_statistics(void **state)
{
    struct fixture *fixture = *state;

    fixture->log.log.threshold = LOG_START;
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 2);
    assert_false(passes(fixture));
    assert_string_equal(
        fixture->log.text.data,
        "S Accuracy Comparison | A vs. B\n"
        "S Iteration: 0\n"
        "S     simple | Comparing Output: 'x' (dtype=float32, shape=(1,)) with 'x' (dtype=float32, shape=(1,))\n"
        "E         Mismatched elements: 1 of 1 | Worst at (0,): 1.0 vs. 2.0\n"
        "E         FAILED | Output: 'x' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)\n"
        "E     FAILED | simple | Mismatched outputs: ['x']\n"
        "E Accuracy Summary | A vs. B | Passed: 0/1 iterations | Pass Rate: 0.00%\n");
}

static void the_statistic_that_decides_is_the_one_shown(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        enum compare_statistic statistic;
        const char *shown;
    } rows[] = {
        {COMPARE_MAX, "Minimum Required Tolerance: max error | [abs=3] OR [rel=3]\n"},
        {COMPARE_MEAN, "Minimum Required Tolerance: mean error | [abs=1] OR [rel=1]\n"},
        {COMPARE_MEDIAN, "Minimum Required Tolerance: median error | [abs=0] OR [rel=0]\n"},
        {COMPARE_QUANTILE, "Minimum Required Tolerance: quantile error | [abs=1.5] OR [rel=1.5] (quantile=0.75)\n"},
    };

    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1, 1, 4);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1, 1, 1);
    fixture->criteria.simple.quantile = 0.75;
    fixture->criteria.simple.rtol = 0;
    fixture->criteria.simple.atol = 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool expected = rows[i].statistic == COMPARE_MEAN || rows[i].statistic == COMPARE_MEDIAN;

        fixture->criteria.simple.statistic = rows[i].statistic;
        assert_int_equal(passes(fixture), expected);
        assert_logged(&fixture->log, rows[i].shown);
    }
}

static void zeros_in_the_reference_are_mentioned_once(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 3; i++)
        ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 0);
    assert_true(passes(fixture));
    char *first = strstr(fixture->log.text.data, "Some values are 0");
    assert_non_null(first);
    assert_null(strstr(first + 1, "Some values are 0"));
}

static void different_shapes_are_a_mismatch_with_one_hint(void **state)
{
    struct fixture *fixture = *state;
    struct tensor_list *first = add_runner(&fixture->results, "A");

    ADD_FLOATS(first, "x", 1, 2);
    ADD_FLOATS(first, "y", 1, 2);
    struct tensor_list *second = add_runner(&fixture->results, "B");
    add_tensor(second, "x", DATA_FLOAT32, SHAPE(2, 1), (float[]){1, 2});
    ADD_FLOATS(second, "y", 1);
    assert_false(passes(fixture));
    assert_logged(&fixture->log,
                  "E         FAILED | Output: 'x' | Will not compare outputs of different shapes: (2,) vs. (2, 1)\n"
                  "E         With --no-shape-check ");
    assert_logged(&fixture->log,
                  "E         FAILED | Output: 'y' | Will not compare outputs of different shapes: (2,) vs. (1,)\n"
                  "E     FAILED | simple | Mismatched outputs: ['x', 'y']\n");
}

static void without_shape_check_outputs_are_turned_or_mismatch(void **state)
{
    struct fixture *fixture = *state;
    struct tensor_list *first = add_runner(&fixture->results, "A");

    fixture->criteria.simple.check_shapes = false;
    add_tensor(first, "turned", DATA_FLOAT32, SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6});
    ADD_FLOATS(first, "short", 1, 2);
    struct tensor_list *second = add_runner(&fixture->results, "B");
    add_tensor(second, "turned", DATA_FLOAT32, SHAPE(3, 2), (float[]){1, 4, 2, 5, 3, 6});
    ADD_FLOATS(second, "short", 1);
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "PASSED | Output: 'turned' |");
    assert_logged(&fixture->log,
                  "FAILED | Output: 'short' | The outputs differ in their number of elements: (2,) vs. (1,)");
}

static void strings_are_compared_without_statistics(void **state)
{
    struct fixture *fixture = *state;

    add_tensor(add_runner(&fixture->results, "A"), "x", DATA_STRING, SHAPE(2), (struct text[]){TEXT("a"), TEXT("b")});
    add_tensor(add_runner(&fixture->results, "B"), "x", DATA_STRING, SHAPE(2), (struct text[]){TEXT("a"), TEXT("c")});
    assert_false(passes(fixture));
    assert_not_logged(&fixture->log, "Stats");
    assert_logged(&fixture->log, "Mismatched elements: 1 of 2 | Worst at (1,): b vs. c\n");
}

static void a_later_match_does_not_erase_a_mismatch_of_equal_names(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 3; i++)
        ADD_FLOATS(add_runner(&fixture->results, "same"), "x", i == 0 ? 1 : 2);
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "Pass Rate: 0.00%");
    assert_logged(&fixture->log, "Pass Rate: 100.00%");
}

static void results_are_compared_as_a_chain(void **state)
{
    struct fixture *fixture = *state;

    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1.000005f);
    ADD_FLOATS(add_runner(&fixture->results, "C"), "x", 1.00001f);
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "Accuracy Comparison | A vs. B");
    assert_logged(&fixture->log, "Accuracy Comparison | B vs. C");
    assert_not_logged(&fixture->log, "A vs. C");
}

static void one_result_or_none_matches(void **state)
{
    struct fixture *fixture = *state;

    assert_true(passes(fixture));
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    assert_true(passes(fixture));
    assert_string_equal(fixture->log.text.data, "");
}

/* Two runners with three and two iterations; the second iteration differs. */
static void add_surplus(struct fixture *fixture)
{
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    ADD_FLOATS(add_iteration(&fixture->results), "x", 2);
    ADD_FLOATS(add_iteration(&fixture->results), "x", 3);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1);
    ADD_FLOATS(add_iteration(&fixture->results), "x", 9);
}

static void iterations_are_counted_and_surplus_ones_reported(void **state)
{
    struct fixture *fixture = *state;

    add_surplus(fixture);
    assert_false(passes(fixture));
    assert_logged(&fixture->log,
                  "S Accuracy Comparison | A vs. B\nS Iteration: 0\nS     simple | Comparing Output: 'x'");
    assert_logged(&fixture->log, "F     PASSED | simple | All outputs matched | Outputs: ['x']\n");
    assert_logged(&fixture->log, "S Iteration: 1\nS     simple | Comparing");
    assert_logged(&fixture->log,
                  "W The provided streams have different numbers of iterations. Only the first 2 "
                  "iteration(s) -- present in all 2 streams -- were compared; stream(s) at index [1] ran "
                  "out first.\n");
    assert_logged(&fixture->log, "E Accuracy Summary | A vs. B | Passed: 1/2 iterations | Pass Rate: 50.00%\n");
}

static void surplus_iterations_fail_when_all_are_required(void **state)
{
    struct fixture *fixture = *state;

    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    ADD_FLOATS(add_iteration(&fixture->results), "x", 2);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1);
    assert_true(passes(fixture));
    fixture->settings.require_all = true;
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "E The provided streams have different numbers of iterations. Only the first 1 ");
    assert_logged(&fixture->log, "E Accuracy Summary | A vs. B | Passed: 1/1 iterations");
}

static void no_iterations_match_with_a_warning(void **state)
{
    struct fixture *fixture = *state;

    run_results_add_runner(&fixture->results, TEXT("A"));
    run_results_add_runner(&fixture->results, TEXT("B"));
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "W Nothing was compared: the results have no iterations\n"
                                 "F Accuracy Summary | A vs. B | Passed: 0/0 iterations | Pass Rate: 100.00%\n");
}

/* Of three outputs of A, B has two. */
static void lose_an_output(struct fixture *fixture)
{
    struct tensor_list *outputs = add_runner(&fixture->results, "A");

    ADD_FLOATS(outputs, "x", 1);
    ADD_FLOATS(outputs, "y", 2);
    ADD_FLOATS(outputs, "lost", 2);
    outputs = add_runner(&fixture->results, "B");
    ADD_FLOATS(outputs, "y", 2);
    ADD_FLOATS(outputs, "x", 1);
}

static void outputs_without_partner_are_reported(void **state)
{
    struct fixture *fixture = *state;

    lose_an_output(fixture);
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "W     1 output(s) of A are not compared, because B has no such output: ['lost']\n");
    assert_logged(&fixture->log, "PASSED | simple | All outputs matched | Outputs: ['x', 'y']");
}

static void outputs_without_partner_are_mismatches_when_all_are_required(void **state)
{
    struct fixture *fixture = *state;

    lose_an_output(fixture);
    fixture->settings.require_all = true;
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "E     1 output(s) of A are not compared, because B has no such output: ['lost']\n");
    assert_logged(&fixture->log, "E     FAILED | simple | Mismatched outputs: ['lost']\n");
}

static void a_partner_with_another_name_is_mentioned(void **state)
{
    struct fixture *fixture = *state;

    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "q", 1);
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "W     B has no output 'x'. Assuming that 'q' is its counterpart");
    assert_logged(&fixture->log,
                  "simple | Comparing Output: 'x' (dtype=float32, shape=(1,)) with 'q' (dtype=float32, shape=(1,))");
    assert_logged(&fixture->log, "B: q | Stats");
}

static void results_with_nothing_in_common_are_an_error(void **state)
{
    struct fixture *fixture = *state;
    bool passed;

    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    add_runner(&fixture->results, "B");
    assert_int_equal(comparison_run(&fixture->results, &fixture->settings, &passed, &fixture->error), ERR_INVALID);
    assert_string_equal(fixture->error.message,
                        "All outputs were skipped, no common outputs found! A has ['x'], B has []");
    assert_not_logged(&fixture->log, "PASSED");
}

static void results_without_outputs_match(void **state)
{
    struct fixture *fixture = *state;

    add_runner(&fixture->results, "A");
    add_runner(&fixture->results, "B");
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "F     PASSED | simple | All outputs matched | Outputs: []\n");
}

static void fail_fast_stops_at_the_first_mismatch_and_still_sums_up(void **state)
{
    struct fixture *fixture = *state;

    fixture->settings.fail_fast = true;
    for (int i = 0; i < 3; i++) {
        struct tensor_list *outputs = add_runner(&fixture->results, "A");

        ADD_FLOATS(outputs, "x", (float)i);
        ADD_FLOATS(outputs, "y", 0);
        ADD_FLOATS(add_iteration(&fixture->results), "x", 0);
    }
    assert_false(passes(fixture));
    assert_not_logged(&fixture->log, "simple | Comparing Output: 'y'");
    assert_not_logged(&fixture->log, "Iteration: 1");
    assert_logged(&fixture->log, "E     FAILED | simple | Mismatched outputs: ['x']\n");
    assert_logged(&fixture->log, "E Accuracy Summary | A vs. A | Passed: 0/1 iterations | Pass Rate: 0.00%\n");
    assert_null(strstr(strstr(fixture->log.text.data, "Accuracy Comparison") + 1, "Accuracy Comparison"));
}

static void compared_outputs_are_released_when_asked(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 3; i++)
        ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1);
    assert_true(passes(fixture));
    assert_int_equal(fixture->results.items[0].items[0].outputs.count, 1);
    fixture->settings.release = true;
    assert_true(passes(fixture));
    assert_int_equal(fixture->results.items[0].items[0].outputs.count, 0);
    assert_int_equal(fixture->results.items[1].items[0].outputs.count, 0);
}

static void rankings_are_compared_within_places(void **state)
{
    struct fixture *fixture = *state;

    choose(fixture, COMPARISON_INDICES, COMPARISON_INDICES);
    add_tensor(add_runner(&fixture->results, "A"), "x", DATA_INT64, SHAPE(1, 4), (int64_t[]){1, 2, 3, 4});
    add_tensor(add_runner(&fixture->results, "B"), "x", DATA_INT64, SHAPE(1, 4), (int64_t[]){2, 1, 3, 5});
    assert_false(passes(fixture));
    assert_logged(&fixture->log,
                  "E         FAILED | Difference exceeds index tolerance (0) | Output: 'x', row 0: value 1 "
                  "stands at 0, but at 1 in the second output; failing values: 3\n");
    fixture->criteria.index_tolerance = 1;
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "F         PASSED | Difference is within index tolerance (1)\n");
    assert_logged(&fixture->log, "I     A: x | Stats: mean=2.5, ");
    assert_logged(&fixture->log, "I     B: x | Stats: mean=2.75, ");
}

static void a_value_that_left_the_ranking_is_named(void **state)
{
    struct fixture *fixture = *state;

    choose(fixture, COMPARISON_INDICES, COMPARISON_INDICES);
    add_tensor(add_runner(&fixture->results, "A"), "x", DATA_INT64, SHAPE(2), (int64_t[]){1, 7});
    add_tensor(add_runner(&fixture->results, "B"), "x", DATA_INT64, SHAPE(2), (int64_t[]){1, 8});
    assert_false(passes(fixture));
    assert_logged(&fixture->log,
                  "E         FAILED | Value: 7 not found in output | Output: 'x', row 0, position 1; failing "
                  "values: 1\n");
}

static void rankings_of_different_shapes_are_a_mismatch(void **state)
{
    struct fixture *fixture = *state;

    choose(fixture, COMPARISON_INDICES, COMPARISON_INDICES);
    add_tensor(add_runner(&fixture->results, "A"), "x", DATA_INT64, SHAPE(2), (int64_t[]){1, 7});
    add_tensor(add_runner(&fixture->results, "B"), "x", DATA_INT64, SHAPE(1), (int64_t[]){1});
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "FAILED | Output: 'x' | Will not compare outputs of different shapes: (2,) vs. (1,)");
    assert_not_logged(&fixture->log, "--no-shape-check");
}

static void all_functions_must_pass(void **state)
{
    struct fixture *fixture = *state;

    choose(fixture, COMPARISON_L2, COMPARISON_COSINE_SIMILARITY);
    fixture->criteria.limits[COMPARISON_L2] = 5;
    fixture->criteria.limits[COMPARISON_COSINE_SIMILARITY] = 0.6;
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 3, 4); /* cosine (9 + 16) / (5 * 5 sqrt(5)), L2 norm 5 */
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 3, 9);
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "F         L2 Norm: 5 (tolerance: 5) | PASSED\n");
    assert_logged(&fixture->log, "F         Cosine Similarity: 0.94868 (min required: 0.6) | PASSED\n");
    assert_logged(&fixture->log, "F     PASSED | L2 Norm | All outputs matched | Outputs: ['x']\n"
                                 "F     PASSED | Cosine Similarity | All outputs matched | Outputs: ['x']\n");
    fixture->criteria.limits[COMPARISON_L2] = 4.5;
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "E         L2 Norm: 5 (tolerance: 4.5) | FAILED\n");
    assert_logged(&fixture->log, "E     FAILED | L2 Norm | Mismatched outputs: ['x']\n"
                                 "F     PASSED | Cosine Similarity | All outputs matched | Outputs: ['x']\n");
    fixture->criteria.limits[COMPARISON_L2] = 6;
    fixture->criteria.limits[COMPARISON_COSINE_SIMILARITY] = 0.95;
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "E         Cosine Similarity: 0.94868 (min required: 0.95) | FAILED\n");
}

static void quality_needs_all_ratios_above_their_thresholds(void **state)
{
    struct fixture *fixture = *state;

    choose(fixture, COMPARISON_PSNR, COMPARISON_SNR);
    fixture->criteria.limits[COMPARISON_L2] = 20;
    fixture->criteria.limits[COMPARISON_COSINE_SIMILARITY] = 1;
    fixture->criteria.limits[COMPARISON_PSNR] = 20;
    fixture->criteria.limits[COMPARISON_SNR] = 20;
    fixture->criteria.limits[COMPARISON_NMSE] = NAN;
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 10, 10); /* MSE 1, PSNR 20, SNR 20 */
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 9, 11);  /* mean square 101 */
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "F         PSNR: 20 dB (min required: 20 dB) | PASSED\n");
    assert_logged(&fixture->log, "F         SNR: 20 dB (min required: 20 dB) | PASSED\n");
    comparison_functions_add(&fixture->settings.functions, COMPARISON_NMSE);
    fixture->criteria.limits[COMPARISON_NMSE] = 0.01;
    assert_true(passes(fixture));
    fixture->criteria.limits[COMPARISON_NMSE] = 0.009;
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "E         NMSE: 0.009901 (tolerance: 0.009) | FAILED\n");
    choose(fixture, COMPARISON_PSNR, COMPARISON_SNR);
    fixture->criteria.limits[COMPARISON_L2] = 20;
    fixture->criteria.limits[COMPARISON_COSINE_SIMILARITY] = 1;
    fixture->criteria.limits[COMPARISON_PSNR] = 20.1;
    fixture->criteria.limits[COMPARISON_SNR] = 20;
    fixture->criteria.limits[COMPARISON_NMSE] = NAN;
    assert_false(passes(fixture));
    fixture->criteria.limits[COMPARISON_L2] = 20;
    fixture->criteria.limits[COMPARISON_COSINE_SIMILARITY] = 1;
    fixture->criteria.limits[COMPARISON_PSNR] = 20;
    fixture->criteria.limits[COMPARISON_SNR] = 20.1;
    fixture->criteria.limits[COMPARISON_NMSE] = NAN;
    assert_false(passes(fixture));
}

static void nan_has_neither_distance_nor_quality(void **state)
{
    struct fixture *fixture = *state;

    fixture->criteria.limits[COMPARISON_L2] = INFINITY;
    fixture->criteria.limits[COMPARISON_COSINE_SIMILARITY] = -1;
    fixture->criteria.limits[COMPARISON_PSNR] = -INFINITY;
    fixture->criteria.limits[COMPARISON_SNR] = -INFINITY;
    fixture->criteria.limits[COMPARISON_NMSE] = NAN;
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1, NAN);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1, NAN);
    choose(fixture, COMPARISON_L2, COMPARISON_COSINE_SIMILARITY);
    assert_false(passes(fixture));
    choose(fixture, COMPARISON_PSNR, COMPARISON_SNR);
    assert_false(passes(fixture));
}

static void outputs_of_different_shapes_have_no_distance(void **state)
{
    struct fixture *fixture = *state;

    choose(fixture, COMPARISON_L2, COMPARISON_COSINE_SIMILARITY);
    fixture->criteria.limits[COMPARISON_L2] = INFINITY;
    fixture->criteria.limits[COMPARISON_COSINE_SIMILARITY] = -1;
    fixture->criteria.limits[COMPARISON_PSNR] = 0;
    fixture->criteria.limits[COMPARISON_SNR] = 0;
    fixture->criteria.limits[COMPARISON_NMSE] = NAN;
    ADD_FLOATS(add_runner(&fixture->results, "A"), "x", 1, 2);
    ADD_FLOATS(add_runner(&fixture->results, "B"), "x", 1);
    assert_false(passes(fixture));
    assert_logged(&fixture->log, "FAILED | Output: 'x' | Will not compare outputs of different shapes: (2,) vs. (1,)");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_matching_pair_is_logged_like_polygraphy_does),
        TEST(a_mismatch_shows_the_worst_element_and_to_the_verbose_values_and_histograms),
        TEST(of_several_outputs_the_first_mismatch_is_told_again_at_the_end),
        TEST(mismatching_elements_are_listed_when_very_verbose),
        TEST(a_quiet_log_has_verdicts_but_no_statistics),
        TEST(the_statistic_that_decides_is_the_one_shown),
        TEST(zeros_in_the_reference_are_mentioned_once),
        TEST(different_shapes_are_a_mismatch_with_one_hint),
        TEST(without_shape_check_outputs_are_turned_or_mismatch),
        TEST(strings_are_compared_without_statistics),
        TEST(a_later_match_does_not_erase_a_mismatch_of_equal_names),
        TEST(results_are_compared_as_a_chain),
        TEST(one_result_or_none_matches),
        TEST(iterations_are_counted_and_surplus_ones_reported),
        TEST(surplus_iterations_fail_when_all_are_required),
        TEST(no_iterations_match_with_a_warning),
        TEST(outputs_without_partner_are_reported),
        TEST(outputs_without_partner_are_mismatches_when_all_are_required),
        TEST(a_partner_with_another_name_is_mentioned),
        TEST(results_with_nothing_in_common_are_an_error),
        TEST(results_without_outputs_match),
        TEST(fail_fast_stops_at_the_first_mismatch_and_still_sums_up),
        TEST(compared_outputs_are_released_when_asked),
        TEST(rankings_are_compared_within_places),
        TEST(all_functions_must_pass),
        TEST(quality_needs_all_ratios_above_their_thresholds),
        TEST(nan_has_neither_distance_nor_quality),
        TEST(outputs_of_different_shapes_have_no_distance),
        TEST(a_value_that_left_the_ranking_is_named),
        TEST(rankings_of_different_shapes_are_a_mismatch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
