/* onnx/edit/model.h: the changes that are made to a model before it is cut up.
 *
 * The module onnx/edit/ changes the index of a model in memory, never its file: nodes (rebuild.h, node.h, insert.h) and
 * constants (constants.h), and on these what simplifies a model without running it. A model comes in and is changed. It
 * may use onnx/model/ and what that may.
 */
#ifndef ONNX_EDIT_MODEL_H
#define ONNX_EDIT_MODEL_H

#include "onnx/model/model.h"
#include "onnx/proto/value_info.h"

/* A model to change, beside one that stays as it is. Only the index is copied: the bytes of nodes and tensors stay
 * where they are, in the file or in the original, which has to outlive the copy. To be freed with model_free(). */
struct model *model_copy(const struct model *from);

/* Turns `Constant` nodes that hold a tensor into initializers, without copying it. Other constants stay nodes. */
int model_lower_constants(struct model *model, struct error *err);

/* Gives a graph input another shape. The name of a tensor inside the graph makes that an additional input.
 * ERR_INVALID when the model has no such tensor. The element type stays. */
int model_override_input(struct model *model, struct text name, const struct shape *shape, const struct text *symbols,
                         struct error *err);

/* Forgets the shapes (not the types) of everything but graph inputs and constants: after an override they may be
 * wrong. */
void model_forget_shapes(struct model *model);

/* Has a model that imports no version of ONNX's own operators import one: that of its functions, else the newest that
 * its IR version knows. Returns the version; 0 when there is nothing to do. */
int64_t model_import_operators(struct model *model);

/* Has the model import this version of a domain of operators, unless it imports some version of it. */
void model_import_domain(struct model *model, struct text domain, int64_t version);

/* Says what has made the model. */
void model_set_producer(struct model *model, const char *name);

/* The doc_string of the model; empty when it has none. Empty text takes it out. */
struct text model_description(const struct model *model);
void model_set_description(struct model *model, struct text description);

/* ---- Notes on nodes, which viewers of networks show: metadata_props of NodeProto, a part of ONNX
 * since IR version 10. */

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
