/* onnx/simplify/simplify.h: removes nodes that are not needed for the same outputs.
 *
 * The module onnx/simplify/ replaces tensors by equal ones, for all sizes of the inputs with which the model runs:
 * nodes that return an input unchanged (neutral_nodes.h), reshapes in a row (reshapes.h), nodes that repeat an earlier
 * one, and arithmetic on sizes, of which onnx/inputs/ knows the results as sums of sizes of the model's inputs
 * (symbolic_sizes.h). It runs nothing. It depends on onnx/edit/ and onnx/inputs/.
 */
#ifndef ONNX_SIMPLIFY_SIMPLIFY_H
#define ONNX_SIMPLIFY_SIMPLIFY_H

#include "onnx/model/model.h"
#include "onnx/model/unused_names.h"

/* Tensors that were replaced. */
struct simplify_counts {
    size_t neutral;  /* by an input of the node */
    size_t equal;    /* by that of an earlier node with the same operator, inputs and attributes */
    size_t sizes;    /* by a constant, or by an earlier tensor with the same sizes */
    size_t reshapes; /* rows of them, by one, or the computed shape of one by a constant */
};

/* Simplifies the main graph once; what a first walk replaces may let a second one replace more. The nodes must be in
 * order (model_sort_nodes()), and types should be known. Outputs of the model keep their names, tensors that bodies use
 * stay. Outputs are equal bit for bit, except for the sign of a zero where 0 is added. Inputs of which dimensions have
 * the same name must have the same sizes there. Adds to `counts`. After an error the model can only be freed. */
int model_simplify(struct model *model, struct unused_names *names, struct simplify_counts *counts, struct error *err);

#endif
