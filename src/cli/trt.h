/* cli/trt.h: which engine `--trt` means, and what the command line says of one of TensorRT's.
 *
 *   rc = trt_choose(context->log, model_path, &program, err);
 *   if (rc == 0 && program != NULL)
 *       rc = trt_request_init(&request, context, program, err);
 *   else ...  the built-in engine (cli/engine_file.h)
 */
#ifndef CLI_TRT_H
#define CLI_TRT_H

#include "backend/trtexec/backend.h"
#include "base/container/arena.h"
#include "cli/options/runners/engine.h"
#include "cli/parse/command.h"
#include "engine/precision/precision.h"
#include "format/polygraphy/tactic_replay.h"

/* Writes NULL to `ret` for the built-in engine, else the trtexec that makes and runs engines of TensorRT's.
 *
 * POLYGRAPHY_TRT decides: builtin; trtexec (or tensorrt), which has to be there; auto, as where it is not set:
 * trtexec where it is found and answers, else the built-in engine. What `model_path` (may be NULL) already is goes
 * first: a plan file of the built-in engine runs on that, an engine of TensorRT's on TensorRT. ERR_MISSING when
 * trtexec is needed and not there: the message says which TensorRT to install. */
int trt_choose(struct log *log, const char *model_path, const struct trtexec **ret, struct error *err);

/* Settings as the options have them; a command may change them between builds. It must not be moved. */
struct trt_request {
    const struct command_context *context;
    const struct engine_values *values;
    struct trtexec_request request; /* for backends and for trtexec_build() */
    struct tactic_replay *replay;   /* of --load-tactics, owned; NULL: none */
    struct arena arena;
};

/* Says which options mean nothing to TensorRT. ERR_UNSUPPORTED for those that would change what comes out. */
int trt_request_init(struct trt_request *request, const struct command_context *context,
                     const struct engine_values *values, const struct model_file_settings *model,
                     const struct trtexec *program, struct error *err);
void trt_request_release(struct trt_request *request);

/* In place of what the options say of precisions. */
void trt_request_set_precision(struct trt_request *request, const struct precision_settings *precision);

/* What a build has left goes where the options say: tactic replay, layer information, timing cache, and the engine to
 * `engine_path`, unless NULL. The files are replaced whole, and a timing cache that was read only by one that holds no
 * less. ERR_BACKEND, and nothing is written, when the build was to have the tactics of a replay and has others. */
int trt_save_products(const struct trt_request *request, const struct trtexec_products *products,
                      const char *engine_path, struct error *err);

#endif
