/* debug/quantization/measures.h: what a quantizer does to the values of its tensor.
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
#include "onnx/quantizer/quantizers.h"
#include "tensor/quantization/noise.h"

/* Shares lie in [0, 1]. What does not apply, or is not known, is NAN. */
struct tensor_measures {
    size_t elements;        /* that were looked at, of all samples */
    size_t not_finite;      /* of them: NaN and infinities, which count nowhere else */
    float least, largest;   /* of the finite values */
    double signal_to_noise; /* dB, of the values and what is dequantized */
    double clipped;         /* share of values out of range */
    double clipped_below;   /* of these, on the side of the lowest level */
    double at_ends;         /* share on the lowest and the highest level of all, or one above the lowest */
    double unused;          /* share of the type's levels that lie outside of those that are reached */
    double reach;           /* how far from zero the farthest value lies, over how far 99.9 % do: as quantized */
    size_t scales;
    size_t dead_scales;     /* with values, which are all 0, or of which several become one level */
    size_t outlying_scales; /* more than OUTLYING_SCALE times as large or as small as the median of those not dead */
    double worst_signal_to_noise; /* of what one scale is for; NAN with one scale */
    size_t worst_scale;           /* which */
};

#define OUTLYING_SCALE 8

struct tensor_measuring;

/* The quantizer has no problem, and its scales are known; it has to outlive this. ERR_UNSUPPORTED for a type without
 * levels; ERR_MEMORY. */
int tensor_measuring_new(const struct quantizer *quantizer, struct tensor_measuring **ret, struct error *err);
void tensor_measuring_free(struct tensor_measuring *measuring); /* NULL is fine */

/* Has floating values cut off at these bounds before anything is measured: those of a Relu or Clip that the quantizer
 * does the work of, so that what it cuts off is not lost. -INFINITY, INFINITY: there is none, as at first. */
void tensor_measuring_bound(struct tensor_measuring *measuring, float least, float largest);

/* Looks at floating values. ERR_INVALID when the scales do not fit the shape; ERR_UNSUPPORTED for other values. */
int tensor_measuring_add(struct tensor_measuring *measuring, const struct tensor *values, struct error *err);

/* The same for what was stored as integers, or floats, of the quantizer's type: what they were made of is not known,
 * and so neither are noise and clipping. */
int tensor_measuring_add_stored(struct tensor_measuring *measuring, const struct tensor *stored, struct error *err);

void tensor_measuring_finish(const struct tensor_measuring *measuring, struct tensor_measures *ret);

#endif
