/* backend/trtexec/build.h: an engine of TensorRT's, made of a model by trtexec, in a process of its own.
 *
 *   struct trtexec_products products;
 *   rc = trtexec_build(&settings, &(struct backend_model){.path = "model.onnx"}, &products, err);
 *   ... products.engine, products.layers ...
 *   trtexec_products_release(&products);
 *
 * trtexec is believed only where what it leaves says so: it reports success for engines that are empty or damaged.
 */
#ifndef BACKEND_TRTEXEC_BUILD_H
#define BACKEND_TRTEXEC_BUILD_H

#include "backend/trtexec/network.h"
#include "backend/trtexec/program.h"
#include "backend/tensorrt/settings.h"

/* What a build has left. Files lie in `folder`; who wants to keep one moves or copies it away. */
struct trtexec_products {
    char *folder;
    char *engine;                   /* begins as engines of TensorRT's do; trtexec says that the build passed */
    char *layers;                   /* layer information (format/trtexec/layer_info.h) */
    char *log;                      /* what trtexec has written to its standard output, verbosely */
    char *timing_cache;             /* what was loaded, and the times of this build; NULL: there is none */
    struct trtexec_network network; /* what was built: its inputs and outputs, with the names that they have in it */
    size_t set_layers;              /* layers that were told to have a precision of settings->layer_precisions */
    bool lost_timing_cache;         /* that which was loaded could not be read: `timing_cache` has nothing of it */
    double seconds;                 /* that trtexec took */
    struct arena arena;
};

/* Builds the model `source` (a file, or bytes) as `settings` say. The model itself is not changed; where
 * names or outputs have to be others, a copy is.
 *
 * ERR_UNSUPPORTED for what this version of TensorRT does not have, ERR_INVALID for names that the model does not have,
 * and layers of `layer_precisions` that TensorRT did not find; ERR_BACKEND when the build fails: the message says at
 * which stage and why, and settings->log gets all that TensorRT says are errors. ERR_INTERRUPTED. */
int trtexec_build(const struct tensorrt_settings *settings, const struct backend_model *source,
                  struct trtexec_products *ret, struct error *err);

/* Removes the folder, too. Harmless on a zeroed struct. */
void trtexec_products_release(struct trtexec_products *products);

#endif
