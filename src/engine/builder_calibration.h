/* engine/builder_calibration.h: the scales of what int8 layers read. */
#ifndef ENGINE_BUILDER_CALIBRATION_H
#define ENGINE_BUILDER_CALIBRATION_H

#include "engine/builder_choice.h"

/* Gives int8 layers their input_scales. Where the calibration lacks one and was not loaded from a file, the network
 * is run in float32 on all iterations of the sample source first. `feed` is its first one. ERR_INVALID names a tensor
 * that has no scale. */
int builder_calibrate(struct build *build, struct tensor_list *feed, struct error *err);

#endif
