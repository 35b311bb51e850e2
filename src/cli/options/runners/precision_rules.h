/* cli/options/runners/precision_rules.h: what only `debug precision` has. */
#ifndef CLI_OPTIONS_RUNNERS_PRECISION_RULES_H
#define CLI_OPTIONS_RUNNERS_PRECISION_RULES_H

#include "cli/options/runners/engine.h"
#include "search/precision_search.h"

/* In the order of --emit's choices. */
enum precision_emit { PRECISION_EMIT_ENGINE, PRECISION_EMIT_ONNX };

struct precision_values {
    enum precision_mode mode;
    bool reverse;             /* --dir */
    enum data_type high;      /* -p: DATA_FLOAT32 or DATA_FLOAT16 */
    enum precision_emit emit; /* what each iteration writes */
    const char *output_onnx;  /* path; NULL: not wanted */
    bool no_verify;
};

extern const struct option_group precision_options; /* needs engine_config_precision_options in the same command */

#endif
