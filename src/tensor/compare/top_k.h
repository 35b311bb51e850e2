/* tensor/compare/top_k.h: where the largest values of a tensor are: outputs turned into rankings. */
#ifndef TENSOR_COMPARE_TOP_K_H
#define TENSOR_COMPARE_TOP_K_H

#include "tensor/values/tensor.h"

/* Replaces each line along `axis` (negative: counted from the last one) by the int64 positions of its `k` largest
 * values, the largest first. Of equal values the first comes first; NaN comes after all numbers. A `k` greater than
 * the axis means all.
 *
 * ERR_INVALID for k < 1, an axis that is not there, or a scalar; ERR_UNSUPPORTED for strings and complex numbers. */
int top_k(const struct tensor *tensor, int64_t k, int64_t axis, struct tensor *ret, struct error *err);

struct top_k_rule {
    const char *name; /* of a tensor, or a pattern; "" is for all others, see base/text/names.h */
    int64_t k, axis;
};

/* Replaces the tensors that a rule is for by their rankings. On an error some may have been replaced. */
int top_k_replace(struct tensor_list *tensors, const struct top_k_rule *rules, size_t count, struct error *err);

#endif
