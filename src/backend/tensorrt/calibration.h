/* backend/tensorrt/calibration.h: int8 scales (up to TensorRT 10): from a cache that TensorRT has written, or from
 * samples, on which TensorRT runs the network while it builds.
 */
#ifndef BACKEND_TENSORRT_CALIBRATION_H
#define BACKEND_TENSORRT_CALIBRATION_H

#include "backend/tensorrt/interfaces.h"
#include "backend/tensorrt/network.h"

/* An input in device memory. */
struct tensorrt_sample_input {
    struct backend_io io;
    struct tensor room; /* a sample in the type of the network */
    struct tensorrt_output_memory device;
};

/* IInt8Calibrator of one build. It must not be moved while it is used; zeros can be released. */
struct tensorrt_calibration {
    struct tensorrt_interface interface;
    int32_t algorithm;       /* nvinfer1::CalibrationAlgoType */
    double quantile, cutoff; /* of IInt8LegacyCalibrator */
    const struct tensorrt_samples *samples;
    size_t next;
    char *cache; /* read; NULL: none */
    size_t cache_size;
    struct string_builder written; /* the cache of this build; empty: none */
    struct tensorrt_sample_input *inputs;
    size_t count;
    struct error failure; /* why a sample could not be given; code 0: none */
};

/* Sets the calibrator of a network that has no QuantizeLinear nodes, which say the scales themselves. ERR_INVALID:
 * samples that do not fit the inputs; ERR_UNSUPPORTED: there is neither a cache nor a sample; ERR_IO and ERR_MISSING:
 * the cache cannot be read. */
int tensorrt_calibration_set(struct tensorrt_calibration *calibration, const struct tensorrt_network *network,
                             void *config, struct error *err);
void tensorrt_calibration_release(struct tensorrt_calibration *calibration);

#endif
