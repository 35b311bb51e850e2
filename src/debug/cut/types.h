/* debug/cut/types.h: what is known of the tensors at a candidate's border: inputs need a type and a shape, outputs a
 * type. What the file does not say is asked of the runtime, once, when first needed; then taken from a run, and with
 * --mode minimal at last assumed. */
#ifndef DEBUG_CUT_TYPES_H
#define DEBUG_CUT_TYPES_H

#include "debug/cut/maker.h"

/* Takes all types and shapes from one run of the model (--force-fallback-shape-inference). */
int candidate_maker_force_shapes(struct candidate_maker *maker, struct error *err);

/* Describes the candidate's inputs and outputs as far as they lack it. `ret_not_a_tensor` is set to a value at the cut
 * that cannot be fed or compared because it is a sequence or the like, else to VALUE_NONE. ERR_BACKEND when nobody can
 * tell what an input is, but not with --mode minimal: see candidate_assume(). */
int candidate_complete(struct candidate_maker *maker, const struct subgraph *candidate, uint32_t *ret_not_a_tensor,
                       struct error *err);

/* The candidate as it is written, which shares all but its types with `candidate`: inputs about which nobody can tell
 * enough have the descriptions that they are taken to have. A part of another model than the maker's stays as it is.
 * `ret_types` is to be released once it is written. candidate_write() does it all itself. */
struct subgraph candidate_assume(struct candidate_maker *maker, const struct subgraph *candidate,
                                 struct known_types *ret_types);

/* Whether nothing says yet what the value is: its element type, and with `needs_shape` its shape. */
bool candidate_lacks_type(const struct candidate_maker *maker, uint32_t value, bool needs_shape);

/* Static inference over the whole model, once. That it is not possible is logged, and no error. */
void candidate_infer_once(struct candidate_maker *maker);

#endif
