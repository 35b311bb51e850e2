/* backend/trtexec/backend.h: TensorRT as a backend: `run --trt` where NVIDIA's trtexec is installed.
 *
 * The module backend/trtexec/ drives trtexec, the program that comes with TensorRT: it finds it (installation.h), makes
 * command lines for it out of settings (settings.h), reads what it writes, and takes from it engines (build.h) and
 * outputs. It may use what backend/ may, and base/process/. All of it has been seen to work with a stand-in for trtexec
 * only, never yet with a GPU.
 *
 * Each run is a process of its own, which loads the engine: some seconds on a GPU, whatever the model.
 */
#ifndef BACKEND_TRTEXEC_BACKEND_H
#define BACKEND_TRTEXEC_BACKEND_H

#include "backend/backend.h"
#include "backend/trtexec/build.h"

/* What a session is opened with: `settings` of a struct backend_request for trtexec_backend. */
struct trtexec_request {
    struct tensorrt_settings settings;
    bool is_built; /* the model is an engine already, a plan file: another one is an error */

    /* Called when an engine has been built, for the caller to save what it wants of it; NULL: nothing. An error ends
     * open(). */
    int (*built)(void *data, const struct trtexec_products *products, struct error *err);
    void *data;
};

/* Opens an ONNX model (it is built) or an engine of TensorRT's (told apart by content). */
extern const struct backend trtexec_backend;

#endif
