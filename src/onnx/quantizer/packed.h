/* onnx/quantizer/packed.h: weights that operators of com.microsoft store packed, several elements in a byte: how they
 * are laid out, and the same integers as a tensor of ONNX's types.
 *
 * A row of the stored tensor is its last axis. Elements lie in ascending bits of ascending bytes: of 4 bits, the first
 * one in the low half. Source: ONNX Runtime, "Contrib Operators" (MatMulNBits, GatherBlockQuantized, QMoE).
 */
#ifndef ONNX_QUANTIZER_PACKED_H
#define ONNX_QUANTIZER_PACKED_H

#include "base/error.h"
#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

struct packed_weight {
    uint32_t data, scale, zero_point; /* values of the model; the last may be VALUE_NONE */
    uint32_t groups;                  /* value with the group of each slice along the axis; VALUE_NONE: in order */
    unsigned bits;                    /* for each element: 4 or 8 */
    struct shape shape;               /* of the elements, in the order in which they are stored */
    size_t padded;                    /* stored elements of a row, at least as many as the last dimension */
    size_t axis;                      /* with the blocks */
    int64_t block_size;               /* elements along the axis that share a scale */
    bool is_turned;                   /* the weight is the matrix with its axes exchanged */
};

/* The weight as inputs of DequantizeLinear. The integers have the type int4 or int8 if no zero points are stored (the
 * operators' own zero point, half of the range, is subtracted), else uint4 or uint8. */
struct unpacked_weight {
    struct tensor integers, scale, zero_point; /* owned; the zero point is zeroed if there is none */
    struct tensor groups;                      /* int64, owned; zeroed: in order */
    int64_t axis, block_size;
};

/* The weight of input `place` of a node of one of these operators, as the node's attributes describe it. Returns why it
 * cannot be unpacked; NULL on success. */
const char *packed_weight_find(const struct model *model, const struct node *node, size_t place,
                               struct packed_weight *ret);

/* Unpacks a weight. `*ret_why`: why its constants do not match the attributes; then `ret` is empty. NULL on success.
 * Errors are those of reading the constants, and ERR_MEMORY. Release `ret`. */
int packed_weight_unpack(struct model *model, const struct packed_weight *weight, struct unpacked_weight *ret,
                         const char **ret_why, struct error *err);
void unpacked_weight_release(struct unpacked_weight *weight); /* accepts a zeroed struct */

#endif
