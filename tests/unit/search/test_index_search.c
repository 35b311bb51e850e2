/* Bisection and linear search over cut points: the order of Polygraphy's indices, and what is done better. */
#include "support/unit_test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/index_search.h"

static int64_t integer(const json_t *row, const char *key)
{
    json_t *value = json_object_get(row, key);

    return json_is_integer(value) ? json_integer_value(value) : -1; /* null: there is none */
}

static bool is_text(const json_t *row, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(row, key));

    return value != NULL && strcmp(value, text) == 0;
}

/* Whether the candidate that index `index` gives fails: "index >= 3 fails", "index <= 3 fails". */
static bool fails(const json_t *row, int64_t index)
{
    const char *rule = json_string_value(json_object_get(row, "rule"));
    long long bound = strtoll(rule + strlen("index >= "), NULL, 10);

    return rule[strlen("index ")] == '>' ? index >= bound : index <= bound;
}

static enum verdict verdict_of(bool failed)
{
    return failed ? VERDICT_FAIL : VERDICT_PASS;
}

static void start(struct index_search *search, const json_t *row)
{
    index_search_start(search, is_text(row, "mode", "bisect") ? INDEX_BISECT : INDEX_LINEAR,
                       is_text(row, "phase", "outputs") ? INDEX_FOR_OUTPUTS : INDEX_FOR_INPUTS,
                       integer(row, "chain_nodes"));
}

/* Goes through the recorded candidates. Returns whether the search wants to go on after them. */
static bool follow(struct index_search *search, const json_t *row)
{
    bool more = true;
    size_t i;
    json_t *step;

    json_array_foreach (json_object_get(row, "tested"), i, step) {
        bool failed = json_is_true(json_object_get(step, "fail"));

        assert_true(more);
        assert_int_equal(search->next, integer(step, "index"));
        assert_int_equal(index_search_ops.remaining(search), integer(step, "remaining_shown"));
        assert_int_equal(failed, fails(row, search->next));
        more = index_search_ops.advance(search, integer(step, "num_nodes"), verdict_of(failed));
    }
    return more;
}

/* Defect D2: bisection for outputs presumes that index 0 passes, and never looks although nothing else has passed. */
static bool polygraphy_leaves_out_index_0(const json_t *row)
{
    json_t *tested = json_object_get(row, "tested");
    size_t i;
    json_t *step;

    if (!is_text(row, "mode", "bisect") || !is_text(row, "phase", "outputs"))
        return false;
    json_array_foreach (tested, i, step) {
        if (!json_is_true(json_object_get(step, "fail")))
            return false;
    }
    return integer(json_array_get(tested, json_array_size(tested) - 1), "index") == 1;
}

/* Calls `check` for every row of the reduce tool; returns how many it took (by returning true). */
static unsigned for_each_row(bool (*check)(const json_t *row))
{
    json_error_t why;
    json_t *rows = json_load_file("tests/golden/vectors/marker_vectors.json", 0, &why), *row;
    unsigned taken = 0;
    size_t i;

    if (rows == NULL)
        fail_msg("%s", why.text);
    json_array_foreach (rows, i, row) {
        if (is_text(row, "tool", "reduce"))
            taken += check(row);
    }
    json_decref(rows);
    return taken;
}

static int64_t closest_pass(const struct index_search *search)
{
    const struct index_pass *pass = index_search_closest_pass(search);

    return pass != NULL ? pass->index : -1;
}

static bool check_same_indices(const json_t *row)
{
    struct index_search search;

    if (polygraphy_leaves_out_index_0(row))
        return false;
    start(&search, row);
    assert_false(follow(&search, row));
    assert_int_equal(search.next, -1);
    assert_int_equal(search.best_bad, integer(row, "best_bad_index"));
    assert_int_equal(closest_pass(&search), integer(row, "best_good_index"));
    index_search_ops.release(&search);
    return true;
}

static void indices_remaining_counts_and_results_are_polygraphys(void **state)
{
    assert_int_equal(for_each_row(check_same_indices), 232 - 14);
}

static bool check_index_0(const json_t *row)
{
    struct index_search search;
    bool failed = fails(row, 0);

    if (!polygraphy_leaves_out_index_0(row))
        return false;
    start(&search, row);
    assert_true(follow(&search, row));
    assert_int_equal(search.best_bad, integer(row, "best_bad_index")); /* so far */
    assert_int_equal(search.next, 0);
    assert_true(index_search_ops.remaining(&search) <= 1);
    assert_false(index_search_ops.advance(&search, 1, verdict_of(failed)));
    assert_int_equal(search.next, -1);
    assert_int_equal(search.best_bad, failed ? 0 : 1);
    assert_int_equal(closest_pass(&search), failed ? -1 : 0);
    index_search_ops.release(&search);
    return true;
}

static void index_0_is_tried_too_where_polygraphy_presumes_that_it_passes_D2(void **state)
{
    assert_int_equal(for_each_row(check_index_0), 14);
}

