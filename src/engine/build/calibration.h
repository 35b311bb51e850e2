/* engine/build/calibration.h: the scales of what int8 layers read. */
#ifndef ENGINE_BUILD_CALIBRATION_H
#define ENGINE_BUILD_CALIBRATION_H

#include "engine/build/choice.h"

/* Gives int8 layers their input_scales. Where the calibration lacks one and was not loaded from a file, the network
 * is run in float32 on all iterations of the sample source first. `feed` is its first one. ERR_INVALID names a tensor
 * that has no scale. */
int builder_calibrate(struct build *build, struct tensor_list *feed, struct error *err);

#endif
