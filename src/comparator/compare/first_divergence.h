/* comparator/compare/first_divergence.h: the nodes at which two results start to differ, and nodes that produce the
 * first NaN or infinity.
 *
 * A node is blamed if it produces a bad output from inputs that are all good. Constants and graph inputs are good. A
 * tensor that was not compared is unknown: it counts as bad if any input of its producer is bad. Otherwise a consumer
 * may be blamed for an error of an earlier node, so such earlier nodes are counted.
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
    VECTOR(struct tensor_verdict) compared, validated;
};

void first_divergence_init(struct first_divergence *divergence);
void first_divergence_release(struct first_divergence *divergence);

/* Records the result for an output: whether it matches another result's, or that it contains NaN or infinities. */
void first_divergence_add_verdict(struct first_divergence *divergence, const char *output, bool matched);
void first_divergence_add_invalid(struct first_divergence *divergence, const char *output);
void first_divergence_add_all_invalid(struct first_divergence *divergence, const struct run_results *results);

struct blamed_node {
    uint32_t node;
    size_t behind; /* descendants with bad outputs */
    /* nodes that may be the actual cause: ancestors with unknown outputs that it reads only through unknown tensors */
    size_t before;
};

struct blamed_nodes {
    struct blamed_node *items; /* the caller frees them */
    size_t count, capacity;
};

/* Finds the blamed nodes in topological order, over all results: for differences, and for NaN and infinities. The nodes
 * of `model` must be sorted. */
void first_divergence_find(const struct first_divergence *divergence, const struct model *model,
                           struct blamed_nodes *ret_differing, struct blamed_nodes *ret_invalid);

/* Adds the names of computed tensors that were not compared to a list for messages; returns their number. */
size_t first_divergence_list_unknown(const struct first_divergence *divergence, const struct model *model,
                                     struct string_builder *names);

#endif
