/* onnx/edit/inline_branches.h: `If` nodes whose condition is a constant: replaces them by the selected branch. */
#ifndef ONNX_EDIT_INLINE_BRANCHES_H
#define ONNX_EDIT_INLINE_BRANCHES_H

#include "onnx/model/model.h"
#include "onnx/model/unused_names.h"

/* Moves the nodes and constants of the branch into the main graph. Tensors of the branch get new names, from `names`,
 * its outputs the names of the `If` outputs. Branches with sparse constants or quantization annotations are not
 * inlined. Adds the number of replaced nodes to `*count`. */
int model_inline_branches(struct model *model, struct unused_names *names, size_t *count, struct error *err);

#endif
