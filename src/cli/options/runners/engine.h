/* cli/options/runners/engine.h: the option groups of engines, which TensorRT's are called by.
 *
 * The room cli/options/runners/ has the options of what runs models: ONNX Runtime and engines. It is like
 * cli/options/, which it uses.
 *
 * What only TensorRT can do is accepted and listed in one warning when an engine is built; but what would change
 * results if it were ignored is refused.
 */
#ifndef CLI_OPTIONS_RUNNERS_ENGINE_H
#define CLI_OPTIONS_RUNNERS_ENGINE_H

#include "cli/options/groups.h"
#include "engine/build/builder.h"

/* ---- Building ---- */

/* Shapes of the inputs for several profiles: a name that comes again begins the next one. */
struct shape_profiles {
    const struct input_shapes *items;
    size_t count;
};

struct engine_config_values {
    struct shape_profiles minimum, optimum, maximum; /* as many of each, or none, with the same names */
    bool enabled[PRECISION_COUNT];                   /* --tf32, --fp16, --bf16, --int8 */
    enum precision_constraints constraints;
    enum precision_policy policy;
    const char *calibration_cache; /* path; NULL: none */
    enum calibration_method calibration_method;
    double quantile;
    const char *load_timing_cache; /* path; NULL: none */
    bool error_on_timing_cache_miss;
    const char *save_tactics, *load_tactics; /* paths; NULL: none */
    struct words tactic_sources;             /* names */
    bool has_tactic_sources;
    int64_t optimization_level; /* 0 .. 5 */
    bool deterministic;
};

extern const struct option_group engine_config_options;           /* run, convert, debug build and tactics */
extern const struct option_group engine_config_precision_options; /* constraints are obeyed: debug precision */

/* ---- The network ---- */

struct precision_overrides {
    const struct precision_override *items;
    size_t count;
};

struct engine_network_values {
    struct output_names outputs;
    struct words exclude_outputs;
    struct precision_overrides layer_precisions, tensor_types;
    bool strongly_typed; /* types are those of the model: nothing is lowered */
    bool decide_branches;
    struct words plugins;
};

extern const struct option_group engine_network_options;

/* ---- Files and runs ---- */

struct engine_file_values {
    const char *save_engine;       /* path; NULL: not wanted */
    const char *save_timing_cache; /* path; NULL: not wanted */
    bool profile;
};

extern const struct option_group engine_file_options;  /* run */
extern const struct option_group engine_cache_options; /* only the timing cache: convert, debug */

/* ---- What only TensorRT can do ---- */

extern const struct option_group engine_ignored_options;         /* debug tools */
extern const struct option_group engine_ignored_run_options;     /* run */
extern const struct option_group engine_ignored_convert_options; /* convert */

/* Those of them that were given, separated by commas; nothing when there are none. */
void engine_options_ignored(const struct parse *parse, struct string_builder *ret);

#endif
