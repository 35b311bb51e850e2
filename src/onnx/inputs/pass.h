/* onnx/inputs/pass.h: one walk over a model's nodes that finds out the shapes of all tensors, and equates sizes that
 * operators demand to be equal.
 */
#ifndef ONNX_INPUTS_PASS_H
#define ONNX_INPUTS_PASS_H

#include "onnx/inputs/facts.h"

/* Walks over all nodes. `facts` has those of the model's inputs, and room for all values. */
void pass_run(struct pass *pass);

/* Sets the facts of initializers: done once, and before pass_run(). */
void pass_add_initializers(struct pass *pass);

#endif
