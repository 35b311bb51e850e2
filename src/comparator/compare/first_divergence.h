/* comparator/compare/first_divergence.h: which nodes two results begin to differ at, and which ones make the first NaN
 * or infinity.
 *
 * A node is to blame when it makes something bad out of inputs that are all good. Constants and the inputs of the graph
 * are good. Of a tensor that was not compared, nothing is known: it counts as bad when anything bad has gone into it.
 * Otherwise a node that reads it may be blamed for what a node before it did, so these are counted.
 */
#ifndef COMPARATOR_COMPARE_FIRST_DIVERGENCE_H
#define COMPARATOR_COMPARE_FIRST_DIVERGENCE_H

#include "base/container/arena.h"
#include "format/polygraphy/run_results.h"
#include "onnx/model/model.h"

struct tensor_verdict {
    const char *output;
    bool good;
};

struct first_divergence {
    struct arena names;
    struct {
        struct tensor_verdict *items;
        size_t count, capacity;
    } compared, validated;
};

void first_divergence_init(struct first_divergence *divergence);
void first_divergence_release(struct first_divergence *divergence);

/* What was found out of an output: whether it matches another result's, or that it holds NaN or infinities. */
void first_divergence_add_verdict(struct first_divergence *divergence, const char *output, bool matched);
void first_divergence_add_invalid(struct first_divergence *divergence, const char *output);
void first_divergence_add_all_invalid(struct first_divergence *divergence, const struct run_results *results);

struct blamed_node {
    uint32_t node;
    size_t behind; /* nodes that read what it makes, directly or not, and have bad outputs, too */
    size_t before; /* nodes that may be meant in its place: it reads, through no known tensor, what they make unknown */
};

struct blamed_nodes {
    struct blamed_node *items; /* the caller's to free */
    size_t count, capacity;
};

/* Nodes to blame, in topological order: for all results together, first of differences, then of NaN and infinities.
 * `model` has its nodes in order. */
void first_divergence_find(const struct first_divergence *divergence, const struct model *model,
                           struct blamed_nodes *ret_differing, struct blamed_nodes *ret_invalid);

/* Adds the names of tensors that nodes make and that were not compared to a list for messages; returns how many there
 * are. */
size_t first_divergence_list_unknown(const struct first_divergence *divergence, const struct model *model,
                                     struct string_builder *names);

#endif
