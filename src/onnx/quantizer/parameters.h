/* onnx/quantizer/parameters.h: reads scales and zero points of a quantizer and checks them against its tensor. */
#ifndef ONNX_QUANTIZER_PARAMETERS_H
#define ONNX_QUANTIZER_PARAMETERS_H

#include "onnx/model/model.h"
#include "onnx/quantizer/quantizer.h"

/* The parameters in terms of QuantizeLinear. */
struct quantizer_parameters {
    uint32_t scale, zero_point; /* values; VALUE_NONE: omitted */
    int64_t axis;               /* negative: from the end */
    int64_t block_size;
    bool has_axis; /* false: the operator has no axis, so only one scale is possible */
};

/* Fills in type (unless known), shape, axis, block size, scale, zero point, and `problem` if they are inconsistent.
 * Data are allocated in `arena`. */
void quantizer_read_parameters(struct model *model, const struct known_types *known,
                               const struct quantizer_parameters *parameters, struct arena *arena,
                               struct quantizer *quantizer);

/* The tensor's type and shape from `known`, the model, or an initializer. */
void quantizer_tensor_type(const struct model *model, const struct known_types *known, uint32_t value,
                           struct value_type *ret);

#endif
