/* onnx/edit/model.h: changes of a model before subgraphs are extracted.
 *
 * The module onnx/edit/ contains changes of a model's index in memory, never of its file: nodes (rebuild.h, node.h,
 * insert.h), constants (constants.h), and simplifications that need no runtime. It depends on onnx/model/ and its
 * dependencies.
 */
#ifndef ONNX_EDIT_MODEL_H
#define ONNX_EDIT_MODEL_H

#include "onnx/model/model.h"
#include "onnx/proto/value_info.h"

/* Copies a model, so that the copy can be changed. Only the index is copied: the bytes of nodes and tensors stay in the
 * file or in the original, which must outlive the copy. Free it with model_free(). */
struct model *model_copy(const struct model *from);

/* Converts `Constant` nodes with a tensor to initializers, without copying it. Other Constant nodes stay. */
int model_lower_constants(struct model *model, struct error *err);

/* Lists the nodes: NodeProtos with tag and length. */
void model_list_nodes(const struct model *model, struct span_list *ret);

/* Undoes model_lower_constants(), except for constants that have changed since: those stay initializers. `before`
 * lists the nodes before it, in their order. After an error the model can only be freed. */
int model_raise_constants(struct model *model, const struct span_list *before, struct error *err);

/* Changes the shape of a graph input; the element type stays. A tensor inside the graph becomes an additional input.
 * ERR_INVALID if the model has no such tensor. */
int model_override_input(struct model *model, struct text name, const struct shape *shape, const struct text *symbols,
                         struct error *err);

/* Removes the shapes (not the types) of all tensors other than graph inputs and constants: after an override they may
 * be wrong. */
void model_forget_shapes(struct model *model);

/* Adds an import of the standard ONNX operator set to a model without one: the version of its functions, else the
 * newest for its IR version. Returns the version; 0 if the model has an import already. */
int64_t model_import_operators(struct model *model);

/* Adds an import of this version of an operator domain, unless the model imports any version of it. */
void model_import_domain(struct model *model, struct text domain, int64_t version);

/* Sets the model's producer_name. */
void model_set_producer(struct model *model, const char *name);

/* The doc_string of the model; empty when it has none. Setting it to empty text removes it. */
struct text model_description(const struct model *model);
void model_set_description(struct model *model, struct text description);

/* ---- Notes on nodes, which viewers of networks show: metadata_props of NodeProto, a part of ONNX
 * since IR version 10. */

struct node_note {
    uint32_t node;
    const char *key, *value;
};

/* Replaces all notes whose keys begin with `prefix` by these, in ascending order of nodes; other notes stay. Raises an
 * older IR version to 10. After an error (a damaged node) the model can only be freed. */
int model_set_notes(struct model *model, const char *prefix, const struct node_note *notes, size_t count,
                    struct error *err);

#endif
