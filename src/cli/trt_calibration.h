/* cli/trt_calibration.h: data with which TensorRT calibrates int8, up to TensorRT 10. */
#ifndef CLI_TRT_CALIBRATION_H
#define CLI_TRT_CALIBRATION_H

#include "backend/tensorrt/settings.h"
#include "cli/options/runners/engine.h"
#include "cli/parse/command.h"
#include "comparator/data/loader.h"

/* Zeros can be released. */
struct trt_calibration {
    struct data_loader *loader; /* of `samples`; NULL: none */
    struct tensorrt_samples samples;
};

/* Fills `settings` for --int8 from the options: the cache that is read, or else samples with the optimal shapes of the
 * first profile (those of --load-inputs have their own), the method and its numbers. Samples only where the release has
 * a calibration; those that `calibration` has are kept. It has to outlive the settings. Errors are those of the data
 * loader. */
int trt_calibration_init(struct trt_calibration *calibration, const struct command_context *context,
                         const struct engine_values *values, const struct model_file_settings *model,
                         struct tensorrt_settings *settings, struct error *err);
void trt_calibration_release(struct trt_calibration *calibration);

#endif
