/* cli/run/model.h: the model that `run` runs: the file, or a copy in memory with other outputs; for --trt also the
 * settings of its engine build.
 *
 * The module cli/run/ contains the command `run`: it converts options into settings of comparator/infer/driver.h, loads
 * and changes the model, and reports --first-divergence. It may use what all commands may use.
 */
#ifndef CLI_RUN_MODEL_H
#define CLI_RUN_MODEL_H

#include "backend/backend.h"
#include "cli/parse/command.h"
#include "cli/engine_file.h"
#include "cli/run/settings.h"
#include "cli/trt.h"

struct run_model {
    const struct command_context *context;
    const struct run_settings *settings;
    bool in_groups;               /* the model is needed in memory, with all outputs marked for --first-divergence */
    bool loaded;                  /* the members below are filled */
    struct model *model;          /* in groups, or from run_model_open() */
    struct backend_model changed; /* the model as the options change it */
    char *bytes;                  /* its bytes, owned; NULL: run the file */
    char *folder;                 /* its folder, owned */
    struct words barriers;        /* tensors across which POLYGRAPHY_DISABLED prevents fusion */
    struct words hidden;          /* of these, the outputs that the model itself does not have */
    bool has_engine;              /* --trt is among the runners; one of the two is initialized: */
    const struct tensorrt_description *library; /* NULL: the built-in engine */
    struct engine_file engine;
    struct trt_request trt;
};

void run_model_release(struct run_model *model);

/* Whether this backend is among the runners. */
bool run_model_has_runner(const struct runner_values *runners, const struct backend *backend);

/* Fails with ERR_INVALID if options without effect were given, because their runner is missing: ONNX Runtime's options,
 * or those of these groups, which are for engines. */
int run_model_refuse_idle(const struct command_context *context, const struct runner_values *runners,
                          const struct option_group *const *of_engines, size_t count, struct error *err);

/* Opens the model, once. In groups, the model is unchanged except for its outputs. */
int run_model_open(struct run_model *model, struct error *err);

/* Fills a request for any backend with the model and options. At the first call, a model that options change is loaded,
 * changed, and saved with --save-onnx, with log lines to `log`. `data` is a struct run_model; the signature is that of
 * `load` in struct driver_settings. */
int run_model_load(void *data, struct log *log, struct backend_request *ret, struct model **ret_model,
                   struct error *err);

#endif
