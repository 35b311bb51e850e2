/* onnx/edit/inner_graphs.h: bodies (of If, Loop, Scan, ...) and functions of a model, edited as models of their own. */
#ifndef ONNX_EDIT_INNER_GRAPHS_H
#define ONNX_EDIT_INNER_GRAPHS_H

#include "onnx/model/model.h"

/* Changes `graph`: a body, or a function. In a body, constants of the enclosing graphs that it reads are constants, and
 * other tensors of the enclosing graphs have their types, but no producer. Sets `*ret_changed` if `graph` has to be
 * written back. Its inputs and outputs must stay. */
typedef int inner_graph_editor(void *data, struct model *graph, bool *ret_changed, struct error *err);

/* Edits the bodies of the nodes of `model`, which keep their numbers; bodies inside them are left to the editor. Names
 * of nodes and tensors that a body has afterwards must be those of the model, or unused ones (unused_names.h). Sets
 * `*ret_changed` if any body changed. After an error the model can only be freed. */
int model_edit_bodies(struct model *model, inner_graph_editor *edit, void *data, bool *ret_changed, struct error *err);

/* Edits the functions of `model`. A function has no constants: they are written as Constant nodes. Sets `*ret_changed`
 * if any function changed. */
int model_edit_functions(struct model *model, inner_graph_editor *edit, void *data, bool *ret_changed,
                         struct error *err);

/* The number of nodes in the bodies of `node`, and in theirs. */
size_t node_count_inner_nodes(const struct node *node);

/* The number of nodes, including those in bodies, without functions. */
size_t model_count_nodes(const struct model *model);

#endif
