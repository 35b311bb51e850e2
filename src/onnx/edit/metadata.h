/* onnx/edit/metadata.h: notes on nodes, which viewers of networks show: metadata_props of NodeProto, a part of ONNX
 * since IR version 10. */
#ifndef ONNX_EDIT_METADATA_H
#define ONNX_EDIT_METADATA_H

#include "onnx/model/model.h"

struct node_note {
    uint32_t node;
    const char *key, *value;
};

/* Puts notes on nodes, which are in ascending order, in place of all those that begin with `prefix`; other ones stay. A
 * model of an older IR version is called one of version 10. After an error (a node is damaged) the model can only be
 * freed. */
int model_set_notes(struct model *model, const char *prefix, const struct node_note *notes, size_t count,
                    struct error *err);

#endif
