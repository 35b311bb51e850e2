/* debug/precision/casts.h: which nodes in lower precision are not worth their Casts.
 *
 * A node between two that are in float32 may cost more by the Casts around it than its own bytes are worth. Raising
 * nodes changes what nodes and Casts read and write; the choice with the fewest bytes, of all that there are, is a
 * minimum cut: nodes in float32 are on the source's side, a low node that is raised costs what it reads and writes
 * more, and a tensor costs its Cast where its maker is on one side and one of its readers on the other.
 */
#ifndef DEBUG_PRECISION_CASTS_H
#define DEBUG_PRECISION_CASTS_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"

struct cast_question {
    const struct model *model;
    const struct bitset *low; /* nodes in lower precision; the others stay as they are */
    /* Of these, the ones that only move data: low as long as all are that make what they read. */
    const struct bitset *moving;
    const uint64_t *elements; /* of each value; 0: not known */
};

/* Adds to `ret` the nodes of `low` to be raised. Each Cast counts as a byte more than it reads and writes, so that of
 * equal choices the one with fewer of them is taken, and a tensor of unknown size as one element. */
void casts_find_unworthy(const struct cast_question *question, struct bitset *ret);

/* The pieces of `nodes` that have no tensor in common, as numbers from 1 on, for each node of the model; 0: the node is
 * none of them. malloc'd. What is raised or not in one does not change what another one saves. */
uint32_t *casts_find_pieces(const struct model *model, const struct bitset *nodes, uint32_t *ret_count);

#endif
