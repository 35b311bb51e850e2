/* debug/accuracy/intervention.h: one thing is changed in the whole model: what some of its nodes make comes from
 * elsewhere.
 *
 * The model is cut so that these tensors are inputs; nodes that nothing needs any more drop out.
 */
#ifndef DEBUG_ACCURACY_INTERVENTION_H
#define DEBUG_ACCURACY_INTERVENTION_H

#include "debug/accuracy/part.h"

/* Whether the suspect agrees when the reference's values stand for what these nodes make. `*ret_model` is what was run,
 * and `ret_rest` (may be NULL; to be released in any case) its nodes; NULL: nothing is left of it, or it cannot be cut.
 */
int intervention_replace(struct parts *parts, const struct bitset *nodes, struct subgraph *ret_rest,
                         const char **ret_model, enum agreement *ret, struct error *err);

/* Is it the values, and not the cut? The same with what the suspect itself makes there, of `suspect_values`. */
int intervention_control(struct parts *parts, const char *model, const char *suspect_values, enum agreement *ret,
                         struct error *err);

/* Whether the reference still agrees when one node's outputs come from the file `made`. */
int intervention_inject(struct parts *parts, uint32_t node, const char *made, enum agreement *ret, struct error *err);

/* Looks for a node among these that is right alone, but for rounding, and has the reference differ with that: what
 * follows magnifies it. NODE_NONE: there is none. */
int intervention_find_rounding(struct parts *parts, const struct bitset *nodes, uint32_t *ret, struct error *err);

#endif
