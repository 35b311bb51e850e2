/* tensor/compare/ranking.h: which values of an output are the largest, and whether two outputs rank things alike.
 *
 * For the comparison each row along the last axis is a ranking, such as the result of top-k; a scalar is a row of one.
 * A value may stand up to `tolerance` places from where it stands in the other row; of a value that occurs several
 * times the nearest one counts.
 *
 * The last `tolerance` values of a row in the first output are not looked at, because in the other row they may have
 * dropped off the end. In a row that is no longer than the tolerance this would excuse every value, so there all are
 * looked at.
 */
#ifndef TENSOR_COMPARE_RANKING_H
#define TENSOR_COMPARE_RANKING_H

#include "base/text/number.h"
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

struct indices_result {
    bool passed;
    bool shape_mismatch; /* nothing below is valid */
    size_t failures;     /* values that are missing or too far away */

    /* The first failure. */
    size_t row;                   /* rows counted through all outer dimensions */
    size_t position;              /* in the row of the first output */
    char value[NUMBER_TEXT_SIZE]; /* what stands there */
    bool found;                   /* it is in the other row, but too far away */
    size_t found_at;              /* the nearest place */
};

/* ERR_UNSUPPORTED for strings and complex numbers, ERR_MEMORY when there is no room for two rows. */
int compare_indices(const struct tensor *a, const struct tensor *b, size_t tolerance, struct indices_result *ret,
                    struct error *err);

#endif
