/* cli/run/layerwise.h: `run` on all tensors of a model: in groups, and in search of the first node that goes wrong. */
#ifndef CLI_RUN_LAYERWISE_H
#define CLI_RUN_LAYERWISE_H

#include "cli/command.h"
#include "comparator/compare/comparison.h"
#include "comparator/compare/run_report.h"
#include "comparator/infer/runner.h"

/* What run.c knows how to do. */
struct run_layerwise {
    const struct command_context *context;
    struct data_loader *loader;
    struct runner *runners; /* name and backend */
    size_t count;
    const struct comparison_settings *comparison;
    struct run_report *report; /* told of what is validated; NULL: not wanted */
    int (*load_results)(const struct command_context *context, struct run_results *results, struct error *err);
    void (*check_names)(const struct command_context *context, const struct run_results *results);
    int (*postprocess)(const void *comparison_values, struct run_results *results, struct error *err);
};

/* Whether the options ask for it. */
bool run_layerwise_is_wanted(const struct command_context *context);

/* ERR_INVALID when --first-divergence contradicts other options. */
int run_layerwise_check(const struct command_context *context, struct error *err);

int run_layerwise(const struct run_layerwise *request, bool *ret_passed, struct error *err);

#endif
