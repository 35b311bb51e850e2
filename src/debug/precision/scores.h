/* debug/precision/scores.h: error of each layer of a network in lower precision.
 *
 * One run over the layers with the network's first input data. Each layer computes in three ways: in higher precision;
 * in lower precision on inputs in higher precision; in lower precision on inputs in lower precision. Its score is the
 * mean square of the difference from the first way, relative to that of the first way's values: of the second way, or
 * the increase of that of the third way in this layer, whichever is larger. Infinite if finite values overflow. 0 if
 * the higher precision makes no difference.
 *
 * Tensors of a layer in higher precision, including constants, are also compared with the range of the lower one: the
 * layer overflows if finite values become infinite, and vanishes if values that become 0 are more than a hundredth of a
 * tensor's sum of absolute values.
 */
#ifndef DEBUG_PRECISION_SCORES_H
#define DEBUG_PRECISION_SCORES_H

#include "debug/precision/precision.h"
#include "engine/backend.h"

/* Result of a run over a network. */
struct precision_survey {
    double *scores;               /* of each layer */
    enum precision_range *ranges; /* of each layer that is lowered to float16 or bfloat16 */
    uint64_t *elements;           /* of each value of the model, if a tensor of the run */
};

/* `low` has the layers in lower precision, `high` the higher one of each; `ret` has zeroed arrays. Errors: those of the
 * data, and of a layer that fails in higher precision; a layer that fails in lower precision has an infinite score. */
int precision_scores(const struct engine *low, const struct layer_precision *high,
                     const struct builder_settings *settings, struct precision_survey *ret, struct error *err);

#endif
