/* cli/debug/golden.h: the engine that computes the values of `debug reduce --golden trt`.
 *
 *   rc = golden_engine_choose(&golden, log, &hash, err);
 *   rc = golden_engine_init(&golden, context, &file, model, loader, err);
 *   candidates.golden = golden.backend;
 *   candidates.golden_request = (struct backend_request){.settings = golden.settings, .log = log};
 */
#ifndef CLI_DEBUG_GOLDEN_H
#define CLI_DEBUG_GOLDEN_H

#include "backend/tensorrt/backend.h"
#include "base/hash.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "comparator/data/loader.h"
#include "engine/backend.h"

/* It must not be moved. Zeros can be released. */
struct golden_engine {
    const struct tensorrt_description *library; /* NULL: the built-in engine */
    const struct backend *backend;
    const void *settings; /* of a request for it */
    struct tensorrt_request request;
    struct engine_settings builtin;
    struct tensorrt_profile profile;
    struct arena arena;
};

/* TensorRT or the built-in engine: see trt_choose(). Adds its name to the hash of a session. */
int golden_engine_choose(struct golden_engine *golden, struct log *log, struct hash *hash, struct error *err);

/* After golden_engine_choose(). An engine of TensorRT is built for the shapes of all samples of the loader. Errors are
 * those of the loader and of engine_file_golden(). */
int golden_engine_init(struct golden_engine *golden, const struct command_context *context,
                       const struct model_file_settings *file, const struct model *model, struct data_loader *loader,
                       struct error *err);
void golden_engine_release(struct golden_engine *golden);

#endif
