/* cli/debug/passes/refused.h: finds optimizations that cannot be disabled together. A compiler may require one, or one
 * of two; the model does not run then, and a search could not start. */
#ifndef CLI_DEBUG_PASSES_REFUSED_H
#define CLI_DEBUG_PASSES_REFUSED_H

#include "cli/debug/passes/runner.h"

/* Moves optimizations from `decisions`, in their order, to `ret_refused` (new) if `words` fail with them and the ones
 * before disabled. `words`: "polygraphy", "run" and options that run the model without comparing. Bisects, so that one
 * in many takes few runs. None are moved if the words also fail with nothing disabled. Lists are written to `path`. */
int refused_leave_out(const struct passes_subject *subject, struct word_list *words, const char *path,
                      struct decisions *decisions, struct word_list *ret_refused, struct error *err);

#endif
