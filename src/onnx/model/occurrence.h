/* onnx/model/occurrence.h: other places in a model with the same operators, connected in the same way. */
#ifndef ONNX_MODEL_OCCURRENCE_H
#define ONNX_MODEL_OCCURRENCE_H

#include "base/container/bitset.h"
#include "onnx/model/model.h"

/* Where nodes of a model occur again, one place after the other: the same operators, which read each other's outputs
 * at the same inputs. What they read from elsewhere, and attributes, may be others.
 *
 *   bitset_init_copy(&taken, &nodes);
 *   for (uint32_t next = 0; model_find_occurrence(model, &nodes, &taken, &next, &place);)
 *       ...
 *
 * None of a place's nodes is in `taken`, which the caller extends by those places that shall not overlap. `*next` is
 * the node to go on with. `place` has the size of the others; it is overwritten. False where there are no more, and
 * where the nodes are not connected. */
bool model_find_occurrence(const struct model *model, const struct bitset *nodes, const struct bitset *taken,
                           uint32_t *next, struct bitset *place);

#endif
