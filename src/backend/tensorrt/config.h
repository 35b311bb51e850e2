/* backend/tensorrt/config.h: settings of a build as TensorRT's builder configuration. */
#ifndef BACKEND_TENSORRT_CONFIG_H
#define BACKEND_TENSORRT_CONFIG_H

#include "backend/tensorrt/calibration.h"

struct tensorrt_config {
    const struct tensorrt_network *network;
    void *config;
    void *timing_cache;
    bool lost_timing_cache; /* that which was to be loaded could not be used */
    struct tensorrt_calibration calibration;
};

/* `ret` must not be moved while it is used. Makes the configuration, and sets types, formats and precisions in the
 * network. ERR_UNSUPPORTED: a setting that this release does not have; ERR_INVALID: values and names that make no
 * sense; ERR_BACKEND: TensorRT refuses one. */
int tensorrt_config_make(const struct tensorrt_network *network, struct tensorrt_config *ret, struct error *err);
void tensorrt_config_release(struct tensorrt_config *config); /* harmless on a zeroed struct */

#endif
