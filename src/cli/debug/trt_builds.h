/* cli/debug/trt_builds.h: the same as engine_builds.h where engines are TensorRT's.
 */
#ifndef CLI_DEBUG_TRT_BUILDS_H
#define CLI_DEBUG_TRT_BUILDS_H

#include "cli/trt.h"
#include "debug/candidate/engine_maker.h"

/* It must not be moved. Zeros can be released. */
struct trt_builds {
    struct trt_request trt;
    struct backend_model source; /* what is built: a file, or bytes */
    char *bytes;                 /* owned; NULL: it is a file */
    char *folder;                /* where external data of these bytes are; owned */
};

/* Takes what the options say. After an error nothing is left. */
int trt_builds_init(struct trt_builds *builds, const struct command_context *context,
                    const struct engine_values *values, const struct model_file_settings *source, struct error *err);
void trt_builds_release(struct trt_builds *builds);

/* Builds this model, which is not needed afterwards. */
int trt_builds_set_model(struct trt_builds *builds, struct model *model, struct error *err);

/* Each engine is built afresh: nothing that another build has timed is known to it, unless the options name a timing
 * cache. Tactics can be forced up to TensorRT 10; the order's replay may lack layers. ERR_BACKEND when the engine has
 * other ones all the same. */
struct engine_maker trt_builds_maker(struct trt_builds *builds);

#endif
