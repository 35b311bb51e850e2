/* cli/options/runners/engine.h: the option groups of engines, with the option names of TensorRT's runner.
 *
 * The module cli/options/runners/ contains the options of the runners: ONNX Runtime and engines. It uses cli/options/.
 *
 * The built-in engine ignores options that only TensorRT supports, with one warning; it refuses those that would change
 * results.
 */
#ifndef CLI_OPTIONS_RUNNERS_ENGINE_H
#define CLI_OPTIONS_RUNNERS_ENGINE_H

#include "backend/tensorrt/settings.h"
#include "cli/options/groups.h"
#include "engine/backend.h"

/* ---- Building ---- */

/* Shapes of the inputs for several profiles: a repeated name begins the next profile. */
struct shape_profiles {
    const struct input_shapes *items;
    size_t count;
};

/* Options from which engine_file_init() completes an engine request. Paths are NULL if not given. */
struct engine_values {
    struct engine_settings request;
    struct tensorrt_settings tensorrt;               /* options that only TensorRT supports */
    struct shape_profiles minimum, optimum, maximum; /* the same number of each, or none, with the same names */
    const char *calibration_cache;
    enum calibration_method calibration_method;
    double quantile;
    const char *load_timing_cache, *save_timing_cache;
    const char *load_tactics, *save_tactics;
    const char *save_layer_info;
    bool strongly_typed; /* types are those of the model: no lower precision */
    bool uint8_dla;      /* TensorRT's parser takes uint8 and asymmetric quantization for DLA */
    bool decide_branches;
    const char *save_engine;
    struct words disabled_fusions, disabled_foldings; /* as given */
    bool varies_precision;                            /* not an option: the command sets it for each build */
};

OPTION_GROUP(struct engine_values, engine_config_options);           /* run, convert, debug build and tactics */
OPTION_GROUP(struct engine_values, engine_config_precision_options); /* constraints are obeyed: debug precision */

OPTION_GROUP(struct engine_values, engine_network_options);

OPTION_GROUP(struct engine_values, engine_file_options);  /* run */
OPTION_GROUP(struct engine_values, engine_cache_options); /* timing cache and layer information: convert, debug */

/* ---- Options that only TensorRT supports ---- */

OPTION_GROUP(struct engine_values, tensorrt_options);         /* debug tools */
OPTION_GROUP(struct engine_values, tensorrt_run_options);     /* run */
OPTION_GROUP(struct engine_values, tensorrt_convert_options); /* convert */

/* Appends the names of those that were given, separated by commas. */
void tensorrt_options_given(const struct parse *parse, struct string_builder *ret);

#endif
