/* Detections as sets: which match, what is a tie, and what has no partner. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "support/unit_test.h"
#include "tensor/compare/detections.h"

/* A square of 10 x 10 whose left edge is at `x`. Two of them at a distance of d have an IoU of (10 - d) / (10 + d). */
static struct detection square(double x, double label, double score)
{
    return (struct detection){.x1 = x, .y1 = 0, .x2 = x + 10, .y2 = 10, .label = label, .score = score};
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Compares two arrays, whose rows are their positions. */
#define COMPARE(first, second) compare((first), COUNT_OF(first), (second), COUNT_OF(second), NAN)

static struct detection_agreement compare(struct detection *first, size_t first_count, struct detection *second,
                                          size_t second_count, double cut)
{
    struct detection_criteria criteria = {.iou = 0.5, .score_tolerance = 0.01, .has_scores = true, .cut = cut};
    struct detections a = {.items = first, .count = first_count}, b = {.items = second, .count = second_count};
    struct detection_agreement ret;
    struct error error;

    for (size_t i = 0; i < first_count; i++)
        first[i].row = i;
    for (size_t i = 0; i < second_count; i++)
        second[i].row = i;
    assert_int_equal(detections_compare(&a, &b, &criteria, &ret, &error), 0);
    return ret;
}

static void iou_is_the_share_of_the_common_area(void **state)
{
    struct detection a = square(0, 0, 0), b = square(5, 0, 0), far = square(20, 0, 0), empty = {0}, invalid = a;

    assert_true(detection_iou(&a, &b) == 5.0 / 15);
    assert_true(detection_iou(&a, &a) == 1);
    assert_true(detection_iou(&a, &far) == 0);
    assert_true(detection_iou(&empty, &empty) == 1);
    assert_true(detection_iou(&a, &empty) == 0);
    invalid.x2 = NAN;
    assert_true(isnan(detection_iou(&a, &invalid)));
    assert_true(isnan(detection_iou(&invalid, &invalid)));
}

static void order_does_not_matter_and_is_a_tie_within_the_tolerance(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(50, 2, 0.8), square(100, 3, 0.795)};
    struct detection b[] = {square(1, 1, 0.9), square(100, 3, 0.798), square(50, 2, 0.797)};
    struct detection_agreement agreement = COMPARE(a, b);

    assert_int_equal(agreement.matched, 3);
    assert_int_equal(agreement.lone, 0);
    assert_int_equal(agreement.moved, 2);
    assert_true(agreement.moved_are_ties);
}

static void an_order_that_scores_do_not_explain_is_no_tie(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(50, 2, 0.5)}, b[] = {square(50, 2, 0.5), square(0, 1, 0.9)};
    struct detection_agreement agreement = COMPARE(a, b);

    assert_int_equal(agreement.lone, 0);
    assert_int_equal(agreement.moved, 2);
    assert_false(agreement.moved_are_ties);
}

static void label_score_and_overlap_must_match(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(50, 2, 0.8), square(100, 3, 0.7), square(200, 4, 0.3)};
    struct detection b[] = {square(0, 7, 0.9), square(54, 2, 0.8), square(100, 3, 0.6), square(200, 4, 0.3)};
    struct detection_agreement agreement = COMPARE(a, b);

    assert_int_equal(agreement.matched, 1);
    assert_int_equal(agreement.lone, 6);
    assert_int_equal(agreement.moved, 0);
    assert_false(agreement.examples[0].is_of_second);
    assert_true(agreement.examples[0].best_iou == 1);
    assert_true(agreement.examples[0].nearest.label == 7);
    assert_true(agreement.examples[1].best_iou == 6.0 / 14);
    assert_int_equal(agreement.examples[1].detection.row, 1);
    assert_true(agreement.examples[3].is_of_second);
}

