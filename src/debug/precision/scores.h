/* debug/precision/scores.h: how much each layer of a network suffers from a lower precision.
 *
 * One run over the layers with what the network would be fed first. Each layer computes in three ways: in higher
 * precision, in lower precision on what the layers before it made in higher precision, and in lower precision on what
 * they made in lower precision. Its score is the mean square of the difference from the first, over that of the first's
 * values: of the second way, or by how much that of the third has grown in it, whichever is more. Infinite where
 * finite values become something else, as by overflow. 0 for layers where the higher precision makes no difference.
 *
 * What a layer reads and writes in higher precision, constants included, is held against the range of the lower one,
 * too: it overflows where finite values become infinite, and vanishes where what becomes 0 is more than a hundredth of
 * a tensor's sum of absolute values.
 */
#ifndef DEBUG_PRECISION_SCORES_H
#define DEBUG_PRECISION_SCORES_H

#include "debug/precision/precision.h"
#include "engine/backend.h"

/* What one run over a network tells. */
struct precision_survey {
    double *scores;               /* of each layer */
    enum precision_range *ranges; /* of each layer that is lowered to float16 or bfloat16 */
    uint64_t *elements;           /* of each value of the model, as far as it is a tensor that the run has made */
};

/* `low` has the layers in lower precision, `high` the higher one of each; `ret` has zeroed arrays. Errors are those of
 * the data and of a layer that fails in higher precision; one that fails in lower precision has an infinite score. */
int precision_scores(const struct engine *low, const struct layer_precision *high,
                     const struct builder_settings *settings, struct precision_survey *ret, struct error *err);

#endif
