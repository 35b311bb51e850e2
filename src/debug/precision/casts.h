/* debug/precision/casts.h: finds nodes in lower precision that are not worth their Casts.
 *
 * The Casts around a node between two float32 nodes may cost more than lower precision saves. Raising nodes changes the
 * bytes that nodes and Casts read and write; the choice with the fewest bytes is a minimum cut: float32 nodes are on
 * the source's side, a raised node costs its additional bytes, and a tensor costs its Cast if its producer and one of
 * its consumers are on different sides.
 */
#ifndef DEBUG_PRECISION_CASTS_H
#define DEBUG_PRECISION_CASTS_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"

struct cast_question {
    const struct model *model;
    const struct bitset *low; /* nodes in lower precision; the others are not changed */
    /* Nodes among `low` that only move data: low as long as all of their producers are, or because of their readers. */
    const struct bitset *moving;
    const uint64_t *elements; /* of each value; 0: unknown */
};

/* Adds the nodes of `low` to raise to `ret`. Each Cast counts one byte more than it reads and writes, so that fewer
 * Casts win among equal choices; a tensor of unknown size counts as one element. */
void casts_find_unworthy(const struct cast_question *question, struct bitset *ret);

/* Splits `nodes` into pieces without common tensors, as numbers from 1 for each node of the model; 0: not in `nodes`.
 * malloc'd. Pieces can be raised independently. */
uint32_t *casts_find_pieces(const struct model *model, const struct bitset *nodes, uint32_t *ret_count);

#endif
