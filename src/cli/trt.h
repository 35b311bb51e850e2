/* cli/trt.h: which engine `--trt` means, and what the command line says of one of TensorRT's.
 *
 *   rc = trt_choose(context->log, model_path, TRT_RUNS, &library, err);
 *   if (rc == 0 && library != NULL)
 *       rc = trt_request_init(&request, context, values, model, err);
 *   else ...  the built-in engine (cli/engine_file.h)
 */
#ifndef CLI_TRT_H
#define CLI_TRT_H

#include "backend/tensorrt/backend.h"
#include "base/container/arena.h"
#include "cli/options/runners/engine.h"
#include "cli/parse/command.h"
#include "cli/trt_calibration.h"
#include "engine/precision/precision.h"
#include "format/polygraphy/tactic_replay.h"
#include "report/result.h"

/* What a command does with an engine, which says whether it needs a GPU. */
enum trt_need {
    TRT_RUNS,
    TRT_BUILDS, /* a GPU, but for TensorRT-RTX */
    TRT_PARSES, /* none */
};

/* POLYGRAPHY_TRT decides: builtin; tensorrt (TensorRT's library, which has to be there); auto, as where it is not set:
 * the library where it is found and can do what is needed, else the built-in engine (NULL). What `model_path` (may be
 * NULL) already is goes first: a plan file of the built-in engine runs on that, an engine of TensorRT's on TensorRT. A
 * library that POLYGRAPHY_TENSORRT names has to be there in any case. ERR_MISSING when TensorRT is needed and missing;
 * ERR_INVALID for variables that select trtexec; errors of tensorrt_find(). */
int trt_choose(struct log *log, const char *model_path, enum trt_need need, const struct tensorrt_description **ret,
               struct error *err);

/* Adds the line that TensorRT itself was not tested, where the built-in engine was chosen for the lack of it (`library`
 * is NULL and POLYGRAPHY_TRT does not ask for the built-in engine). */
void trt_add_not_tested(const struct tensorrt_description *library, struct result *ret);

/* Settings as the options have them; a command may change them between builds. It must not be moved. */
struct trt_request {
    const struct command_context *context;
    const struct engine_values *values;
    struct tensorrt_request request; /* for tensorrt_backend and tensorrt_build() */
    struct tactic_replay *replay;    /* of --load-tactics, owned; NULL: none */
    const struct precision_settings *precision;
    struct trt_calibration calibration;
    struct arena arena;
};

/* Says which options mean nothing to TensorRT. ERR_UNSUPPORTED for options that would change what comes out. */
int trt_request_init(struct trt_request *request, const struct command_context *context,
                     const struct engine_values *values, const struct model_file_settings *model, struct error *err);
void trt_request_release(struct trt_request *request);

/* In place of what the options say of precisions. `precision` has to outlive the request. */
void trt_request_set_precision(struct trt_request *request, const struct precision_settings *precision);

/* What a build has left goes where the options say: tactic replay, layer information, timing cache, and the engine to
 * `engine_path`, unless NULL. The files are replaced whole, and a timing cache that was read only by one that holds no
 * less. ERR_BACKEND, and nothing is written, when the build was to have the tactics of a replay and has others. */
int trt_save_products(const struct trt_request *request, const struct tensorrt_products *products,
                      const char *engine_path, struct error *err);

#endif