static void the_count_may_differ_at_the_cut_only(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(50, 2, 0.506), square(100, 3, 0.501)};
    struct detection b[] = {square(0, 1, 0.9), square(50, 2, 0.506)};
    struct detection high[] = {square(0, 1, 0.9), square(100, 3, 0.501)};
    struct detection_agreement agreement = COMPARE(a, b);

    assert_int_equal(agreement.matched, 2);
    assert_int_equal(agreement.at_cut, 1);
    assert_int_equal(agreement.lone, 0);
    assert_true(agreement.lowest_cut == 0.506);
    assert_int_equal(COMPARE(b, a).at_cut, 1);
    /* Detections of one output that are far below all of the other one are lost, not cut. */
    assert_int_equal(COMPARE(high, ((struct detection[]){square(0, 1, 0.9)})).lone, 1);
}

static void a_higher_score_than_the_other_outputs_lowest_is_no_tie(void **state)
{
    struct detection a[] = {square(0, 1, 0.95), square(50, 1, 0.7)};
    struct detection b[] = {square(0, 1, 0.95), square(100, 1, 0.5)};
    struct detection_agreement agreement = COMPARE(a, b);

    assert_int_equal(agreement.lone, 2);
    assert_int_equal(agreement.at_cut, 0);
}

static void scores_that_are_all_close_have_no_cut(void **state)
{
    struct detection a[] = {square(0, 1, 0.999), square(50, 1, 0.995), square(100, 1, 0.992)};
    struct detection b[] = {square(0, 1, 0.999), square(100, 1, 0.992)};

    assert_int_equal(COMPARE(a, b).at_cut, 0);
    assert_int_equal(COMPARE(a, b).lone, 1);
    assert_int_equal(compare(a, 3, b, 2, 0.99).at_cut, 1);
}

static void detections_that_disagree_at_one_place_are_no_ties(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(50, 2, 0.5)}, b[] = {square(0, 1, 0.9), square(50, 3, 0.5)};
    struct detection apart[] = {square(0, 1, 0.9), square(80, 3, 0.5)};

    assert_int_equal(COMPARE(a, b).lone, 2);
    assert_int_equal(COMPARE(a, apart).at_cut, 2); /* the K best, of which the last is tied */
    assert_int_equal(COMPARE(a, apart).lone, 0);
}

static void nothing_is_a_tie_without_detections_of_both_outputs(void **state)
{
    struct detection a[] = {square(0, 1, 0.9)};

    assert_int_equal(compare(a, 1, NULL, 0, NAN).lone, 1);
    assert_int_equal(compare(NULL, 0, a, 1, NAN).lone, 1);
    assert_int_equal(compare(NULL, 0, NULL, 0, NAN).lone, 0);
}

static void a_given_cut_excuses_what_is_close_to_it_or_below(void **state)
{
    struct detection a[] = {square(0, 1, 0.505), square(50, 1, 0.2), square(100, 1, 0.52)};
    struct detection_agreement agreement = compare(a, 3, NULL, 0, 0.5);

    assert_int_equal(agreement.at_cut, 2);
    assert_int_equal(agreement.lone, 1);
    assert_int_equal(agreement.examples[0].detection.row, 2);
}

static void each_detection_has_one_partner(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(0, 1, 0.9), square(100, 1, 0.1)};
    struct detection b[] = {square(0, 1, 0.9), square(100, 1, 0.1)};
    struct detection_agreement agreement = COMPARE(a, b);

    assert_int_equal(agreement.matched, 2);
    assert_int_equal(agreement.lone, 1);
}

static void nearest_partners_are_given_up_where_that_matches_more(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(4, 1, 0.9)}, b[] = {square(1, 1, 0.9), square(-3, 1, 0.9)};

    assert_int_equal(COMPARE(a, b).matched, 2);
}

static void images_are_compared_apart(void **state)
{
    struct detection a[] = {square(0, 1, 0.9), square(0, 1, 0.8)}, b[] = {square(0, 1, 0.9), square(0, 1, 0.8)};
    struct detection_agreement agreement;

    a[0].image = 1; /* not in order */
    b[1].image = 1;
    agreement = COMPARE(a, b);
    assert_int_equal(agreement.matched, 0);
    assert_int_equal(agreement.lone, 4);
    b[0].image = 1;
    b[1].image = 0;
    assert_int_equal(COMPARE(a, b).matched, 2);
}

