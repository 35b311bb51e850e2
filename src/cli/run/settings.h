/* cli/run/settings.h: settings of `run` from the command line. */
#ifndef CLI_RUN_SETTINGS_H
#define CLI_RUN_SETTINGS_H

#include "cli/options/groups.h"
#include "cli/options/runners/engine.h"
#include "onnx/inputs/decoder.h"

struct node_values {
    const char *node_data, *annotated; /* paths; NULL: not wanted */
};

OPTION_GROUP(struct node_values, node_options);

struct step_values {
    int64_t count; /* behind the prefill; 0: the model is not run in steps */
    struct decoder_words words;
    const char *save_inputs; /* NULL: not wanted */
    const char *encoder;     /* path of a model that runs once before the steps; NULL: none */
    struct words encoder_inputs, encoder_outputs;
};

OPTION_GROUP(struct step_values, step_options);

struct run_settings {
    struct common_settings common;
    struct json_values json;
    struct report_values report;
    struct model_file_settings file;
    struct runner_values runners;
    struct driver_settings inference;
    struct comparison_values comparison;
    struct accuracy_values accuracy;
    struct engine_values engine;
    struct node_values nodes;
    struct step_values steps;
};

#endif
