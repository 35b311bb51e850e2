/* tensor/compare/structural_similarity.c: see structural_similarity.h. */
#include "tensor/compare/structural_similarity.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tensor/values/elements.h"

#define MOST_CHANNELS_LAST 4
#define DEVIATION 1.5 /* pixels, of the window */

/* Where the planes of a tensor are, in elements. */
struct image_layout {
    size_t planes, height, width;
    size_t channels; /* interleaved, the last axis; 1: planes are contiguous */
};

static bool find_layout(const struct tensor *tensor, struct image_layout *ret)
{
    const struct shape *shape = &tensor->shape;
    size_t last;

    if (shape->rank < 2 || shape->rank > 5 || elements_arithmetic(tensor->type) == ARITHMETIC_NONE ||
        tensor_elements(tensor) == 0)
        return false;
    ret->channels = 1;
    last = shape->rank - 1;
    if (shape->rank >= 3 && shape->dims[last] <= MOST_CHANNELS_LAST)
        ret->channels = (size_t)shape->dims[last--];
    ret->height = (size_t)shape->dims[last - 1];
    ret->width = (size_t)shape->dims[last];
    ret->planes = tensor_elements(tensor) / (ret->height * ret->width);
    return ret->height >= SSIM_WINDOW && ret->width >= SSIM_WINDOW;
}

bool tensor_is_images(const struct tensor *tensor)
{
    struct image_layout layout;

    return find_layout(tensor, &layout);
}

/* Reads a plane, which may be interleaved with others. */
static void read_plane(const struct tensor *tensor, const struct image_layout *layout, size_t plane, double *ret)
{
    size_t pixels = layout->height * layout->width;
    size_t first = plane / layout->channels * layout->channels * pixels + plane % layout->channels;

    if (layout->channels > 1)
        for (size_t i = 0; i < pixels; i++)
            elements_to_float64(tensor, first + i * layout->channels, 1, &ret[i]);
    else
        for (size_t i = 0; i < pixels; i += ELEMENTS_RUN)
            elements_to_float64(tensor, first + i, elements_in_run(pixels, i), &ret[i]);
}

static void make_window(double ret[SSIM_WINDOW])
{
    double sum = 0;

    for (int i = 0; i < SSIM_WINDOW; i++)
        sum += ret[i] = exp(-(i - SSIM_WINDOW / 2) * (i - SSIM_WINDOW / 2) / (2 * DEVIATION * DEVIATION));
    for (int i = 0; i < SSIM_WINDOW; i++)
        ret[i] /= sum;
}

/* Weighted sums of the products of two planes' pixels over every window within a row, then over rows: the mean of the
 * window at each position, (height - 10) x (width - 10) of them. `y` may be NULL: sums of `x` alone. `rows` is a buffer
 * of height x width. */
static void filter_products(const struct image_layout *layout, const double *x, const double *y, double *rows,
                            double *ret)
{
    size_t width = layout->width - SSIM_WINDOW + 1, height = layout->height - SSIM_WINDOW + 1;
    double window[SSIM_WINDOW];

    make_window(window);
    for (size_t row = 0; row < layout->height; row++)
        for (size_t column = 0; column < width; column++) {
            size_t at = row * layout->width + column;
            double sum = 0;

            for (size_t i = 0; i < SSIM_WINDOW; i++)
                sum += window[i] * x[at + i] * (y != NULL ? y[at + i] : 1);
            rows[row * width + column] = sum;
        }
    for (size_t at = 0; at < height * width; at++) {
        ret[at] = 0;
        for (size_t i = 0; i < SSIM_WINDOW; i++)
            ret[at] += window[i] * rows[at + i * width];
    }
}

/* Buffers of height x width numbers. */
struct plane_buffers {
    double *a, *b, *rows, *mean_a, *mean_b, *square_a, *square_b, *product;
};

/* The mean similarity of two planes. `range`: the dynamic range, > 0. */
static double compare_planes(const struct image_layout *layout, const struct plane_buffers *buffers, double range)
{
    size_t positions = (layout->height - SSIM_WINDOW + 1) * (layout->width - SSIM_WINDOW + 1);
    double c1 = 0.01 * 0.01 * range * range, c2 = 0.03 * 0.03 * range * range, sum = 0;

    filter_products(layout, buffers->a, NULL, buffers->rows, buffers->mean_a);
    filter_products(layout, buffers->b, NULL, buffers->rows, buffers->mean_b);
    filter_products(layout, buffers->a, buffers->a, buffers->rows, buffers->square_a);
    filter_products(layout, buffers->b, buffers->b, buffers->rows, buffers->square_b);
    filter_products(layout, buffers->a, buffers->b, buffers->rows, buffers->product);
    for (size_t i = 0; i < positions; i++) {
        double a = buffers->mean_a[i], b = buffers->mean_b[i];
        double variances = buffers->square_a[i] - a * a + buffers->square_b[i] - b * b;
        double covariance = buffers->product[i] - a * b;

        sum += (2 * a * b + c1) * (2 * covariance + c2) / ((a * a + b * b + c1) * (variances + c2));
    }
    return sum / (double)positions;
}

/* The reference's greatest less its least value; NaN if one is not finite. */
static double find_dynamic_range(const struct tensor *tensor)
{
    size_t elements = tensor_elements(tensor);
    double least = INFINITY, greatest = -INFINITY, run[ELEMENTS_RUN];

    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);

        elements_to_float64(tensor, first, count, run);
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(run[i]))
                return NAN;
            least = run[i] < least ? run[i] : least;
            greatest = run[i] > greatest ? run[i] : greatest;
        }
    }
    return greatest - least;
}

int structural_similarity_compute(const struct tensor *a, const struct tensor *b, struct structural_similarity *ret,
                                  struct error *err)
{
    struct image_layout layout, other;
    struct plane_buffers buffers;
    double range, *memory, **parts[] = {&buffers.a,      &buffers.b,        &buffers.rows,     &buffers.mean_a,
                                        &buffers.mean_b, &buffers.square_a, &buffers.square_b, &buffers.product};
    size_t pixels;

    if (!find_layout(a, &layout) || !find_layout(b, &other))
        return error_set(err, ERR_UNSUPPORTED, "the outputs are not images of at least %d x %d pixels", SSIM_WINDOW,
                         SSIM_WINDOW);
    range = find_dynamic_range(b);
    if (range == 0)
        range = 1; /* a constant: its own scale is unknown */
    pixels = layout.height * layout.width;
    memory = memory_alloc_zero(pixels * ARRAY_LEN(parts), sizeof(*memory));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        *parts[i] = memory + i * pixels;
    *ret = (struct structural_similarity){.minimum = INFINITY, .planes = layout.planes};
    for (size_t plane = 0; plane < layout.planes && !isnan(ret->minimum); plane++) {
        double similarity;

        read_plane(a, &layout, plane, buffers.a);
        read_plane(b, &layout, plane, buffers.b);
        similarity = compare_planes(&layout, &buffers, range);
        ret->mean += similarity / (double)layout.planes;
        if (isnan(similarity) || similarity < ret->minimum) {
            ret->minimum = similarity;
            ret->worst = plane;
        }
    }
    free(memory);
    return 0;
}
