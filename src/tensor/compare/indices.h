/* tensor/compare/indices.h: whether two outputs rank things alike.
 *
 * Each row along the last axis is a ranking, such as the result of top-k; a scalar is a row of one. A value may stand
 * up to `tolerance` places from where it stands in the other row; of a value that occurs several times the nearest one
 * counts.
 *
 * The last `tolerance` values of a row in the first output are not looked at, because in the other row they may have
 * dropped off the end. In a row that is no longer than the tolerance this would excuse every value, so there all are
 * looked at.
 */
#ifndef TENSOR_COMPARE_INDICES_H
#define TENSOR_COMPARE_INDICES_H

#include "base/text/number.h"
#include "tensor/values/tensor.h"

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
