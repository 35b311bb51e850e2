/* cli/options/runners/precision_rules.h: settings of `debug precision`. */
#ifndef CLI_OPTIONS_RUNNERS_PRECISION_RULES_H
#define CLI_OPTIONS_RUNNERS_PRECISION_RULES_H

#include "cli/run/settings.h"
#include "cli/options/runners/engine.h"
#include "search/sets/precision_search.h"

/* In the order of --emit's choices. */
enum precision_emit { PRECISION_EMIT_ENGINE, PRECISION_EMIT_ONNX };

struct debug_precision_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct engine_values engine;
    enum precision_mode mode;
    bool reverse;             /* --dir */
    enum data_type high;      /* -p: DATA_FLOAT32 or DATA_FLOAT16 */
    enum precision_emit emit; /* what each iteration writes */
    const char *output_onnx;  /* path; NULL: not wanted */
    bool no_verify;
    struct step_values steps;
    const char *step_inputs, *step_golden; /* paths, with `steps` */
};

OPTION_GROUP(struct debug_precision_settings,
             precision_options); /* needs engine_config_precision_options in the same command */

#endif
