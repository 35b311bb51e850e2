/* tensor/compare/metrics.c: see metrics.h. */
#include "tensor/compare/metrics.h"

#include <math.h>

#include "tensor/compare/difference.h"

/* Squares of large float64 values overflow, those of small ones underflow. So values are scaled by a power of two,
 * which is exact, and a sum of squares stores its exponent separately. Up to this exponent the power is a normal
 * number, and squares of the scaled values neither overflow nor underflow. */
#define MOST_EXPONENT 1000

struct squares {
    double scaled;
    int exponent; /* the sum is scaled * 2^(2 * exponent) */
};

/* Runs of both outputs and of their differences. */
struct element_runs {
    struct pair pair;
    size_t elements;
    double a[ELEMENTS_RUN], b[ELEMENTS_RUN], difference[ELEMENTS_RUN];
};

/* Reads the run that begins with element `first`. Returns its length. */
static size_t read_element_runs(struct element_runs *runs, size_t first)
{
    size_t count = elements_in_run(runs->elements, first);
    double relative[ELEMENTS_RUN];

    elements_to_float64(runs->pair.a, first, count, runs->a);
    elements_to_float64(runs->pair.b, first, count, runs->b);
    if (runs->pair.arithmetic == ARITHMETIC_INTEGER) {
        pair_differences(&runs->pair, first, count, runs->difference, relative);
        return count;
    }
    for (size_t i = 0; i < count; i++)
        runs->difference[i] = runs->a[i] - runs->b[i];
    return count;
}

static double greatest_magnitude(const double *run, size_t count, double greatest)
{
    for (size_t i = 0; i < count; i++)
        greatest = fabs(run[i]) > greatest ? fabs(run[i]) : greatest;
    return greatest;
}

/* Infinities are not scaled. */
static int exponent_of(double greatest)
{
    int exponent = isfinite(greatest) && greatest > 0 ? ilogb(greatest) : 0;

    return exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent < -MOST_EXPONENT ? -MOST_EXPONENT : exponent;
}

/* The sum of x * y in units of 2^(x_exponent + y_exponent). */
static double sum_products(const double *x, int x_exponent, const double *y, int y_exponent, size_t count)
{
    double x_scale = scalbn(1, -x_exponent), y_scale = scalbn(1, -y_exponent), sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (x[i] * x_scale) * (y[i] * y_scale);
    return sum;
}

/* 10 log10 of a sum that may exceed the range of float64. */
static double decibels_of_sum(const struct squares *squares)
{
    double value = scalbn(squares->scaled, 2 * squares->exponent);

    if (isnormal(value))
        return 10 * log10(value);
    return 10 * (log10(squares->scaled) + 2 * squares->exponent * log10(2));
}

static double cosine_similarity(double product, double a_square, double b_square)
{
    if (a_square == 0 && b_square == 0)
        return 1;
    if (a_square == 0 || b_square == 0)
        return isnan(product) ? NAN : 0;
    product /= sqrt(a_square * b_square);
    return isnan(product) ? NAN : fmax(-1, fmin(1, product));
}

/* The sums from which all metrics are computed. */
struct sums {
    struct squares a, b, noise;
    double product;
    double peak; /* the greatest value of a */
};

static void derive_metrics(const struct sums *sums, size_t elements, struct metrics *ret)
{
    const struct squares *b = &sums->b, *noise = &sums->noise;
    double count = (double)elements;

    *ret = (struct metrics){.cosine_similarity = cosine_similarity(sums->product, sums->a.scaled, b->scaled),
                            .peak_signal_to_noise = INFINITY,
                            .signal_to_noise = INFINITY};
    if (noise->scaled == 0)
        return;
    ret->l2_norm = scalbn(sqrt(noise->scaled), noise->exponent);
    ret->mean_squared_error = scalbn(noise->scaled / count, 2 * noise->exponent);
    ret->normalized_mean_squared_error = scalbn(noise->scaled / b->scaled, 2 * (noise->exponent - b->exponent));
    ret->peak_signal_to_noise =
        20 * log10(sums->peak > 0 ? sums->peak : 1) - decibels_of_sum(noise) + 10 * log10(count);
    ret->signal_to_noise = decibels_of_sum(&sums->a) - decibels_of_sum(noise);
}

static void compute_metrics(struct element_runs *runs, struct metrics *ret)
{
    struct sums sums = {.peak = -INFINITY};
    struct squares *a = &sums.a, *b = &sums.b, *noise = &sums.noise;
    double a_greatest = 0, b_greatest = 0, noise_greatest = 0;
    size_t count;

    for (size_t first = 0; first < runs->elements; first += count) {
        count = read_element_runs(runs, first);
        a_greatest = greatest_magnitude(runs->a, count, a_greatest);
        b_greatest = greatest_magnitude(runs->b, count, b_greatest);
        noise_greatest = greatest_magnitude(runs->difference, count, noise_greatest);
        for (size_t i = 0; i < count; i++)
            sums.peak = runs->a[i] > sums.peak ? runs->a[i] : sums.peak;
    }
    a->exponent = exponent_of(a_greatest);
    b->exponent = exponent_of(b_greatest);
    noise->exponent = exponent_of(noise_greatest);
    for (size_t first = 0; first < runs->elements; first += count) {
        count = read_element_runs(runs, first);
        a->scaled += sum_products(runs->a, a->exponent, runs->a, a->exponent, count);
        b->scaled += sum_products(runs->b, b->exponent, runs->b, b->exponent, count);
        noise->scaled += sum_products(runs->difference, noise->exponent, runs->difference, noise->exponent, count);
        sums.product += sum_products(runs->a, a->exponent, runs->b, b->exponent, count);
    }
    derive_metrics(&sums, runs->elements, ret);
}

int metrics_compute(const struct tensor *a, const struct tensor *b, struct metrics *ret, struct error *err)
{
    struct element_runs runs = {.elements = tensor_elements(a)};

    for (int i = 0; i < 2; i++) {
        enum data_type type = (i == 0 ? a : b)->type;

        if (elements_arithmetic(type) == ARITHMETIC_NONE)
            return error_set(err, ERR_UNSUPPORTED, "cannot compute the distance of outputs of type %s",
                             data_type_name(type));
    }
    if (tensor_elements(b) != runs.elements)
        return error_set(err, ERR_INVALID, "cannot compute the distance of outputs with %zu and %zu elements",
                         runs.elements, tensor_elements(b));
    pair_init(&runs.pair, a, b, false, false);
    compute_metrics(&runs, ret);
    return 0;
}
