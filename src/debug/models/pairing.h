/* debug/models/pairing.h: pairs nodes and tensors of two models by structure; names only decide between equals.
 *
 * The module debug/models/ compares two models that should compute the same: which of their tensors correspond
 * (pairing.h), what differs between them (differences.h, weights.h), and which difference makes their outputs differ
 * (study.h, by experiments with transfer.h). It uses the layers below debug.
 *
 * Every tensor has two hashes of the subgraph that computes it: with the content of constants and attributes, and
 * without; every node has one of what follows it. Nodes with equal hashes are paired, the exact ones first, then those
 * whose neighbours are paired.
 */
#ifndef DEBUG_MODELS_PAIRING_H
#define DEBUG_MODELS_PAIRING_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

/* One of the two models, with its partners in the other one. */
struct paired_model {
    struct model *model;      /* sorted; its Constant nodes are initializers */
    uint32_t *nodes;          /* partner of each node; NODE_NONE */
    uint32_t *values;         /* partner of each value; VALUE_NONE */
    struct tensor *constants; /* of each value; without a type if it is no constant, or a sparse one */
    size_t sparse_constants;  /* which are not compared */
};

struct model_pairing {
    struct paired_model a, b;
    size_t paired_nodes;
};

/* Pairs two models; both must outlive the pairing, and have sorted nodes and lowered constants. Inputs and outputs are
 * paired by name if one model has the names of the other, else in their order, if type and shape allow it. Errors of
 * external_tensor_borrow(). Release the pairing in any case. */
int model_pairing_make(struct model *a, struct model *b, struct model_pairing *ret, struct error *err);
void model_pairing_release(struct model_pairing *pairing); /* one that is zeroed is fine */

/* The input of A's node that corresponds to input `input` of the paired node of B: another one if the operator is
 * commutative and its inputs are paired crosswise. */
size_t model_pairing_input(const struct model_pairing *pairing, uint32_t node_b, size_t input);

#endif
