/* debug/cut/types.h: types of the tensors at a candidate's border: inputs need a type and a shape, outputs a type.
 * Sources, in this order: the file, the runtime's inference (once, when first needed), a run, and with --mode minimal
 * an assumption. */
#ifndef DEBUG_CUT_TYPES_H
#define DEBUG_CUT_TYPES_H

#include "debug/cut/maker.h"

/* Takes all types and shapes from one run of the model (--force-fallback-shape-inference). */
int candidate_maker_force_shapes(struct candidate_maker *maker, struct error *err);

/* Completes the types of the candidate's inputs and outputs. `ret_not_a_tensor` is set to a value at the cut that
 * cannot be fed or compared because it is a sequence or similar, else to VALUE_NONE. ERR_BACKEND if the type of an
 * input is unknown, but not with --mode minimal: see candidate_assume(). */
int candidate_complete(struct candidate_maker *maker, const struct subgraph *candidate, uint32_t *ret_not_a_tensor,
                       struct error *err);

/* The candidate as it is written; it shares all but its types with `candidate`: inputs of unknown type have assumed
 * types. A subgraph of another model than the maker's is returned unchanged. Release `ret_types` after writing.
 * candidate_write() calls it. */
struct subgraph candidate_assume(struct candidate_maker *maker, const struct subgraph *candidate,
                                 struct known_types *ret_types);

/* Whether the value's element type, or with `needs_shape` its shape, is unknown. */
bool candidate_lacks_type(const struct candidate_maker *maker, uint32_t value, bool needs_shape);

/* Static inference for the whole model, once. A failure is logged, and not an error. */
void candidate_infer_once(struct candidate_maker *maker);

#endif
