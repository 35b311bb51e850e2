/* debug/reduce/candidate_types.h: what is known of the tensors at a candidate's border: inputs need a type and a shape,
 * outputs a type. What the file does not say is asked of the runtime, then taken from a run, and with --mode minimal at
 * last assumed. See candidate.h for candidate_complete() and candidate_assume().
 */
#ifndef DEBUG_REDUCE_CANDIDATE_TYPES_H
#define DEBUG_REDUCE_CANDIDATE_TYPES_H

#include "debug/reduce/candidate.h"

/* Whether all sizes of the value are stated; what is no tensor has none. */
bool value_is_static(const struct subgraph *whole, uint32_t value);

/* Whether nothing says yet what the value is: its element type, and with `needs_shape` its shape. */
bool candidate_lacks_type(const struct candidate_maker *maker, uint32_t value, bool needs_shape);

/* Static inference over the whole model, once. That it is not possible is logged, and no error. */
void candidate_infer_once(struct candidate_maker *maker);

#endif
