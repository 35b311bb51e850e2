/* cli/debug/passes/kernels.h: finds the kernels of the built-in engine's layers with an optimization, for the layers
 * without it. Without a fusion there are two layers instead of one, and the first may have another kernel: that kernel
 * may be wrong instead of the fusion. Forcing the kernels decides. */
#ifndef CLI_DEBUG_PASSES_KERNELS_H
#define CLI_DEBUG_PASSES_KERNELS_H

#include "engine/plan/engine.h"
#include "format/polygraphy/tactic_replay.h"

/* Layers of both engines correspond if they begin with the same node. `ret` (new) gets, for each of those in `without`,
 * the tactic of the one in `with`; `differences` (new) lists those that differ: "'conv' (onednn:jit)", separated by
 * commas. ERR_UNSUPPORTED: nodes share a name. */
int kernels_find(const struct engine *with, const struct engine *without, struct tactic_replay *ret,
                 struct string_builder *differences, struct error *err);

#endif
