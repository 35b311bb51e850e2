/* backend/constant_values.h: what nodes compute that depend on constants alone.
 *
 * A session's time grows with the square of its outputs, and holds all of them. So nodes are computed in pieces, in
 * topological order: what a piece reads of earlier ones it is fed with, and a value is held until the last node that
 * reads it is done. Weights that a piece only moves (transposes, casts, cuts, ...) are fed to it from where they lie in
 * the file; others are copied into it.
 */
#ifndef BACKEND_CONSTANT_VALUES_H
#define BACKEND_CONSTANT_VALUES_H

#include "backend/backend.h"
#include "base/container/bitset.h"
#include "onnx/model/model.h"

struct constant_values_request {
    const struct model *model;       /* its nodes in topological order */
    const struct bitset *nodes;      /* which may be computed: all that they need is constant, or made by one of them */
    const struct value_list *wanted; /* what is to be known */
    const struct backend *backend;
    struct backend_request runtime; /* its model is not used */
    size_t piece_nodes;

    /* Gets each wanted value once, in the order in which nodes make them. It may make the value a constant of the
     * model, but change nothing else. What it returns below 0 ends the computation. */
    int (*take)(void *context, uint32_t value, const struct tensor *tensor, struct error *err);

    /* Told of each node that the runtime cannot compute. What depends on it is not computed, and what these nodes read
     * of others is wanted, too. NULL: the first failure is that of everything. */
    void (*refuse)(void *context, uint32_t node, const struct error *why);
    void *context;
};

/* Computes what is wanted, and of `nodes` only those that it takes. A piece that fails is halved until the nodes that
 * are to blame stand alone. ERR_MISSING when there is no runtime, ERR_INTERRUPTED; without refuse(), whatever makes the
 * runtime fail. */
int constant_values_compute(const struct constant_values_request *request, struct error *err);

#endif
