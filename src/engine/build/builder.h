/* engine/build/builder.h: chooses a tactic for every layer.
 *
 * The module engine/build/ builds engines from networks: for each layer it lists tactics, reads their times from the
 * cache or measures them, and selects one. It depends on all other modules of the engine.
 *
 * Layers are built in execution order on real values: each layer is timed on the outputs of the previous ones. So
 * data-dependent shapes are known, and calibration sees real values. The time of a tactic includes reordering its
 * inputs into the layouts that it requires.
 */
#ifndef ENGINE_BUILD_BUILDER_H
#define ENGINE_BUILD_BUILDER_H

#include "engine/build/settings.h"
#include "engine/plan/engine.h"

/* Builds an engine; the network must outlive it. Interruptible (base/interrupt.h): ERR_INTERRUPTED.
 *
 * A tactic whose kernel cannot be created or run is skipped with a verbose message; if none is left, ERR_BACKEND names
 * the layer and the last reason. ERR_INVALID for profiles and sample data that do not fit the network, and for int8
 * tensors without a scale. `progress` is called before each layer, and without one at the end. */
int engine_build(const struct network *network, const struct builder_settings *settings, struct engine **ret,
                 struct error *err);

#endif
