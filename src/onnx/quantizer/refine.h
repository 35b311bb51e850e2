/* onnx/quantizer/refine.h: quantizers with other scales, more scales, or more bits: what may do in place of none. */
#ifndef ONNX_QUANTIZER_REFINE_H
#define ONNX_QUANTIZER_REFINE_H

#include "base/container/bitset.h"
#include "onnx/quantizer/twins.h"

enum quantizer_refinement {
    REFINE_NOT,
    REFINE_FIT,         /* 8 bits, and as many scales, but those of the values */
    REFINE_PER_CHANNEL, /* 8 bits, and one scale for each output channel of a weight */
    REFINE_16_BITS,     /* of 4 and 8: the same range in finer steps, of which each old one is a multiple */
    REFINEMENTS,        /* how many there are */
};

/* What is known of the values of a quantizer's tensor. */
struct quantizer_knowledge {
    const struct model *model;
    const struct quantizers *quantizers;
    const struct quantizer_twins *twins; /* they have the float values of stored constants. NULL: none */
    const struct quantizer_range {
        float least, largest; /* that were seen, as far as the model's Relu or Clip lets them through; NAN: none */
    } * ranges;               /* of each quantizer, for activations. NULL: none */
};

/* Why it cannot be done with this one, or NULL. */
const char *quantizer_why_not_refined(const struct quantizer_knowledge *knowledge, size_t quantizer,
                                      enum quantizer_refinement refinement);

/* Refines them (`how`: one for each), which all can be. `model` is the one in which they were found, or a copy of
 * it; nodes and values keep their numbers, new values come behind. Before operator set 21 ONNX has no 16 bits: such
 * nodes become com.microsoft's, which only ONNX Runtime has (*ret_microsoft, may be NULL). An int32 bias of a node
 * whose input or weight gets other scales of 8 bits gets their products, which runtimes take for granted. After an
 * error the model can only be freed. */
int quantizers_refine(struct model *model, const struct quantizer_knowledge *knowledge,
                      const enum quantizer_refinement *how, bool *ret_microsoft, struct error *err);

#endif
