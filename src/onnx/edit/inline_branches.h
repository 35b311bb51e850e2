/* onnx/edit/inline_branches.h: `If` nodes whose condition is a constant: the branch that is taken takes their place. */
#ifndef ONNX_EDIT_INLINE_BRANCHES_H
#define ONNX_EDIT_INLINE_BRANCHES_H

#include "onnx/model/model.h"

/* Puts the nodes and constants of the branch into the main graph. What the branch defines gets new names, its outputs
 * those of the `If`. Branches with sparse constants or quantisation annotations of their own stay where they are.
 * `*count` grows by the number of nodes that were replaced. */
int model_inline_branches(struct model *model, size_t *count, struct error *err);

#endif
