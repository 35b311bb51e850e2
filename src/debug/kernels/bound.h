/* debug/kernels/bound.h: how far the outputs of one node, or of a fused layer, may be from the exact ones.
 *
 * Two kinds of operators have a bound, with the unit roundoff u of the type of their outputs:
 *
 *   - those that round once: additions, products, quotients, square roots, and what selects or moves elements
 *     (IEEE 754, 4.3 and 5.4): gamma(2) |y|;
 *   - sums of n products in any order, of which M is the sum of the terms' magnitudes: gamma(n + 2) M. A component of a
 *     dot product that is computed in any order has |error| <= gamma(n) M, with gamma(n) = n u / (1 - n u) (Higham,
 *     Accuracy and Stability of Numerical Algorithms, 2nd edition, 2002, (3.1) and (3.5)); one more for the scaling or
 *     the division of a mean, and one for the result's rounding. BatchNormalization is such a sum, of products that are
 *     rounded ten times at the most: its statistics may go into a factor and an addend, and these into weights.
 *
 * To both is added what numbers below the normal range may lose. M comes from the same evaluation, with the magnitudes
 * of all inputs (backend/exact/exact.h). Algorithms such as Winograd's or Strassen's do not keep these bounds.
 *
 * Several nodes in a row have a bound if each is one of these sums, a product, an addition, or changes no difference
 * of two numbers to a larger one (Relu, Clip, a maximum, movements). Let M be the magnitude of the last result when
 * all given numbers are replaced by their magnitudes, where what is subtracted is added, and Clip does nothing. A
 * result is then a sum of products of given numbers, whose magnitudes have the sum M at the most, and each product was
 * rounded N times at the most, with N the number of roundings of all nodes from the inputs on, those in front of a
 * product of two results counted for both: gamma(N) M (Higham, 3.1 and lemma 3.3). Whether the runtime rounds between
 * the nodes does not matter.
 */
#ifndef DEBUG_KERNELS_BOUND_H
#define DEBUG_KERNELS_BOUND_H

#include "onnx/model/subgraph.h"
#include "tensor/values/tensor.h"

struct kernel_bound {
    bool is_known;
    const char *why_not; /* where it is not: a clause, static */
    size_t terms;        /* of the longest sum; 0: rounds once. Of a layer: how often a product is rounded */
};

/* `inputs` are the shapes of what the node reads, of rank 0 where one is omitted; `output` is the shape of its first
 * output, `type` the type that the model declares for it. */
void kernel_bound_find(const struct node *node, const struct shape *inputs, size_t count, const struct shape *output,
                       enum data_type type, struct kernel_bound *ret);

/* The same of a layer, whose inner tensors need the type of its outputs. `tensors` are what its nodes read, except
 * initializers, and what they make. */
void kernel_bound_find_layer(const struct subgraph *part, const struct tensor_list *tensors, enum data_type type,
                             struct kernel_bound *ret);

/* The shapes of what a node reads: tensors of that name, or initializers; rank 0 where one is omitted. malloc'd. */
struct shape *kernel_list_shapes(const struct model *model, const struct node *node, const struct tensor_list *tensors);

/* Whether the operator orders the elements that it reads: ONNX does not define the order of NaN, so that outputs for
 * inputs with NaN have no bound. */
bool kernel_orders_elements(const struct node *node);

struct kernel_comparison {
    double excess;  /* the largest quotient of error and bound; INFINITY where one is not finite and should be */
    double error;   /* there, relative to the largest magnitude of the exact output */
    size_t element; /* there */
};

/* Compares an output with the exact one. `magnitudes` is M, or NULL where the node rounds once; `type` is the type that
 * the model declares, whatever that of `got` is. The excess is NAN where no element is bounded: because there is none,
 * n u is not less than 1, all partial sums may be beyond the range of the type, or no exact element is a number of the
 * integer type. */
struct kernel_comparison kernel_bound_compare(const struct kernel_bound *bound, const struct tensor *exact,
                                              const struct tensor *magnitudes, enum data_type type,
                                              const struct tensor *got);

#endif
