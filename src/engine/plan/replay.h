/* engine/plan/replay.h: an engine's choices as a tactic replay, and the tactic that a replay names for a layer. */
#ifndef ENGINE_PLAN_REPLAY_H
#define ENGINE_PLAN_REPLAY_H

#include "engine/plan/engine.h"
#include "format/polygraphy/tactic_replay.h"

/* Its choices as a replay: numbers, names, and types and layouts of the tensors; and what decided on precisions. `ret`
 * is initialised; the caller releases it. */
void engine_replay(const struct engine *engine, struct tactic_replay *ret);

/* `tactics` holds what the providers list for the layer as its inputs are now. Some tactics take the layout that comes,
 * so that what is listed depends on the layers before: where a replay is only a part of another one, or a mixture of
 * two, the one that is wanted may not be there. Then the providers are asked what they would have for inputs in other
 * layouts, those first that the replay tells of; `tactics` is replaced. ERR_MISSING names the layer and the tactic when
 * there is none. */
int replay_tactic_find(const struct provider_list *providers, const struct kernel_request *request,
                       const struct tactic_algorithm *wanted, struct tactic_list *tactics, const struct tactic **ret,
                       struct error *err);

#endif
