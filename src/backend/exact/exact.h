/* backend/exact/exact.h: evaluates a model in float64, to decide which of two runtimes is nearer to the exact value.
 *
 * The module backend/exact/ computes nodes one by one with plain loops: no fusion, no library, every sum and function
 * in float64. It depends on the index of a model and on tensors only, so that it shares no kernel with what it judges.
 * It knows about a hundred operators of ONNX (docs/accuracy.md lists them) and no bodies of If, Loop or Scan; what it
 * does not know is ERR_UNSUPPORTED, with the name of the node.
 *
 *   struct exact_options options = {.type = DATA_FLOAT64};
 *   rc = exact_evaluate(model, &feed, &options, &outputs, err);
 */
#ifndef BACKEND_EXACT_EXACT_H
#define BACKEND_EXACT_EXACT_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* How it is evaluated: exactly, or as a runtime would that stores tensors in a smaller type and adds up in float32. */
struct exact_options {
    enum data_type type; /* of results: float64 rounds nothing; float32, float16 or bfloat16 */
    bool backwards;      /* sums begin at their last term */
    /* of all floats that are given: a sum of products is that of its terms' magnitudes then. Sub and
     * BatchNormalization add what they subtract otherwise, and Clip does nothing */
    bool magnitudes;
};

/* Computes the outputs of a model, whose Constant nodes are initializers, from `feed`. Each output becomes a float64
 * tensor, integers and booleans too. `ret` is empty on entry.
 *
 * ERR_UNSUPPORTED for a node that cannot be computed, a type without numbers, integers beyond 2^53, or more than about
 * 2^31 products in one node; ERR_INVALID for shapes that do not fit; ERR_MISSING for an input without data;
 * ERR_MEMORY. */
int exact_evaluate(const struct model *model, const struct tensor_list *feed, const struct exact_options *options,
                   struct tensor_list *ret, struct error *err);

#endif
