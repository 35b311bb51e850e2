/* backend/trtexec/layer_precisions.h: layers that are told what to compute in. Up to TensorRT 10 they are called as the
 * nodes of the ONNX model, and a name that none has is passed over in silence: so each is looked up in the model before
 * the build, and among what trtexec says that it has set after it.
 */
#ifndef BACKEND_TRTEXEC_LAYER_PRECISIONS_H
#define BACKEND_TRTEXEC_LAYER_PRECISIONS_H

#include "backend/trtexec/report.h"
#include "backend/tensorrt/settings.h"
#include "onnx/model/model.h"

struct trtexec_layer {
    const char *name; /* of the node, as it was asked for */
    const char *safe; /* trtexec's: the same, unless that cannot be passed, or other nodes have it, too: "n12" */
    enum data_type type;
    bool may_be_missing;
};

struct trtexec_layers {
    struct trtexec_layer *items;
    size_t count;
};

/* Finds the nodes that the settings give a precision, and renames those in `model` that need another name; whether
 * there are any goes to `ret_changed`. A node without a name is called "node_of_<its first output>"; a name with a star
 * that no node has is a pattern, which trtexec takes. Text lives in `arena`. ERR_INVALID for what no node is called. */
int trtexec_layers_find(const struct tensorrt_settings *settings, struct model *model, struct arena *arena,
                        struct trtexec_layers *ret, bool *ret_changed, struct error *err);

/* ERR_INVALID, naming them, when the report does not say of some that their precision was set. */
int trtexec_layers_check(const struct trtexec_layers *layers, const struct trtexec_report *report, struct error *err);

#endif
