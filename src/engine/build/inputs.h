/* engine/build/inputs.h: what the builder feeds, and the shapes that the engine will take. */
#ifndef ENGINE_BUILD_INPUTS_H
#define ENGINE_BUILD_INPUTS_H

#include "engine/build/settings.h"
#include "engine/plan/engine.h"

/* Whether names, ranks and bounds of the settings' profiles fit the network and themselves. ERR_INVALID. */
int builder_check_profiles(const struct network *network, const struct builder_settings *settings, struct error *err);

/* The feed of one iteration: one tensor for each of the network's inputs, in their order, in shapes that the model
 * and the first profile allow. ERR_INVALID when the source gives something else. */
int builder_feed(const struct network *network, const struct builder_settings *settings, int64_t iteration,
                 struct tensor_list *ret, struct error *err);

/* Appends the engine's profiles: those of the settings, where inputs that are not named have the shapes of `feed`; or
 * one around these shapes, with all that the model allows. */
void builder_add_profiles(struct engine *engine, const struct builder_settings *settings,
                          const struct tensor_list *feed);

#endif
