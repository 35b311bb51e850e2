/* test_failure.c: how many runs of one build have failed. */
#include "support/unit_test.h"

#include <string.h>

#include "debug/accuracy/hypotheses.h"

/* Of two outputs in each of `times` runs. */
static int count(const char *json, int64_t times, struct study_step *step, int64_t *ret)
{
    struct study study = {0};
    struct error error = {0};
    int rc;

    *step = (struct study_step){.study = &study, .name = "07-build", .has_result = true};
    arena_init(&study.arena);
    assert_int_equal(json_reader_open_memory(&step->result, json, strlen(json), "result.json", &error), 0);
    *ret = study_count_failed_runs(step, times);
    rc = study.error.code;
    json_reader_release(&step->result);
    arena_release(&study.arena);
    return rc;
}

static void runs_fail_where_one_of_their_outputs_does(void **state)
{
    const char *json = "{\"comparisons\": ["
                       "{\"iteration\": 0, \"passed\": true}, {\"iteration\": 0, \"passed\": false},"
                       "{\"iteration\": 1, \"passed\": true}, {\"iteration\": 1, \"passed\": true},"
                       "{\"iteration\": 2, \"passed\": false}, {\"iteration\": 2, \"passed\": false}]}";
    struct study_step step;
    int64_t failed;

    assert_int_equal(count(json, 3, &step, &failed), 0);
    assert_int_equal(failed, 2);
    assert_int_equal(step.checks, 3);
}

/* Data of several iterations, given several times over: one run is all of them. */
static void iterations_of_one_run_are_taken_together(void **state)
{
    const char *json = "{\"comparisons\": ["
                       "{\"iteration\": 0, \"passed\": false}, {\"iteration\": 1, \"passed\": false},"
                       "{\"iteration\": 2, \"passed\": true}, {\"iteration\": 3, \"passed\": true}]}";
    struct study_step step;
    int64_t failed;

    assert_int_equal(count(json, 2, &step, &failed), 0);
    assert_int_equal(failed, 1);
}

static void other_numbers_of_runs_are_refused(void **state)
{
    static const char *const results[] = {
        "{}",
        "{\"comparisons\": []}",
        "{\"comparisons\": {\"iteration\": 1}}",
        "{\"comparisons\": [{\"iteration\": 2}]}",
        "{\"comparisons\": [{\"iteration\": -1}]}",
        "{\"comparisons\": [{\"iteration\": 1e300}]}",
        "{\"comparisons\": [{\"iteration\": NaN}]}",
        "{\"comparisons\": [{\"iteration\": \"1\"}, 7]}",
    };
    struct study_step step;
    int64_t failed;

    for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
        assert_int_equal(count(results[i], 2, &step, &failed), ERR_CORRUPT);
}

/* (1 - rate)^runs = 0.05 */
static void excluded_rate_is_that_of_the_binomial_distribution(void **state)
{
    assert_float_equal(rate_excluded(1), 0.95, 1e-6);
    assert_float_equal(rate_excluded(59), 0.0495, 1e-4);
}

static const char *make_sure(enum failure_pattern pattern, double failure_rate, int64_t *ret_comparisons,
                             bool *ret_sure)
{
    static char text[200];
    struct study study = {.pattern = pattern, .failure_rate = failure_rate};
    const char *how;

    arena_init(&study.arena);
    *ret_comparisons = study_enough_comparisons(&study);
    *ret_sure = study_is_sure(&study, *ret_comparisons, &how);
    snprintf(text, sizeof(text), "%s", how);
    arena_release(&study.arena);
    return text;
}

static void what_fails_now_and_then_has_to_agree_more_often(void **state)
{
    int64_t comparisons;
    bool is_sure;

    assert_string_equal(make_sure(FAILS_ALWAYS, 1, &comparisons, &is_sure), "");
    assert_int_equal(comparisons, 1);
    assert_true(is_sure);
    /* 0.875^22 = 0.053, 0.875^23 = 0.046 */
    assert_string_equal(make_sure(FAILS_BY_BUILD, 0.125, &comparisons, &is_sure),
                        ", in all of 23 builds; a failure in more than 12 % of them would have been observed with 95 % "
                        "confidence");
    assert_int_equal(comparisons, 23);
    assert_true(is_sure);
    make_sure(FAILS_BY_RUN, 0.2, &comparisons, &is_sure); /* 14 runs, of which a comparison has 10 */
    assert_int_equal(comparisons, 2);
    assert_true(is_sure);
    make_sure(FAILS_BY_BUILD, 0.01, &comparisons, &is_sure); /* 299 */
    assert_int_equal(comparisons, 30);
    assert_false(is_sure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_fail_where_one_of_their_outputs_does),
        cmocka_unit_test(iterations_of_one_run_are_taken_together),
        cmocka_unit_test(other_numbers_of_runs_are_refused),
        cmocka_unit_test(excluded_rate_is_that_of_the_binomial_distribution),
        cmocka_unit_test(what_fails_now_and_then_has_to_agree_more_often),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