static void nan_matches_nothing(void **state)
{
    struct detection a[] = {square(0, 1, NAN), square(NAN, 1, 0.9), square(50, NAN, 0.5)};
    struct detection b[] = {a[0], a[1], a[2]};

    assert_int_equal(COMPARE(a, b).matched, 0);
    assert_int_equal(COMPARE(a, b).lone, 6);
}

static void an_image_with_too_many_detections_is_refused(void **state)
{
    const size_t count = 20000;
    struct detection_criteria criteria = {.iou = 0.5, .cut = NAN};
    struct detections a = {.items = memory_alloc_zero(count, sizeof(struct detection)), .count = count}, b = a;
    struct detection_agreement agreement;
    struct error error;

    assert_int_equal(detections_compare(&a, &b, &criteria, &agreement, &error), ERR_UNSUPPORTED);
    free(a.items);
}

/* ---- Against all assignments ---- */

static bool matches(const struct detection *a, const struct detection *b)
{
    return a->label == b->label && fabs(a->score - b->score) <= 0.01 && detection_iou(a, b) >= 0.5;
}

/* The greatest number of pairs of a[first ..] and the members of b that are not taken. */
static size_t count_best(const struct detection *a, const struct detection *b, size_t first, size_t count,
                         unsigned taken)
{
    size_t best;

    if (first == count)
        return 0;
    best = count_best(a, b, first + 1, count, taken);
    for (size_t i = 0; i < count; i++)
        if (!(taken & 1u << i) && matches(&a[first], &b[i])) {
            size_t found = 1 + count_best(a, b, first + 1, count, taken | 1u << i);

            best = found > best ? found : best;
        }
    return best;
}

static void as_many_detections_match_as_in_the_best_assignment(void **state)
{
    enum { MEMBERS = 6 };
    uint32_t random = 12345;
    size_t incomplete = 0;

    for (int trial = 0; trial < 500; trial++) {
        struct detection a[MEMBERS], b[MEMBERS];
        size_t best;

        for (size_t i = 0; i < 2 * MEMBERS; i++) {
            random = random * 1664525u + 1013904223u;
            (i < MEMBERS ? a : b)[i % MEMBERS] = square((double)(random >> 29), random >> 16 & 1, 0.5);
        }
        best = count_best(a, b, 0, MEMBERS, 0);
        incomplete += best < MEMBERS;
        assert_int_equal(COMPARE(a, b).matched, best);
    }
    assert_in_range(incomplete, 50, 490); /* and complete in others */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iou_is_the_share_of_the_common_area),
        cmocka_unit_test(order_does_not_matter_and_is_a_tie_within_the_tolerance),
        cmocka_unit_test(an_order_that_scores_do_not_explain_is_no_tie),
        cmocka_unit_test(label_score_and_overlap_must_match),
        cmocka_unit_test(the_count_may_differ_at_the_cut_only),
        cmocka_unit_test(a_higher_score_than_the_other_outputs_lowest_is_no_tie),
        cmocka_unit_test(scores_that_are_all_close_have_no_cut),
        cmocka_unit_test(detections_that_disagree_at_one_place_are_no_ties),
        cmocka_unit_test(nothing_is_a_tie_without_detections_of_both_outputs),
        cmocka_unit_test(a_given_cut_excuses_what_is_close_to_it_or_below),
        cmocka_unit_test(each_detection_has_one_partner),
        cmocka_unit_test(nearest_partners_are_given_up_where_that_matches_more),
        cmocka_unit_test(images_are_compared_apart),
        cmocka_unit_test(nan_matches_nothing),
        cmocka_unit_test(an_image_with_too_many_detections_is_refused),
        cmocka_unit_test(as_many_detections_match_as_in_the_best_assignment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
