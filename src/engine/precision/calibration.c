/* engine/precision/calibration.c: see calibration.h. */
#include "engine/precision/calibration.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "tensor/values/float_bits.h"

/* ---- Histograms of magnitudes ---- */

/* A histogram of absolute values, in one pass and in constant memory.
 *
 * Bins have equal widths and start at 0. If a value is beyond the last bin, the width is doubled until it fits, so that
 * counts stay exact. */

#define ABSOLUTE_HISTOGRAM_BINS 2048

struct absolute_histogram {
    uint64_t bins[ABSOLUTE_HISTOGRAM_BINS];
    uint64_t zeros; /* seen before the width was set */
    double width;   /* 0: nothing but zeros so far */
    float largest;
    uint64_t total; /* finite values */
};

/* Functions that compute the range to keep: 0 .. range is stored in 127 equal steps, and larger values are clipped.
 * Ranges are at most `largest`, and > 0 if that is. */

/* The effect of clipping to `range`: the fraction of values beyond it, and the clipped fraction of the sum of absolute
 * values. As exact as the bins. */
struct absolute_histogram_clipping {
    double values, sum;
};

#define BINS ABSOLUTE_HISTOGRAM_BINS
#define LEVELS 128 /* distinct absolute values of int8 */
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

/* Zeroed memory is an empty histogram. */
static void add_to_histogram(struct absolute_histogram *histogram, const float *values, size_t count)
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

/* The end of the first bin at which this fraction (0 .. 1) of all values is reached. */
static double find_quantile_range(const struct absolute_histogram *histogram, double quantile)
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

static struct absolute_histogram_clipping measure_histogram_clipping(const struct absolute_histogram *histogram,
                                                                     double range)
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

/* Quantizes the first `count` bins: LEVELS groups, in each of which all nonempty bins get the same value. */
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

/* Smooths and normalizes a distribution: zeros become small positive numbers, so that relative entropies stay finite,
 * and the sum becomes 1. False if everything is 0. */
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

/* The divergence (information loss) if values beyond the first `count` bins are counted in the last of them. */
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

/* The range with the least relative entropy between the distribution and its quantized form. Source: S. Migacz, "8-bit
 * Inference with TensorRT" (GTC 2017), with 2048 bins. */
