/* engine/plan/replay.h: exports an engine's tactics as a tactic replay, and finds the tactic that a replay specifies
 * for a layer. */
#ifndef ENGINE_PLAN_REPLAY_H
#define ENGINE_PLAN_REPLAY_H

#include "engine/plan/engine.h"
#include "format/polygraphy/tactic_replay.h"

/* Exports the tactics: numbers, names, types and layouts of tensors, and the precision options. Initializes `ret`; the
 * caller releases it. */
void engine_replay(const struct engine *engine, struct tactic_replay *ret);

/* Finds the wanted tactic of a layer. `tactics` contains the providers' tactics for the current input layouts. Some
 * tactics accept the current layout, so the list depends on earlier layers: if a replay is a part or a mixture of
 * others, the wanted tactic may be missing. Then the providers list tactics for other input layouts, first those in the
 * replay, and `tactics` is replaced. ERR_MISSING names the layer and the tactic if there is none. */
int replay_tactic_find(const struct provider_list *providers, const struct kernel_request *request,
                       const struct tactic_algorithm *wanted, struct tactic_list *tactics, const struct tactic **ret,
                       struct error *err);

#endif
