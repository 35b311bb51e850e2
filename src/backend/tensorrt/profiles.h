/* backend/tensorrt/profiles.h: optimization profiles: which shapes, or values of shape tensors, an engine is for. */
#ifndef BACKEND_TENSORRT_PROFILES_H
#define BACKEND_TENSORRT_PROFILES_H

#include "backend/tensorrt/network.h"

/* Adds the profiles of the settings to the builder configuration; each has all inputs with open sizes and all shape
 * tensors. An input that no profile names gets its shape of settings->default_shapes, else 1 for open sizes, with a
 * warning. ERR_INVALID: names and shapes that do not fit the network. */
int tensorrt_profiles_add(const struct tensorrt_network *network, void *config, struct error *err);

/* Sets the shapes with which calibration runs the network; nothing where no size is open. `given` has all inputs. */
int tensorrt_profile_for_calibration(const struct tensorrt_network *network, void *config,
                                     const struct tensorrt_profile *given, struct error *err);

#endif
