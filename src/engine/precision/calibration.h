/* engine/precision/calibration.h: the scales of int8 tensors, from values that were seen; and the calibration cache.
 *
 * The cache is TensorRT's text format, so that one made by TensorRT or Polygraphy is taken: a first line
 * "TRT-<version>-<Algorithm>", then "<tensor>: <scale as the hexadecimal bits of a float32>" for each.
 */
#ifndef ENGINE_PRECISION_CALIBRATION_H
#define ENGINE_PRECISION_CALIBRATION_H

#include "base/text/text.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

enum calibration_method {
    CALIBRATION_ENTROPY,    /* the range that loses the least information (8-bit Inference with TensorRT, 2017) */
    CALIBRATION_MINMAX,     /* all that was seen */
    CALIBRATION_PERCENTILE, /* the share `quantile` of the absolute values */
};

struct calibration; /* histograms of absolute values, by tensor name */

/* `quantile` is from 0 to 1, and only looked at for CALIBRATION_PERCENTILE. */
struct calibration *calibration_new(enum calibration_method method, double quantile);
void calibration_free(struct calibration *calibration); /* NULL is fine */

/* NaN and infinities are left out. */
void calibration_observe(struct calibration *calibration, struct text name, const float *values, size_t count);

/* The scale for a tensor, > 0; false when nothing is known of it. */
bool calibration_scale(const struct calibration *calibration, struct text name, float *ret);

/* Whether the tensor was there, but never with a finite value: empty, or full of NaN. A cache keeps that, as a scale of
 * 0. */
bool calibration_saw_nothing(const struct calibration *calibration, struct text name);

/* What the scale of a tensor, computed from values that were seen, does to them. */
struct calibration_clipping {
    float largest;         /* absolute value that was seen */
    float range;           /* absolute value that is kept */
    double clipped_values; /* share of the values beyond that */
    double clipped_sum;    /* share of the sum of all absolute values that is cut off with them */
};

/* False for a tensor whose scale was loaded, or that nothing is known of. */
bool calibration_clipping(const struct calibration *calibration, struct text name, struct calibration_clipping *ret);

/* Scales that were loaded go before observed ones. An empty file loads nothing. ERR_INVALID for what is no cache,
 * ERR_CORRUPT for a damaged one, with the number of the line; then nothing is loaded. */
int calibration_load(struct calibration *calibration, const char *path, struct error *err);
int calibration_parse(struct calibration *calibration, struct span bytes, const char *display_name, struct error *err);
bool calibration_is_loaded(const struct calibration *calibration); /* at least one scale */

/* Scales come from data that were generated: a mark that the cache keeps, as a line that no other reader takes for a
 * scale that it needs. */
void calibration_mark_generated(struct calibration *calibration);
bool calibration_is_generated(const struct calibration *calibration);

/* Writes all scales that are known. ERR_UNSUPPORTED when the format cannot hold the name of a tensor. */
int calibration_save(const struct calibration *calibration, const char *path, struct error *err);
int calibration_write(const struct calibration *calibration, struct string_builder *ret, struct error *err);

#endif
