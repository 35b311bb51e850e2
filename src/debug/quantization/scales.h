/* debug/quantization/scales.h: scales of a constant that differ far from the others. */
#ifndef DEBUG_QUANTIZATION_SCALES_H
#define DEBUG_QUANTIZATION_SCALES_H

#include "onnx/quantizer/quantizer.h"

#define OUTLYING_SCALE 8 /* a scale is outlying if it differs from the median by more than this factor */

/* The scale that is farthest from the median of a quantizer's scales, in either direction. */
struct outlying_scale {
    size_t channel, count;
    double median, factor; /* `factor` is of the median; 1: there are fewer than four scales */
};

struct outlying_scale quantizer_find_outlying_scale(const struct quantizer *quantizer);

/* Whether a scale is outlying if this is its factor of the median. */
bool scale_is_outlying(double factor);

#endif
