/* debug/quantization/measures.h: measures the effect of a quantizer on its tensor's values.
 *
 *   rc = tensor_measuring_new(&quantizer, &measuring, err);
 *   rc = tensor_measuring_add(measuring, &values, err);      for each sample
 *   tensor_measuring_finish(measuring, &measures);
 *   tensor_measuring_free(measuring);
 *
 * docs/quantization.md explains each number.
 */
#ifndef DEBUG_QUANTIZATION_MEASURES_H
#define DEBUG_QUANTIZATION_MEASURES_H

#include "base/error.h"
#include "debug/quantization/scales.h"
#include "onnx/quantizer/quantizers.h"
#include "tensor/quantization/noise.h"

/* Shares are in [0, 1]. Inapplicable or unknown numbers are NAN. */
struct tensor_measures {
    size_t elements;        /* number of values in all samples */
    size_t not_finite;      /* NaN and infinities among them, which count nowhere else */
    float least, largest;   /* of the finite values */
    double signal_to_noise; /* dB, of the dequantized values */
    double clipped;         /* share of values out of range */
    double clipped_below;   /* clipped values below the lowest level */
    double zeroed;          /* share of values other than 0 that become 0 */
    double at_ends;         /* share at the lowest and the highest level of all, or one above the lowest */
    double unused;          /* share of the type's levels outside of the used range */
    double reach;           /* largest distance from zero over that of 99.9 % of the values: as quantized */
    size_t scales;
    size_t dead_scales;     /* scales whose values are all 0, or collapse to one level */
    size_t outlying_scales; /* scales that differ from the median of live scales by a factor above OUTLYING_SCALE */
    double worst_signal_to_noise; /* lowest SNR of the values of one scale; NAN with one scale */
    size_t worst_scale;           /* which */
};

struct tensor_measuring;

/* The quantizer must have no problem and known scales, and must outlive this. ERR_UNSUPPORTED for a type without
 * levels; ERR_MEMORY. */
int tensor_measuring_new(const struct quantizer *quantizer, struct tensor_measuring **ret, struct error *err);
void tensor_measuring_free(struct tensor_measuring *measuring); /* NULL is fine */

/* Clips floating values to these bounds before measuring: those of a Relu or Clip that the quantizer replaces, so that
 * values beyond them do not count as lost. -INFINITY, INFINITY: none, the default. */
void tensor_measuring_bound(struct tensor_measuring *measuring, float least, float largest);

/* Measures floating values. ERR_INVALID if the scales do not match the shape; ERR_UNSUPPORTED for other types. */
int tensor_measuring_add(struct tensor_measuring *measuring, const struct tensor *values, struct error *err);

/* The same for floating values and the numbers stored in their place, of the quantizer's type and of the same shape.
 * Noise, levels and zeros are those of the stored numbers; `clipped` counts values out of range. ERR_INVALID for
 * another type or shape. */
int tensor_measuring_add_pair(struct tensor_measuring *measuring, const struct tensor *values,
                              const struct tensor *stored, struct error *err);

/* The same for stored values of the quantizer's type: the original values are unknown, and so are noise and clipping.
 * */
int tensor_measuring_add_stored(struct tensor_measuring *measuring, const struct tensor *stored, struct error *err);

void tensor_measuring_finish(const struct tensor_measuring *measuring, struct tensor_measures *ret);

#endif
