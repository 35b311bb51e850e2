/* backend/onnxrt/preload.h: what ONNX Runtime does once in a process, done before it is needed.
 *
 * The first session of a process takes some milliseconds more than the next: it makes the tables of all operators and
 * of their kernels. A process from which others are forked off spares them that.
 */
#ifndef BACKEND_ONNXRT_PRELOAD_H
#define BACKEND_ONNXRT_PRELOAD_H

#include "backend/onnxrt/settings.h"

/* Loads the library where it is usually found, makes a session of a model with one node, runs it once, and closes it.
 * No thread is left of that, other than those of onnxrt_load(). Errors are those of loading the library and of making
 * and running a session. */
int onnxrt_preload(struct error *err);

/* The same on `backend`, which is this module's other one as well, and as `request` has it but for the model. */
int onnxrt_run_one_node(const struct backend *backend, const struct backend_request *request, struct error *err);

#endif
