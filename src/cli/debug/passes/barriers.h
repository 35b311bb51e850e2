/* cli/debug/passes/barriers.h: what a compiler does across a tensor, whatever that is: a decision that any runner
 * makes. A tensor that has to be given out cannot be hidden by a fusion, nor be skipped by what is moved past it.
 */
#ifndef CLI_DEBUG_PASSES_BARRIERS_H
#define CLI_DEBUG_PASSES_BARRIERS_H

#include "cli/debug/passes/runner.h"

/* Whether a decision is one. */
bool barriers_own(const char *decision);

/* Adds all tensors that one node makes and another reads, up to a bound, which is said; or of these the ones that are
 * gone in the model as it is rewritten: as a rule, nothing is done across those that are left. */
int barriers_find(const struct passes_subject *subject, struct decisions *ret, struct error *err);
int barriers_find_hidden(const struct passes_subject *subject, const struct model *rewritten, struct decisions *ret,
                         struct error *err);

/* The option of `polygraphy run` that gives these tensors out for good. */
void barriers_add_option(const char *option, struct words off, struct remedies *ret);

/* The tensors that are barriers by the decisions that are off. */
struct words barriers_of(struct arena *arena, struct words off);

/* The model with those of `off` that are barriers, malloc'd; NULL where none is. */
int barriers_write(const struct passes_subject *subject, struct words off, char **ret, size_t *ret_size,
                   struct error *err);

#endif
