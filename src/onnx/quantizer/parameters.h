/* onnx/quantizer/parameters.h: scales and zero points of a quantizer, read and held against its tensor. */
#ifndef ONNX_QUANTIZER_PARAMETERS_H
#define ONNX_QUANTIZER_PARAMETERS_H

#include "onnx/model/model.h"
#include "onnx/quantizer/quantizer.h"

/* Where they are, in the words of QuantizeLinear. */
struct quantizer_parameters {
    uint32_t scale, zero_point; /* values; VALUE_NONE: omitted */
    int64_t axis;               /* from the end when negative */
    int64_t block_size;
    bool has_axis; /* false: the operator has none, so that there can be only one scale */
};

/* Fills in type (unless it is known), shape, axis, block size, scale, zero point, and the problem of what does not fit.
 * Bytes are made in `arena`. */
void quantizer_read_parameters(struct model *model, const struct known_types *known,
                               const struct quantizer_parameters *parameters, struct arena *arena,
                               struct quantizer *quantizer);

/* What is said of the tensor's type and shape, by `known`, by the model, or by an initializer. */
void quantizer_tensor_type(const struct model *model, const struct known_types *known, uint32_t value,
                           struct value_type *ret);

#endif
