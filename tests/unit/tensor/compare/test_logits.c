/* Tokens, and the divergence of distributions. Expected values were computed with SciPy's log_softmax(). */
#include <math.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/logits.h"

static struct token_agreement compare_rows(const float a[6], const float b[6])
{
    struct tensor first = tensor_of(DATA_FLOAT32, SHAPE(2, 3), a), second = tensor_of(DATA_FLOAT32, SHAPE(2, 3), b);
    struct token_agreement ret;

    assert_int_equal(tokens_compare(&first, &second, &ret, NULL), 0);
    assert_int_equal(ret.rows, 2);
    return ret;
}

static void the_first_different_token_is_found_with_its_margin(void **state)
{
    const float reference[] = {1, 3, 2, 5, 4, 0}, other[] = {0, 9, 2, 1, 2, 0};
    struct token_agreement agreement = compare_rows(other, reference);

    assert_int_equal(agreement.different, 1);
    assert_int_equal(agreement.first, 1);
    assert_int_equal(agreement.token, 1);
    assert_int_equal(agreement.reference, 0);
    assert_true(agreement.margin == 1);
    assert_int_equal(compare_rows(reference, reference).different, 0);
}

static void a_tie_of_the_reference_is_not_a_difference(void **state)
{
    const float tied[] = {3, 3, 2, 0, 0, 1}, other[] = {2, 3, 2, 0, 0, 1};

    assert_int_equal(compare_rows(other, tied).different, 0);
    assert_int_equal(compare_rows(other, tied).ties, 1);
    assert_int_equal(compare_rows(tied, other).different, 1); /* the reference has one maximum */
}

static void a_row_with_nan_chooses_no_token(void **state)
{
    const float numbers[] = {1, 3, 2, 5, 4, 0}, invalid[] = {1, 3, NAN, 5, 4, 0};

    assert_int_equal(compare_rows(invalid, numbers).different, 1);
    assert_int_equal(compare_rows(invalid, numbers).token, -1);
    assert_int_equal(compare_rows(numbers, invalid).different, 1);
    assert_int_equal(compare_rows(invalid, invalid).different, 1);
}

static void integers_are_tokens(void **state)
{
    const int64_t reference[] = {7, 8, 9}, other[] = {7, -1, 2};
    struct tensor a = VECTOR_OF(DATA_INT64, other), b = VECTOR_OF(DATA_INT64, reference);
    struct token_agreement agreement;

    assert_int_equal(tokens_compare(&a, &b, &agreement, NULL), 0);
    assert_int_equal(agreement.different, 2);
    assert_int_equal(agreement.first, 1);
    assert_int_equal(agreement.token, -1);
    assert_true(isnan(agreement.margin));
}

static void divergence_is_that_of_the_probabilities(void **state)
{
    const double reference[] = {1, 2, 3, 0, 5, -INFINITY}, other[] = {1.5, 2, 2, 1, 4, -3};
    struct tensor a = tensor_of(DATA_FLOAT64, SHAPE(2, 3), other), b = tensor_of(DATA_FLOAT64, SHAPE(2, 3), reference);
    struct logits_divergence divergence;

    assert_int_equal(logits_diverge(&a, &b, &divergence, NULL), 0);
    assert_int_equal(divergence.worst, 0);
    assert_true(fabs(divergence.maximum - 0.1706397926922848) <= 1e-14);
    assert_true(fabs(divergence.mean - ((0.1706397926922848 + 0.029354559357958047) / 2)) <= 1e-14);
    assert_int_equal(logits_diverge(&b, &b, &divergence, NULL), 0);
    assert_true(divergence.maximum == 0);
    assert_int_equal(logits_diverge(&b, &a, &divergence, NULL), 0); /* a token that b excludes */
    assert_true(isinf(divergence.maximum));
}