static double find_entropy_range(const struct absolute_histogram *histogram)
{
    double bins[BINS], beyond = 0, best = INFINITY;
    size_t best_count = BINS, used = BINS;

    for (size_t i = 0; i < BINS; i++)
        bins[i] = (double)histogram->bins[i];
    bins[0] = bins[1]; /* zeros are exact in any range and must not affect it */
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

/* ---- Scales ---- */

#define CACHE_LIMIT ((size_t)1 << 28) /* bytes; a line is a name and 10 bytes */

struct calibrated_tensor {
    struct text name;
    float loaded;                         /* scale; 0: none */
    bool loaded_nothing;                  /* the cache states that no values were observed */
    float computed;                       /* scale of all values so far; 0: to be recomputed */
    struct absolute_histogram *histogram; /* NULL: no values */
};

struct calibration {
    enum calibration_method method;
    double quantile;
    VECTOR(struct calibrated_tensor) tensors; /* in order of first observation */
    struct name_map indices;
    struct arena names;
    bool loaded, generated;
};

struct calibration *calibration_new(enum calibration_method method, double quantile)
{
    struct calibration *calibration = memory_alloc_zero(1, sizeof(*calibration));

    calibration->method = method;
    calibration->quantile = quantile;
    name_map_init(&calibration->indices);
    arena_init(&calibration->names);
    return calibration;
}

void calibration_free(struct calibration *calibration)
{
    if (!calibration)
        return;
    for (size_t i = 0; i < calibration->tensors.count; i++)
        free(calibration->tensors.items[i].histogram);
    free(calibration->tensors.items);
    name_map_release(&calibration->indices);
    arena_release(&calibration->names);
    free(calibration);
}

static struct calibrated_tensor *find_tensor_range(const struct calibration *calibration, struct text name)
{
    uint32_t index = name_map_find(&calibration->indices, name);

    return index == NAME_MAP_NONE ? NULL : &calibration->tensors.items[index];
}

static struct calibrated_tensor *find_or_add_tensor_range(struct calibration *calibration, struct text name)
{
    struct calibrated_tensor *tensor = find_tensor_range(calibration, name);

    if (tensor != NULL)
        return tensor;
    struct text copy = {arena_text(&calibration->names, name), name.size};
    name_map_add(&calibration->indices, copy, (uint32_t)calibration->tensors.count);
    tensor = VECTOR_APPEND(&calibration->tensors);
    *tensor = (struct calibrated_tensor){.name = copy};
    return tensor;
}

/* ---- Values ---- */

void calibration_observe(struct calibration *calibration, struct text name, const float *values, size_t count)
{
    struct calibrated_tensor *tensor = find_or_add_tensor_range(calibration, name);

    if (tensor->histogram == NULL)
        tensor->histogram = memory_alloc_zero(1, sizeof(*tensor->histogram));
    add_to_histogram(tensor->histogram, values, count);
    tensor->computed = 0;
}

static float compute_tensor_scale(const struct calibration *calibration, const struct absolute_histogram *histogram)
{
    double range = (double)histogram->largest;

    if (range == 0)
        return 1; /* any scale keeps zeros */
    if (calibration->method == CALIBRATION_ENTROPY || calibration->method == CALIBRATION_FIRST_ENTROPY)
        range = find_entropy_range(histogram);
    else if (calibration->method == CALIBRATION_PERCENTILE)
        range = find_quantile_range(histogram, calibration->quantile);
    return fmaxf((float)(range / 127), 0x1p-126F); /* subnormal steps would not be equal */
}

/* 0: unknown. */
static float find_tensor_scale(const struct calibration *calibration, struct calibrated_tensor *tensor)
{
    if (tensor->loaded > 0)
        return tensor->loaded;
    if (tensor->histogram == NULL || tensor->histogram->total == 0)
        return 0;
    if (tensor->computed == 0)
        tensor->computed = compute_tensor_scale(calibration, tensor->histogram);
    return tensor->computed;
}

bool calibration_scale(const struct calibration *calibration, struct text name, float *ret)
{
    struct calibrated_tensor *tensor = find_tensor_range(calibration, name);
    float scale = tensor ? find_tensor_scale(calibration, tensor) : 0;

    if (scale > 0)
        *ret = scale;
    return scale > 0;
}

bool calibration_saw_nothing(const struct calibration *calibration, struct text name)
{
    const struct calibrated_tensor *tensor = find_tensor_range(calibration, name);

    if (tensor == NULL || tensor->loaded > 0)
        return false;
    return tensor->histogram != NULL ? tensor->histogram->total == 0 : tensor->loaded_nothing;
}

bool calibration_clipping(const struct calibration *calibration, struct text name, struct calibration_clipping *ret)
{
    struct calibrated_tensor *tensor = find_tensor_range(calibration, name);
    struct absolute_histogram_clipping clipping;
    float scale = tensor != NULL && tensor->loaded == 0 ? find_tensor_scale(calibration, tensor) : 0;

    if (scale == 0)
        return false;
    clipping = measure_histogram_clipping(tensor->histogram, 127 * (double)scale);
    *ret = (struct calibration_clipping){.largest = tensor->histogram->largest,
                                         .range = 127 * scale,
                                         .clipped_values = clipping.values,
                                         .clipped_sum = clipping.sum};
    return true;
}

/* ---- The cache ---- */

bool calibration_is_loaded(const struct calibration *calibration)
{
    return calibration->loaded;
}

/* A name that no model has, with scale 0. */
static const char generated_mark[] = "(calibrated with randomly generated data)";

void calibration_mark_generated(struct calibration *calibration)
{
    calibration->generated = true;
}

bool calibration_is_generated(const struct calibration *calibration)
{
    return calibration->generated;
}

/* Removes the first line of `rest` and returns it without its line break. */
static struct text take_cache_line(struct text *rest)
{
    const char *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    struct text line = {rest->data, end ? (size_t)(end - rest->data) : rest->size};
    size_t taken = line.size + (end != NULL);

    rest->data += taken;
    rest->size -= taken;
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

/* "<name>: <8 digits>". The name may contain colons. */
static bool parse_scale_entry(struct text line, struct text *ret_name, float *ret_scale)
{
    const size_t tail = sizeof(": 00000000") - 1;
    uint32_t bits = 0;

    if (line.size < tail)
        return false;
    const char *end = line.data + line.size - tail;
    if (end[0] != ':' || end[1] != ' ')
        return false;
    for (size_t i = 2; i < tail; i++) {
        int digit = number_hexadecimal_digit(end[i]);

        if (digit < 0)
            return false;
        bits = bits << 4 | (uint32_t)digit;
    }
    *ret_name = (struct text){line.data, line.size - tail};
    memcpy(ret_scale, &bits, sizeof(bits));
    return isfinite(*ret_scale) && *ret_scale >= 0;
}

static bool text_is_calibration_cache(struct text first_line)
{
    return first_line.size >= 4 && memcmp(first_line.data, "TRT-", 4) == 0;
}

/* Parses all entries: only checks them if `calibration` is NULL, else adds them. */
static int read_scale_entries(struct calibration *calibration, struct text rest, const char *display_name,
                              struct error *err)
{
    for (size_t number = 2; rest.size > 0; number++) {
        struct text line = take_cache_line(&rest), name;
        float scale;

        if (line.size == 0)
            continue;
        if (!parse_scale_entry(line, &name, &scale))
            return error_set(err, ERR_CORRUPT,
                             "'%s' is a damaged calibration cache: line %zu is not a name and the 8 hexadecimal digits "
                             "of a scale; remove the file to calibrate again",
                             display_name, number);
        if (calibration == NULL)
            continue;
        if (text_equal_string(name, generated_mark)) {
            calibration->generated = true;
            continue;
        }
        find_or_add_tensor_range(calibration, name)->loaded = scale;
        find_or_add_tensor_range(calibration, name)->loaded_nothing =
            scale == 0; /* TensorRT: a tensor that needs no scale */
        calibration->loaded |= scale > 0;
    }
    return 0;
}

int calibration_parse(struct calibration *calibration, struct span bytes, const char *display_name, struct error *err)
{
    struct text rest = span_text(bytes);

    if (rest.size == 0)
        return 0;
    if (!text_is_calibration_cache(take_cache_line(&rest)))
        return error_set(err, ERR_INVALID, "'%s' is not a calibration cache: its first line does not begin with 'TRT-'",
                         display_name);
    int rc = read_scale_entries(NULL, rest, display_name, err);
    return rc < 0 ? rc : read_scale_entries(calibration, rest, display_name, err);
}

int calibration_load(struct calibration *calibration, const char *path, struct error *err)
{
    char *content SCOPED_FREE = NULL;
    size_t size;
    int rc = file_read(path, CACHE_LIMIT, &content, &size, err);

    if (rc < 0)
        return rc;
    rc = calibration_parse(calibration, (struct span){(const uint8_t *)content, size}, path, err);
    return rc;
}

/* Header lines of TensorRT 8.6. */
static const char *const headers[] = {
    [CALIBRATION_ENTROPY] = "TRT-8601-EntropyCalibration2",
    [CALIBRATION_FIRST_ENTROPY] = "TRT-8601-EntropyCalibration2",
    [CALIBRATION_MINMAX] = "TRT-8601-MinMaxCalibration",
    [CALIBRATION_PERCENTILE] = "TRT-8601-LegacyCalibration",
};

int calibration_write(const struct calibration *calibration, struct string_builder *ret, struct error *err)
{
    string_add_format(ret, "%s\n", headers[calibration->method]);
    if (calibration->generated)
        string_add_format(ret, "%s: 00000000\n", generated_mark);
    VECTOR_EACH (struct calibrated_tensor, tensor, calibration->tensors) {
        float scale = find_tensor_scale(calibration, tensor);

        if (scale == 0 && !calibration_saw_nothing(calibration, tensor->name))
            continue;
        if (memchr(tensor->name.data, '\n', tensor->name.size) != NULL)
            return error_set(err, ERR_UNSUPPORTED,
                             "a calibration cache cannot contain the tensor '" TEXT_FORMAT
                             "': its name has a line break",
                             TEXT_ARGS(tensor->name));
        string_add_text(ret, tensor->name);
        string_add_format(ret, ": %08x\n", float32_bits(scale));
    }
    return 0;
}

int calibration_save(const struct calibration *calibration, const char *path, struct error *err)
{
    SCOPED_STRING(text);

    int rc = calibration_write(calibration, &text, err);
    if (rc == 0)
        rc = file_write(path, text.data, text.size, FILE_DURABLE, err);
    return rc;
}
