/* debug/precision/scores.h: how much each layer of a network suffers from a lower precision. */
#ifndef DEBUG_PRECISION_SCORES_H
#define DEBUG_PRECISION_SCORES_H

#include "engine/build/builder.h"

/* One run over the layers of `low` with what it would be fed first. Each layer computes in three ways: in higher
 * precision (`high`, of each layer), in lower precision on what the layers before it made in higher precision, and in
 * lower precision on what they made in lower precision. Its score is the mean square of the difference from the first,
 * over that of the first's values: of the second way, or by how much that of the third has grown in it, whichever is
 * more. Infinite where finite values become something else, as by overflow. 0 for layers where `high` makes no
 * difference. */
int precision_scores(const struct engine *low, const struct layer_precision *high,
                     const struct builder_settings *settings, double *ret, struct error *err);

#endif
