/* cli/options/runners/engine.h: the option groups of engines, which TensorRT's are called by.
 *
 * The module cli/options/runners/ has the options of what runs models: ONNX Runtime and engines. It is like
 * cli/options/, which it uses.
 *
 * What only TensorRT can do is accepted and listed in one warning when an engine is built; but what would change
 * results if it were ignored is refused.
 */
#ifndef CLI_OPTIONS_RUNNERS_ENGINE_H
#define CLI_OPTIONS_RUNNERS_ENGINE_H

#include "backend/tensorrt/settings.h"
#include "cli/options/groups.h"
#include "engine/backend.h"

/* ---- Building ---- */

/* Shapes of the inputs for several profiles: a name that comes again begins the next one. */
struct shape_profiles {
    const struct input_shapes *items;
    size_t count;
};

/* What engine_file_init() makes the rest of a request of. Paths are NULL where nothing is wanted. */
struct engine_values {
    struct engine_settings request;
    struct tensorrt_settings tensorrt;               /* what only TensorRT can do */
    struct shape_profiles minimum, optimum, maximum; /* as many of each, or none, with the same names */
    const char *calibration_cache;
    enum calibration_method calibration_method;
    double quantile;
    const char *load_timing_cache, *save_timing_cache;
    const char *load_tactics, *save_tactics;
    const char *save_layer_info;
    bool strongly_typed; /* types are those of the model: nothing is lowered */
    bool decide_branches;
    const char *save_engine;
    struct words disabled_fusions, disabled_foldings; /* as they are given */
    bool varies_precision;                            /* no option: the command decides about it, in each build anew */
};

OPTION_GROUP(struct engine_values, engine_config_options);           /* run, convert, debug build and tactics */
OPTION_GROUP(struct engine_values, engine_config_precision_options); /* constraints are obeyed: debug precision */

OPTION_GROUP(struct engine_values, engine_network_options);

OPTION_GROUP(struct engine_values, engine_file_options);  /* run */
OPTION_GROUP(struct engine_values, engine_cache_options); /* timing cache and layer information: convert, debug */

/* ---- What only TensorRT can do ---- */

OPTION_GROUP(struct engine_values, tensorrt_options);         /* debug tools */
OPTION_GROUP(struct engine_values, tensorrt_run_options);     /* run */
OPTION_GROUP(struct engine_values, tensorrt_convert_options); /* convert */

/* Those of them that were given, separated by commas; nothing when there are none. */
void tensorrt_options_given(const struct parse *parse, struct string_builder *ret);

#endif
