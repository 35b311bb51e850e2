/* cli/run/model.h: the model that `run` runs: the file as it is, or a copy in memory with other outputs. For --trt,
 * with how an engine is made of it.
 *
 * The module cli/run/ is the command `run`: its options become settings of comparator/infer/driver.h, its model is
 * loaded and changed as they say, and --first-divergence is told. It may use all that commands may.
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
    bool in_groups;      /* the model itself is wanted, with all outputs marked that --first-divergence needs */
    bool loaded;         /* what follows was made */
    struct model *model; /* in groups, or from run_model_open() */
    struct backend_model changed; /* the model as the options change it */
    char *bytes;                  /* its bytes, owned; NULL: the file is run */
    char *folder;                 /* its folder, owned */
    struct words barriers;        /* tensors across which nothing is to be done, by POLYGRAPHY_DISABLED */
    struct words hidden;          /* of these, the outputs that are none of the model's own */
    bool has_engine;              /* --trt is among the runners, and one of the two is made: */
    struct trt_choice trt_choice; /* both NULL: the built-in engine */
    struct engine_file engine;
    struct trt_request trt;
};

void run_model_release(struct run_model *model);

/* Whether this backend is among the runners. */
bool run_model_has_runner(const struct runner_values *runners, const struct backend *backend);

/* ERR_INVALID when options were given that only a runner takes which is not among the runners: those of ONNX Runtime,
 * or of these groups, which are of engines. They would have no effect. */
int run_model_refuse_idle(const struct command_context *context, const struct runner_values *runners,
                          const struct option_group *const *of_engines, size_t count, struct error *err);

/* Opens the model, as it is in groups but for its outputs, where nothing has done so yet. */
int run_model_open(struct run_model *model, struct error *err);

/* Fills in a request for any backend: model and options; in groups, options and the model. The first time, a model that
 * the options change is loaded, changed, and saved if --save-onnx asks for it; `log` hears of it. `data` is a struct
 * run_model; the type is that of `load` in struct driver_settings. */
int run_model_load(void *data, struct log *log, struct backend_request *ret, struct model **ret_model,
                   struct error *err);

#endif
