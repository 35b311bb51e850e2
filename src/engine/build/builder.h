/* engine/build/builder.h: chooses a tactic for every layer.
 *
 * The module engine/build/ makes engines: a network and settings come in, an engine goes out. For each layer it lists
 * tactics, takes times from the cache or measures them, and takes one. It uses all other modules of the engine.
 *
 * Layers are built in the order in which they run, on real values: what a layer made is what the next one is timed
 * on. So shapes that depend on data are known, and calibration sees what runs. A tactic pays for the reorders of its
 * inputs into the layouts that it wants.
 */
#ifndef ENGINE_BUILD_BUILDER_H
#define ENGINE_BUILD_BUILDER_H

#include "engine/build/settings.h"
#include "engine/plan/engine.h"

/* The network has to outlive the engine. Interruptible (base/interrupt.h): ERR_INTERRUPTED.
 *
 * A tactic that cannot be made or does not run is skipped, with a verbose line; when none is left, or there never was
 * one, ERR_BACKEND names the layer and the last reason. ERR_INVALID for profiles and sample data that do not fit the
 * network, and for int8 tensors without a scale. `progress` is called before each layer, and without one at the end. */
int engine_build(const struct network *network, const struct builder_settings *settings, struct engine **ret,
                 struct error *err);

#endif
