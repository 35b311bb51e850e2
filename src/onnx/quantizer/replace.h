/* onnx/quantizer/replace.h: quantizers of a model with other scales, zero points and types in their place.
 *
 *   quantizer_replacing_init(&replacing, model);
 *   rc = quantizer_replace(&replacing, &changed, &values, err);     for each
 *   rc = quantizer_replacing_finish(&replacing, err);
 *   quantizer_replacing_release(&replacing);
 */
#ifndef ONNX_QUANTIZER_REPLACE_H
#define ONNX_QUANTIZER_REPLACE_H

#include "onnx/model/unused_names.h"
#include "onnx/quantizer/quantizer.h"

/* From this operator set on, ONNX quantizes to 16 bits. */
#define QUANTIZER_16_BITS_OPSET 21

struct quantizer_replacing {
    struct model *model;
    struct unused_names names;
    struct span_list fields; /* of all nodes */
    bool has_microsoft;      /* a node has become com.microsoft's, because the operator set has no 16 bits */
};

void quantizer_replacing_init(struct quantizer_replacing *replacing, struct model *model);
void quantizer_replacing_release(struct quantizer_replacing *replacing);

/* The least and the largest integer of (u)int8, (u)int16 and int32. */
void quantizer_integer_range(enum data_type type, double *ret_least, double *ret_largest);

/* `changed` has another type (8 or 16 bits, int32), axis, scale and zero point than the quantizer in the model. Of a
 * stored constant, the integers are made anew of `values`, float32. */
int quantizer_replace(struct quantizer_replacing *replacing, const struct quantizer *changed,
                      const struct tensor *values, struct error *err);

/* Puts the nodes in place; they keep their numbers. */
int quantizer_replacing_finish(struct quantizer_replacing *replacing, struct error *err);

#endif