static void nan_has_no_divergence(void **state)
{
    const float numbers[] = {1, 3, 2}, invalid[] = {1, NAN, 2}, infinite[] = {1, INFINITY, 2};
    struct tensor a = VECTOR_OF(DATA_FLOAT32, numbers), b = VECTOR_OF(DATA_FLOAT32, invalid);
    struct tensor c = VECTOR_OF(DATA_FLOAT32, infinite);
    struct logits_divergence divergence;

    assert_int_equal(logits_diverge(&a, &b, &divergence, NULL), 0);
    assert_true(isnan(divergence.maximum));
    assert_int_equal(logits_diverge(&b, &a, &divergence, NULL), 0);
    assert_true(isnan(divergence.maximum));
    assert_int_equal(logits_diverge(&c, &c, &divergence, NULL), 0);
    assert_true(isnan(divergence.maximum));
}

static double overlap_of(const float a[6], const float b[6], size_t k)
{
    struct tensor first = tensor_of(DATA_FLOAT32, SHAPE(1, 6), a), second = tensor_of(DATA_FLOAT32, SHAPE(1, 6), b);
    struct logits_overlap overlap;

    assert_int_equal(logits_overlap_compute(&first, &second, k, &overlap, NULL), 0);
    return overlap.minimum;
}

static void the_best_overlap_whatever_their_order(void **state)
{
    const float reference[] = {6, 5, 4, 3, 2, 1}, swapped[] = {4, 6, 5, 3, 2, 1}, other[] = {6, 5, 0, 4, 2, 1};

    assert_true(overlap_of(swapped, reference, 3) == 1);
    assert_true(overlap_of(swapped, reference, 1) == 0);
    assert_true(overlap_of(other, reference, 3) == 2.0 / 3);
    assert_true(overlap_of(other, reference, 9) == 1); /* all of them */
}

static void ties_for_the_last_of_the_best_overlap(void **state)
{
    const float reference[] = {6, 5, 5, 5, 2, 1}, other[] = {6, 1, 0, 5, 2, 1}, tied[] = {9, 7, 7, 0, 0, 7};

    assert_true(overlap_of(other, reference, 2) == 1);
    assert_true(overlap_of(tied, reference, 2) == 1);
    assert_true(overlap_of(tied, reference, 5) == 0.8);
    assert_true(overlap_of(reference, other, 2) == 1);
}

static void the_worst_row_has_the_least_overlap(void **state)
{
    const float a[] = {3, 2, 1, 1, 2, 3}, b[] = {3, 2, 1, 3, 2, 1}, invalid[] = {3, 2, NAN, 3, 2, 1};
    struct tensor first = tensor_of(DATA_FLOAT32, SHAPE(2, 3), a), second = tensor_of(DATA_FLOAT32, SHAPE(2, 3), b);
    struct tensor third = tensor_of(DATA_FLOAT32, SHAPE(2, 3), invalid);
    struct logits_overlap overlap;

    assert_int_equal(logits_overlap_compute(&first, &second, 2, &overlap, NULL), 0);
    assert_true(overlap.minimum == 0.5 && overlap.mean == 0.75);
    assert_int_equal(overlap.worst, 1);
    assert_int_equal(logits_overlap_compute(&third, &third, 2, &overlap, NULL), 0);
    assert_true(isnan(overlap.minimum));
}

static void a_cache_is_neither_logits_nor_tokens(void **state)
{
    const float values[8] = {0};
    struct tensor cache = tensor_of(DATA_FLOAT32, SHAPE(1, 2, 2, 2), values);
    struct tensor column = tensor_of(DATA_FLOAT32, SHAPE(8, 1), values);
    struct token_agreement agreement;

    assert_false(tensor_is_logits(&cache) || tensor_is_tokens(&cache));
    assert_false(tensor_is_logits(&column));
    assert_int_equal(tokens_compare(&cache, &cache, &agreement, NULL), ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_different_token_is_found_with_its_margin),
        cmocka_unit_test(a_tie_of_the_reference_is_not_a_difference),
        cmocka_unit_test(a_row_with_nan_chooses_no_token),
        cmocka_unit_test(integers_are_tokens),
        cmocka_unit_test(divergence_is_that_of_the_probabilities),
        cmocka_unit_test(nan_has_no_divergence),
        cmocka_unit_test(the_best_overlap_whatever_their_order),
        cmocka_unit_test(ties_for_the_last_of_the_best_overlap),
        cmocka_unit_test(the_worst_row_has_the_least_overlap),
        cmocka_unit_test(a_cache_is_neither_logits_nor_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
