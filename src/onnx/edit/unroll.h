/* onnx/edit/unroll.h: replaces Loop and Scan nodes by copies of their bodies, one for each iteration. */
#ifndef ONNX_EDIT_UNROLL_H
#define ONNX_EDIT_UNROLL_H

#include "onnx/model/model.h"

#define NOT_UNROLLED (-1)

/* Whether the condition that the body of a Loop returns is the one that it gets, or a constant, so that the number of
 * iterations is the Loop's own input. */
bool loop_is_counted(const struct node *node);

/* How many of the node's inputs and outputs are states, which each iteration passes to the next: the outputs behind
 * them are collected over the iterations. `*ret_states` is undefined where the node is neither a Loop nor a Scan, or
 * damaged: false. */
bool loop_states(const struct node *node, size_t *ret_states);

/* Replaces each Loop and Scan (of opset 9 and later) by as many copies of its body as `iterations` has for the node;
 * NOT_UNROLLED: it stays. The names of copied nodes and tensors end with "_iteration_N"; the Loop's outputs keep their
 * names. States are copied by Identity, slices of a Scan by Gather, collected outputs by Unsqueeze and Concat. A body
 * stays where it has sparse constants or quantization annotations, or where outputs are collected of no iteration.
 * Renumbers nodes. Adds the number of replaced nodes to `*count`. After an error the model can only be freed.
 *
 * Source: operators Loop and Scan of the ONNX specification. */
int model_unroll_loops(struct model *model, const int64_t *iterations, size_t *count, struct error *err);

#endif
