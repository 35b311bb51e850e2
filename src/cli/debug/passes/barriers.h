/* cli/debug/passes/barriers.h: barriers: tensors across which a compiler does not optimize; for any runner. A tensor
 * that is an output cannot be removed by a fusion, nor can operators be moved past it. */
#ifndef CLI_DEBUG_PASSES_BARRIERS_H
#define CLI_DEBUG_PASSES_BARRIERS_H

#include "cli/debug/passes/runner.h"

/* Whether a name is that of a barrier. */
bool barriers_own(const char *decision);

/* Adds all tensors between nodes as barriers, up to a limit, which is logged; or only those that do not exist in
 * `rewritten`, because nothing was optimized across those that still exist. */
int barriers_find(const struct passes_subject *subject, struct decisions *ret, struct error *err);
int barriers_find_hidden(const struct passes_subject *subject, const struct model *rewritten, struct decisions *ret,
                         struct error *err);

/* Adds the option of `polygraphy run` that makes these tensors outputs permanently. */
void barriers_add_option(const char *option, struct words off, struct remedies *ret);

/* The tensors that are barriers in `off`. */
struct words barriers_of(struct arena *arena, struct words off);

/* The model with the barriers of `off` as outputs, malloc'd; NULL if there are none. */
int barriers_write(const struct passes_subject *subject, struct words off, char **ret, size_t *ret_size,
                   struct error *err);

#endif