static void search_over_nothing_is_over_at_once(void **state)
{
    for (int mode = INDEX_BISECT; mode <= INDEX_LINEAR; mode++)
        for (int direction = INDEX_FOR_OUTPUTS; direction <= INDEX_FOR_INPUTS; direction++) {
            struct index_search search;

            index_search_start(&search, (enum index_mode)mode, (enum index_direction)direction, 0);
            assert_int_equal(search.next, -1);
            assert_int_equal(index_search_ops.remaining(&search), 0);
            assert_int_equal(search.best_bad, -1);
            assert_int_equal(closest_pass(&search), -1);
            index_search_ops.release(&search);
        }
}

/* Gives the search (index, nodes, verdict) after (index, nodes, verdict); `next` is what it asked for. */
static void tell(struct index_search *search, int64_t next, int64_t nodes, bool failed)
{
    assert_int_equal(search->next, next);
    index_search_ops.advance(search, nodes, verdict_of(failed));
}

static void of_equally_small_failures_the_later_is_kept(void **state)
{
    struct index_search search;

    index_search_start(&search, INDEX_LINEAR, INDEX_FOR_INPUTS, 4);
    tell(&search, 0, 3, true);
    tell(&search, 1, 2, true);
    tell(&search, 2, 2, true);
    tell(&search, 3, 3, true);
    assert_int_equal(search.best_bad, 2);
    assert_int_equal(search.best_bad_nodes, 2);
    index_search_ops.release(&search);
}

static void of_equally_large_passes_the_later_is_kept(void **state)
{
    struct index_search search;

    index_search_start(&search, INDEX_LINEAR, INDEX_FOR_INPUTS, 3);
    tell(&search, 0, 5, true);
    tell(&search, 1, 2, false);
    tell(&search, 2, 2, false);
    assert_int_equal(closest_pass(&search), 2);
    index_search_ops.release(&search);
}

static void best_pass_is_the_largest_below_the_failure_else_the_smallest(void **state)
{
    struct index_search search;

    index_search_start(&search, INDEX_LINEAR, INDEX_FOR_INPUTS, 4);
    tell(&search, 0, 9, false);
    assert_int_equal(closest_pass(&search), 0); /* nothing failed yet */
    tell(&search, 1, 5, true);
    assert_int_equal(closest_pass(&search), 0);
    tell(&search, 2, 7, false);
    assert_int_equal(closest_pass(&search), 2);
    tell(&search, 3, 3, false);
    assert_int_equal(closest_pass(&search), 3);
    index_search_ops.release(&search);
}

static void linear_search_never_stops_early(void **state)
{
    struct index_search search;

    index_search_start(&search, INDEX_LINEAR, INDEX_FOR_OUTPUTS, 3);
    assert_int_equal(index_search_ops.remaining(&search), 3);
    assert_true(index_search_ops.advance(&search, 3, VERDICT_FAIL));
    assert_true(index_search_ops.advance(&search, 2, VERDICT_PASS));
    assert_int_equal(search.next, 0);
    assert_int_equal(index_search_ops.remaining(&search), 1);
    assert_false(index_search_ops.advance(&search, 1, VERDICT_FAIL));
    assert_int_equal(search.best_bad, 0);
    index_search_ops.release(&search);
}

static void index_that_cannot_be_checked_moves_the_search_on_but_is_no_pass(void **state)
{
    struct index_search search;

    index_search_start(&search, INDEX_BISECT, INDEX_FOR_OUTPUTS, 4);
    assert_int_equal(search.next, 2);
    assert_true(index_search_ops.advance(&search, -1, VERDICT_SKIP));
    tell(&search, 3, 4, true);
    assert_int_equal(search.next, -1);
    assert_int_equal(search.best_bad, 3);
    assert_int_equal(closest_pass(&search), -1);
    index_search_ops.release(&search);
}

/* However verdicts come, no index is tried twice, all lie in range, and the end comes in time. */
static void bisection_ends_whatever_the_verdicts(void **state)
{
    for (int64_t count = 1; count <= 40; count++)
        for (unsigned verdicts = 0; verdicts < 256; verdicts++)
            for (int direction = INDEX_FOR_OUTPUTS; direction <= INDEX_FOR_INPUTS; direction++) {
                struct index_search search;
                bool tried[40] = {false};
                int64_t steps = 0;

                index_search_start(&search, INDEX_BISECT, (enum index_direction)direction, count);
                while (search.next >= 0) {
                    assert_true(search.next < count);
                    assert_false(tried[search.next]);
                    tried[search.next] = true;
                    index_search_ops.advance(&search, search.next + 1, verdict_of(verdicts >> (steps++ % 8) & 1));
                }
                assert_true(steps <= 7); /* 2^6 > 40, and index 0 */
                index_search_ops.release(&search);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_remaining_counts_and_results_are_polygraphys),
        cmocka_unit_test(index_0_is_tried_too_where_polygraphy_presumes_that_it_passes_D2),
        cmocka_unit_test(search_over_nothing_is_over_at_once),
        cmocka_unit_test(of_equally_small_failures_the_later_is_kept),
        cmocka_unit_test(of_equally_large_passes_the_later_is_kept),
        cmocka_unit_test(best_pass_is_the_largest_below_the_failure_else_the_smallest),
        cmocka_unit_test(linear_search_never_stops_early),
        cmocka_unit_test(index_that_cannot_be_checked_moves_the_search_on_but_is_no_pass),
        cmocka_unit_test(bisection_ends_whatever_the_verdicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
