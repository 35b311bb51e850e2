/* engine/precision/absolute_histogram.c: see absolute_histogram.h. */
#include "engine/precision/absolute_histogram.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BINS ABSOLUTE_HISTOGRAM_BINS
#define LEVELS 128 /* absolute values that int8 tells apart */
#define SMOOTHING 1e-4

/* ---- Counting ---- */

static float largest_finite_absolute(const float *values, size_t count)
{
    float ret = 0;

    for (size_t i = 0; i < count; i++) {
        float magnitude = fabsf(values[i]);
        ret = magnitude <= FLT_MAX && magnitude > ret ? magnitude : ret;
    }
    return ret;
}

static void double_bin_width(struct absolute_histogram *histogram)
{
    for (size_t i = 0; i < BINS / 2; i++)
        histogram->bins[i] = histogram->bins[2 * i] + histogram->bins[2 * i + 1];
    memset(histogram->bins + BINS / 2, 0, BINS / 2 * sizeof(histogram->bins[0]));
    histogram->width *= 2;
}

static void widen_histogram(struct absolute_histogram *histogram, float largest)
{
    if (largest <= histogram->largest)
        return;
    histogram->largest = largest;
    if (histogram->width == 0) {
        histogram->width = (double)largest / BINS;
        histogram->bins[0] = histogram->zeros;
        histogram->zeros = 0;
    }
    while (histogram->width * BINS < (double)largest)
        double_bin_width(histogram);
}

void absolute_histogram_add(struct absolute_histogram *histogram, const float *values, size_t count)
{
    widen_histogram(histogram, largest_finite_absolute(values, count));
    double bins_per_unit = histogram->width > 0 ? 1 / histogram->width : 0;
    for (size_t i = 0; i < count; i++) {
        float magnitude = fabsf(values[i]);

        if (!(magnitude <= FLT_MAX)) /* infinite, or no number */
            continue;
        histogram->total++;
        if (histogram->width == 0) {
            histogram->zeros++;
            continue;
        }
        size_t bin = (size_t)((double)magnitude * bins_per_unit);
        histogram->bins[bin < BINS ? bin : BINS - 1]++;
    }
}

/* ---- Ranges ---- */

static double histogram_bins_end(const struct absolute_histogram *histogram, size_t bins)
{
    double end = histogram->width * (double)bins;

    return end < (double)histogram->largest ? end : (double)histogram->largest;
}

double absolute_histogram_quantile_range(const struct absolute_histogram *histogram, double quantile)
{
    double wanted = quantile * (double)histogram->total;
    uint64_t seen = 0;
    size_t bin = 0;

    while (bin < BINS) {
        seen += histogram->bins[bin++];
        if (seen > 0 && (double)seen >= wanted)
            break;
    }
    return histogram_bins_end(histogram, bin);
}

struct absolute_histogram_clipping absolute_histogram_clipping(const struct absolute_histogram *histogram, double range)
{
    struct absolute_histogram_clipping clipping = {0};
    double sum = 0;

    for (size_t i = 0; i < BINS; i++) {
        double count = (double)histogram->bins[i];
        double middle = fmin(histogram->width * ((double)i + 0.5), (double)histogram->largest);

        sum += count * middle;
        if (middle <= range)
            continue;
        clipping.values += count;
        clipping.sum += count * (middle - range);
    }
    if (sum > 0) {
        clipping.values /= (double)histogram->total;
        clipping.sum /= sum;
    }
    return clipping;
}

/* The first `count` bins as int8 keeps them: LEVELS groups, in each of which all bins that are used get the same. */
static void quantize_histogram_bins(const double *bins, size_t count, double *ret)
{
    size_t begin = 0;

    for (size_t level = 0; level < LEVELS; level++) {
        size_t end = count * (level + 1) / LEVELS;
        double sum = 0;
        size_t used = 0;

        for (size_t i = begin; i < end; i++) {
            sum += bins[i];
            used += bins[i] > 0;
        }
        for (size_t i = begin; i < end; i++)
            ret[i] = bins[i] > 0 ? sum / (double)used : 0;
        begin = end;
    }
}

/* What is 0 becomes a little, at the expense of the rest, so that relative entropies stay finite; and the sum becomes
 * 1. False when everything is 0. */
static bool make_bin_distribution(double *bins, size_t count)
{
    size_t empty = 0;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        empty += bins[i] == 0;
        sum += bins[i];
    }
    if (sum <= 0)
        return false;
    double share = SMOOTHING * (double)empty / (double)count;
    for (size_t i = 0; i < count; i++)
        bins[i] = bins[i] == 0 ? SMOOTHING / (double)count : bins[i] / sum * (1 - share);
    return true;
}

/* How much is lost when what lies behind the first `count` bins is counted in the last one of them. */
static double find_clipping_divergence(const double *bins, size_t count, double beyond)
{
    double reference[BINS], kept[BINS], ret = 0;

    quantize_histogram_bins(bins, count, kept);
    memcpy(reference, bins, count * sizeof(*bins));
    reference[count - 1] += beyond;
    if (!make_bin_distribution(reference, count) || !make_bin_distribution(kept, count))
        return INFINITY;
    for (size_t i = 0; i < count; i++)
        ret += reference[i] * log(reference[i] / kept[i]);
    return ret;
}

double absolute_histogram_entropy_range(const struct absolute_histogram *histogram)
{
    double bins[BINS], beyond = 0, best = INFINITY;
    size_t best_count = BINS, used = BINS;

    for (size_t i = 0; i < BINS; i++)
        bins[i] = (double)histogram->bins[i];
    bins[0] = bins[1]; /* zeros are exact in any range: they must not decide about it */
    while (used > LEVELS && bins[used - 1] == 0)
        used--;
    for (size_t count = used; count >= LEVELS; count--) {
        double loss = find_clipping_divergence(bins, count, beyond);

        if (loss < best) {
            best = loss;
            best_count = count;
        }
        beyond += bins[count - 1];
    }
    return histogram_bins_end(histogram, best_count);
}
