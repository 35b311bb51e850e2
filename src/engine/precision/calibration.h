/* engine/precision/calibration.h: computes scales of int8 tensors from observed values; and the calibration cache.
 *
 * The cache has TensorRT's text format, so that caches of TensorRT and Polygraphy are accepted: a first line
 * "TRT-<version>-<Algorithm>", then "<tensor>: <scale as the hexadecimal bits of a float32>" for each.
 */
#ifndef ENGINE_PRECISION_CALIBRATION_H
#define ENGINE_PRECISION_CALIBRATION_H

#include "base/text/text.h"
#include "base/text/string_builder.h"
#include "tensor/values/tensor.h"

enum calibration_method {
    CALIBRATION_ENTROPY,       /* the range that loses the least information (8-bit Inference with TensorRT, 2017) */
    CALIBRATION_FIRST_ENTROPY, /* TensorRT's earlier form of it; the built-in engine has one form */
    CALIBRATION_MINMAX,        /* all observed values */
    CALIBRATION_PERCENTILE,    /* the quantile `quantile` of the absolute values */
};

struct calibration; /* histograms of absolute values, by tensor name */

/* `quantile` is from 0 to 1, and only used for CALIBRATION_PERCENTILE. */
struct calibration *calibration_new(enum calibration_method method, double quantile);
void calibration_free(struct calibration *calibration); /* NULL is fine */

/* Adds values; NaN and infinities are ignored. */
void calibration_observe(struct calibration *calibration, struct text name, const float *values, size_t count);

/* The scale of a tensor, > 0; false if it is unknown. */
bool calibration_scale(const struct calibration *calibration, struct text name, float *ret);

/* Whether the tensor was observed, but without any finite value: empty, or only NaN. Stored in the cache as scale 0. */
bool calibration_saw_nothing(const struct calibration *calibration, struct text name);

/* The effect of a tensor's scale on the observed values. */
struct calibration_clipping {
    float largest;         /* largest observed absolute value */
    float range;           /* largest absolute value that is not clipped */
    double clipped_values; /* fraction of clipped values */
    double clipped_sum;    /* fraction of the sum of absolute values lost by clipping */
};

/* False for a tensor that is unknown or whose scale was loaded. */
bool calibration_clipping(const struct calibration *calibration, struct text name, struct calibration_clipping *ret);

/* Loads a cache. Loaded scales have priority over observed ones. An empty file is valid. ERR_INVALID for other files,
 * ERR_CORRUPT for a damaged cache, with the line number; then nothing is loaded. */
int calibration_load(struct calibration *calibration, const char *path, struct error *err);
int calibration_parse(struct calibration *calibration, struct span bytes, const char *display_name, struct error *err);
bool calibration_is_loaded(const struct calibration *calibration); /* at least one scale */

/* Marks scales as computed from generated data; stored in the cache as a line that other readers ignore. */
void calibration_mark_generated(struct calibration *calibration);
bool calibration_is_generated(const struct calibration *calibration);

/* Writes all known scales. ERR_UNSUPPORTED if the format cannot represent the name of a tensor. */
int calibration_save(const struct calibration *calibration, const char *path, struct error *err);
int calibration_write(const struct calibration *calibration, struct string_builder *ret, struct error *err);

#endif
