/* cli/debug/passes/kernels.h: the kernels that layers of the built-in engine have with a decision, for layers of an
 * engine without it. Without a fusion there are two layers in place of one, and the first of them may have another
 * kernel: then that kernel may be what is wrong, and not the fusion. Forced upon the layers it tells which.
 */
#ifndef CLI_DEBUG_PASSES_KERNELS_H
#define CLI_DEBUG_PASSES_KERNELS_H

#include "engine/plan/engine.h"
#include "format/polygraphy/tactic_replay.h"

/* Layers of both engines belong together that begin with the same node, whatever is fused behind it. `ret` (new) has
 * for each of those in `without` the tactic of the one in `with`; `differences` (new) gets where it has another,
 * "'conv' (onednn:jit)" with commas in between. ERR_UNSUPPORTED: nodes share a name. */
int kernels_find(const struct engine *with, const struct engine *without, struct tactic_replay *ret,
                 struct string_builder *differences, struct error *err);

#endif
