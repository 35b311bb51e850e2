/* backend/trtexec/network.h: a model as trtexec takes it: a file, with names that can be passed on a command line, with
 * the outputs that are wanted, and with shapes for all inputs whose sizes are open.
 */
#ifndef BACKEND_TRTEXEC_NETWORK_H
#define BACKEND_TRTEXEC_NETWORK_H

#include "backend/backend.h"
#include "backend/trtexec/layer_precisions.h"
#include "backend/tensorrt/settings.h"
#include "onnx/model/model.h"

/* An input or output. */
struct trtexec_tensor {
    const char *name; /* the model's */
    const char *safe; /* trtexec's: the same, unless that cannot be passed */
    enum data_type type;
    bool has_shape;
    struct shape shape;         /* -1: open */
    const char *const *symbols; /* shape.rank names of open sizes, NULL where there is none */
};

struct trtexec_tensors {
    struct trtexec_tensor *items;
    size_t count;
};

struct trtexec_network {
    const char *path;                       /* the model's own file, or one in the folder */
    struct trtexec_tensors inputs, outputs; /* in the order of the model */
    const struct tensorrt_profile
        *profiles;                /* of the inputs with open sizes, by their safe names; all of them in each */
    size_t profile_count;         /* 0: no size is open */
    struct trtexec_layers layers; /* that are given a precision */
    bool is_quantized;            /* has QuantizeLinear or DequantizeLinear nodes */
};

/* Makes it of the model `source`, in `folder` where that takes a file; text and lists live in `arena`.
 * ERR_INVALID for names in the settings that the model does not have, and shapes that do not fit; ERR_UNSUPPORTED for
 * inputs and outputs that are no tensors, or whose number of dimensions is open. */
int trtexec_network_make(const struct tensorrt_settings *settings, const struct backend_model *source,
                         const char *folder, struct arena *arena, struct trtexec_network *ret, struct error *err);

#endif
