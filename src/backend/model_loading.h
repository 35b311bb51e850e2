/* backend/model_loading.h: whether a runtime takes a model. */
#ifndef BACKEND_MODEL_LOADING_H
#define BACKEND_MODEL_LOADING_H

#include "backend/backend.h"
#include "onnx/model/subgraph.h"

enum loading {
    LOADING_UNKNOWN, /* no runtime is available, or it timed out */
    LOADING_REFUSED, /* or crashed on it */
    LOADING_WORKED,
};

/* Only loads `subgraph`. The numbers of its weights are not read, unless the runtime refuses the model without them:
 * operators may insist on constants. `ret_why` has the reason for anything but LOADING_WORKED, which names the node,
 * also one that has no name. `request` says how; its model is not used. Errors: ERR_INTERRUPTED, ERR_CORRUPT. */
int model_loading(const struct subgraph *subgraph, const struct backend *backend, const struct backend_request *request,
                  enum loading *ret, struct error *ret_why, struct error *err);

#endif
