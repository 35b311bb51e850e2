/* onnx/quantizer/expansion.h: rewrites operators with packed weights as DequantizeLinear and operators on floats, so
 * that the weights are quantizers like any other.
 *
 *   MatMulNBits            DequantizeLinear of a constant [K, N], blocks along axis 0; MatMul; Add of the bias
 *   GatherBlockQuantized   DequantizeLinear; Gather
 *   QMoE                   DequantizeLinear of each weight; MoE
 *
 * The first two are the forms that ONNX Runtime fuses to these operators. With groups (g_idx), the scales of the
 * DequantizeLinear are gathered, one for each row. Blocks need operator set 21: expansion_undo() restores the operators
 * whose weights are still quantized, so that a model of an older one remains valid, and runs the same kernels.
 *
 *   rc = expansion_make(model, &expansion, err);
 *   quantizers_find(model, NULL, &quantizers);
 *   expansion_name_quantizers(&expansion, model, &quantizers);
 *   ...                                                     (copies of the model are changed)
 *   rc = expansion_undo(&expansion, copy, err);
 */
#ifndef ONNX_QUANTIZER_EXPANSION_H
#define ONNX_QUANTIZER_EXPANSION_H

#include "onnx/quantizer/packed.h"
#include "onnx/quantizer/quantizers.h"

struct expanded_weight {
    struct packed_weight packed;
    const char *why_not;                          /* why it is not expanded; NULL: it is */
    uint32_t integers, scale, zero_point, groups; /* values of the expanded model; VALUE_NONE: omitted */
    const uint8_t *scale_bytes;                   /* of the scale's TensorProto, to detect that it was replaced */
    int64_t axis, block_size;
};

struct expanded_node {
    struct span field;               /* the NodeProto before, with tag and length */
    size_t first, count;             /* of `fields` */
    size_t weights[3], weight_count; /* indices */
};

struct expansion {
    VECTOR(struct expanded_weight) weights;
    VECTOR(struct expanded_node) nodes; /* in the order of the model */
    struct span_list fields;            /* the NodeProtos in place of `nodes` */
};

/* Expands all such nodes whose weights can be unpacked (packed.h). Nodes are renumbered; values keep their numbers. The
 * new constants belong to the model. Errors are those of reading constants, and ERR_MEMORY; then the model can only be
 * freed. Release `ret` in any case. */
int expansion_make(struct model *model, struct expansion *ret, struct error *err);
void expansion_release(struct expansion *expansion); /* accepts a zeroed struct */

/* Gives the quantizers of unpacked weights the names of the packed ones, and those of weights that cannot be unpacked
 * the reason as their problem. */
void expansion_name_quantizers(const struct expansion *expansion, const struct model *model,
                               struct quantizers *quantizers);

/* Restores each expanded node of a model, or of a copy of it, of which nothing has changed. Nodes are renumbered. After
 * an error the model can only be freed. */
int expansion_undo(const struct expansion *expansion, struct model *model, struct error *err);

#endif
