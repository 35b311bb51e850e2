/* bench/quantize/float_model.h: prepares a float32 model for quantization. */
#ifndef BENCH_QUANTIZE_FLOAT_MODEL_H
#define BENCH_QUANTIZE_FLOAT_MODEL_H

#include "comparator/reference/values.h"

/* The oldest operator set with per-channel scales in QuantizeLinear. */
#define QUANTIZER_OPSET 13

struct float_model_settings {
    bool random_weights;
    uint32_t seed; /* seed of the random weights */
};

/* Computes everything that depends only on constants, folds batch normalizations into the convolutions before them, and
 * converts an older model to operator set 13.
 *
 * With `random_weights`, constants that are filled with a single number get random values: weights are normally
 * distributed, with about the variance that preserves that of a Relu's input (K. He et al., "Delving deep into
 * rectifiers", 2015), times a factor of 0.5 to 2 for each channel; other constants are near the values that leave
 * activations unchanged. */
int float_model_prepare(struct model *model, const struct float_model_settings *settings, struct error *err);

/* Scales the weights and the bias of the Conv, Gemm or MatMul that computes the input of each Softmax, so that the
 * standard deviation of that input is 2: with random weights it can be so large that all results are 0 or 1. `recorded`
 * has the inputs of all Softmax nodes of `model`. */
int float_model_tame_softmax(struct model *model, const struct reference_values *recorded, struct error *err);

/* Sets `ret` to a constant of the model as float32; false if the value is not a constant. The tensor may own its
 * data. */
bool float_model_constant(const struct model *model, uint32_t value, struct tensor *ret);

#endif
