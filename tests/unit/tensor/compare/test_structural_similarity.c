/* The structural similarity of images. Expected values are those of scikit-image 0.25, with
 * structural_similarity(a, b, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=250). */
#include <math.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/structural_similarity.h"

#define HEIGHT 13
#define WIDTH 12
#define PIXELS (HEIGHT * WIDTH)

/* Two planes of a reference, and with noise; in channels last if `interleaved`. */
static void make_images(bool interleaved, double reference[2 * PIXELS], double noisy[2 * PIXELS])
{
    for (int i = 0; i < 2 * PIXELS; i++) {
        int at = interleaved ? i % PIXELS * 2 + i / PIXELS : i;

        reference[at] = i * 7919 % 251;
        noisy[at] = reference[at] + i * 31 % 17 - 8 + (i >= PIXELS ? i % 5 * 4 : 0);
    }
}

static void assert_similarities(struct tensor a, struct tensor b)
{
    struct structural_similarity similarity;

    assert_int_equal(structural_similarity_compute(&a, &b, &similarity, NULL), 0);
    assert_int_equal(similarity.planes, 2);
    assert_int_equal(similarity.worst, 1);
    assert_true(fabs(similarity.minimum - (0.9917321269249214)) <= 1e-12);
    assert_true(fabs(similarity.mean - ((0.9978886661901569 + 0.9917321269249214) / 2)) <= 1e-12);
}

static void similarity_is_that_of_scikit_image(void **state)
{
    double reference[2 * PIXELS], noisy[2 * PIXELS];

    make_images(false, reference, noisy);
    assert_similarities(tensor_of(DATA_FLOAT64, SHAPE(1, 2, HEIGHT, WIDTH), noisy),
                        tensor_of(DATA_FLOAT64, SHAPE(1, 2, HEIGHT, WIDTH), reference));
    make_images(true, reference, noisy);
    assert_similarities(tensor_of(DATA_FLOAT64, SHAPE(1, HEIGHT, WIDTH, 2), noisy),
                        tensor_of(DATA_FLOAT64, SHAPE(1, HEIGHT, WIDTH, 2), reference));
}

static void constants_and_nan_have_a_verdict(void **state)
{
    double reference[PIXELS] = {0}, other[PIXELS] = {0};
    struct tensor a = tensor_of(DATA_FLOAT64, SHAPE(HEIGHT, WIDTH), other);
    struct tensor b = tensor_of(DATA_FLOAT64, SHAPE(HEIGHT, WIDTH), reference);
    struct structural_similarity similarity;

    for (int i = 0; i < PIXELS; i++)
        reference[i] = other[i] = 7;
    assert_int_equal(structural_similarity_compute(&a, &b, &similarity, NULL), 0);
    assert_true(fabs(similarity.minimum - (1)) <= 1e-12);
    other[5] = NAN;
    assert_int_equal(structural_similarity_compute(&a, &b, &similarity, NULL), 0);
    assert_true(isnan(similarity.minimum));
}

static void what_is_smaller_than_the_window_is_no_image(void **state)
{
    const double values[PIXELS] = {0};
    struct tensor narrow = tensor_of(DATA_FLOAT64, SHAPE(1, 1, 15, 10), values);
    struct tensor row = tensor_of(DATA_FLOAT64, SHAPE(PIXELS), values);
    struct structural_similarity similarity;

    assert_false(tensor_is_images(&narrow));
    assert_false(tensor_is_images(&row));
    assert_int_equal(structural_similarity_compute(&narrow, &narrow, &similarity, NULL), ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(similarity_is_that_of_scikit_image),
        cmocka_unit_test(constants_and_nan_have_a_verdict),
        cmocka_unit_test(what_is_smaller_than_the_window_is_no_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
