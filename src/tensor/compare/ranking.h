/* tensor/compare/ranking.h: top-k indices of an output, and the comparison of two rankings.
 *
 * In a comparison each row along the last axis is a ranking, such as the result of top-k; a scalar is a row of one
 * value. Positions of a value in the two rows may differ by up to `tolerance`; if a value is repeated, its nearest
 * position counts.
 *
 * The last `tolerance` values of a row in the first output are not compared, because in the other row they may be
 * beyond the end. In rows that are not longer than the tolerance all values are compared, otherwise none would be.
 */
#ifndef TENSOR_COMPARE_RANKING_H
#define TENSOR_COMPARE_RANKING_H

#include "base/text/number.h"
#include "tensor/values/tensor.h"

/* Replaces each line along `axis` (negative: counted from the last one) by the int64 positions of its `k` largest
 * values, the largest first. Equal values keep their order; NaN ranks after all numbers. A `k` greater than the axis
 * length means all.
 *
 * ERR_INVALID for k < 1, an axis out of range, or a scalar; ERR_UNSUPPORTED for strings and complex numbers. */
int top_k(const struct tensor *tensor, int64_t k, int64_t axis, struct tensor *ret, struct error *err);

struct top_k_rule {
    const char *name; /* of a tensor, or a pattern; "" matches all others, see base/text/names.h */
    int64_t k, axis;
};

/* Replaces each tensor that matches a rule by its ranking. On an error some may have been replaced. */
int top_k_replace(struct tensor_list *tensors, const struct top_k_rule *rules, size_t count, struct error *err);

struct indices_result {
    bool passed;
    bool shape_mismatch; /* nothing below is valid */
    size_t failures;     /* values that are missing or too far away */

    /* The first failure. */
    size_t row;                   /* rows counted through all outer dimensions */
    size_t position;              /* in the row of the first output */
    char value[NUMBER_TEXT_SIZE]; /* at that position */
    bool found;                   /* the other row contains the value, but too far away */
    size_t found_at;              /* its nearest position */
};

/* ERR_UNSUPPORTED for strings and complex numbers, ERR_MEMORY if two rows cannot be allocated. */
int compare_indices(const struct tensor *a, const struct tensor *b, size_t tolerance, struct indices_result *ret,
                    struct error *err);

#endif
