/* cli/debug/passes/refused.h: decisions that cannot be switched off together. A compiler may have a knob that it cannot
 * do without, or not beside another one; nothing is built then, and a search would have nothing to begin with.
 */
#ifndef CLI_DEBUG_PASSES_REFUSED_H
#define CLI_DEBUG_PASSES_REFUSED_H

#include "cli/debug/passes/runner.h"

/* Leaves those out of the decisions, in their order, with which switched off besides the ones before them `words` fail,
 * into `ret_refused` (new): "polygraphy", "run" and whatever else makes it run the model without comparing. By halves,
 * so that one in many takes few runs. None are left out when the words fail with nothing switched off, too. Lists are
 * written to `path`. */
int refused_leave_out(const struct passes_subject *subject, struct word_list *words, const char *path,
                      struct decisions *decisions, struct word_list *ret_refused, struct error *err);

#endif
