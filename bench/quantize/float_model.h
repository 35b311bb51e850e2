/* bench/quantize/float_model.h: makes a float32 model ready to be quantized. */
#ifndef BENCH_QUANTIZE_FLOAT_MODEL_H
#define BENCH_QUANTIZE_FLOAT_MODEL_H

#include "comparator/reference/values.h"

/* The oldest operator set in which integers have a scale for each channel. */
#define QUANTIZER_OPSET 13

struct float_model_settings {
    bool random_weights;
    uint32_t seed; /* of the weights */
};

/* What depends on constants alone is computed, batch normalizations are computed into the convolutions before them, and
 * an older model gets operator set 13.
 *
 * With `random_weights`, constants that are filled with a single number hold random ones instead: weights normal ones
 * of about the variance that keeps that of a Relu's input (K. He et al., "Delving deep into rectifiers", 2015), by a
 * factor of 0.5 to 2 for each channel; the rest numbers near those that leave activations as they are. */
int float_model_prepare(struct model *model, const struct float_model_settings *settings, struct error *err);

/* Scales the weights and the bias that each Softmax's input comes from by Conv, Gemm or MatMul, so that the standard
 * deviation of that input is 2: with random weights it can be so large that the result is 0 and 1 alone. `recorded`
 * has the inputs of all Softmax nodes of `model`. */
int float_model_tame_softmax(struct model *model, const struct reference_values *recorded, struct error *err);

/* A constant of the model as float32; false when it is none. The tensor may own its data. */
bool float_model_constant(const struct model *model, uint32_t value, struct tensor *ret);

#endif
