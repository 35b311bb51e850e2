/* engine/build/inputs.h: input data of the builder, and the engine's shape profiles. */
#ifndef ENGINE_BUILD_INPUTS_H
#define ENGINE_BUILD_INPUTS_H

#include "engine/build/settings.h"
#include "engine/plan/engine.h"

/* Checks names, ranks and bounds of the settings' profiles. ERR_INVALID. */
int builder_check_profiles(const struct network *network, const struct builder_settings *settings, struct error *err);

/* The feed of one iteration: one tensor for each of the network's inputs, in their order, in shapes that the model and
 * the first profile allow. ERR_INVALID if the source returns anything else. */
int builder_feed(const struct network *network, const struct builder_settings *settings, int64_t iteration,
                 struct tensor_list *ret, struct error *err);

/* Appends the engine's profiles: those of the settings, with the shapes of `feed` for inputs not listed; or one profile
 * with these shapes as optimum and everything that the model allows. */
void builder_add_profiles(struct engine *engine, const struct builder_settings *settings,
                          const struct tensor_list *feed);

#endif
